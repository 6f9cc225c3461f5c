package watchlist

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/push/events"
	"pregon/internal/store"
)

const kind = "watchlist" // of the store's records

// Draft is what the account of a list chooses.
type Draft struct {
	Name    string        `json:"name"`
	Issuers []string      `json:"issuers,omitempty"` // as disclosure.IssuerKey leaves them, each once
	Filters []SavedSearch `json:"-"`                 // stored as savedRecord
}

// SavedSearch is a filter with a name.
type SavedSearch struct {
	Name   string
	Filter disclosure.Filter
}

// List is a watchlist. Its tags are those of the stored record.
type List struct {
	ID      string `json:"id"`
	Account string `json:"owner"` // the account that it belongs to
	// Key is the key that created it, empty if the account itself created it.
	Key string `json:"key,omitempty"`
	Draft
	Order     int64     `json:"order"` // lists with a lower one are first
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`

	Share *Link `json:"-"` // for others; nil if the list is not shared
	Feed  *Link `json:"-"` // for programs that read feeds and calendars; nil if there is none

	revision int64
}

// Len returns the number of entries.
func (d *Draft) Len() int { return len(d.Issuers) + len(d.Filters) }

// Has reports whether an issuer is in the list.
func (d *Draft) Has(issuer string) bool { return slices.Contains(d.Issuers, issuer) }

// clone returns a draft that shares nothing with d.
func (d *Draft) clone() Draft {
	return Draft{
		Name:    d.Name,
		Issuers: slices.Clone(d.Issuers),
		Filters: slices.Clone(d.Filters),
	}
}

// equal reports whether two drafts say the same.
func (d *Draft) equal(other Draft) bool {
	return d.Name == other.Name &&
		slices.Equal(d.Issuers, other.Issuers) &&
		slices.Equal(d.Filters, other.Filters)
}

// entries returns what the list names.
func (d *Draft) entries() *disclosure.Entries {
	out := &disclosure.Entries{Issuers: slices.Clone(d.Issuers)}
	for _, s := range d.Filters {
		out.Filters = append(out.Filters, s.Filter)
	}
	return out
}

// record is a list as it is stored.
type record struct {
	List
	Filters []savedRecord `json:"filters,omitempty"`
	Share   *linkRecord   `json:"share,omitempty"`
	Feed    *linkRecord   `json:"feed,omitempty"`
}

// savedRecord is a saved search as it is stored.
type savedRecord struct {
	Name   string              `json:"name,omitempty"`
	Filter events.FilterRecord `json:"filter"`
}

func (l *List) body() (string, error) {
	r := record{
		List:  *l,
		Share: l.Share.record(),
		Feed:  l.Feed.record(),
	}
	for _, s := range l.Filters {
		r.Filters = append(r.Filters, savedRecord{s.Name, events.FilterRecord(s.Filter)})
	}
	body, err := json.Marshal(r)
	return string(body), err
}

// readRecord returns a stored list. Its links are sealed.
func readRecord(stored store.Record) (List, error) {
	var r record
	if err := json.Unmarshal([]byte(stored.Body), &r); err != nil {
		return List{}, err
	}
	if r.ID != stored.ID {
		return List{}, fmt.Errorf("its body has the id %q", r.ID)
	}
	l := r.List
	for _, s := range r.Filters {
		l.Filters = append(l.Filters, SavedSearch{s.Name, disclosure.Filter(s.Filter)})
	}
	l.Share = r.Share.link()
	l.Feed = r.Feed.link()
	l.revision = stored.Revision
	return l, nil
}
