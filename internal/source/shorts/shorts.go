// Package shorts reads the register of net short positions, which the regulator
// publishes as a workbook with the present positions, the series of their notices, and
// an archive of all notices.
//
// It finds sheets and columns by their labels and takes a row as a whole or not at all.
// A position that is missing from the present ones has ended, so that a row that is not
// understood makes the whole workbook unusable: Parse says where it is. What is odd
// but understood is a finding.
package shorts

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"pregon/internal/disclosure"
	"pregon/internal/document/extract/xls"
)

// Register is the content of the workbook.
type Register struct {
	Published disclosure.Day
	Current   []Row // the newest notice of each position of at least the threshold, and those just below it
	Series    []Row // all notices of the present positions
	Previous  []Row // the archive; it overlaps with Series, and repeats rows

	Findings []Finding
	Omitted  int // findings above the limit
}

// Row is a notice: the net short position of a holder in a share on a day.
type Row struct {
	Line    int // of its sheet, from 1
	LEI     string
	ISIN    string // in capitals
	RawISIN string // as written, without surrounding spaces
	Issuer  string
	Name    string // of the holder, as written
	Day     disclosure.Day
	Percent string // a decimal of the capital, such as 0.49; 0 closes the position
}

// Key identifies a notice.
type Key struct {
	LEI, ISIN, Name string
	Day             disclosure.Day
	Percent         string
}

// Key returns what identifies the notice.
func (r *Row) Key() Key { return Key{r.LEI, r.ISIN, r.Name, r.Day, r.Percent} }

// Pair is a holder and a share. Its notices follow each other.
type Pair struct{ LEI, ISIN, Name string }

// Pair returns the holder and the share of the notice.
func (r *Row) Pair() Pair { return Pair{r.LEI, r.ISIN, r.Name} }

// Closed reports whether the notice closes the position.
func (r *Row) Closed() bool { return r.Percent == "0" }

// Finding is something unexpected that does not keep the register from being used.
type Finding struct {
	Sheet string
	Line  int // 0 for the sheet as a whole
	Text  string
}

func (f Finding) String() string {
	if f.Line == 0 {
		return fmt.Sprintf("sheet %q: %s", f.Sheet, f.Text)
	}
	return fmt.Sprintf("sheet %q, row %d: %s", f.Sheet, f.Line, f.Text)
}

// maxFindings bounds the findings that are kept.
const maxFindings = 100

func (r *Register) find(sheet string, line int, format string, args ...any) {
	if len(r.Findings) == maxFindings {
		r.Omitted++
		return
	}
	r.Findings = append(r.Findings, Finding{sheet, line, fmt.Sprintf(format, args...)})
}

// Error is the error of a workbook that is not the register, or has a place that is
// not understood. Another attempt with the same workbook has the same result.
type Error struct {
	Sheet  string // empty for the workbook as a whole
	Line   int    // 0 for the sheet as a whole
	Column string // empty for the row as a whole
	Reason string
}

func (e *Error) Error() string {
	place := ""
	if e.Sheet != "" {
		place = fmt.Sprintf(", sheet %q", e.Sheet)
	}
	if e.Line > 0 {
		place += fmt.Sprintf(", row %d", e.Line)
	}
	if e.Column != "" {
		place += ", column " + e.Column
	}
	return "the workbook of net short positions" + place + ": " + e.Reason
}

// IsRefused reports whether err is an *Error.
func IsRefused(err error) bool {
	_, ok := errors.AsType[*Error](err)
	return ok
}

// Parse returns the register in a workbook. The error is an *Error.
func Parse(book xls.Book) (Register, error) {
	var r Register
	sheets, err := r.sheets(book)
	if err != nil {
		return Register{}, err
	}
	if r.Published, err = published(sheets[dateSheet]); err != nil {
		return Register{}, err
	}
	if r.Current, err = r.table(sheets[current]); err != nil {
		return Register{}, err
	}
	if r.Series, err = r.table(sheets[series]); err != nil {
		return Register{}, err
	}
	if r.Previous, err = r.table(sheets[previous]); err != nil {
		return Register{}, err
	}
	r.check(sheets)
	return r, nil
}

// Notice is a notice of any sheet.
type Notice struct {
	Row
	Current bool // it is one of the present ones
}

// Union returns the different notices of all sheets, those of a pair by day, and
// whether they are current. A notice has the spelling of the first sheet that has it,
// in the order Current, Series, Previous.
func (r *Register) Union() []Notice {
	seen := make(map[Key]bool, len(r.Previous))
	var all []Notice
	for n, rows := range [][]Row{r.Current, r.Series, r.Previous} {
		for _, row := range rows {
			if key := row.Key(); !seen[key] {
				seen[key] = true
				all = append(all, Notice{Row: row, Current: n == 0})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Notice) int {
		return cmp.Or(
			cmp.Compare(a.Day, b.Day),
			cmp.Compare(a.ISIN, b.ISIN),
			cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.LEI, b.LEI),
			cmp.Compare(a.Percent, b.Percent),
		)
	})
	return all
}
