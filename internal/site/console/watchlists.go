package console

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"pregon/internal/account"
	"pregon/internal/auth/access"
	"pregon/internal/query"
	"pregon/internal/server/content"
	"pregon/internal/site/render"
)

// listPath is the page of a watchlist.
func listPath(id string) string { return "/account/watchlists/" + url.PathEscape(id) }

// listRow is a watchlist as pages show it.
type listRow struct {
	account.Watchlist
	Address string
	Reports string // address of its reports
	First   bool
	Last    bool
}

// Before and After are the places beside it.
func (r listRow) Before() int { return r.Order - 1 }
func (r listRow) After() int  { return r.Order + 1 }

func (q *request) listRow(l account.Watchlist, of int) listRow {
	return listRow{
		Watchlist: l,
		Address:   q.e.Link(listPath(l.ID)),
		Reports:   q.e.Link("/following?list=" + url.QueryEscape(l.ID)),
		First:     l.Order == 1,
		Last:      l.Order == of,
	}
}

// listsPage is the watchlists of an account.
type listsPage struct {
	frame
	Lists  []listRow
	Limits account.WatchlistLimits
	Name   string // of a new list that was refused
}

// watchlists returns the lists of the person who is signed in.
func (c *Console) watchlists(q *request) (account.Watchlists, error) {
	return do(c, q, readWatchlists, c.Account.ListWatchlists)
}

func (c *Console) listWatchlists(q *request) (*reply, error) { return c.listsReply(q, nil, "") }

// listsReply returns the page of all lists, with why a new one was refused.
func (c *Console) listsReply(q *request, refused *formProblem, name string) (*reply, error) {
	found, err := c.watchlists(q)
	if err != nil {
		return nil, err
	}
	data := &listsPage{frame: q.frame("watchlists"), Limits: found.Limits, Name: name}
	data.Problem = refused
	for _, l := range found.Data {
		data.Lists = append(data.Lists, q.listRow(l, len(found.Data)))
	}
	return q.page("watchlists", data.Heading, data), nil
}

func (c *Console) createWatchlist(q *request) (*reply, error) {
	name := q.PostForm.Get("name")
	made, err := c.makeWatchlist(q, account.WatchlistDraft{Name: &name})
	if err != nil {
		refused, status, err := q.refusal(err, "name")
		if err != nil {
			return nil, err
		}
		out, err := c.listsReply(q, refused, name)
		if err == nil {
			out.Status = status
		}
		return out, err
	}
	return q.back(listPath(made.ID), "list-made"), nil
}

func (c *Console) makeWatchlist(q *request, asked account.WatchlistDraft) (account.Watchlist, error) {
	return do(c, q, keepWatchlists, func(ctx context.Context, by access.Principal) (account.Watchlist, error) {
		return c.Account.CreateWatchlist(ctx, by, asked)
	})
}

// listPage is one watchlist.
type listPage struct {
	frame
	List     listRow
	Searches []savedSearch
	Name     string
	Lines    string          // of a file, which were refused
	Imported *account.Import // what became of a file, or nil
}

// savedSearch is a saved search as the page shows it.
type savedSearch struct {
	Label   string
	Named   bool // the label is a name, and does not say the conditions
	Words   []string
	Query   string // its parameters
	Address string // of its reports; empty if it selects positions
}

func (q *request) savedSearches(l account.Watchlist) (out []savedSearch) {
	for i, f := range l.Filters {
		words := q.filterWords(f.Filter)
		out = append(out, savedSearch{
			Label:   nameOf(f.Name, strings.Join(words, ", "), strconv.Itoa(i+1)),
			Named:   f.Name != "",
			Words:   words,
			Query:   f.Filter.Values().Encode(),
			Address: q.searchAddress(f.Filter),
		})
	}
	return out
}

// searchAddress returns the page with the reports that a saved search selects. There is none
// with the positions that one selects.
func (q *request) searchAddress(f query.FilterBody) string {
	path := "/"
	switch {
	case f.Position != "" || f.HeldBy != "" || f.MinPercent != "" || f.Side != "":
		return ""
	case f.In != "":
		path = "/account/search"
		f.In = ""
	}
	return q.e.Link(path + "?" + f.Values().Encode())
}

func (c *Console) watchlist(q *request) (account.Watchlist, error) {
	return do(c, q, readWatchlists, func(ctx context.Context, by access.Principal) (account.Watchlist, error) {
		return c.Account.Watchlist(ctx, by, q.PathValue("id"))
	})
}

func (c *Console) showWatchlist(q *request) (*reply, error) { return c.listReply(q, &listPage{}) }

// listReply returns the page of a list, with what data has already.
func (c *Console) listReply(q *request, data *listPage) (*reply, error) {
	found, err := c.watchlist(q)
	if err != nil {
		return nil, err
	}
	problem := data.Problem
	data.frame = q.frame("watchlists")
	data.Problem = problem
	data.List = q.listRow(found, 0)
	data.Heading = found.Name
	if data.Name == "" {
		data.Name = found.Name
	}
	data.Searches = q.savedSearches(found)
	return q.page("watchlist", found.Name, data), nil
}

// listRefused shows the page of a list with why a form was refused.
func (c *Console) listRefused(q *request, err error, data *listPage) (*reply, error) {
	refused, status, err := q.refusal(err, "name", "issuer")
	if err != nil {
		return nil, err
	}
	data.Problem = refused
	out, err := c.listReply(q, data)
	if err == nil {
		out.Status = status
	}
	return out, err
}

// changeWatchlist renames a list.
func (c *Console) changeWatchlist(q *request) (*reply, error) {
	name := q.PostForm.Get("name")
	if err := c.changeList(q, account.WatchlistDraft{Name: &name}); err != nil {
		return c.listRefused(q, err, &listPage{Name: name})
	}
	return q.back(listPath(q.PathValue("id")), "list-changed"), nil
}

func (c *Console) changeList(q *request, asked account.WatchlistDraft) error {
	return c.run(q, keepWatchlists, func(ctx context.Context, by access.Principal) error {
		_, err := c.Account.ChangeWatchlist(ctx, by, q.PathValue("id"), asked)
		return err
	})
}

// moveWatchlist puts a list at another place.
func (c *Console) moveWatchlist(q *request) (*reply, error) {
	place, err := strconv.Atoi(q.PostForm.Get("place"))
	if err != nil {
		return nil, errNoPage
	}
	if err := c.changeList(q, account.WatchlistDraft{Order: &place}); err != nil {
		return nil, err
	}
	return q.back("/account/watchlists", "list-changed"), nil
}

func (c *Console) deleteWatchlist(q *request) (*reply, error) {
	err := c.run(q, keepWatchlists, func(ctx context.Context, by access.Principal) error {
		return c.Account.DeleteWatchlist(ctx, by, q.PathValue("id"))
	})
	if err != nil {
		return nil, err
	}
	return q.back("/account/watchlists", "list-deleted"), nil
}

// addIssuer adds an issuer to a list.
func (c *Console) addIssuer(q *request) (*reply, error) {
	err := c.run(q, keepWatchlists, func(ctx context.Context, by access.Principal) error {
		entry := account.WatchlistEntry{Issuer: q.PostForm.Get("issuer")}
		_, err := c.Account.AddToWatchlist(ctx, by, q.PathValue("id"), entry)
		return err
	})
	if err != nil {
		return c.listRefused(q, err, &listPage{})
	}
	return q.back(listPath(q.PathValue("id")), "list-changed"), nil
}

// removeEntry removes an issuer or a saved search from a list.
func (c *Console) removeEntry(q *request) (*reply, error) {
	var err error
	if issuer := q.PostForm.Get("issuer"); issuer != "" {
		err = c.run(q, keepWatchlists, func(ctx context.Context, by access.Principal) error {
			_, err := c.Account.RemoveFromWatchlist(ctx, by, q.PathValue("id"), account.WatchlistEntry{Issuer: issuer})
			return err
		})
	} else {
		err = c.removeSearch(q)
	}
	if err != nil {
		return nil, err
	}
	return q.back(listPath(q.PathValue("id")), "list-changed"), nil
}

// removeSearch removes the saved search whose conditions the form names, so that a page
// that was opened before a change of the list removes no other.
func (c *Console) removeSearch(q *request) error {
	f, err := searchOf(q.PostForm.Get("search"))
	if err != nil {
		return err
	}
	return c.run(q, keepWatchlists, func(ctx context.Context, by access.Principal) error {
		_, err := c.Account.RemoveSearch(ctx, by, q.PathValue("id"), f)
		return err
	})
}

// linkList makes or ends one of the links of a list.
func (c *Console) linkList(q *request) (*reply, error) {
	change, known := map[string]func(context.Context, access.Principal, string) (account.Watchlist, error){
		"share":   c.Account.ShareWatchlist,
		"unshare": c.Account.EndWatchlistShare,
		"feed":    c.Account.RenewWatchlistFeed,
		"unfeed":  c.Account.EndWatchlistFeed,
	}[q.PostForm.Get("link")]
	if !known {
		return nil, errNoPage
	}
	err := c.run(q, keepWatchlists, func(ctx context.Context, by access.Principal) error {
		_, err := change(ctx, by, q.PathValue("id"))
		return err
	})
	if err != nil {
		return nil, err
	}
	return q.back(listPath(q.PathValue("id")), "list-"+q.PostForm.Get("link")), nil
}

// importWatchlist adds what lines name.
func (c *Console) importWatchlist(q *request) (*reply, error) {
	lines := q.PostForm.Get("lines")
	found, err := do(c, q, importing, func(ctx context.Context, by access.Principal) (account.Import, error) {
		return c.Account.ImportWatchlist(ctx, by, q.PathValue("id"), []byte(lines))
	})
	if err != nil {
		return c.listRefused(q, err, &listPage{Lines: lines})
	}
	return c.listReply(q, &listPage{Imported: &found})
}

// exportWatchlist returns a list as CSV.
func (c *Console) exportWatchlist(q *request) (*reply, error) {
	body, err := do(c, q, readWatchlists, func(ctx context.Context, by access.Principal) ([]byte, error) {
		return c.Account.WatchlistCSV(ctx, by, q.PathValue("id"), content.PlainCSV)
	})
	if err != nil {
		return nil, err
	}
	q.w.Header().Set("Content-Disposition", `attachment; filename="`+q.PathValue("id")+`.csv"`)
	return &reply{Page: render.Page{Body: body, ContentType: "text/csv; charset=utf-8"}}, nil
}

// savePage is the form that saves a search in a list.
type savePage struct {
	frame
	Lists  []account.Watchlist
	Words  []string
	Search string // its parameters
	Name   string
}

// searchOf reads the filter in a query string.
func searchOf(raw string) (query.FilterBody, error) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return query.FilterBody{}, errNoPage
	}
	get := values.Get
	return query.FilterBody{
		Search:     get("search"),
		Type:       get("type"),
		Issuer:     get("issuer"),
		From:       get("from"),
		To:         get("to"),
		Category:   get("category"),
		Kind:       get("kind"),
		Market:     get("market"),
		Sector:     get("sector"),
		Without:    get("without"),
		In:         get("in"),
		Fact:       get("fact"),
		MinAmount:  get("min_amount"),
		Currency:   get("currency"),
		Position:   get("position"),
		HeldBy:     get("holder"),
		MinPercent: get("min_percent"),
		Side:       get("side"),
	}, nil
}

// askSearch shows the form that saves the search in the address.
func (c *Console) askSearch(q *request) (*reply, error) {
	return c.saveReply(q, q.URL.RawQuery, "", nil)
}

func (c *Console) saveReply(q *request, raw, name string, refused *formProblem) (*reply, error) {
	f, err := searchOf(raw)
	if err != nil {
		return nil, err
	}
	found, err := c.watchlists(q)
	if err != nil {
		return nil, err
	}
	data := &savePage{
		frame:  q.frame("watchlists"),
		Lists:  found.Data,
		Words:  q.filterWords(f),
		Search: f.Values().Encode(),
		Name:   name,
	}
	data.Problem = refused
	data.Heading = q.e.Text("list.save")
	return q.page("save-search", data.Heading, data), nil
}

// saveSearch adds a search to a list, or to a new one.
func (c *Console) saveSearch(q *request) (*reply, error) {
	f, err := searchOf(q.PostForm.Get("search"))
	if err != nil {
		return nil, err
	}
	name := strings.TrimSpace(q.PostForm.Get("name"))
	id, err := c.addSearch(q, q.PostForm.Get("list"), account.SavedSearch{Name: name, Filter: f})
	if err != nil {
		refused, status, err := q.refusal(err, "name")
		if err != nil {
			return nil, err
		}
		out, err := c.saveReply(q, q.PostForm.Get("search"), name, refused)
		if err == nil {
			out.Status = status
		}
		return out, err
	}
	return q.back(listPath(id), "list-changed"), nil
}

// addSearch adds a search to the list with an id, or to a new one if there is none.
func (c *Console) addSearch(q *request, id string, one account.SavedSearch) (string, error) {
	if id == "" {
		name := nameOf(one.Name, q.e.Text("list.default"), "")
		made, err := c.makeWatchlist(q, account.WatchlistDraft{Name: &name, Filters: &[]account.SavedSearch{one}})
		return made.ID, err
	}
	return id, c.run(q, keepWatchlists, func(ctx context.Context, by access.Principal) error {
		_, err := c.Account.AddSearch(ctx, by, id, one)
		return err
	})
}

// followingPage is the fragment with the lists of a person for the script of the site: the
// first one is used by the stars.
type followingPage struct {
	Token string
	Lists []account.Watchlist
}

// IDs returns the issuers of a list, with spaces between them.
func (followingPage) IDs(l account.Watchlist) string {
	ids := make([]string, len(l.Issuers))
	for i, one := range l.Issuers {
		ids[i] = one.ID
	}
	return strings.Join(ids, " ")
}

// following answers a script: whether the reader is signed in, and which lists
// they have.
func (c *Console) following(q *request) (*reply, error) {
	if q.session == nil {
		return &reply{Page: render.Page{Body: []byte{}, ContentType: "text/plain", Status: http.StatusNoContent}}, nil
	}
	found, err := c.watchlists(q)
	if err != nil {
		return nil, err
	}
	return q.page("fragment-lists", "", &followingPage{q.session.Token, found.Data}), nil
}

// followIssuers adds issuers to the first list of a person, or removes one: a star was
// pressed, or the list of the browser moves into the account. What no issuer is known by
// is left out.
func (c *Console) followIssuers(q *request) (*reply, error) {
	found, err := c.watchlists(q)
	if err != nil {
		return nil, err
	}
	if issuer := q.PostForm.Get("remove"); issuer != "" {
		if len(found.Data) > 0 {
			err = c.run(q, keepWatchlists, func(ctx context.Context, by access.Principal) error {
				_, err := c.Account.RemoveFromWatchlist(ctx, by, found.Data[0].ID, account.WatchlistEntry{Issuer: issuer})
				return err
			})
		}
	} else {
		err = c.addToFirst(q, found.Data, strings.Split(q.PostForm.Get("add"), ","))
	}
	if err != nil {
		return nil, err
	}
	return c.following(q)
}

// maxMoved is the number of issuers that move into an account at once.
const maxMoved = 200

// addToFirst adds issuers to the first list, or to a new one.
func (c *Console) addToFirst(q *request, lists []account.Watchlist, issuers []string) error {
	known := []string{}
	now, err := c.Query.Snapshot()
	if err != nil {
		return err
	}
	for _, name := range issuers[:min(len(issuers), maxMoved)] {
		if key, unresolved := query.IssuerKey(now, name); unresolved == nil {
			known = append(known, key)
		}
	}
	if len(known) == 0 {
		return nil
	}
	if len(lists) == 0 {
		name := q.e.Text("list.default")
		_, err := c.makeWatchlist(q, account.WatchlistDraft{Name: &name, Issuers: &known})
		return err
	}
	return c.run(q, keepWatchlists, func(ctx context.Context, by access.Principal) error {
		if len(known) == 1 {
			_, err := c.Account.AddToWatchlist(ctx, by, lists[0].ID, account.WatchlistEntry{Issuer: known[0]})
			return err
		}
		_, err := c.Account.ImportWatchlist(ctx, by, lists[0].ID, []byte("id\n"+strings.Join(known, "\n")))
		return err
	})
}

// followingReports shows the reports of a list, or the newest of them to a page that stays
// open.
func (c *Console) followingReports(q *request) (*reply, error) {
	if err := c.Guard.Authorize(q.w, q.session.Principal, account.ToReadWatchlists); err != nil {
		return nil, err
	}
	c.Reports(q.w, q.Request, q.session.Principal)
	return nil, nil
}
