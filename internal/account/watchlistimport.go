package account

import (
	"context"
	"encoding/csv"
	"errors"
	"io"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/push/watchlist"
	"pregon/internal/query"
	"pregon/internal/search"
	"pregon/internal/server/content"
	"pregon/internal/text"
)

const (
	maxImportLines = 2000 // that are not empty
	maxImportCells = 50   // of a line
	maxSuggested   = 50   // lines that were not found: similar issuers are searched for the first ones
	maxRepeated    = 200  // bytes of a line in the answer
)

// Import is the result of importing a file.
type Import struct {
	Added     int        `json:"added"`   // entries that the list did not have
	Present   int        `json:"present"` // lines whose entry it had, or which repeat another
	NotFound  []NotFound `json:"not_found"`
	Watchlist Watchlist  `json:"watchlist"` // as it is now
}

// NotFound is a line that names no issuer.
type NotFound struct {
	Line   int            `json:"line"` // from 1
	Text   string         `json:"text"`
	Reason string         `json:"reason"`
	Near   []ListedIssuer `json:"near"` // similar issuers
}

// ImportWatchlist adds what a file names to a list: lines or CSV with tickers, NIFs, ISINs,
// LEIs or names, or what WatchlistCSV returned. It adds all that it finds, or nothing if
// the list cannot take all.
func (s *Service) ImportWatchlist(ctx context.Context, by access.Principal, id string, file []byte) (Import, error) {
	now, err := s.o.Query.Snapshot()
	if err != nil {
		return Import{}, err
	}
	if _, err := s.Watchlist(ctx, by, id); err != nil { // before a file is read for nothing
		return Import{}, err
	}
	lines, err := readLines(decoded(file))
	if err != nil {
		return Import{}, err
	}
	in := importer{
		now:    now,
		params: s.o.Query.NewParams,
		found:  Import{NotFound: []NotFound{}},
	}
	in.read(ctx, lines)
	if err := ctx.Err(); err != nil {
		return Import{}, err
	}
	in.found.Watchlist, err = s.withList(ctx, by, func(
		ctx context.Context,
		reach access.Reach,
	) (watchlist.List, error) {
		return s.o.Watchlists.Update(ctx, reach, id, func(d *watchlist.Draft) error {
			in.addTo(d)
			return nil
		})
	})
	return in.found, err
}

// decoded returns the text of a file. Spreadsheets in Spain write Windows-1252.
func decoded(file []byte) string {
	if !utf8.Valid(file) {
		if decoded, err := charmap.Windows1252.NewDecoder().Bytes(file); err == nil {
			file = decoded
		}
	}
	return strings.TrimPrefix(string(file), "\ufeff")
}

// line is a line of a file that is not empty.
type line struct {
	number int
	cells  []string
	comma  rune // between the cells
}

// readLines returns the lines of a file, whose separator is that of its first line.
func readLines(file string) (lines []line, err error) {
	first, _, _ := strings.Cut(strings.TrimLeft(file, "\r\n"), "\n")
	in := csv.NewReader(strings.NewReader(file))
	in.FieldsPerRecord = -1
	in.LazyQuotes = true
	switch {
	case strings.Contains(first, "\t"):
		in.Comma = '\t'
	case strings.Contains(first, ";"):
		in.Comma = ';'
	}
	for {
		cells, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fault.New(fault.Invalid, "The file cannot be read as lines or CSV: %v.", err)
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if !slices.ContainsFunc(cells, func(c string) bool { return c != "" }) {
			continue
		}
		number, _ := in.FieldPos(0)
		if len(lines) == maxImportLines {
			return nil, fault.New(fault.Invalid, "The file has more than %d lines: import a part of it.", maxImportLines)
		}
		if len(cells) > maxImportCells {
			return nil, fault.New(fault.Invalid, "Line %d has %d cells, and %d are allowed.", number, len(cells), maxImportCells)
		}
		lines = append(lines, line{number, cells, in.Comma})
	}
	if len(lines) == 0 {
		return nil, fault.New(fault.Invalid, "The file is empty: give one issuer on each line.")
	}
	return lines, nil
}

// importer finds what lines name.
type importer struct {
	now       *catalog.Snapshot
	params    func(url.Values) *query.Params
	columns   []int // of the cells that may name an issuer, the best first; nil for all
	nameIn    int   // the column with a name
	filterIn  int   // the column with a filter, -1 for none
	suggested int
	issuers   []string
	filters   []watchlist.SavedSearch
	found     Import
}

// Names of columns, the best first: what identifies an issuer precedes what may be
// ambiguous.
var columnNames = [][]string{
	{"id", "issuer", "issuer id", "emisor"},
	{"lei"},
	{"nif", "cif"},
	{"isin", "isins"},
	{"ticker", "symbol", "simbolo", "tickers"},
	{"name", "nombre", "company", "company name", "empresa", "sociedad", "valor", "issuer name"},
}

// read finds the entries that lines name.
func (in *importer) read(ctx context.Context, lines []line) {
	in.nameIn, in.filterIn = -1, -1
	if in.isHeader(lines[0]) {
		lines = lines[1:]
	}
	for _, l := range lines {
		if ctx.Err() != nil {
			return
		}
		in.readLine(l)
	}
}

// isHeader reports whether a line names columns, and remembers them.
func (in *importer) isHeader(l line) bool {
	names := make([]string, len(l.cells))
	for i, c := range l.cells {
		names[i] = strings.Join(text.Words(c), " ")
		if names[i] == "filter" {
			in.filterIn = i
		}
	}
	for _, group := range columnNames {
		for i, name := range names {
			if slices.Contains(group, name) {
				in.columns = append(in.columns, i)
			}
		}
	}
	if in.columns == nil {
		in.filterIn = -1
		return false
	}
	in.nameIn = slices.Index(names, "name")
	return true
}

// readLine finds the entry that a line names.
func (in *importer) readLine(l line) {
	if f := in.cell(l, in.filterIn); f != "" {
		in.readFilter(l, f)
		return
	}
	candidates := in.candidates(l)
	for _, c := range candidates {
		if id, known := in.issuer(c); known {
			in.issuers = append(in.issuers, id)
			return
		}
	}
	in.miss(l, candidates)
}

// cell returns a cell of a line without the apostrophe of content.Cell, which keeps
// spreadsheets from reading it as a formula.
func (in *importer) cell(l line, i int) string {
	if i < 0 || i >= len(l.cells) {
		return ""
	}
	return strings.TrimPrefix(l.cells[i], "'")
}

// candidates returns the texts of a line that may name an issuer. Amounts and dates do not.
func (in *importer) candidates(l line) (out []string) {
	add := func(s string) {
		if s = strings.TrimSpace(s); strings.ContainsFunc(s, unicode.IsLetter) && len(s) <= maxListedName {
			out = append(out, s)
		}
	}
	columns := in.columns
	if columns == nil {
		if len(l.cells) > 1 { // a name may have commas
			add(strings.Join(l.cells, string(l.comma)+" "))
		}
		for i := range l.cells {
			columns = append(columns, i)
		}
	}
	for _, i := range columns {
		for part := range strings.SplitSeq(in.cell(l, i), strings.TrimSpace(content.ListSeparator)) {
			add(part)
		}
	}
	return out
}

// Parts that programs add to a ticker of the Spanish exchange.
var (
	venuePrefixes = []string{"BME:", "XMAD:", "MCE:"}
	venueSuffixes = []string{".MC", " SM"}
)

// issuer returns the identifier of the only issuer that a text names.
func (in *importer) issuer(s string) (id string, known bool) {
	if id, known = in.exactly(s); known {
		return id, true
	}
	upper := strings.ToUpper(s)
	for _, prefix := range venuePrefixes {
		if ticker, ok := strings.CutPrefix(upper, prefix); ok {
			return in.exactly(ticker)
		}
	}
	for _, suffix := range venueSuffixes {
		if ticker, ok := strings.CutSuffix(upper, suffix); ok {
			return in.exactly(ticker)
		}
	}
	return "", false
}

// exactly is issuerOf without the slower search for similar issuers.
func (in *importer) exactly(s string) (id string, known bool) {
	if found := in.now.Directory().Lookup(s); len(found) > 0 {
		return found[0].Issuer.ID, len(found) == 1
	}
	if in.now.KnowsIssuer(s) {
		return disclosure.IssuerKey(s), true
	}
	return query.RegisteredIssuer(in.now, s)
}

// readFilter reads a saved search.
func (in *importer) readFilter(l line, query string) {
	values, err := url.ParseQuery(query)
	p := in.params(values)
	var f disclosure.Filter
	if err == nil {
		f = p.LiveFilter(in.now)
		err = p.Err()
	}
	if err != nil {
		in.add(l, query, err.Error(), nil)
		return
	}
	in.filters = append(in.filters, watchlist.SavedSearch{Name: in.cell(l, in.nameIn), Filter: f})
}

// miss records a line that names no issuer.
func (in *importer) miss(l line, candidates []string) {
	if len(candidates) == 0 {
		in.add(l, strings.Join(l.cells, string(l.comma)+" "), "The line has no text that may name an issuer.", nil)
		return
	}
	named := candidates[0]
	if in.columns != nil && in.nameIn >= 0 {
		named = candidates[len(candidates)-1] // the name is the last
	}
	if in.suggested++; in.suggested > maxSuggested {
		in.add(l, named, "The issuer is not known.", nil)
		return
	}
	why := &search.Unresolved{Sentence: "The issuer is not known."}
	if _, unresolved := query.IssuerKey(in.now, named); unresolved != nil {
		why = unresolved
	}
	in.add(l, named, why.Sentence, why.Near)
}

// add records a line that adds nothing.
func (in *importer) add(l line, named, reason string, near []*search.Issuer) {
	missed := NotFound{
		Line:   l.number,
		Text:   text.ClipBytes(named, maxRepeated),
		Reason: reason,
		Near:   make([]ListedIssuer, 0, len(near)),
	}
	for _, e := range near {
		missed.Near = append(missed.Near, newListedIssuer(e.Issuer.ID, in.now))
	}
	in.found.NotFound = append(in.found.NotFound, missed)
}

// addTo adds the entries that were found to a list, and counts the new ones. It may be
// called again.
func (in *importer) addTo(d *watchlist.Draft) {
	in.found.Added = 0
	for _, id := range in.issuers {
		if !d.Has(id) {
			d.Issuers = append(d.Issuers, id)
			in.found.Added++
		}
	}
	for _, f := range in.filters {
		same := func(s watchlist.SavedSearch) bool { return s.Filter == f.Filter }
		if !slices.ContainsFunc(d.Filters, same) {
			d.Filters = append(d.Filters, f)
			in.found.Added++
		}
	}
	in.found.Present = len(in.issuers) + len(in.filters) - in.found.Added
}
