package disclosure

import (
	"strconv"
	"time"
)

// AppendPosition appends the JSON object of a position as lists, details and events have
// it. Its fields depend on the kind. Empty fields are null.
func AppendPosition(b []byte, p *Position) []byte {
	b = appendField(b, `{"id":`, p.ID)
	b = appendField(b, `,"kind":`, string(p.Kind))
	b = appendNullable(b, `,"issuer_id":`, p.Issuer)
	b = appendNullable(b, `,"issuer_name":`, p.IssuerName)
	b = appendNullable(b, `,"lei":`, p.LEI)
	switch p.Kind {
	case Short:
		b = p.appendShort(b)
	case Dealing:
		b = p.appendDealing(b)
	default:
		b = p.appendHolding(b)
	}
	b = appendNullable(b, `,"state":`, string(p.State))
	b = append(b, `,"first_seen_at":`...)
	if p.FirstSeenAt.IsZero() {
		b = append(b, "null"...)
	} else {
		b = append(b, '"')
		b = p.FirstSeenAt.In(Madrid).AppendFormat(b, time.RFC3339Nano)
		b = append(b, '"')
	}
	b = appendNullable(b, `,"source_url":`, p.SourceURL)
	return append(b, '}')
}

func (p *Position) appendShort(b []byte) []byte {
	b = appendNullable(b, `,"isin":`, p.ISIN)
	b = p.appendName(b, "holder")
	b = appendField(b, `,"date":`, p.Date)
	b = appendField(b, `,"percent":`, p.Percent)
	return appendFlag(b, `,"current":`, p.IsCurrent())
}

func (p *Position) appendHolding(b []byte) []byte {
	b = p.appendName(b, "holder")
	b = appendField(b, `,"number":`, p.Number)
	b = appendNullable(b, `,"registered_on":`, p.RegisteredOn)
	b = appendNullable(b, `,"percent_shares":`, p.PercentShares)
	b = appendNullable(b, `,"percent_direct":`, p.PercentDirect)
	b = appendNullable(b, `,"percent_indirect":`, p.PercentIndirect)
	b = appendNullable(b, `,"percent_instruments":`, p.PercentInstruments)
	b = appendNullable(b, `,"percent_total":`, p.Percent)
	b = appendFlag(b, `,"current":`, p.IsCurrent())
	b = appendNullable(b, `,"annulled_by":`, p.AnnulledBy)
	return appendNullable(b, `,"document_url":`, p.DocumentURL)
}

func (p *Position) appendDealing(b []byte) []byte {
	b = appendField(b, `,"number":`, p.Number)
	b = appendNullable(b, `,"registered_on":`, p.RegisteredOn)
	b = p.appendName(b, "person")
	b = appendNullable(b, `,"relation":`, string(p.Relation))
	b = appendTexts(b, `,"rectifies":`, p.Rectifies)
	b = appendTexts(b, `,"rectified_by":`, p.RectifiedBy)
	b = appendNullable(b, `,"document_url":`, p.DocumentURL)
	status := p.DocumentStatus
	switch {
	case status != "":
	case p.DocumentURL == "":
		status = DocumentNone
	default:
		status = DocumentPending
	}
	b = appendField(b, `,"document_status":`, string(status))
	b = appendNullable(b, `,"document_reason":`, p.DocumentReason)
	amount, currency := p.Amount()
	b = appendNullable(b, `,"amount":`, amount)
	b = appendNullable(b, `,"currency":`, currency)
	b = appendNullable(b, `,"aggregates":`, string(p.Aggregates))
	return p.AppendTrades(append(b, `,"trades":`...))
}

// AppendTrades appends the trades of a dealing as a JSON list, or null while its document
// was not read.
func (p *Position) AppendTrades(b []byte) []byte {
	if p.DocumentStatus != DocumentReady {
		return append(b, "null"...)
	}
	b = append(b, '[')
	for i := range p.Trades {
		if i > 0 {
			b = append(b, ',')
		}
		b = p.Trades[i].append(b)
	}
	return append(b, ']')
}

func (t *Trade) append(b []byte) []byte {
	b = appendNullable(b, `{"isin":`, t.ISIN)
	b = appendNullable(b, `,"instrument":`, t.Instrument)
	b = appendField(b, `,"nature":`, t.Nature)
	b = appendField(b, `,"side":`, string(t.Side))
	b = appendField(b, `,"date":`, t.Date)
	b = appendNullable(b, `,"venue":`, t.Venue)
	b = appendField(b, `,"volume":`, t.Volume)
	b = appendField(b, `,"price":`, t.Price)
	b = appendField(b, `,"currency":`, t.Currency)
	b = strconv.AppendInt(append(b, `,"page":`...), int64(t.Page), 10)
	b = appendField(b, `,"quote":`, t.Quote)
	return append(b, '}')
}

// appendName appends the name and whether it was erased.
func (p *Position) appendName(b []byte, field string) []byte {
	b = appendNullable(b, `,"`+field+`":`, p.Name)
	return appendFlag(b, `,"`+field+`_erased":`, p.NameErased())
}

func appendFlag(b []byte, name string, flag bool) []byte {
	return strconv.AppendBool(append(b, name...), flag)
}

func appendTexts(b []byte, name string, texts []string) []byte {
	b = append(append(b, name...), '[')
	for i, s := range texts {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendField(b, "", s)
	}
	return append(b, ']')
}
