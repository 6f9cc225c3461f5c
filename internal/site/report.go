package site

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/document"
	"pregon/internal/query"
	"pregon/internal/search"
	"pregon/internal/site/render"
)

// reportPage is the page of a report.
type reportPage struct {
	Report    *query.Report
	Row       row
	Headline  string // what the facts say, in a sentence
	Facts     []statedFact
	MoreFacts int        // that are not shown
	Scanned   string     // a note that the text was read by OCR, or ""
	Published string     // when, to the second if that is known
	Frame     string     // address of the PDF file if this site has it, or ""
	English   bool       // the page is in English, and what stays Spanish is marked
	Spanish   bool       // the summary stays Spanish
	Sentences []sentence // of the summary, if it has evidence
	Quoted    bool       // some of them have a quote
	Summary   string     // otherwise
	Method    string     // how the summary was made
	Language  string     // of the document
	Details   []detail
	Timeline  []event
	Corrected *event // the report that corrects this one
	Stages    []stage
	Newer     []neighbour // of the same issuer
	Older     []neighbour
	Document  documentView
	Citation  string
	Address   string // to share
	JSON      string
	Markdown  string
}

// detail is a field of a report.
type detail struct {
	Name  string
	Value string
	URL   string
	Code  bool
}

// event is a report in the timeline of another.
type event struct {
	At    time.Time
	Label string // number, or type and number
	Title string
	Text  string // the words of the regulator
	URL   string // of its page; empty if the report is not known
	Here  bool   // this report
}

// stage is a step of a report through the service.
type stage struct {
	Name  string
	At    time.Time
	After string // time since the publication, or "" if that is not known
}

// documentView is the document of a report as far as the reader may have it.
type documentView struct {
	Status   string
	Pages    int
	Piece    []document.PagePiece // the text; without a credential its beginning
	Next     string               // address of the rest
	Previous string
	Cut      bool   // the text is longer; the rest needs a credential
	ReadAll  string // address of the whole text for people who sign in; "" without accounts
}

// textChars is the number of characters of a document on one page.
const textChars = 40_000

// neighbours is the number of reports before and after one.
const neighbours = 3

const markdownSuffix = ".md"

// byFacts is the method of a summary that is made of facts.
const byFacts = "facts"

// wantsMarkdown reports whether the address of a report asks for Markdown.
func (q *request) wantsMarkdown() bool { return strings.HasSuffix(q.PathValue("id"), markdownSuffix) }

// report is the page of one report. An address that ends in .md is Markdown.
func (s *Site) report(q *request) (*render.Page, error) {
	id := strings.TrimSuffix(q.PathValue("id"), markdownSuffix)
	markdown := q.wantsMarkdown()
	f, err := query.Find(q.snapshot, id)
	if err != nil {
		return nil, err
	}
	if f.ID() != id {
		address := q.reportPath(f.ID())
		if markdown {
			address += markdownSuffix
		}
		return &render.Page{Redirect: q.with(address)}, nil
	}
	rep := f.Decode()
	if markdown {
		return &render.Page{
			ContentType: "text/markdown; charset=utf-8",
			Body:        []byte(document.Card(rep, s.BaseURL+"/reports/"+id)),
		}, nil
	}
	full := s.Query.Describe(q.Context(), f, rep)
	out := &reportPage{
		Report:    full,
		Row:       q.rowOf(f, rep, search.Highlighter{}),
		Details:   q.details(rep, f),
		Language:  cmp.Or(rep.Document.Language, "es"),
		Published: q.published(rep),
		Frame:     s.ownFile(rep),
		English:   q.edition.Language == render.English,
		Timeline:  q.timeline(rep),
		Stages:    q.stages(rep),
		Address:   s.BaseURL + "/reports/" + id,
		JSON:      "/api/v1/reports/" + id,
		Markdown:  "/reports/" + id + markdownSuffix,
	}
	out.Facts, out.MoreFacts = q.stated(full.Facts)
	out.Headline = q.headlineOf(rep.Facts)
	out.Sentences, out.Summary = sentences(full.Evidence), q.summaryOf(rep)
	if out.English && rep.SummaryEN != "" {
		out.Sentences = sentences(full.EvidenceEN)
	}
	out.Spanish = out.English && rep.SummaryEN == "" && rep.Summary != ""
	out.Quoted = slices.ContainsFunc(out.Sentences, func(s sentence) bool { return s.Quote != "" })
	if scanned := "report.scanned." + rep.DocumentNow().Method; q.edition.Known(scanned) {
		out.Scanned = q.edition.Text(scanned)
	}
	method := rep.SummaryMethod
	if out.Headline != "" && strings.TrimSuffix(out.Summary, ".") == out.Headline {
		method = byFacts // the English summary may be made in another way than the Spanish one
	}
	if key := "method." + method; q.edition.Known(key) {
		out.Method = q.edition.Text(key)
	}
	if i := slices.IndexFunc(out.Timeline, func(e event) bool {
		return e.URL != "" && strings.HasSuffix(strings.SplitN(e.URL, "?", 2)[0], "/"+rep.CorrectedBy)
	}); rep.CorrectedBy != "" && i >= 0 {
		out.Corrected = &out.Timeline[i]
	}
	out.Newer, out.Older = q.neighbours(f)
	if out.Document, err = s.documentOf(q, rep); err != nil {
		return nil, err
	}
	out.Citation = q.edition.Text("report.citation", rep.CompanyName, rep.Title, rep.Type, rep.Number,
		q.edition.Date(rep.PublishedAt), q.edition.Clock(rep.PublishedAt), out.Address)
	return &render.Page{
		Template:    "report",
		Style:       "report.css",
		Title:       rep.CompanyName + ": " + rep.Title,
		Description: cmp.Or(out.Headline, out.Summary, rep.CompanyName+" · "+q.edition.Text("type."+string(rep.Type))),
		Kind:        "article",
		Data:        out,
		Linked:      q.linkedReport(rep, out),
		Frames:      out.Frame != "",
		Head: []render.HeadLink{
			{Rel: "alternate", Type: "application/json", URL: out.JSON},
			{Rel: "alternate", Type: "text/markdown", URL: out.Markdown},
		},
	}, nil
}

// neighbour is a report of the same issuer.
type neighbour struct {
	Exact     string // when it was listed, for machines
	Minute    string // the same for readers
	URL       string
	Simulated bool // its title begins with render.SimulatedPrefix, which Title does not have
	Title     string
}

// neighbours returns the reports of the same issuer just after and just before a
// report, newest first.
func (q *request) neighbours(f catalog.Report) (newer, older []neighbour) {
	all := func(reports []catalog.Report) (out []neighbour) {
		for _, r := range slices.Backward(reports) {
			title, simulated := strings.CutPrefix(r.Title(), render.SimulatedPrefix)
			out = append(out, neighbour{
				Exact:     q.edition.Exact(r.Listed()),
				Minute:    q.edition.Minute(r.Listed()),
				URL:       q.edition.Link(q.reportPath(r.ID())),
				Simulated: simulated,
				Title:     title,
			})
		}
		return out
	}
	return all(q.snapshot.After(f, neighbours)), all(q.snapshot.Before(f, neighbours))
}

// details returns the fields of a report.
func (q *request) details(r *disclosure.Report, f catalog.Report) (out []detail) {
	add := func(key, value, url string, code bool) {
		if value != "" {
			out = append(out, detail{q.edition.Text("report." + key), value, url, code})
		}
	}
	issuer := f.IssuerID()
	add("type", q.edition.Text("type."+string(r.Type))+" ("+string(r.Type)+")",
		q.edition.Link("/?type="+string(r.Type)), false)
	add("number", strconv.FormatInt(r.Number, 10), "", true)
	add("published", q.published(r), "", false)
	add("precision", q.precision(r.TimeFrom), "", false)
	if issuer != "" {
		add("issuer", r.CompanyName, q.edition.Link(issuerPath(issuer)), false)
	} else {
		add("issuer", r.CompanyName, "", false)
	}
	add("ticker", f.Ticker(), "", true)
	add("nif", r.NIF, "", true)
	for i, c := range r.Categories() {
		key := "category"
		if i > 0 {
			key = "category.more"
		}
		add(key, q.edition.Category(c), q.edition.Link("/search?category="+url.QueryEscape(c)), false)
	}
	if class := r.EUClass(); class != "" {
		add("class", string(class)+" "+q.edition.Text("class."+string(class)), "", false)
	}
	add("id", r.ID, "", true)
	return out
}

// published returns when a report was published, to the second if that is known.
func (q *request) published(r *disclosure.Report) string {
	if r.SecondsKnown() {
		return q.edition.Moment(r.PublishedAt)
	}
	return q.edition.Minute(r.PublishedAt)
}

// listed returns the time by which lists order a report, to the second if that is known.
func (q *request) listed(r *disclosure.Report) string {
	if r.SuspectTime() {
		return q.edition.Moment(r.ListedAt())
	}
	return q.published(r)
}

// ownFile returns the path of the PDF file of a report if this service has it, else "".
// That is so for the simulated market: the files of the regulator are on its site, which
// this one does not show in frames.
func (s *Site) ownFile(r *disclosure.Report) string {
	now := r.DocumentNow()
	path, own := strings.CutPrefix(r.PDFURL, s.BaseURL)
	if !own || !strings.HasPrefix(path, disclosure.SimulatedPath+"/") || now.Status != disclosure.DocumentReady ||
		now.Type != pdfType {
		return ""
	}
	return path + "#navpanes=0&view=FitH"
}

// pdfType is the type of documents that browsers show beside the text.
const pdfType = "pdf"

// precision returns how exact the time of publication is.
func (q *request) precision(from disclosure.Surface) string {
	if from == disclosure.FromList {
		return q.edition.Text("report.minute")
	}
	return ""
}

// timeline returns the reports to which a report is related, and itself, oldest
// first. It is empty without related reports.
func (q *request) timeline(r *disclosure.Report) (out []event) {
	seen := map[string]bool{r.ID: true}
	add := func(o disclosure.Relation) {
		e := event{At: o.At, Label: strconv.FormatInt(o.Number, 10), Text: o.Text}
		if o.ID != "" {
			if seen[o.ID] {
				return
			}
			seen[o.ID] = true
			if f, ok := q.snapshot.Report(o.ID); ok {
				e.At = f.Published()
				e.Title = f.Title()
				e.URL = q.edition.Link(q.reportPath(o.ID))
				e.Label = string(f.Type()) + " " + e.Label
			}
		}
		out = append(out, e)
	}
	for _, o := range r.Related {
		add(o)
	}
	if r.CorrectedBy != "" {
		if _, number, ok := disclosure.ParseReportID(r.CorrectedBy); ok {
			add(disclosure.Relation{ID: r.CorrectedBy, Number: number})
		}
	}
	if len(out) == 0 {
		return nil
	}
	out = append(out, event{
		At:    r.PublishedAt,
		Label: string(r.Type) + " " + strconv.FormatInt(r.Number, 10),
		Title: r.Title,
		Here:  true,
	})
	slices.SortStableFunc(out, func(a, b event) int { return a.At.Compare(b.At) })
	return out
}

// stages returns when a report reached each step. Reports that were loaded as
// history have none, nor those with a time that cannot be true: their times tell
// nothing.
func (q *request) stages(r *disclosure.Report) []stage {
	if r.Backfilled || r.FirstSeenAt.IsZero() || r.SuspectTime() {
		return nil
	}
	out := []stage{{Name: q.edition.Text("stage.published"), At: r.PublishedAt}}
	for _, next := range []struct {
		key string
		at  time.Time
	}{{"stage.seen", r.FirstSeenAt}, {"stage.text", r.TextReadyAt}, {"stage.summary", r.SummaryReadyAt}} {
		if next.at.IsZero() {
			continue
		}
		s := stage{Name: q.edition.Text(next.key), At: next.at}
		if r.SecondsKnown() {
			s.After = q.edition.Duration(next.at.Sub(r.PublishedAt))
		}
		out = append(out, s)
	}
	return out
}

// documentOf returns the document of a report, with its text if the reader may have
// it.
func (s *Site) documentOf(q *request, r *disclosure.Report) (documentView, error) {
	now := query.DescribeDocument(r)
	out := documentView{Status: now.Status}
	if now.Pages != nil {
		out.Pages = *now.Pages
	}
	if r.DocumentNow().Status != disclosure.DocumentReady {
		return out, nil
	}
	if q.principal.Mode == access.Anonymous {
		return s.openingOf(q, r, out), nil
	}
	offset := q.params.Integer("offset", 0, 0, query.MaxOffset)
	if err := q.params.Err(); err != nil {
		return out, err
	}
	piece, _, err := s.Query.ReadDocument(q.Context(), r, offset, textChars)
	if err != nil || piece == nil {
		return out, err
	}
	out.Piece = piece.Pages
	if piece.Next > 0 {
		out.Next = q.with(q.URL.Path, "offset", strconv.Itoa(piece.Next)) + "#document"
	}
	if offset > 0 {
		out.Previous = q.with(q.URL.Path, "offset", "") + "#document"
	}
	return out, nil
}

// openingOf adds the beginning of the text of a document, and where to read all of it.
func (s *Site) openingOf(q *request, r *disclosure.Report, out documentView) documentView {
	opening := s.Query.Opening(q.Context(), r)
	if opening != nil {
		out.Piece = opening.Pages
	}
	if out.Cut = opening == nil || !opening.Whole; out.Cut && len(s.Parts) > 0 {
		out.ReadAll = q.edition.Link(sessionReports+r.ID) + "#document"
	}
	return out
}

// linkedReport describes a report to search engines, in the terms of schema.org.
func (q *request) linkedReport(r *disclosure.Report, p *reportPage) map[string]any {
	out := map[string]any{
		"@context": "https://schema.org", "@type": "Report", "@id": p.Address, "url": p.Address, "headline": r.Title, "name": r.Title,
		"reportNumber": strconv.FormatInt(r.Number, 10), "datePublished": q.edition.Exact(r.PublishedAt),
		"author": map[string]any{
			"@type": "Organization",
			"name":  r.CompanyName,
		}, "inLanguage": cmp.Or(r.Document.Language, "es"),
		"isAccessibleForFree": true,
	}
	if p.Summary != "" {
		out["abstract"] = p.Summary
	}
	if r.SourceURL != "" {
		out["isBasedOn"] = r.SourceURL
	}
	if r.PDFURL != "" {
		out["encoding"] = map[string]any{"@type": "MediaObject", "contentUrl": r.PDFURL}
	}
	if categories := r.Categories(); len(categories) > 0 {
		out["keywords"] = categories
	}
	return out
}
