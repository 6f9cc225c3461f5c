package rest

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"pregon/internal/server/content"
)

const (
	csvSuffix = ".csv" // of the path of a list as CSV

	totalHeader = "Pregon-Total"
	// maxLink is the length of the longest Link header. A search may be longer
	// than proxies accept in a response.
	maxLink = 2000
)

// Columns of the lists as CSV. Each is the path of a field of a row in JSON. A
// path through a list is the field of every element. New columns are added at the
// end.
var (
	reportColumns     = []string{"id", "company_name", "ticker", "type", "title", "summary", "published_at", "cnmv_registration_number", "pdf_url"}
	hitColumns        = append(prefixed("report.", reportColumns), "snippets.page", "snippets.text")
	issuerColumns     = []string{"id", "name", "cif", "ticker", "market"}
	suggestionColumns = []string{"kind", "text", "id", "ticker", "total"}
	dayColumns        = []string{
		"date", "type", "count", "first", "last", "missing.cnmv_registration_number", "missing.reason", "checked_at",
		"proof.from", "proof.reason", "sha256",
	}
	changeColumns = slices.Concat([]string{"cursor", "seq", "event", "occurred_at", "changed"}, reportColumns, []string{
		"name", "cif", "market", "registered_at", "first_seen_at", "available_at", "enriched_at", "text_ready_at",
		"summary_ready_at", "corrected_by",
	})
	webhookColumns = []string{
		"id", "url", "description", "events", "enabled", "disabled_at", "disabled_reason", "starts_after", "created_at", "updated_at",
		"filter.search", "filter.in", "filter.type", "filter.issuer", "filter.kind", "filter.category", "filter.market", "filter.without",
		"filter.from", "filter.to", "key", "paused_reason",
	}
	deliveryColumns = []string{
		"id", "seq", "event", "state", "attempts", "created_at", "due_at", "done_at",
		"history.at", "history.ok", "history.status", "history.latency_ms", "history.error",
	}
)

func prefixed(prefix string, names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = prefix + name
	}
	return out
}

// prefersCSV reports whether an Accept header prefers CSV to JSON.
func prefersCSV(accept []string) bool {
	if len(accept) == 0 || len(accept) == 1 && (accept[0] == "*/*" || accept[0] == "application/json") { // most requests
		return false
	}
	ranges := content.ParseAccept(accept)
	asCSV, namedCSV := content.Quality(ranges, "text/csv")
	asJSON, namedJSON := content.Quality(ranges, "application/json")
	return asCSV > asJSON || asCSV == asJSON && asCSV > 0 && namedCSV && !namedJSON
}

// listBody is what all lists have in common. Days are the rows of the completeness.
type listBody struct {
	Data  []map[string]any
	Days  []map[string]any
	Total *int
	Page  int
	Limit int
	Next  string // cursor of changes
}

// negotiate returns a list as JSON or as CSV.
func (a *API) negotiate(r *http.Request, columns []string, out response) (response, error) {
	byPath := strings.HasSuffix(r.URL.Path, csvSuffix)
	var err error
	if byPath || prefersCSV(r.Header["Accept"]) {
		out, err = a.asCSV(r, columns, out)
	}
	out.negotiated = !byPath
	return out, err
}

// asCSV converts a list from JSON.
func (a *API) asCSV(r *http.Request, columns []string, out response) (response, error) {
	var found listBody
	decoder := json.NewDecoder(bytes.NewReader(out.body))
	decoder.UseNumber() // large numbers stay as they are
	if err := decoder.Decode(&found); err != nil {
		return response{}, err
	}
	if out.buffer != nil {
		*out.buffer = out.body
		buffers.Put(out.buffer)
	}
	var body bytes.Buffer
	w := csv.NewWriter(&body)
	w.UseCRLF = true
	_ = w.Write(columns) // a buffer does not fail
	record := make([]string, len(columns))
	for _, row := range slices.Concat(found.Data, found.Days) {
		for i, column := range columns {
			record[i] = cell(field(row, strings.Split(column, ".")))
		}
		_ = w.Write(record)
	}
	w.Flush()
	name := strings.TrimSuffix(path.Base(r.URL.Path), csvSuffix) + csvSuffix
	header := http.Header{"Content-Disposition": {`inline; filename="` + name + `"`}}
	if seq := out.header.Get(seqHeader); seq != "" {
		header.Set(seqHeader, seq)
	}
	if found.Total != nil {
		header.Set(totalHeader, strconv.Itoa(*found.Total))
	}
	if link := a.nextLink(r, found); link != "" && len(link) <= maxLink {
		header.Set("Link", link)
	}
	return response{
		body: body.Bytes(), contentType: content.CSVType, header: header, maxAge: out.maxAge, warnings: out.warnings,
		hash: content.Hash([]byte(body.String() + header.Get(totalHeader) + header.Get("Link") + header.Get(seqHeader))), // a 304 is for all of it
	}, w.Error()
}

// nextLink returns the Link header with the next page, or the next changes, if
// there are any.
func (a *API) nextLink(r *http.Request, found listBody) string {
	query := r.URL.Query()
	switch {
	case found.Next != "":
		query.Set("after", found.Next)
	case found.Total != nil && len(found.Data) > 0 && (found.Page-1)*found.Limit+len(found.Data) < *found.Total:
		query.Set("page", strconv.Itoa(found.Page+1))
	default:
		return ""
	}
	next := url.URL{Path: r.URL.Path, RawQuery: query.Encode()}
	return "<" + a.BaseURL + next.String() + `>; rel="next"`
}

// field returns the value at a path, nil if there is none.
func field(value any, path []string) any {
	if len(path) == 0 {
		return value
	}
	switch value := value.(type) {
	case map[string]any:
		return field(value[path[0]], path[1:])
	case []any:
		out := make([]any, len(value))
		for i, element := range value {
			out[i] = field(element, path)
		}
		return out
	}
	return nil
}

// cell returns a value as text. Numbers stay numbers, and null is empty.
func cell(value any) string {
	switch value := value.(type) {
	case string:
		return content.Cell(value)
	case json.Number:
		return value.String()
	case bool:
		return strconv.FormatBool(value)
	case []any:
		elements := make([]string, len(value))
		for i, element := range value {
			elements[i] = cell(element)
		}
		return strings.Join(elements, content.ListSeparator)
	}
	return ""
}
