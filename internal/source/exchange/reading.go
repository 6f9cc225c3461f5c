package exchange

import (
	"encoding/json"
	"errors"
	"fmt"
)

// listReader collects the pages of a list.
type listReader struct {
	rows  []json.RawMessage
	seen  map[string]bool // rows as text: a page may overlap the previous one
	total int             // from the first page that has it, or unknown
}

// add appends a page and reports whether the list is complete.
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
	for _, row := range p.rows { // afterwards, since a page may contain a row twice
		r.seen[string(row)] = true
	}
	stuck := len(r.rows) == before
	switch { // a list may be longer than its total, but not shorter
	case stuck && len(p.rows) > 0:
		return false, errors.New("it repeats a page")
	case !p.more && (r.total == unknown || len(r.rows) >= r.total):
		return true, nil
	case stuck:
		return false, fmt.Errorf("it ends after %d rows", len(r.rows))
	}
	return false, nil
}
