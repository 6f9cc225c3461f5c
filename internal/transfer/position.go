package transfer

import (
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/search"
)

// positionRow is a position in CSV and Parquet: the fields of all kinds, those that a kind
// does not have null. Percentages and amounts are decimals as text, so that they stay
// exact. natural would be a keyword of SQL. New columns are added at the end.
type positionRow struct {
	ID          string `parquet:"id"`
	Kind        string `parquet:"kind,dict"`
	IssuerID    string `parquet:"issuer_id,optional,dict"` // id of an issuer
	IssuerName  string `parquet:"issuer_name,optional,dict"`
	NIF         string `parquet:"nif,optional,dict"`
	LEI         string `parquet:"lei,optional,dict"`
	ISIN        string `parquet:"isin,optional,dict"`
	Name        string `parquet:"holder,optional,dict"`
	Natural     bool   `parquet:"holder_natural"` // the name may be that of a natural person
	NameErased  bool   `parquet:"holder_erased"`
	State       string `parquet:"state,optional,dict"`
	Number      string `parquet:"number,optional"`
	Date        string `parquet:"date,optional,dict"`
	Registered  string `parquet:"registered_on,optional,dict"`
	Percent     string `parquet:"percent,optional"`
	Shares      string `parquet:"percent_shares,optional"`
	Direct      string `parquet:"percent_direct,optional"`
	Indirect    string `parquet:"percent_indirect,optional"`
	Instruments string `parquet:"percent_instruments,optional"`

	Relation    string   `parquet:"relation,optional,dict"`
	Rectifies   []string `parquet:"rectifies,list"`
	RectifiedBy []string `parquet:"rectified_by,list"`
	AnnulledBy  string   `parquet:"annulled_by,optional"`
	Amount      string   `parquet:"amount,optional"`
	Currency    string   `parquet:"currency,optional,dict"`
	Aggregates  string   `parquet:"aggregates,optional,dict"`
	Trades      string   `parquet:"trades,optional"` // JSON

	SourceURL      string     `parquet:"source_url,optional"`
	DocumentURL    string     `parquet:"document_url,optional"`
	DocumentStatus string     `parquet:"document_status,optional,dict"`
	DocumentReason string     `parquet:"document_reason,optional,dict"`
	DocumentSHA256 string     `parquet:"document_sha256,optional"`
	FirstSeenAt    *time.Time `parquet:"first_seen_at,optional,timestamp(microsecond)"`
	AvailableAt    *time.Time `parquet:"available_at,optional,timestamp(microsecond)"`
	Backfilled     bool       `parquet:"backfilled"`
}

func newPositionRow(found *search.Position) *positionRow {
	p := found.Position
	row := &positionRow{
		ID:             p.ID,
		Kind:           string(p.Kind),
		IssuerID:       p.Issuer,
		IssuerName:     p.IssuerName,
		NIF:            p.NIF,
		LEI:            p.LEI,
		ISIN:           p.ISIN,
		Name:           p.Name,
		Natural:        p.Natural,
		NameErased:     p.NameErased(),
		State:          string(p.State),
		Number:         p.Number,
		Date:           p.Date,
		Registered:     p.RegisteredOn,
		Percent:        p.Percent,
		Shares:         p.PercentShares,
		Direct:         p.PercentDirect,
		Indirect:       p.PercentIndirect,
		Instruments:    p.PercentInstruments,
		Relation:       string(p.Relation),
		Rectifies:      p.Rectifies,
		RectifiedBy:    p.RectifiedBy,
		AnnulledBy:     p.AnnulledBy,
		Aggregates:     string(p.Aggregates),
		SourceURL:      p.SourceURL,
		DocumentURL:    p.DocumentURL,
		DocumentStatus: string(p.DocumentStatus),
		DocumentReason: p.DocumentReason,
		DocumentSHA256: p.DocumentSHA256,
		FirstSeenAt:    orNull(p.FirstSeenAt),
		AvailableAt:    orNull(p.AvailableAt),
		Backfilled:     p.Backfilled,
	}
	row.Amount, row.Currency = p.Amount()
	if p.DocumentStatus == disclosure.DocumentReady {
		row.Trades = string(p.AppendTrades(nil))
	}
	if found.Issuer != nil {
		row.IssuerID = found.Issuer.ID
	}
	return row
}
