package site

import (
	"strings"
	"time"

	"pregon/internal/catalog/position"
	"pregon/internal/disclosure"
	"pregon/internal/query"
	"pregon/internal/site/render"
)

// Feeds of positions have no names of natural persons: a reader keeps what it has read,
// also after a name was erased. There is no feed about one person.

// atomOf returns the handler of the feed of a register as Atom.
func atomOf(r *register) func(*Site, *request) (*render.Page, error) {
	return func(s *Site, q *request) (*render.Page, error) {
		entries, err := s.syndicatePositions(q, r)
		if err != nil {
			return nil, err
		}
		return s.atomPage(q, q.registerHead(r), entries)
	}
}

// jsonFeedOf returns the handler of the feed of a register as JSON Feed.
func jsonFeedOf(r *register) func(*Site, *request) (*render.Page, error) {
	return func(s *Site, q *request) (*render.Page, error) {
		entries, err := s.syndicatePositions(q, r)
		if err != nil {
			return nil, err
		}
		return s.jsonFeedPage(q, q.registerHead(r), entries)
	}
}

// registerHead returns the head of the feed of a register.
func (q *request) registerHead(r *register) feedHead {
	title := "Pregón · " + q.edition.Text("register.title."+string(r.kind))
	for _, name := range r.filters {
		if v := q.titled(name); v != "" && v != "true" && v != "false" {
			title += " · " + v
		}
	}
	filter := q.registerParameters(r)
	return feedHead{
		title:    title,
		subtitle: q.edition.Text("register.description." + string(r.kind)),
		page:     q.edition.Link(r.path + filter),
		atom:     q.edition.Link(r.path + "/feed.atom" + filter),
		json:     q.edition.Link(r.path + "/feed.json" + filter),
		private:  r.private,
	}
}

// FeedLinks returns the feeds of the list. A list that may be about one person has none.
func (p *positionPage) FeedLinks() []render.Link {
	if p.feedURL == nil {
		return nil
	}
	return []render.Link{
		{Text: "Atom", URL: p.Form.Path + "/feed.atom" + *p.feedURL},
		{Text: "JSON Feed", URL: p.Form.Path + "/feed.json" + *p.feedURL},
	}
}

// aboutOne reports whether the filter of a request may select one person: by a name,
// within an issuer. Without an issuer a name selects legal persons only.
func (q *request) aboutOne(r *register) bool {
	return r.name != "" && q.values.Get(r.name) != "" && q.values.Get("issuer") != ""
}

// syndicatePositions returns the newest positions of a filter for feed readers.
func (s *Site) syndicatePositions(q *request, r *register) ([]syndicated, error) {
	list := q.params.PositionList(q.snapshot, r.kind)
	list.Limit = feedEntries
	if n := q.values.Get("page"); n != "" {
		q.params.Reject("page", n, "is not for feeds, which have the newest %d positions: /api/v1%s has all pages",
			feedEntries, r.path)
	}
	if q.aboutOne(r) {
		q.params.Reject(r.name, q.values.Get(r.name), "is not together with issuer for feeds: "+
			"there is no feed about one person")
	}
	if err := q.params.Err(); err != nil {
		return nil, err
	}
	book := q.snapshot.Positions()
	found, err := s.Query.Positions(q.Context(), book, list)
	if err != nil {
		return nil, err
	}
	moves, err := book.MovesOf(q.Context(), found.Entries)
	if err != nil {
		return nil, err
	}
	out := make([]syndicated, len(moves))
	for i, m := range moves {
		out[i] = s.syndicatePosition(q, r, m)
	}
	return out, nil
}

func (s *Site) syndicatePosition(q *request, r *register, m position.Move) syndicated {
	p := m.Entry.Decode()
	row := q.newPositionRow(r, m, p)
	if p.Natural {
		row.Name = ""
	}
	at := query.Madrid(positionTime(p, m.Entry.Day()))
	return syndicated{
		id:        s.BaseURL + row.JSON,
		address:   s.BaseURL + q.edition.Link(r.path+queryOf("issuer", p.Issuer)+"#"+row.ID),
		source:    p.SourceURL,
		document:  p.DocumentURL,
		isPDF:     p.Kind == disclosure.Dealing,
		title:     row.Issuer + ": " + q.positionLine(row),
		author:    row.Issuer,
		text:      q.positionLine(row) + " (" + row.Date + ")",
		tags:      []string{string(p.Kind)},
		published: at,
		updated:   at,
	}
}

// positionTime returns when readers could first see a position. What was loaded as history
// has the day of the register.
func positionTime(p *disclosure.Position, day disclosure.Day) time.Time {
	if p.Backfilled || p.FirstSeenAt.IsZero() {
		return day.Start()
	}
	return p.FirstSeenAt.Truncate(time.Second)
}

// positionLine says in few words what a position is.
func (q *request) positionLine(row positionRow) string {
	e := q.edition
	parts := []string{row.Name}
	if row.dealingRow != nil {
		parts = append(parts, row.Relation)
		for _, side := range row.Sides {
			parts = append(parts, e.Text("side."+string(side)))
		}
		parts = append(parts, row.Amount)
	} else {
		parts = append(parts, row.Percent)
		if row.First {
			parts = append(parts, e.Text("positions.first"))
		} else if row.Change != "" {
			parts = append(parts, row.Change)
		}
	}
	parts = append(parts, row.State)
	var said []string
	for _, part := range parts {
		if part != "" {
			said = append(said, part)
		}
	}
	return strings.Join(said, " · ")
}
