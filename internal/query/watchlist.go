package query

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/push/events"
)

// Watchlists are the lists of accounts, which the parameter watchlist names.
type Watchlists interface {
	events.Lists
	// Resolve returns the list that a value names for a caller: an id, for callers of its
	// account, or the secret of a link, for any caller. The id is what Entries takes, and has no
	// secret.
	Resolve(by access.Principal, value string) (id string, entries *disclosure.Entries, err error)
	// NameOf returns the name of the list with an id that Resolve has returned.
	NameOf(id string) (name string, known bool)
}

// Lists returns the watchlists for callers that follow changes, nil if there are none.
func (q *Service) Lists() events.Lists {
	if q.Watchlists == nil {
		return nil
	}
	return q.Watchlists
}

// Parameters of a watchlist.
const (
	watchlistName = "watchlist"
	maxWatchlist  = 100 // bytes of an id or a secret
)

// For sets the caller, whose watchlists the parameters may name. Without it they may name
// none.
func (p *Params) For(by access.Principal) *Params {
	p.by = by
	return p
}

// watchlist reads the parameter watchlist and returns the id of the list and what it names. The
// value may be a secret and so is in no error.
func (p *Params) watchlist() (id string, entries *disclosure.Entries) {
	values := p.values[watchlistName]
	value := strings.TrimSpace(strings.Join(values, ""))
	switch {
	case value == "":
		return "", nil
	case len(values) > 1:
		p.Reject(watchlistName, "", "may be given once only")
		return "", nil
	case p.lists == nil:
		p.Reject(watchlistName, "", "is not available here: this service has no watchlists")
		return "", nil
	case len(value) > maxWatchlist:
		p.Reject(watchlistName, "", "must be the id of a watchlist, or the secret of a link to one")
		return "", nil
	}
	id, entries, err := p.lists.Resolve(p.by, value)
	e, ok := errors.AsType[*fault.Error](err)
	if ok && (e.Kind == fault.Invalid || e.Kind == fault.NotFound && p.inBody) {
		if e.Kind == fault.NotFound {
			value = "" // it may be a secret
		}
		p.rejectName(watchlistName, value, e.Parts(), nil)
		return "", nil
	}
	p.denied = err
	p.listID = id
	return id, entries
}

// ListName returns the name of the watchlist that was read, or "".
func (p *Params) ListName() string {
	if p.listID == "" {
		return ""
	}
	name, _ := p.lists.NameOf(p.listID)
	return name
}

// NamesWatchlist reports whether a query string names a watchlist. The answer is for who asked
// alone: nobody else may receive or keep it.
func NamesWatchlist(raw string) bool {
	if !strings.Contains(raw, watchlistName) && !strings.Contains(raw, "%") { // the name may be escaped
		return false
	}
	values, _ := url.ParseQuery(raw) // what can be read of it
	return slices.ContainsFunc(values[watchlistName], func(v string) bool { return strings.TrimSpace(v) != "" })
}

// KeepFilter reads a filter that is stored. Of a watchlist it has the id only, and the list must
// be one of the caller's: a link may end, and what is stored would end with it.
func (b FilterBody) KeepFilter(p *Params, s *catalog.Snapshot) disclosure.Filter {
	f := b.Read(p, s)
	if f.Watchlist != "" && f.Watchlist != strings.TrimSpace(b.Watchlist) {
		p.rejectName(watchlistName, "", fault.Text{Format: "A link to a watchlist cannot be stored in a filter: use the " +
			"id of a list of your account."}, nil)
	}
	f.Entries = nil
	return f
}

// withDocuments returns a filter whose watchlist has the documents that its saved searches find.
// There are none in a past state: former texts of documents are not kept.
func (q *Service) withDocuments(
	ctx context.Context,
	s *catalog.Snapshot,
	f disclosure.Filter,
) (disclosure.Filter, error) {
	if f.Entries == nil || !f.Entries.InDocument() || s.IsPast() {
		return f, nil
	}
	list := *f.Entries
	list.Found = make([]disclosure.DocumentSet, len(list.Filters))
	for i, saved := range list.Filters {
		if !saved.InDocument {
			continue
		}
		saved.InDocument = false
		found, _, err := q.inDocuments(ctx, s, saved)
		if err != nil {
			return f, err
		}
		list.Found[i] = found
	}
	f.Entries = &list
	return f, nil
}
