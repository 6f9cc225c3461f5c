package site

import (
	"cmp"
	"encoding/xml"
	"net/http"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/query"
	"pregon/internal/site/render"
	"pregon/internal/text/mask"
)

// syndicated is a report or a position as feed readers get it.
type syndicated struct {
	id        string // an address that never changes
	address   string // of the page
	source    string // address at the regulator, or ""
	document  string // address, or ""
	isPDF     bool   // the document
	title     string
	author    string
	summary   string
	text      string // if there is no summary
	tags      []string
	published time.Time
	updated   time.Time
}

// feedHead is what a feed has besides its entries. Addresses have no host.
type feedHead struct {
	title    string
	subtitle string
	page     string // address of the page with the same list
	atom     string // addresses of the feed
	json     string
	private  bool // not for search engines
}

// feedEntries is the number of reports in a feed.
const feedEntries = 100

// syndicate returns the newest reports of a filter for feed readers.
func (s *Site) syndicate(q *request) ([]syndicated, error) {
	if n := q.values.Get("page"); n != "" {
		q.params.Reject("page", n, "is not for feeds, which have the newest %d reports: "+
			"/api/v1/reports has all pages, and the snapshots of /api/v1/bulk have everything", feedEntries)
	}
	found, err := s.reports(q, q.list(feedEntries))
	if err != nil {
		return nil, err
	}
	out := make([]syndicated, len(found.Reports))
	for i, f := range found.Reports {
		r := f.Decode()
		out[i] = syndicated{
			id:        s.BaseURL + "/reports/" + r.ID,
			address:   s.BaseURL + q.edition.Link("/reports/"+r.ID),
			source:    r.SourceURL,
			document:  r.PDFURL,
			isPDF:     r.Document.Type == "pdf",
			title:     r.CompanyName + ": " + r.Title,
			author:    r.CompanyName,
			summary:   q.summaryOf(r),
			text:      r.Title,
			tags:      append([]string{string(r.Type)}, r.Categories()...),
			published: query.Madrid(r.PublishedAt),
			updated:   query.Madrid(updatedAt(r)),
		}
	}
	return out, nil
}

// updatedAt returns when what feed readers see of a report changed last.
func updatedAt(r *disclosure.Report) time.Time {
	last := r.ListedAt()
	for _, t := range []time.Time{r.EnrichedAt, r.SummaryReadyAt} {
		if t.After(last) {
			last = t
		}
	}
	return last.Truncate(time.Second)
}

// feedTitle names a feed by its filter.
func (q *request) feedTitle() string {
	title := "Pregón"
	for _, name := range filterNames {
		if v := q.titled(name); v != "" {
			title += " · " + v
		}
	}
	return title
}

// titled returns a condition for the title of a feed.
func (q *request) titled(name string) string {
	v := q.values.Get(name)
	if name == "watchlist" && v != "" {
		return q.listName()
	}
	return v
}

// listName returns the name of the watchlist of a request, whose value may be a secret.
func (q *request) listName() string {
	return cmp.Or(q.params.ListName(), q.edition.Text("filter.watchlist"))
}

// reportsHead returns the head of the feed of reports.
func (q *request) reportsHead() feedHead {
	return feedHead{
		title:    q.feedTitle(),
		subtitle: q.edition.Text("feed.description"),
		page:     q.with("/"),
		atom:     q.with("/feed.atom"),
		json:     q.with("/feed.json"),
	}
}

// feedAge is how long feed readers may keep a feed.
const feedAge = 30 * time.Second

type atomFeed struct {
	XMLName  xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
	Language string      `xml:"xml:lang,attr"`
	ID       string      `xml:"id"`
	Title    string      `xml:"title"`
	Subtitle string      `xml:"subtitle"`
	Updated  string      `xml:"updated"`
	Links    []atomLink  `xml:"link"`
	Author   atomAuthor  `xml:"author"`
	Rights   string      `xml:"rights"`
	Icon     string      `xml:"icon"`
	Entries  []atomEntry `xml:"entry"`
}

type atomLink struct {
	Rel   string `xml:"rel,attr"`
	Type  string `xml:"type,attr,omitempty"`
	Href  string `xml:"href,attr"`
	Title string `xml:"title,attr,omitempty"`
}

type atomAuthor struct {
	Name string `xml:"name"`
}

type atomEntry struct {
	ID         string         `xml:"id"`
	Title      string         `xml:"title"`
	Published  string         `xml:"published"`
	Updated    string         `xml:"updated"`
	Author     atomAuthor     `xml:"author"`
	Links      []atomLink     `xml:"link"`
	Categories []atomCategory `xml:"category"`
	Summary    string         `xml:"summary,omitempty"`
}

type atomCategory struct {
	Term string `xml:"term,attr"`
}

// atom is the feed of a filter as Atom.
func (s *Site) atom(q *request) (*render.Page, error) {
	entries, err := s.syndicate(q)
	if err != nil {
		return nil, err
	}
	return s.atomPage(q, q.reportsHead(), entries)
}

// atomPage returns a feed as Atom.
func (s *Site) atomPage(q *request, head feedHead, entries []syndicated) (*render.Page, error) {
	source := s.Query.Attribution()
	feed := atomFeed{
		Language: string(q.edition.Language),
		ID:       s.BaseURL + mask.Credentials(head.atom), // programs show and pass it on
		Title:    head.title,
		Subtitle: head.subtitle,
		Updated:  time.Unix(0, 0).UTC().Format(time.RFC3339),
		Author:   atomAuthor{source.Source},
		Rights:   source.Notice,
		Icon:     s.BaseURL + s.Icon(),
		Links: []atomLink{
			{Rel: "self", Type: "application/atom+xml", Href: s.BaseURL + head.atom},
			{Rel: "alternate", Type: "text/html", Href: s.BaseURL + head.page},
		},
	}
	newest := time.Time{}
	for _, e := range entries {
		item := atomEntry{
			ID:        e.id,
			Title:     e.title,
			Published: e.published.Format(time.RFC3339),
			Updated:   e.updated.Format(time.RFC3339),
			Author:    atomAuthor{e.author},
			Summary:   e.summary,
			Links:     []atomLink{{Rel: "alternate", Type: "text/html", Href: e.address}},
		}
		if e.document != "" {
			item.Links = append(item.Links, atomLink{Rel: "related", Href: e.document})
		}
		for _, tag := range e.tags {
			item.Categories = append(item.Categories, atomCategory{tag})
		}
		if e.updated.After(newest) {
			newest, feed.Updated = e.updated, item.Updated
		}
		feed.Entries = append(feed.Entries, item)
	}
	body, err := xml.MarshalIndent(feed, "", " ")
	if err != nil {
		return nil, err
	}
	return &render.Page{
		ContentType: "application/atom+xml; charset=utf-8",
		Body:        append([]byte(xml.Header), body...),
		MaxAge:      feedAge,
		NoIndex:     head.private,
	}, nil
}

type jsonFeed struct {
	Version     string       `json:"version"`
	Title       string       `json:"title"`
	HomePage    string       `json:"home_page_url"`
	FeedURL     string       `json:"feed_url"`
	Description string       `json:"description"`
	Language    string       `json:"language"`
	Icon        string       `json:"favicon"`
	Authors     []jsonAuthor `json:"authors"`
	Items       []jsonItem   `json:"items"`
}

type jsonAuthor struct {
	Name string `json:"name"`
}

type jsonItem struct {
	ID          string       `json:"id"`
	URL         string       `json:"url"`
	External    string       `json:"external_url,omitempty"`
	Title       string       `json:"title"`
	Text        string       `json:"content_text"`
	Published   time.Time    `json:"date_published"`
	Modified    time.Time    `json:"date_modified"`
	Authors     []jsonAuthor `json:"authors"`
	Tags        []string     `json:"tags"`
	Attachments []attachment `json:"attachments,omitempty"`
}

type attachment struct {
	URL  string `json:"url"`
	Type string `json:"mime_type"`
}

// jsonFeed is the feed of a filter as JSON Feed 1.1.
func (s *Site) jsonFeed(q *request) (*render.Page, error) {
	entries, err := s.syndicate(q)
	if err != nil {
		return nil, err
	}
	return s.jsonFeedPage(q, q.reportsHead(), entries)
}

// jsonFeedPage returns a feed as JSON Feed.
func (s *Site) jsonFeedPage(q *request, head feedHead, entries []syndicated) (*render.Page, error) {
	feed := jsonFeed{
		Version:     "https://jsonfeed.org/version/1.1",
		Title:       head.title,
		HomePage:    s.BaseURL + head.page,
		FeedURL:     s.BaseURL + head.json,
		Description: s.Query.Attribution().Notice,
		Language:    string(q.edition.Language),
		Icon:        s.BaseURL + s.Icon(),
		Authors:     []jsonAuthor{{s.Query.Attribution().Source}},
		Items:       []jsonItem{},
	}
	for _, e := range entries {
		item := jsonItem{
			ID:        e.id,
			URL:       e.address,
			External:  e.source,
			Title:     e.title,
			Text:      cmp.Or(e.summary, e.text),
			Published: e.published,
			Modified:  e.updated,
			Authors:   []jsonAuthor{{e.author}},
			Tags:      e.tags,
		}
		if e.document != "" && e.isPDF {
			item.Attachments = []attachment{{e.document, "application/pdf"}}
		}
		feed.Items = append(feed.Items, item)
	}
	body, err := query.Encode(feed)
	return &render.Page{
		ContentType: "application/feed+json; charset=utf-8",
		Body:        body,
		MaxAge:      feedAge,
		NoIndex:     head.private,
	}, err
}

// manifest describes the site to devices that can install it.
func (s *Site) manifest(q *request) (*render.Page, error) {
	body, err := query.Encode(map[string]any{
		"name": "Pregón", "short_name": "Pregón", "description": q.edition.Text("feed.description"), "lang": q.edition.Language,
		"start_url": q.edition.Link("/"), "scope": "/", "display": "minimal-ui", "background_color": "#fbfaf7", "theme_color": "#9a2f1b",
		"icons": []map[string]string{{"src": s.Icon(), "sizes": "any", "type": "image/svg+xml", "purpose": "any"}},
	})
	return &render.Page{ContentType: "application/manifest+json", Body: body, MaxAge: time.Hour}, err
}

// favicon leads browsers that ask for the old name to the icon.
func (s *Site) favicon(*request) (*render.Page, error) {
	return &render.Page{Redirect: s.Icon(), Status: http.StatusFound}, nil
}
