package query

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"pregon/internal/catalog"
	"pregon/internal/search"
)

// listFields are the fields of a report in a list, in their order. moreFields are those that
// a list has only if they are asked for.
var (
	listFields = []string{
		"id", "company_name", "ticker", "type", "title", "summary", "published_at", "cnmv_registration_number", "pdf_url",
	}
	moreFields = []string{"issuer_id", "categories", "url", "facts"}

	chosenFields = slices.Concat(listFields, moreFields)
)

const maxFieldList = 300 // bytes of the parameter fields

// ReportFields are the fields of a report that a list has. Nil means all of listFields.
type ReportFields []string

// ReportFields reads the parameter fields. The order of the fields is always the same, so
// that the answers to the same choice are equal.
func (p *Params) ReportFields() ReportFields {
	list := p.LimitedText("fields", maxFieldList)
	if list == "" {
		return nil
	}
	chosen := map[string]bool{}
	for name := range strings.SplitSeq(list, ",") {
		reason := ""
		switch {
		case name == "":
			reason = "has a comma without a field"
		case !slices.Contains(chosenFields, name):
			reason = "has the unknown field " + search.Quoted(name)
		case chosen[name]:
			reason = "has " + name + " twice"
		}
		if reason != "" {
			p.Reject("fields", list, "%s: use %s, with commas between them", reason, strings.Join(chosenFields, ", "))
			return nil
		}
		chosen[name] = true
	}
	return slices.DeleteFunc(slices.Clone(chosenFields), func(name string) bool { return !chosen[name] })
}

// Columns returns the columns of the list as CSV. Of facts there are the kinds.
func (f ReportFields) Columns() []string {
	columns := slices.Clone(f)
	if i := slices.Index(columns, "facts"); i >= 0 {
		columns[i] = "facts.kind"
	}
	return columns
}

// Append appends a report with the fields as JSON. Pages of the service are below base.
func (f ReportFields) Append(b []byte, r catalog.Report, base string) []byte {
	if f == nil {
		return r.AppendJSON(b)
	}
	var stated map[string]json.RawMessage
	_ = json.Unmarshal(r.AppendJSON(nil), &stated) // it was encoded by this program
	b = append(b, '{')
	for i, name := range f {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(strconv.AppendQuote(b, name), ':')
		switch name {
		case "issuer_id":
			b = appendValue(b, OrNull(r.IssuerID()))
		case "categories":
			b = appendValue(b, list(r.Categories()))
		case "url":
			b = appendValue(b, ReportPage(base, r.ID()))
		case "facts":
			b = r.Decode().AppendFacts(b)
		default:
			b = append(b, stated[name]...)
		}
	}
	return append(b, '}')
}

// AppendLinked appends a report of a list as JSON with its issuer, its categories and its
// page.
func AppendLinked(b []byte, r catalog.Report, base string) []byte {
	b = r.AppendJSON(b)
	b = appendValue(append(b[:len(b)-1], `,"issuer_id":`...), OrNull(r.IssuerID()))
	b = appendValue(append(b, `,"categories":`...), list(r.Categories()))
	b = appendValue(append(b, `,"url":`...), ReportPage(base, r.ID()))
	return append(b, '}')
}

// ReportPage returns the address of the page of a report, which links to the regulator's.
func ReportPage(base, id string) string { return base + "/reports/" + id }

// appendValue appends a text, a list of texts or null.
func appendValue(b []byte, v any) []byte {
	encoded, _ := Encode(v) // texts can always be encoded
	return append(b, encoded...)
}
