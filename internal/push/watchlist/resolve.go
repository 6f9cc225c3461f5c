package watchlist

import (
	"strings"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
)

// linkMark separates, in a reference to a list by a link, the id of the list from the
// beginning of the digest of the link's secret. A reference is not a secret.
const (
	linkMark   = "~"
	markLength = 16 // hexadecimal digits
)

// Resolve returns what a value of the parameter watchlist names: the id of a list that the
// caller may see, or the secret of a link. The entries are those of now. The id is what
// Entries takes: for a link it ends when the link does.
//
// Nothing is read from the store. A list that another process made a moment ago may not be
// known yet.
func (r *Registry) Resolve(by access.Principal, value string) (id string, entries *disclosure.Entries, err error) {
	known := r.known.Load()
	if strings.HasPrefix(value, SharePrefix) || strings.HasPrefix(value, FeedPrefix) {
		digest := digestOf(value)
		e := known.links[digest]
		if e == nil || r.linkOf(e, digest) == nil {
			return "", nil, fault.New(fault.NotFound, "This link to a watchlist does not exist, or was ended: "+
				"ask for a new one.")
		}
		return e.ID + linkMark + digest[:markLength], e.entries, nil
	}
	if !strings.HasPrefix(value, idPrefix) {
		return "", nil, fault.New(fault.Invalid, "A watchlist is named by its id, which begins with %s, or by the secret "+
			"of a link to it.", idPrefix)
	}
	if by.Mode == access.Anonymous {
		return "", nil, fault.New(fault.Unauthorized, "A watchlist is read with a key or token of its account, "+
			"or with a link to it.")
	}
	e := known.byID[value]
	if e == nil || !r.o.Reach(by).Has(e.Account, e.Key) {
		return "", nil, unknown(value)
	}
	return e.ID, e.entries, nil
}

// Entries returns what a list names now. They are the same in memory until the list
// changes. They are nil if the list or the link does not exist any more: then it selects
// nothing.
func (r *Registry) Entries(id string) *disclosure.Entries {
	id, mark, linked := strings.Cut(id, linkMark)
	e := r.known.Load().byID[id]
	if e == nil || linked && r.linkOf(e, mark) == nil {
		return nil
	}
	return e.entries
}

// linkOf returns the link of a list whose secret has a digest that begins so. It is nil if
// there is none, or if who made it does not have access any more.
func (r *Registry) linkOf(e *entry, digest string) *Link {
	if len(digest) < markLength {
		return nil
	}
	for _, l := range []*Link{e.Share, e.Feed} {
		if l != nil && strings.HasPrefix(l.digest, digest) && r.o.Serves(e.Account, l.Key) {
			return l
		}
	}
	return nil
}

// NameOf returns the name of the list with an id or a reference, for those who may read
// its entries.
func (r *Registry) NameOf(id string) (name string, known bool) {
	id, _, _ = strings.Cut(id, linkMark)
	e := r.known.Load().byID[id]
	if e == nil {
		return "", false
	}
	return e.Name, true
}
