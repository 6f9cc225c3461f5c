package account

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/push/watchlist"
	"pregon/internal/query"
	"pregon/internal/search"
	"pregon/internal/store"
)

// Watchlist is a list of issuers and saved searches.
type Watchlist struct {
	ID        string         `json:"id"`
	Key       *string        `json:"key"`
	Name      string         `json:"name"`
	Order     int            `json:"order"` // the place among the lists of the caller, from 1
	Entries   int            `json:"entries"`
	Issuers   []ListedIssuer `json:"issuers"`
	Filters   []SavedSearch  `json:"filters"`
	Share     *ShareLink     `json:"share"`
	Feed      *FeedLink      `json:"feed"`
	CreatedAt time.Time      `json:"created_at"`
	UpdatedAt time.Time      `json:"updated_at"`
}

// ListedIssuer is an issuer of a watchlist. The name is not known while the directory does
// not have the issuer.
type ListedIssuer struct {
	ID     string  `json:"id"`
	Name   *string `json:"name"`
	Ticker *string `json:"ticker"`
}

// SavedSearch is a filter of a watchlist, with a name that may be empty.
type SavedSearch struct {
	Name   string           `json:"name"`
	Filter query.FilterBody `json:"filter"`
}

// ShareLink is a link that lets others read a list.
type ShareLink struct {
	Secret    string    `json:"secret"`
	URL       string    `json:"url"`
	CreatedAt time.Time `json:"created_at"`
}

// FeedLink is the private address of the feeds and calendars of a list.
type FeedLink struct {
	Secret    string    `json:"secret"`
	Atom      string    `json:"atom"`
	JSON      string    `json:"json"`
	Calendar  string    `json:"calendar"`
	CreatedAt time.Time `json:"created_at"`
}

// Watchlists is the watchlists that the caller may see, in their order.
type Watchlists struct {
	Data   []Watchlist     `json:"data"`
	Limits WatchlistLimits `json:"limits"`
}

// WatchlistLimits are how many lists an account may have, and how many entries each.
type WatchlistLimits struct {
	Lists    int `json:"watchlists"`
	Entries  int `json:"entries"`
	Searches int `json:"filters"` // of the entries of a list
}

// WatchlistDraft is a request that makes or changes a watchlist. A change keeps what is
// absent.
type WatchlistDraft struct {
	Name    *string        `json:"name"`
	Order   *int           `json:"order"`
	Issuers *[]string      `json:"issuers"`
	Filters *[]SavedSearch `json:"filters"`
}

// WatchlistEntry is a request that adds an issuer to a list: by an identifier, a ticker or a
// name.
type WatchlistEntry struct {
	Issuer string `json:"issuer"`
}

// maxListedName is the length of the longest text that names an issuer, in bytes.
const maxListedName = 200

// newWatchlist returns a list as the API returns it. An application of OAuth does not get
// the secrets of links, which would outlast its grant.
func (s *Service) newWatchlist(by access.Principal, l watchlist.List, place int, now *catalog.Snapshot) Watchlist {
	out := Watchlist{
		ID:        l.ID,
		Key:       query.OrNull(l.Key),
		Name:      l.Name,
		Order:     place,
		Entries:   l.Len(),
		Issuers:   make([]ListedIssuer, 0, len(l.Issuers)),
		Filters:   make([]SavedSearch, 0, len(l.Filters)),
		CreatedAt: query.Madrid(l.CreatedAt),
		UpdatedAt: query.Madrid(l.UpdatedAt),
	}
	for _, id := range l.Issuers {
		out.Issuers = append(out.Issuers, newListedIssuer(id, now))
	}
	for _, f := range l.Filters {
		out.Filters = append(out.Filters, SavedSearch{f.Name, query.NewFilterBody(f.Filter)})
	}
	if application := by.Mode == access.ByToken && by.Credential != ""; !application {
		out.Share = s.newShareLink(l.Share)
		out.Feed = s.newFeedLink(l.Feed)
	}
	return out
}

func newListedIssuer(id string, now *catalog.Snapshot) ListedIssuer {
	e, known := now.Directory().Find(id)
	if !known {
		return ListedIssuer{ID: id}
	}
	return ListedIssuer{
		ID:     id,
		Name:   query.OrNull(e.Issuer.Name),
		Ticker: query.OrNull(e.Issuer.Ticker),
	}
}

func (s *Service) newShareLink(l *watchlist.Link) *ShareLink {
	if l == nil {
		return nil
	}
	return &ShareLink{
		Secret:    l.Secret,
		URL:       s.listAddress("/following", l),
		CreatedAt: query.Madrid(l.CreatedAt),
	}
}

func (s *Service) newFeedLink(l *watchlist.Link) *FeedLink {
	if l == nil {
		return nil
	}
	return &FeedLink{
		Secret:    l.Secret,
		Atom:      s.listAddress("/feed.atom", l),
		JSON:      s.listAddress("/feed.json", l),
		Calendar:  s.listAddress("/api/v1/calendar.ics", l),
		CreatedAt: query.Madrid(l.CreatedAt),
	}
}

// listAddress returns the address of a link to a list.
func (s *Service) listAddress(path string, l *watchlist.Link) string {
	return s.o.BaseURL + path + "?" + url.Values{"watchlist": {l.Secret}}.Encode()
}

// issuerOf returns the identifier under which a list has the issuer that a text names.
func issuerOf(now *catalog.Snapshot, text string) (id string, unresolved *search.Unresolved) {
	key, unresolved := query.IssuerKey(now, text)
	if unresolved != nil {
		return "", unresolved
	}
	if e, known := now.Directory().Find(key); known {
		return e.Issuer.ID, nil
	}
	return disclosure.IssuerKey(key), nil
}

// readIssuers returns the identifiers of the issuers that texts name. What a list has
// already stays in it, even if the directory does not know it now.
func readIssuers(texts []string, has func(string) bool, now *catalog.Snapshot) ([]string, error) {
	out := make([]string, 0, len(texts))
	var bad []fault.Field
	for i, text := range texts {
		id, field := readIssuer(fmt.Sprintf("issuers[%d]", i), text, has, now)
		if field != nil {
			if bad = append(bad, *field); len(bad) == maxBadIssuers {
				break
			}
		}
		out = append(out, id)
	}
	if len(bad) > 0 {
		return nil, &fault.Error{Kind: fault.Invalid, Message: fault.Describe(bad), Fields: bad}
	}
	return out, nil
}

// maxBadIssuers is how many texts that name no issuer an error has.
const maxBadIssuers = 20

// readIssuer returns the identifier of the issuer that a text names, or what is wrong with
// it. The name is that of the text in the request.
func readIssuer(name, text string, has func(string) bool, now *catalog.Snapshot) (id string, wrong *fault.Field) {
	if len(text) > maxListedName {
		tooLong := fault.NewField(name, "", "may have %d bytes at most", maxListedName)
		return "", &tooLong
	}
	if key := disclosure.IssuerKey(text); has(key) {
		return key, nil
	}
	if disclosure.IssuerKey(text) == "" {
		return "", &fault.Field{Name: name, Reason: "must name an issuer"}
	}
	id, unresolved := issuerOf(now, text)
	if unresolved == nil {
		return id, nil
	}
	near := make([]string, len(unresolved.Near))
	for i, e := range unresolved.Near {
		near[i] = e.Issuer.ID
	}
	return "", &fault.Field{
		Name:        name,
		Value:       text,
		Reason:      unresolved.Sentence,
		Sentence:    true,
		Suggestions: near,
	}
}

// apply sets the fields of a draft.
func (b WatchlistDraft) apply(d *watchlist.Draft, p *query.Params, now *catalog.Snapshot) (err error) {
	if b.Name != nil {
		d.Name = *b.Name
	}
	if b.Issuers != nil {
		if d.Issuers, err = readIssuers(*b.Issuers, d.Has, now); err != nil {
			return err
		}
	}
	if b.Filters != nil {
		d.Filters, err = readSearches(*b.Filters, d.Filters, p, now)
	}
	return err
}

// readSearches returns saved searches. One that is stored keeps its meaning.
func readSearches(
	asked []SavedSearch,
	stored []watchlist.SavedSearch,
	p *query.Params,
	now *catalog.Snapshot,
) ([]watchlist.SavedSearch, error) {
	if n := len(asked); n > watchlist.MostSearches {
		return nil, rejected("filters", "", "has %d saved searches, and %d are allowed in a list", n,
			watchlist.MostSearches)
	}
	out := make([]watchlist.SavedSearch, 0, len(asked))
	for i, one := range asked {
		if one.Filter.Watchlist != "" {
			return nil, rejected(fmt.Sprintf("filters[%d]", i), "", "must not name a watchlist: a saved search cannot use one")
		}
		f := one.Filter.Read(p, now)
		same := func(s watchlist.SavedSearch) bool {
			kept := f
			kept.Widen = s.Filter.Widen
			return kept == s.Filter
		}
		if i := slices.IndexFunc(stored, same); i >= 0 {
			f = stored[i].Filter
		}
		out = append(out, watchlist.SavedSearch{Name: one.Name, Filter: f})
	}
	return out, p.Err()
}

// CreateWatchlist makes a watchlist.
func (s *Service) CreateWatchlist(ctx context.Context, by access.Principal, asked WatchlistDraft) (Watchlist, error) {
	now, err := s.o.Query.Snapshot()
	if err != nil {
		return Watchlist{}, err
	}
	var draft watchlist.Draft
	if err := asked.apply(&draft, s.o.Query.NewParams(nil), now); err != nil {
		return Watchlist{}, err
	}
	return bounded(ctx, func(ctx context.Context) (Watchlist, error) {
		l, err := s.o.Watchlists.Create(ctx, s.o.Keys.Reach(by), draft)
		if err != nil {
			return Watchlist{}, err
		}
		if err := s.keep(ctx, by, func(ctx context.Context, r access.Reach) error {
			return s.o.Watchlists.Delete(ctx, r, l.ID)
		}); err != nil {
			return Watchlist{}, err
		}
		if asked.Order != nil {
			if l, err = s.move(ctx, by, l.ID, *asked.Order); err != nil {
				return Watchlist{}, err
			}
		}
		place := s.o.Watchlists.Place(s.o.Keys.Reach(by), l.ID)
		return s.newWatchlist(by, l, place, now), nil
	})
}

// ListWatchlists returns the watchlists that the caller may see.
func (s *Service) ListWatchlists(ctx context.Context, by access.Principal) (Watchlists, error) {
	now, err := s.o.Query.Loaded()
	if err != nil {
		return Watchlists{}, err
	}
	lists, err := bounded(ctx, func(ctx context.Context) ([]watchlist.List, error) {
		return s.o.Watchlists.List(ctx, s.o.Keys.Reach(by))
	})
	if err != nil {
		return Watchlists{}, err
	}
	out := Watchlists{Data: make([]Watchlist, 0, len(lists))}
	out.Limits.Lists, out.Limits.Entries = s.o.Watchlists.Limits()
	out.Limits.Searches = watchlist.MostSearches
	for i, l := range lists {
		out.Data = append(out.Data, s.newWatchlist(by, l, i+1, now))
	}
	return out, nil
}

// Watchlist returns a watchlist.
func (s *Service) Watchlist(ctx context.Context, by access.Principal, id string) (Watchlist, error) {
	return s.withList(ctx, by, func(ctx context.Context, reach access.Reach) (watchlist.List, error) {
		return s.o.Watchlists.Find(ctx, reach, id)
	})
}

// withList calls fn with a deadline for the store, and returns the list that it returns.
func (s *Service) withList(
	ctx context.Context, by access.Principal, fn func(context.Context, access.Reach) (watchlist.List, error),
) (Watchlist, error) {
	now, err := s.o.Query.Loaded()
	if err != nil {
		return Watchlist{}, err
	}
	return bounded(ctx, func(ctx context.Context) (Watchlist, error) {
		l, err := fn(ctx, s.o.Keys.Reach(by))
		if err != nil {
			return Watchlist{}, err
		}
		place := s.o.Watchlists.Place(s.o.Keys.Reach(by), l.ID)
		return s.newWatchlist(by, l, place, now), nil
	})
}

// ChangeWatchlist changes a watchlist.
func (s *Service) ChangeWatchlist(
	ctx context.Context,
	by access.Principal,
	id string,
	asked WatchlistDraft,
) (Watchlist, error) {
	now, err := s.o.Query.Snapshot()
	if err != nil {
		return Watchlist{}, err
	}
	return s.withList(ctx, by, func(ctx context.Context, reach access.Reach) (watchlist.List, error) {
		l, err := s.o.Watchlists.Update(ctx, reach, id, func(d *watchlist.Draft) error {
			return asked.apply(d, s.o.Query.NewParams(nil), now) // it may be called again
		})
		if err == nil && asked.Order != nil {
			l, err = s.move(ctx, by, id, *asked.Order)
		}
		return l, err
	})
}

// move puts a list at a place among those of the caller.
func (s *Service) move(ctx context.Context, by access.Principal, id string, place int) (watchlist.List, error) {
	return s.o.Watchlists.Move(ctx, s.o.Keys.Reach(by), id, place)
}

// DeleteWatchlist deletes a watchlist and ends its links.
func (s *Service) DeleteWatchlist(ctx context.Context, by access.Principal, id string) error {
	return store.Within(ctx, func(ctx context.Context) error {
		return s.o.Watchlists.Delete(ctx, s.o.Keys.Reach(by), id)
	})
}

// AddToWatchlist adds an issuer to a list. It does nothing if the list has it.
func (s *Service) AddToWatchlist(
	ctx context.Context,
	by access.Principal,
	id string,
	asked WatchlistEntry,
) (Watchlist, error) {
	now, err := s.o.Query.Snapshot()
	if err != nil {
		return Watchlist{}, err
	}
	return s.withList(ctx, by, func(ctx context.Context, reach access.Reach) (watchlist.List, error) {
		return s.o.Watchlists.Update(ctx, reach, id, func(d *watchlist.Draft) error {
			issuer, wrong := readIssuer("issuer", asked.Issuer, d.Has, now)
			if wrong != nil {
				bad := []fault.Field{*wrong}
				return &fault.Error{Kind: fault.Invalid, Message: fault.Describe(bad), Fields: bad}
			}
			d.Issuers = append(d.Issuers, issuer) // it is kept once
			return nil
		})
	})
}

// RemoveFromWatchlist removes an issuer from a list. It does nothing if the list does not
// have it.
func (s *Service) RemoveFromWatchlist(
	ctx context.Context,
	by access.Principal,
	id string,
	asked WatchlistEntry,
) (Watchlist, error) {
	now, err := s.o.Query.Loaded()
	if err != nil {
		return Watchlist{}, err
	}
	return s.withList(ctx, by, func(ctx context.Context, reach access.Reach) (watchlist.List, error) {
		return s.o.Watchlists.Update(ctx, reach, id, func(d *watchlist.Draft) error {
			issuer, wrong := readIssuer("issuer", asked.Issuer, d.Has, now)
			if wrong == nil {
				d.Issuers = slices.DeleteFunc(d.Issuers, func(key string) bool { return key == issuer })
			}
			return nil
		})
	})
}

// AddSearch adds a saved search to a list.
func (s *Service) AddSearch(
	ctx context.Context,
	by access.Principal,
	id string,
	asked SavedSearch,
) (Watchlist, error) {
	now, err := s.o.Query.Snapshot()
	if err != nil {
		return Watchlist{}, err
	}
	return s.withList(ctx, by, func(ctx context.Context, reach access.Reach) (watchlist.List, error) {
		return s.o.Watchlists.Update(ctx, reach, id, func(d *watchlist.Draft) error {
			added, err := readSearches([]SavedSearch{asked}, d.Filters, s.o.Query.NewParams(nil), now)
			d.Filters = append(d.Filters, added...)
			return err
		})
	})
}

// RemoveSearch removes the saved searches with a filter from a list. It does nothing if the
// list has none.
func (s *Service) RemoveSearch(
	ctx context.Context,
	by access.Principal,
	id string,
	filter query.FilterBody,
) (Watchlist, error) {
	has := func(one watchlist.SavedSearch) bool { return query.NewFilterBody(one.Filter) == filter }
	return s.withList(ctx, by, func(ctx context.Context, reach access.Reach) (watchlist.List, error) {
		return s.o.Watchlists.Update(ctx, reach, id, func(d *watchlist.Draft) error {
			d.Filters = slices.DeleteFunc(d.Filters, has)
			return nil
		})
	})
}

// ShareWatchlist creates the link that lets others read a list, unless it has one.
func (s *Service) ShareWatchlist(ctx context.Context, by access.Principal, id string) (Watchlist, error) {
	return s.withList(ctx, by, func(ctx context.Context, reach access.Reach) (watchlist.List, error) {
		return s.o.Watchlists.Share(ctx, reach, id)
	})
}

// EndWatchlistShare ends the link that lets others read a list.
func (s *Service) EndWatchlistShare(ctx context.Context, by access.Principal, id string) (Watchlist, error) {
	return s.withList(ctx, by, func(ctx context.Context, reach access.Reach) (watchlist.List, error) {
		return s.o.Watchlists.EndShare(ctx, reach, id)
	})
}

// RenewWatchlistFeed makes a new private address of the feeds and calendars of a list.
func (s *Service) RenewWatchlistFeed(ctx context.Context, by access.Principal, id string) (Watchlist, error) {
	return s.withList(ctx, by, func(ctx context.Context, reach access.Reach) (watchlist.List, error) {
		return s.o.Watchlists.RenewFeed(ctx, reach, id)
	})
}

// EndWatchlistFeed ends the private address of the feeds and calendars of a list.
func (s *Service) EndWatchlistFeed(ctx context.Context, by access.Principal, id string) (Watchlist, error) {
	return s.withList(ctx, by, func(ctx context.Context, reach access.Reach) (watchlist.List, error) {
		return s.o.Watchlists.EndFeed(ctx, reach, id)
	})
}
