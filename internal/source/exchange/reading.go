package exchange

import (
	"encoding/json"
	"errors"
	"fmt"
)

// reading is the part of a list that was read so far.
type listReader struct {
	rows  []json.RawMessage
	seen  map[string]bool // rows, to the letter: a page can overlap the one before
	total int             // as the first page that told it said, or unknown
}

// add lays the next page on and reports whether the list is whole.
func (r *listReader) add(p page) (done bool, err error) {
	if r.total == unknown {
		r.total = p.total
	}
	if p.total != unknown && p.total != r.total {
		return false, errors.New("its length changed between two pages")
	}
	before := len(r.rows)
	for _, row := range p.rows {
		if !r.seen[string(row)] {
			r.rows = append(r.rows, row)
		}
	}
	for _, row := range p.rows { // only now, since a page may have the same row twice
		r.seen[string(row)] = true
	}
	stuck := len(r.rows) == before
	switch { // a list may be longer than it says, asked for all of it, but never shorter
	case stuck && len(p.rows) > 0:
		return false, errors.New("it repeats a page")
	case !p.more && (r.total == unknown || len(r.rows) >= r.total):
		return true, nil
	case stuck:
		return false, fmt.Errorf("it ends after %d rows", len(r.rows))
	}
	return false, nil
}
