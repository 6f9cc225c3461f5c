package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"pregon/internal/query"
	"pregon/internal/server/content"
	"pregon/internal/server/problem"
)

// rowList is a list whose rows are encoded one after the other, so that a table of
// thousands of rows is never in memory as a whole.
type rowList struct {
	count  int
	total  int                          // rows that match
	encode func(b []byte, i int) []byte // appends a row as JSON
	hash   uint64                       // of the rows
	paged  bool                         // the list has pages, which page and limit describe
	page   int
	limit  int
}

// hashedRows is the number of rows between two checks of a context.
const hashedRows = 256

// addHash adds all rows to the hash.
func (l *rowList) addHash(ctx context.Context) error {
	var row []byte
	for i := range l.count {
		if i%hashedRows == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		row = l.encode(row[:0], i)
		l.hash = l.hash*hashPrime + content.Hash(row)
	}
	return nil
}

// hashPrime combines hashes, in an order.
const hashPrime = 1099511628211

// rowsAsCSV returns a list of rows as CSV. The body has the first rows, and all of them
// if they are few.
func (a *API) rowsAsCSV(r *http.Request, columns []string, out response) response {
	header := csvHeader(r, out)
	rows := out.rows
	header.Set(totalHeader, strconv.Itoa(rows.total))
	if rows.paged && hasNext(rows.page, rows.limit, rows.count, rows.total) {
		a.linkNext(header, r, "page", strconv.Itoa(rows.page+1))
	}
	dialect := dialectOf(r)
	form := "csv " + string(dialect) + strconv.Itoa(rows.count) + variable(header)
	t := newTable(rows, columns, dialect)
	body := bytes.Clone(t.part())
	if t.next == rows.count {
		t = nil
	}
	return response{
		body:        body,
		rest:        t,
		contentType: content.CSVType,
		header:      header,
		maxAge:      out.maxAge,
		warnings:    out.warnings,
		widened:     out.widened,
		hash:        rows.hash*hashPrime + content.Hash([]byte(form)),
	}
}

// table encodes a list of rows as CSV in parts.
type table struct {
	rows   *rowList
	next   int // row
	row    []byte
	buffer bytes.Buffer
	out    *rowWriter
}

const (
	// tablePart is the size of a part in bytes, which the last row of the part exceeds.
	tablePart = 64 << 10
	// partTimeout and tableTimeout limit how long a reader may take for a part and for a
	// table: for as long, it holds a slot of its own and the snapshot of the catalogue.
	partTimeout  = 30 * time.Second
	tableTimeout = 2 * time.Minute
)

func newTable(rows *rowList, columns []string, dialect content.Dialect) *table {
	t := &table{rows: rows}
	t.out = newRowWriter(&t.buffer, columns, dialect)
	return t
}

// part returns the next rows, which are valid until the next call.
func (t *table) part() []byte {
	for t.next < t.rows.count && t.buffer.Len() < tablePart {
		t.row = t.rows.encode(t.row[:0], t.next)
		t.next++
		decoder := json.NewDecoder(bytes.NewReader(t.row))
		decoder.UseNumber() // large numbers stay as they are
		var row map[string]any
		_ = decoder.Decode(&row) // it was encoded by this program
		t.out.write(row)
	}
	t.out.out.Flush()
	return t.buffer.Bytes()
}

// writeAfter writes the body and then all other rows. A reader that is too slow is
// disconnected, and so notices that rows are missing.
func (t *table) writeAfter(w http.ResponseWriter, body []byte) {
	problem.Park(w)
	control := http.NewResponseController(w)
	end := time.Now().Add(tableTimeout)
	for {
		deadline := time.Now().Add(partTimeout)
		if deadline.After(end) {
			deadline = end
		}
		_ = control.SetWriteDeadline(deadline)
		if _, err := w.Write(body); err != nil {
			return
		}
		if t.next == t.rows.count {
			return
		}
		t.buffer.Reset()
		body = t.part()
	}
}

// isLargeTable reports whether a request is for a table of more rows than anyone may
// ask for. Such a table takes a slot for expensive requests.
func isLargeTable(r *http.Request) bool {
	if !isTable(r) {
		return false
	}
	n, err := strconv.Atoi(r.URL.Query().Get("limit"))
	return err == nil && n > query.DefaultTable
}
