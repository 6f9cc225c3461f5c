package site

import (
	"net/url"
	"slices"
	"strings"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/query"
	"pregon/internal/site/render"
)

// maxFollowed is the number of issuers of a list that the browser keeps, which is that
// of the parameter issuer.
const maxFollowed = 50

// followingPage is the page of the companies that a reader follows. It is the same for
// everybody: the list is in the browser or in an account, and the script asks for it.
// Only a shared list is in the page.
type followingPage struct {
	Most    int
	List    string        // address of the list of reports of issuers
	Account string        // address of the lists of an account
	Find    string        // address at which names are looked up
	Shared  *followedList // nil: no list is shared
}

// FeedLinks returns the feeds of a list that is shared.
func (p *followingPage) FeedLinks() []render.Link {
	if p.Shared == nil || p.Shared.Listing == nil {
		return nil
	}
	return p.Shared.Listing.FeedLinks()
}

// following is the page without the list, or with a shared one.
func (s *Site) following(q *request) (*render.Page, error) {
	p := &render.Page{
		Template:    "following",
		Title:       q.edition.Text("following.title"),
		Description: q.edition.Text("following.description"),
		Style:       "following.css",
		Script:      "following.js",
	}
	data := &followingPage{
		Most:    maxFollowed,
		List:    q.edition.Link("/following/list"),
		Account: q.edition.Link("/account/following/list"),
		Find:    q.edition.Link("/following/find"),
	}
	p.Data = data
	if value := q.params.Text("watchlist"); value != "" && !q.loading {
		shared, err := s.watched(q, value, false)
		if err != nil {
			return nil, err
		}
		data.Shared = shared
		p.Title = shared.Name
		p.NoIndex = true
		p.Script = ""
	}
	return p, nil
}

// followedList is the list of a reader with its reports.
type followedList struct {
	namedIssuers
	Name     string   // of a list of an account; empty for that of a browser
	Searches int      // saved searches of the list
	Manage   string   // address of the page on which the account changes it, or ""
	Listing  *listing // nil if no issuer is known
	Live     string   // address of the fragment to poll; empty on later pages
	Calendar string
	Dates    string // address of the calendar to subscribe to
	Reports  string // address of the same list with filters
}

// Editable reports whether the list can be changed on the page: that of the browser.
func (l *followedList) Editable() bool { return l.Name == "" }

// namedIssuers are the issuers that texts name.
type namedIssuers struct {
	Followed []followed
	Missing  []string // what no issuer is known by
}

// followed is an issuer of a list.
type followed struct{ ID, Name, Ticker, URL string }

// followingList is the fragment with the reports of a list, or of some issuers. Unlike
// other pages it ignores an issuer that is not known: a list outlives the issuers in it.
func (s *Site) followingList(q *request) (*render.Page, error) {
	out := &followedList{}
	if value := q.params.Text("watchlist"); value != "" {
		var err error
		if out, err = s.watched(q, value, q.principal.Mode == access.BySession); err != nil {
			return nil, err
		}
		return &render.Page{Template: "fragment-following", Data: out, NoIndex: true}, nil
	}
	ids := out.add(q, strings.Split(q.params.LimitedText("issuer", maxQuery), ","))
	if len(ids) > 0 {
		selected := strings.Join(ids, ",")
		if err := s.addReports(q, out, "issuer", selected, "/following", "/live"); err != nil {
			return nil, err
		}
	}
	return &render.Page{Template: "fragment-following", Data: out, NoIndex: true}, nil
}

// add looks names up, and returns the ids of the issuers that they mean, each once.
func (n *namedIssuers) add(q *request, names []string) (ids []string) {
	for _, name := range names {
		name = strings.TrimSpace(name)
		if name == "" {
			continue
		}
		if found, ok := q.lookUp(name); !ok {
			n.Missing = append(n.Missing, name)
		} else if !slices.Contains(ids, found.ID) {
			ids = append(ids, found.ID)
			n.Followed = append(n.Followed, found)
		}
	}
	return ids
}

// watched returns the watchlist that a value names, with its reports. One's own has
// addresses that need the session.
func (s *Site) watched(q *request, value string, own bool) (*followedList, error) {
	if s.Query.Watchlists == nil {
		q.params.Reject("watchlist", "", "is not available here: this service has no watchlists")
		return nil, q.params.Err()
	}
	id, entries, err := s.Query.Watchlists.Resolve(q.principal, value)
	if err != nil {
		return nil, err
	}
	out := &followedList{Name: q.edition.Text("following.title"), Searches: len(entries.Filters)}
	if name, known := s.Query.Watchlists.NameOf(id); known {
		out.Name = name
	}
	out.add(q, entries.Issuers)
	pages := "/following?watchlist=" + url.QueryEscape(value)
	live := "/live"
	if own {
		pages = "/following?list=" + url.QueryEscape(value)
		live = "/account/following/live"
		out.Manage = q.edition.Link("/account/watchlists/" + url.PathEscape(value))
	}
	if len(entries.Issuers)+len(entries.Filters) == 0 {
		return out, nil
	}
	return out, s.addReports(q, out, "watchlist", value, pages, live)
}

// addReports adds the reports that a parameter selects to a list. The pages of the list
// and what open pages poll are at two paths.
func (s *Site) addReports(q *request, out *followedList, name, value, pages, live string) error {
	values := url.Values{name: {value}}
	if page := q.values.Get("page"); page != "" {
		values.Set("page", page)
	}
	q.values = values
	q.params = s.Query.NewParams(values).For(q.principal)
	found, err := s.list(q, feedRows)
	if err != nil {
		return err
	}
	out.Listing = found
	separator := "?page="
	if strings.Contains(pages, "?") {
		separator = "&page="
	}
	pageAt := func(n int) string {
		if n == 1 {
			return q.edition.Link(pages)
		}
		return q.edition.Link(pages + separator + pageNumber(n))
	}
	if found.Newer != "" {
		found.Newest = pageAt(1)
		found.Newer = pageAt(found.Page - 1)
	}
	if found.Older != "" {
		found.Older = pageAt(found.Page + 1)
	}
	selected := queryOf(name, value)
	if found.Page == 1 {
		out.Live = q.edition.Link(live + selected)
	}
	out.Calendar = q.edition.Link("/calendar" + selected)
	out.Dates = "/api/v1/calendar.ics" + queryOf(name, value, "language", string(q.edition.Language))
	out.Reports = q.edition.Link("/" + selected)
	return nil
}

// lookUp returns the issuer that a text names: an identifier, a ticker or a name.
func (q *request) lookUp(name string) (followed, bool) {
	if len(name) > maxIssuerName {
		return followed{}, false
	}
	key, unresolved := query.IssuerKey(q.snapshot, name)
	if unresolved != nil {
		return followed{}, false
	}
	var issuer *disclosure.Issuer
	if found, ok := q.snapshot.Issuer(key); ok {
		issuer = found.Issuer
	} else if issuer = q.unlisted(key); issuer == nil {
		return followed{}, false
	}
	return followed{
		ID:     issuer.ID,
		Name:   issuer.Name,
		Ticker: issuer.Ticker,
		URL:    q.edition.Link(issuerPath(issuer.ID)),
	}, true
}

// followingFind is the fragment with the issuers that names mean, in their order.
func (s *Site) followingFind(q *request) (*render.Page, error) {
	out := &namedIssuers{}
	names := q.values["name"]
	for _, name := range names[:min(len(names), maxFollowed)] {
		if found, ok := q.lookUp(strings.TrimSpace(name)); ok {
			out.Followed = append(out.Followed, found)
		} else {
			out.Missing = append(out.Missing, name)
		}
	}
	return &render.Page{Template: "fragment-found", Data: out, NoIndex: true}, nil
}
