package tools

import (
	"fmt"
	"strings"

	"pregon/internal/catalog"
	"pregon/internal/mcp/quote"
	"pregon/internal/query"
)

// listPage is a page of a list as a result: each row as JSON and as a line of text. It has
// as many rows as fit in both together, since a host that shows the text alone must not miss
// one.
type listPage struct {
	things string // the rows of the list, in the plural
	order  string
	hint   string // if it is empty
	notice string // if it is not
	total  int    // as the result has it
	all    int    // rows on all pages
	page   int
	limit  int

	rows  [][]byte // encoded
	lines [][]byte
}

// aroundLines is more than the bytes of a text of a list that are neither lines nor a notice.
const aroundLines = 250

// newListPage returns a page without rows; total counts all rows of the list.
func newListPage(things, order string, total, page, limit int) *listPage {
	return &listPage{
		things: things,
		order:  order,
		notice: quote.Notice,
		total:  total,
		all:    total,
		page:   page,
		limit:  limit,
	}
}

// add adds a row with its line.
func (l *listPage) add(row any, line []byte) error {
	b, err := query.Encode(row)
	if err == nil {
		l.addEncoded(shrink(b, maxRow), line)
	}
	return err
}

// addEncoded adds a row that is encoded already.
func (l *listPage) addEncoded(row, line []byte) {
	l.rows = append(l.rows, row)
	l.lines = append(l.lines, line)
}

// offset is the number of rows on the pages before.
func (l *listPage) offset() int { return (l.page - 1) * l.limit }

// fitting returns how many rows fit, at least one if there are any.
func (l *listPage) fitting() int {
	size := aroundLines + len(l.notice)
	for i, row := range l.rows {
		size += len(row) + len(",") + len(l.lines[i]) + len("\n")
		if i > 0 && size > maxJSON+maxText {
			return i
		}
	}
	return len(l.rows)
}

// cutWhole removes the rows that do not fit from a list without pages, and returns their
// number.
func (l *listPage) cutWhole() int {
	shown := l.fitting()
	left := len(l.rows) - shown
	l.rows = l.rows[:shown]
	l.lines = l.lines[:shown]
	return left
}

// cut removes the rows that do not fit, and returns the page after the others.
func (l *listPage) cut() (next pageAfter, more bool) {
	shown := l.fitting()
	next = pageAfter{l.page + 1, l.limit}
	if shown < len(l.rows) {
		shown, next = nextPage(l.offset(), shown, l.limit)
	}
	l.rows = l.rows[:shown]
	l.lines = l.lines[:shown]
	return next, l.offset()+shown < l.all
}

// result returns the page as a result. Its object has the members too, which begin with a
// comma if there are any.
func (l *listPage) result(s *Service, snapshot *catalog.Snapshot, members []byte) Result {
	next, more := l.cut()
	b := fmt.Appendf(l.data(), `,"total":%d,"page":%d,"limit":%d`, l.total, l.page, l.limit)
	object := appendEnd(append(b, members...), snapshot, next, more)
	return Result{object, s.Simulated() + l.text(s.nowInMadrid(), next, more)}
}

// data returns the start of an object, with the rows.
func (l *listPage) data() []byte {
	b := []byte(`{"data":[`)
	for i, row := range l.rows {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, row...)
	}
	return append(b, ']')
}

// text returns the lines, with what is before and after them.
func (l *listPage) text(now string, next pageAfter, more bool) string {
	if len(l.lines) == 0 {
		return fmt.Sprintf("No %s here (%d found in all). %s%s", strings.ToLower(l.things), l.all, now, l.hint)
	}
	first := l.offset() + 1
	b := fmt.Appendf(nil, "%s %d to %d of %d, %s. %s %s\n", l.things, first, first+len(l.lines)-1, l.all, l.order,
		now, l.notice)
	for _, line := range l.lines {
		b = append(append(b, line...), '\n')
	}
	return string(appendMore(b, next, more))
}
