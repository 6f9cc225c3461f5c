package transfer

import (
	"cmp"
	"strconv"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/search"
)

// reportRow is a report in CSV and Parquet. The columns are those of the API's
// lists, then those of its detail. New ones are added at the end.
//
// An optional field with a zero value is null. Times are in UTC.
type reportRow struct {
	ID          string     `parquet:"id"`
	CompanyName string     `parquet:"company_name,dict"`
	Ticker      string     `parquet:"ticker,optional,dict"` // the report's own, else its issuer's
	Type        string     `parquet:"type,dict"`
	Title       string     `parquet:"title"`
	Summary     string     `parquet:"summary,optional"`
	PublishedAt *time.Time `parquet:"published_at,optional,timestamp(microsecond)"`
	Number      int64      `parquet:"cnmv_registration_number"`
	PDFURL      string     `parquet:"pdf_url,optional"`

	NIF             string     `parquet:"nif,optional,dict"`
	IssuerID        string     `parquet:"issuer_id,optional,dict"` // id of an issuer
	Categories      []string   `parquet:"categories,list" parquet-element:",dict"`
	SourceURL       string     `parquet:"source_url,optional"`
	Related         []string   `parquet:"related,list"` // ids, or numbers where the id is not known
	CorrectedBy     string     `parquet:"corrected_by,optional"`
	Precision       string     `parquet:"time_precision,optional,dict"`
	FirstSeenAt     *time.Time `parquet:"first_seen_at,optional,timestamp(microsecond)"`
	AvailableAt     *time.Time `parquet:"available_at,optional,timestamp(microsecond)"`
	EnrichedAt      *time.Time `parquet:"enriched_at,optional,timestamp(microsecond)"`
	TextReadyAt     *time.Time `parquet:"text_ready_at,optional,timestamp(microsecond)"`
	SummaryReadyAt  *time.Time `parquet:"summary_ready_at,optional,timestamp(microsecond)"`
	DocumentStatus  string     `parquet:"document_status,dict"`
	DocumentType    string     `parquet:"document_type,optional,dict"`
	DocumentPages   int64      `parquet:"document_pages,optional"`
	DocumentBytes   int64      `parquet:"document_bytes,optional"`
	DocumentSHA256  string     `parquet:"document_sha256,optional"`
	DocumentLang    string     `parquet:"document_language,optional,dict"`
	SummaryMethod   string     `parquet:"summary_method,optional,dict"`
	SummaryLanguage string     `parquet:"summary_language,optional,dict"`
	SummaryEN       string     `parquet:"summary_en,optional"`
	FactsReadyAt    *time.Time `parquet:"facts_ready_at,optional,timestamp(microsecond)"`
	Facts           string     `parquet:"facts,optional"` // JSON
}

func newReportRow(r *disclosure.Report, directory *search.Directory) *reportRow {
	d := r.DocumentNow()
	row := &reportRow{
		ID:              r.ID,
		CompanyName:     r.CompanyName,
		Ticker:          r.Ticker,
		Type:            string(r.Type),
		Title:           r.Title,
		Summary:         r.Summary,
		PublishedAt:     orNull(r.PublishedAt),
		Number:          r.Number,
		PDFURL:          r.PDFURL,
		NIF:             r.NIF,
		IssuerID:        r.IssuerKey(),
		Categories:      r.Categories(),
		SourceURL:       r.SourceURL,
		Related:         related(r),
		CorrectedBy:     r.CorrectedBy,
		Precision:       r.TimeFrom.Precision(),
		FirstSeenAt:     orNull(r.FirstSeenAt),
		AvailableAt:     orNull(r.AvailableAt),
		EnrichedAt:      orNull(r.EnrichedAt),
		TextReadyAt:     orNull(r.TextReadyAt),
		SummaryReadyAt:  orNull(r.SummaryReadyAt),
		DocumentStatus:  string(d.Status),
		DocumentType:    d.Type,
		DocumentPages:   int64(d.Pages),
		DocumentBytes:   d.Bytes,
		DocumentSHA256:  d.SHA256,
		DocumentLang:    d.Language,
		SummaryMethod:   r.SummaryMethod,
		SummaryLanguage: r.SummaryLanguage,
		SummaryEN:       r.SummaryEN,
		FactsReadyAt:    orNull(r.FactsReadyAt),
	}
	if r.FactsRules > 0 {
		row.Facts = string(r.AppendFacts(nil))
	}
	if i := directory.IssuerOf(r); i != nil {
		row.IssuerID, row.Ticker = i.ID, cmp.Or(r.Ticker, i.Ticker)
	}
	return row
}

func orNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func related(r *disclosure.Report) (ids []string) {
	for _, other := range r.Related {
		ids = append(ids, cmp.Or(other.ID, strconv.FormatInt(other.Number, 10)))
	}
	return ids
}

// issuerRow is an issuer in CSV and Parquet.
type issuerRow struct {
	ID          string   `parquet:"id"`
	Name        string   `parquet:"name"`
	CIF         string   `parquet:"cif,optional"`
	Ticker      string   `parquet:"ticker,optional"`
	Market      string   `parquet:"market,optional,dict"`
	Kind        string   `parquet:"kind,optional,dict"`
	ISINs       []string `parquet:"isins,list"`
	FormerNames []string `parquet:"former_names,list"`
	Aliases     []string `parquet:"aliases,list"`
	Manager     string   `parquet:"manager,optional,dict"`
	Depositary  string   `parquet:"depositary,optional,dict"`

	LEI            string `parquet:"lei,optional"`
	Sector         string `parquet:"sector,optional,dict"`
	Capital        string `parquet:"capital,optional"`
	VotingRights   string `parquet:"voting_rights,optional"`
	VotingRightsOn string `parquet:"voting_rights_on,optional"`
}

func newIssuerRow(i *disclosure.Issuer) *issuerRow {
	return &issuerRow{
		ID:          i.ID,
		Name:        i.Name,
		CIF:         i.CIF(),
		Ticker:      i.Ticker,
		Market:      i.Market,
		Kind:        string(i.Kind),
		ISINs:       i.ISINs,
		FormerNames: i.FormerNames,
		Aliases:     i.Aliases,
		Manager:     i.Manager,
		Depositary:  i.Depositary,

		LEI:            i.LEI,
		Sector:         i.Sector,
		Capital:        i.Capital,
		VotingRights:   i.VotingRights,
		VotingRightsOn: i.VotingRightsOn,
	}
}
