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

	"pregon/internal/disclosure"
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
	reportColumns = []string{
		"id", "company_name", "ticker", "type", "title", "summary", "published_at",
		"cnmv_registration_number", "pdf_url",
	}
	hitColumns        = append(prefixed("report.", reportColumns), "snippets.page", "snippets.text")
	issuerColumns     = []string{"id", "name", "cif", "ticker", "market"}
	suggestionColumns = []string{"kind", "text", "id", "ticker", "total"}
	dayColumns        = []string{
		"date", "type", "count", "first", "last", "missing.cnmv_registration_number", "missing.reason", "checked_at",
		"proof.from", "proof.reason", "sha256",
	}
	changeColumns = slices.Concat([]string{"cursor", "seq", "event", "occurred_at", "changed"}, reportColumns, []string{
		"name", "cif", "market", "registered_at", "first_seen_at", "available_at", "enriched_at", "text_ready_at",
		"summary_ready_at", "corrected_by", "facts_ready_at", "facts.kind",
	}, changedPositionColumns)
	// changedPositionColumns are those of all kinds of positions together.
	changedPositionColumns = []string{
		"kind", "issuer_id", "issuer_name", "lei", "isin", "holder", "holder_erased", "person", "person_erased",
		"number", "date", "registered_on", "percent", "percent_shares", "percent_direct", "percent_indirect",
		"percent_instruments", "percent_total", "current", "state", "relation", "rectifies", "rectified_by",
		"annulled_by", "document_url", "document_status", "document_reason", "amount", "currency", "aggregates",
		"trades.isin", "trades.instrument", "trades.nature", "trades.side", "trades.date", "trades.venue",
		"trades.volume", "trades.price", "trades.currency", "source_url",
	}
	webhookColumns = []string{
		"id", "url", "description", "events", "enabled", "disabled_at", "disabled_reason", "starts_after", "created_at", "updated_at",
		"filter.search", "filter.in", "filter.type", "filter.issuer", "filter.kind", "filter.category", "filter.market", "filter.without",
		"filter.from", "filter.to", "key", "paused_reason", "filter.fact", "filter.min_amount", "filter.currency",
		"filter.position", "filter.holder", "filter.min_percent", "filter.side",
		"filter.sector", "filter.watchlist",
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
	// most requests
	if len(accept) == 0 || len(accept) == 1 && (accept[0] == "*/*" || accept[0] == "application/json") {
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
	var err error
	if out.columns != nil {
		columns = out.columns
	}
	switch {
	case out.rows != nil:
		out = a.rowsAsCSV(r, columns, out)
	case wantsCSV(r):
		out, err = a.asCSV(r, columns, out)
	}
	out.negotiated = !isTable(r)
	return out, err
}

// isTable reports whether a request is for the path of a list that ends in .csv.
func isTable(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, csvSuffix) }

// wantsCSV reports whether a list is to be returned as CSV.
func wantsCSV(r *http.Request) bool { return isTable(r) || prefersCSV(r.Header["Accept"]) }

// dialectOf returns the dialect that a request asks for, which the handler has checked.
func dialectOf(r *http.Request) content.Dialect {
	d, _ := content.ParseDialect(r.URL.Query().Get("dialect"))
	return d
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
	w := newRowWriter(&body, columns, dialectOf(r))
	for _, row := range slices.Concat(found.Data, found.Days) {
		w.write(row)
	}
	w.out.Flush()
	header := csvHeader(r, out)
	if found.Total != nil {
		header.Set(totalHeader, strconv.Itoa(*found.Total))
	}
	switch {
	case found.Next != "":
		a.linkNext(header, r, "after", found.Next)
	case found.Total != nil && hasNext(found.Page, found.Limit, len(found.Data), *found.Total):
		a.linkNext(header, r, "page", strconv.Itoa(found.Page+1))
	}
	return response{
		body:        body.Bytes(),
		contentType: content.CSVType,
		header:      header,
		maxAge:      out.maxAge,
		warnings:    out.warnings,
		widened:     out.widened,
		hash:        content.Hash([]byte(body.String() + variable(header))),
	}, nil
}

// csvHeader returns the headers of a list as CSV without those of its pages.
func csvHeader(r *http.Request, out response) http.Header {
	name := strings.TrimSuffix(path.Base(r.URL.Path), csvSuffix) + csvSuffix
	header := http.Header{"Content-Disposition": {`inline; filename="` + name + `"`}}
	if seq := out.header.Get(seqHeader); seq != "" {
		header.Set(seqHeader, seq)
	}
	return header
}

// variable returns the headers that a tag is of, besides the rows: a 304 is for all of
// it.
func variable(header http.Header) string {
	return header.Get(totalHeader) + header.Get("Link") + header.Get(seqHeader)
}

// hasNext reports whether there is a page after one with count rows.
func hasNext(page, limit, count, total int) bool {
	return count > 0 && (int64(page)-1)*int64(limit)+int64(count) < int64(total)
}

// linkNext sets the Link header to the address of the request with another value of a
// parameter, unless it would be too long.
func (a *API) linkNext(header http.Header, r *http.Request, name, value string) {
	query := r.URL.Query()
	query.Set(name, value)
	next := url.URL{Path: r.URL.Path, RawQuery: query.Encode()}
	if link := "<" + a.BaseURL + next.String() + `>; rel="next"`; len(link) <= maxLink {
		header.Set("Link", link)
	}
}

// rowWriter writes rows of JSON as CSV.
type rowWriter struct {
	out      *csv.Writer
	dialect  content.Dialect
	paths    [][]string // of the fields in the columns
	decimals []bool     // of the columns: whether its texts are decimals
	record   []string
}

// newRowWriter returns a rowWriter that has written the names of the columns. The
// buffer has them when out is flushed.
func newRowWriter(b *bytes.Buffer, columns []string, dialect content.Dialect) *rowWriter {
	w := &rowWriter{
		out:      content.NewCSVWriter(b, dialect),
		dialect:  dialect,
		paths:    make([][]string, len(columns)),
		decimals: make([]bool, len(columns)),
		record:   make([]string, len(columns)),
	}
	for i, column := range columns {
		w.paths[i] = strings.Split(column, ".")
		w.decimals[i] = slices.Contains(decimalColumns, column)
	}
	_ = w.out.Write(columns) // a buffer does not fail
	return w
}

func (w *rowWriter) write(row map[string]any) {
	for i, path := range w.paths {
		value := field(row, path)
		if w.decimals[i] {
			value = decimal(value)
		}
		w.record[i] = w.cell(value)
	}
	_ = w.out.Write(w.record)
}

// decimal returns a decimal that is a text in JSON, or a list of them, as numbers.
func decimal(value any) any {
	switch value := value.(type) {
	case string:
		if disclosure.IsDecimal(value) {
			return json.Number(value)
		}
	case []any:
		for i, element := range value {
			value[i] = decimal(element)
		}
	}
	return value
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
func (w *rowWriter) cell(value any) string {
	switch value := value.(type) {
	case string:
		return content.Cell(value)
	case json.Number:
		return w.dialect.Number(value.String())
	case bool:
		return strconv.FormatBool(value)
	case []any:
		elements := make([]string, len(value))
		for i, element := range value {
			elements[i] = w.cell(element)
		}
		return strings.Join(elements, content.ListSeparator)
	}
	return ""
}
