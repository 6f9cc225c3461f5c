package tools

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/mcp/quote"
	"pregon/internal/push/watchlist"
	"pregon/internal/query"
	"pregon/internal/store"
	"pregon/internal/text"
)

// Issuers of a list that have a name in a result, so that it fits. The others are in More.
const (
	namedInAll = 8 // of each list
	namedInOne = 120
	maxListed  = 50 // characters of a name
)

// listed is a watchlist in a result, without its links.
type listed struct {
	ID      string         `json:"id"`
	Name    string         `json:"name"`
	Entries int            `json:"entries"`
	Issuers []listedIssuer `json:"issuers"`
	More    []string       `json:"more,omitempty"` // ids of issuers, of one list only
	Filters []savedSearch  `json:"filters"`
}

type listedIssuer struct {
	ID     string `json:"id"`
	Name   string `json:"name,omitempty"`
	Ticker string `json:"ticker,omitempty"`
}

type savedSearch struct {
	Name   string           `json:"name"`
	Filter query.FilterBody `json:"filter"`
}

func (s *Service) watchlists(ctx context.Context, snapshot *catalog.Snapshot, p *query.Params) (Result, error) {
	id := p.Text("id")
	if err := p.Err(); err != nil {
		return Result{}, err
	}
	var lists []watchlist.List
	err := store.Within(ctx, func(ctx context.Context) (err error) {
		if s.Watchlists != nil {
			lists, err = s.Watchlists.ListOf(ctx, access.FromContext(ctx))
		}
		return err
	})
	if err != nil {
		return Result{}, err
	}
	named := namedInAll
	if id != "" {
		lists = slices.DeleteFunc(lists, func(l watchlist.List) bool { return l.ID != id })
		named = namedInOne
		if len(lists) == 0 {
			return Result{}, fault.New(fault.NotFound, "You have no watchlist %q.", text.Clip(id, 100))
		}
	}
	found := make([]listed, 0, len(lists))
	for _, l := range lists {
		found = append(found, newListed(l, named, snapshot))
	}
	b, err := encodeWithSeq(struct {
		Data []listed `json:"data"`
	}{found}, snapshot)
	return newResult(b, s.Simulated()+textOfLists(found)), err
}

// newListed returns a list with the names of its first issuers.
func newListed(l watchlist.List, named int, snapshot *catalog.Snapshot) listed {
	out := listed{
		ID:      l.ID,
		Name:    l.Name,
		Entries: l.Len(),
		Issuers: []listedIssuer{},
		Filters: []savedSearch{},
	}
	few := l.Issuers[:min(len(l.Issuers), named)]
	for _, id := range few {
		one := listedIssuer{ID: id}
		if e, known := snapshot.Directory().Find(id); known {
			one.Name = text.Clip(e.Issuer.Name, maxListed)
			one.Ticker = e.Issuer.Ticker
		}
		out.Issuers = append(out.Issuers, one)
	}
	if named == namedInOne {
		out.More = l.Issuers[len(few):]
	}
	for _, f := range l.Filters[:min(len(l.Filters), named)] {
		out.Filters = append(out.Filters, savedSearch{f.Name, query.NewFilterBody(shortened(f.Filter))})
	}
	return out
}

// shortened returns a filter whose search is not longer than a line.
func shortened(f disclosure.Filter) disclosure.Filter {
	f.Search = text.Clip(f.Search, 100)
	return f
}

// textOfLists has a line for each list.
func textOfLists(found []listed) string {
	if len(found) == 0 {
		return "There are no watchlists: they are made on the site, or with POST /api/v1/account/watchlists."
	}
	var out strings.Builder
	out.WriteString(quote.Notice + "\n")
	for _, l := range found {
		fmt.Fprintf(&out, "- %s: %s, %d entries", quote.Word(l.ID), quote.Text(l.Name, 80), l.Entries)
		for i, one := range l.Issuers {
			separator := ", "
			if i == 0 {
				separator = ": "
			}
			name := one.Name
			if name == "" {
				name = one.ID
			}
			out.WriteString(separator + quote.Text(name, maxListed))
		}
		out.WriteString("\n")
	}
	return out.String()
}
