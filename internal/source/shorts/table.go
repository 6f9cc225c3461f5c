package shorts

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"pregon/internal/disclosure"
	"pregon/internal/document/extract/xls"
	"pregon/internal/source/markup"
	"pregon/internal/text"
)

// sheetKind is what a sheet has.
type sheetKind int

const (
	dateSheet sheetKind = iota
	current
	series
	previous
	sheetKinds
)

// sheetWords are the words of which one is in the name of a sheet, folded.
var sheetWords = [sheetKinds][]string{
	dateSheet: {"date", "fecha"},
	current:   {"current", "ultima"},
	series:    {"series", "serie"},
	previous:  {"previous", "anteriores"},
}

// sheets finds the sheets of the register. Others should be empty.
func (r *Register) sheets(book xls.Book) (found [sheetKinds]*xls.Sheet, err error) {
	for n := range book.Sheets {
		s := &book.Sheets[n]
		words := text.Words(strings.ReplaceAll(s.Name, "_", " "))
		kind := slices.IndexFunc(sheetWords[:], func(any []string) bool {
			return slices.ContainsFunc(any, func(word string) bool { return slices.Contains(words, word) })
		})
		switch {
		case kind < 0 && len(s.Rows) > 0:
			r.find(shown(s.Name), 0, "it is unknown and has %d rows, which are not read", len(s.Rows))
		case kind < 0:
		case found[kind] != nil:
			return found, &Error{Sheet: shown(s.Name), Reason: fmt.Sprintf("it has the same name as %q", shown(found[kind].Name))}
		default:
			found[kind] = s
		}
	}
	for kind, s := range found {
		if s == nil {
			return found, &Error{Reason: fmt.Sprintf("it has no sheet with the name of %q", sheetWords[kind][0])}
		}
	}
	return found, nil
}

// shown returns a text of the workbook for an error.
func shown(s string) string { return text.Clip(markup.Collapse(s), 80) }

// published returns the only day in a sheet, besides labels.
func published(s *xls.Sheet) (disclosure.Day, error) {
	var days []disclosure.Day
	for _, row := range s.Rows {
		for _, c := range row.Cells {
			if day, ok := disclosure.ParseDay(markup.Collapse(c.String())); ok && !slices.Contains(days, day) {
				days = append(days, day)
			}
		}
	}
	if len(days) != 1 {
		return 0, &Error{Sheet: shown(s.Name), Reason: fmt.Sprintf("it has %d days of the form 2006-01-02 and not one", len(days))}
	}
	return days[0], nil
}

// field is a column of the register.
type field int

const (
	lei field = iota
	isin
	issuer
	holder
	day
	percent
	fields
)

// labels are the labels of a column in both languages. A header has one or both, with
// a slash between them.
var labels = [fields][]string{
	lei:     {"lei"},
	isin:    {"isin"},
	issuer:  {"emisor", "issuer"},
	holder:  {"tenedor de la posicion", "position holder"},
	day:     {"fecha posicion", "position date"},
	percent: {"posicion corta", "net short position"}, // and (%), which has no letters
}

// fieldOf returns the column of a header.
func fieldOf(header string) (field, bool) {
	for part := range strings.SplitSeq(header, "/") {
		folded := text.Fold(part)
		n := slices.IndexFunc(labels[:], func(any []string) bool { return slices.Contains(any, folded) })
		if n >= 0 && (field(n) != percent || strings.Contains(header, "%")) {
			return field(n), true
		}
	}
	return 0, false
}

// table is a sheet that is being read.
type table struct {
	sheet   *xls.Sheet
	columns [fields]int
}

// table returns the rows of a sheet. The first row that has a value has the headers.
func (r *Register) table(s *xls.Sheet) ([]Row, error) {
	t := table{sheet: s}
	if len(s.Rows) == 0 {
		return nil, t.refuse(0, -1, "it is empty")
	}
	if err := t.headers(r); err != nil {
		return nil, err
	}
	data := s.Rows[1:]
	if len(data) == 0 {
		return nil, t.refuse(0, -1, "it has headers and no rows: the register is never empty")
	}
	rows := make([]Row, 0, len(data))
	for n := range data {
		row, err := t.row(data[n])
		if err != nil {
			return nil, err
		}
		if last := s.Rows[n].Number; row.Line != last+1 {
			r.find(shown(s.Name), last+1, "%d rows without a value", row.Line-last-1)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func (t *table) refuse(line, column int, format string, args ...any) error {
	e := &Error{Sheet: shown(t.sheet.Name), Line: line, Reason: fmt.Sprintf(format, args...)}
	if column >= 0 {
		e.Column = xls.ColumnName(column)
	}
	return e
}

// headers finds the columns by the first row.
func (t *table) headers(r *Register) error {
	first := t.sheet.Rows[0]
	for n := range t.columns {
		t.columns[n] = -1
	}
	for _, c := range first.Cells {
		header := markup.Collapse(c.String())
		f, ok := fieldOf(header)
		switch {
		case !ok && header != "":
			r.find(shown(t.sheet.Name), first.Number, "the column %s %q is unknown and not read", xls.ColumnName(c.Column), shown(header))
		case !ok:
		case t.columns[f] >= 0:
			return t.refuse(first.Number, c.Column, "its header %q is that of column %s too", shown(header), xls.ColumnName(t.columns[f]))
		default:
			t.columns[f] = c.Column
		}
	}
	for f, column := range t.columns {
		if column < 0 {
			return t.refuse(first.Number, -1, "no header is %q", strings.Join(labels[f], " / "))
		}
	}
	return nil
}

// Limits of values.
const (
	maxName     = 300 // characters
	maxDecimals = 6   // the register has three
	mostPercent = 100
)

// row reads a row.
func (t *table) row(row xls.Row) (Row, error) {
	out := Row{Line: row.Number}
	for f := range fields {
		c := row.Cell(t.columns[f])
		value := markup.Collapse(c.String())
		ok, want := out.set(f, c.Kind, value)
		if !ok {
			return Row{}, t.refuse(row.Number, c.Column, "%q is not %s", shown(value), want)
		}
	}
	if !disclosure.IsISIN(out.ISIN) {
		return Row{}, t.refuse(row.Number, t.columns[isin], "%q is not an ISIN", shown(out.RawISIN))
	}
	return out, nil
}

// set sets a field to the value of a cell. Else it returns what the value has to be.
func (r *Row) set(f field, kind xls.Kind, value string) (ok bool, want string) {
	if f == percent {
		r.Percent = value
		return kind == xls.Number && isPercentage(value), fmt.Sprintf("a number from 0 to %d with at most %d decimals", mostPercent, maxDecimals)
	}
	if kind != xls.Text {
		return false, "a text"
	}
	switch f {
	case lei:
		r.LEI = strings.ToUpper(value)
		return hasFormOfLEI(r.LEI), "a LEI of 20 letters and digits"
	case isin:
		r.RawISIN, r.ISIN = value, strings.ToUpper(value)
		return true, ""
	case issuer:
		r.Issuer = value
		return isName(value), "a name"
	case holder:
		r.Name = value
		return isName(value), "a name"
	}
	r.Day, ok = disclosure.ParseDay(value)
	return ok, "a day of the form 2006-01-02"
}

// isPercentage reports whether a decimal can be a percentage of the capital.
func isPercentage(s string) bool {
	whole, decimals, _ := strings.Cut(s, ".")
	if strings.HasPrefix(s, "-") || len(decimals) > maxDecimals || len(whole) > 3 {
		return false
	}
	return len(whole) < 3 || whole == "100" && decimals == ""
}

// hasFormOfLEI reports whether s has 20 capital letters and digits. Wrong check digits
// are a finding: the register is not known to check them.
func hasFormOfLEI(s string) bool {
	if len(s) != 20 {
		return false
	}
	return !strings.ContainsFunc(s, func(c rune) bool { return (c < '0' || c > '9') && (c < 'A' || c > 'Z') })
}

func isName(s string) bool {
	return strings.ContainsFunc(s, unicode.IsLetter) && utf8.RuneCountInString(s) <= maxName
}
