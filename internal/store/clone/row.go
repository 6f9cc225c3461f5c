package clone

import (
	"cmp"
	"context"
	"crypto/sha256"
	stdbinary "encoding/binary"
	"strings"
	"time"

	"pregon/internal/store/relational"
)

// row is a row of a table, in the order of its columns.
type row struct {
	values []any // string, int64, *int64, bool, time.Time, []byte or []string
	digest [sha256.Size]byte
	size   int
}

// destinations returns what a row of these columns is scanned into.
func destinations(columns []column) []any {
	dest := make([]any, len(columns))
	for i, c := range columns {
		switch c.kind {
		case text:
			dest[i] = new(string)
		case integer:
			dest[i] = new(int64)
		case nullable:
			dest[i] = new(*int64)
		case boolean:
			dest[i] = new(bool)
		case instant:
			dest[i] = new(time.Time)
		case binary:
			dest[i] = new([]byte)
		case texts:
			dest[i] = new([]string)
		}
	}
	return dest
}

func newRow(dest []any) row {
	r := row{values: make([]any, len(dest))}
	for i, d := range dest {
		switch d := d.(type) {
		case *string:
			r.values[i] = *d
		case *int64:
			r.values[i] = *d
		case **int64:
			r.values[i] = *d
		case *bool:
			r.values[i] = *d
		case *time.Time:
			r.values[i] = *d
		case *[]byte:
			r.values[i] = relational.NotNull(*d)
		case *[]string:
			r.values[i] = relational.NotNull(*d)
		}
	}
	r.sum()
	return r
}

// sum sets the digest and the size. Every value is preceded by its length, so that
// rows with different values have different digests.
func (r *row) sum() {
	h := sha256.New()
	number := func(n int64) { _, _ = h.Write(stdbinary.BigEndian.AppendUint64(nil, uint64(n))) }
	write := func(b []byte) {
		number(int64(len(b)))
		_, _ = h.Write(b)
		r.size += len(b)
	}
	for _, v := range r.values {
		switch v := v.(type) {
		case string:
			write([]byte(v))
		case []byte:
			write(v)
		case []string:
			number(int64(len(v)))
			for _, s := range v {
				write([]byte(s))
			}
		case int64:
			number(v)
		case bool:
			number(map[bool]int64{true: 1}[v])
		case *int64:
			if v == nil {
				write(nil)
				continue
			}
			write(stdbinary.BigEndian.AppendUint64(nil, uint64(*v)))
		case time.Time:
			if v.IsZero() {
				write(nil)
				continue
			}
			write(stdbinary.BigEndian.AppendUint64(nil, uint64(v.UnixMicro())))
		}
	}
	h.Sum(r.digest[:0])
}

// arguments returns the values for a statement.
func arguments(values []any) []any {
	args := make([]any, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case time.Time:
			if !v.IsZero() {
				args[i] = v
			}
		case *int64:
			if v != nil {
				args[i] = *v
			}
		default:
			args[i] = v
		}
	}
	return args
}

// compare compares the first values of two rows, their keys.
func compare(a, b row, keys int) int {
	for i := range keys {
		order := 0
		switch v := a.values[i].(type) {
		case string:
			order = strings.Compare(v, b.values[i].(string))
		case int64:
			order = cmp.Compare(v, b.values[i].(int64))
		case time.Time:
			order = v.Compare(b.values[i].(time.Time))
		}
		if order != 0 {
			return order
		}
	}
	return 0
}

// reader reads the rows of a table in the order of their keys, page by page, so
// that neither side has a query that runs for as long as the copy.
type reader struct {
	db     relational.DB
	table  *table
	sqlite bool

	rows   relational.Rows
	found  int // in the page
	last   []any
	ended  bool
	count  int64
	digest [sha256.Size]byte // of the rows that were read
}

// next returns the next row, false at the end.
func (r *reader) next(ctx context.Context) (row, bool, error) {
	for {
		if r.ended {
			return row{}, false, nil
		}
		if r.rows == nil {
			rows, err := r.db.Query(ctx, r.table.selection(r.sqlite, r.last == nil), r.last...)
			if err != nil {
				return row{}, false, err
			}
			r.rows, r.found = rows, 0
		}
		if r.rows.Next() {
			return r.scan()
		}
		err := r.rows.Err()
		r.close()
		if err != nil {
			return row{}, false, err
		}
		r.ended = len(r.table.key) == 0 || r.found < r.table.page()
	}
}

func (r *reader) scan() (row, bool, error) {
	dest := destinations(r.table.columns())
	if err := r.rows.Scan(append([]any{}, dest...)...); err != nil {
		return row{}, false, err
	}
	found := newRow(dest)
	r.found++
	r.last = arguments(found.values[:len(r.table.key)])
	r.count++
	r.digest = sha256.Sum256(append(r.digest[:], found.digest[:]...))
	return found, true, nil
}

func (r *reader) close() {
	if r.rows != nil {
		r.rows.Close()
		r.rows = nil
	}
}
