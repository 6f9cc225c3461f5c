package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/document"
	"pregon/internal/extract"
	"pregon/internal/fault"
)

const (
	inDocument      = "document" // the value of in
	defaultMaxChars = 20_000
	mostMaxChars    = 200_000
	mostOffset      = 1<<31 - 1
)

// asksInside tells whether a list is to be searched in documents, which needs a
// credential. A value that nobody knows is refused later, to anybody.
func asksInside(r *http.Request) bool {
	raw := r.URL.RawQuery
	if !strings.Contains(raw, "in=") && !strings.Contains(raw, "%") { // in which it may be written too
		return false
	}
	return slices.ContainsFunc(r.URL.Query()["in"], func(s string) bool { return s != "" })
}

// documentNow is how far a filing's document is.
type documentNow struct {
	Status   string  `json:"status"`
	Reason   *string `json:"reason"` // why it is not ready
	SHA256   *string `json:"sha256"`
	Type     *string `json:"type"`
	Bytes    *int64  `json:"bytes"`
	Pages    *int    `json:"pages"`
	Method   *string `json:"method"`
	Language *string `json:"language"`
}

func describe(r *disclosure.Report) documentNow {
	d := r.DocumentNow()
	out := documentNow{
		Status: string(d.Status), Reason: nullable(d.Reason), SHA256: nullable(d.SHA256),
		Type: nullable(d.Type), Method: nullable(d.Method), Language: nullable(d.Language),
	}
	if d.Status == disclosure.DocumentReady {
		out.Bytes, out.Pages = &d.Bytes, &d.Pages
	}
	return out
}

// evidence is a sentence of the summary, and what it rests on.
type evidence struct {
	Sentence string `json:"sentence"`
	Page     int    `json:"page"`
	Quote    string `json:"quote"`
}

func evidenceOf(r *disclosure.Report) []evidence {
	out := make([]evidence, 0, len(r.Evidence))
	for _, e := range r.Evidence {
		out = append(out, evidence{e.Text, e.Page, e.Quote})
	}
	return out
}

// documentText is a piece of a document's text, and the document's particulars.
type documentText struct {
	ID            string               `json:"id"`
	SHA256        string               `json:"sha256"`
	Type          string               `json:"type"`
	Bytes         int64                `json:"bytes"`
	Pages         int                  `json:"pages"`
	Language      *string              `json:"language"`
	Method        string               `json:"method"`
	Notes         []string             `json:"notes"`
	Outline       []extract.Heading    `json:"outline"`
	Text          []document.PagePiece `json:"text"`
	Offset        int                  `json:"offset"`
	NextOffset    *int                 `json:"next_offset"`
	TotalChars    int                  `json:"total_chars"`
	TokenEstimate int                  `json:"token_estimate"`
	TextReadyAt   *time.Time           `json:"text_ready_at"`
	PDFURL        *string              `json:"pdf_url"`
	Attribution   attribution          `json:"attribution"`
}

func (a *API) getDocument(r *http.Request, s *catalog.Snapshot) (answer, error) {
	p, err := readParams(r)
	if err != nil {
		return answer{}, err
	}
	offset := p.integer("offset", 0, 0, mostOffset)
	most := p.integer("max_chars", defaultMaxChars, 1, mostMaxChars)
	if err := p.err(); err != nil {
		return answer{}, err
	}
	id := r.PathValue("id")
	f, ok := s.Report(strings.ToLower(id))
	if !ok {
		return answer{}, noSuchReport(id)
	}
	rep := f.Report()
	leave, err := a.enterLibrary(r.Context())
	if err != nil {
		return answer{}, err
	}
	defer leave()
	text, err := a.textOf(r.Context(), rep)
	if err != nil {
		return answer{}, err
	}
	if text == nil {
		return notYet(rep)
	}
	piece := document.Cut(text, offset, most)
	out, err := a.show(r, rep, text, piece, offset)
	out.header = http.Header{"Vary": {"Accept"}}
	if piece.Next > 0 {
		next := url.Values{"offset": {strconv.Itoa(piece.Next)}, "max_chars": {strconv.Itoa(most)}}
		out.header.Set("Link", fmt.Sprintf(`<%s/api/v1/reports/%s/document?%s>; rel="next"`, a.BaseURL, rep.ID, next.Encode()))
	}
	return out, err
}

// textOf returns the text of a filing's document, nil while it is to be waited
// for.
func (a *API) textOf(ctx context.Context, r *disclosure.Report) (*extract.Text, error) {
	switch d := r.DocumentNow(); d.Status {
	case disclosure.DocumentReady:
		return document.Load(ctx, a.Documents, d.SHA256)
	case disclosure.DocumentPending:
		return nil, nil
	default:
		return nil, &fault.Error{Kind: fault.NotFound, Message: d.Reason, Code: "document_" + string(d.Status)}
	}
}

// mostInLibrary is how many requests hold texts of documents in memory at once;
// others wait, since a text may have 10 MB.
const mostInLibrary = 8

func (a *API) enterLibrary(ctx context.Context) (leave func(), err error) {
	select {
	case a.library <- struct{}{}:
		return func() { <-a.library }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// soon is when it is worth asking again for a document that is pending.
const soon = "5"

// notYet says that the document is still to come.
func notYet(r *disclosure.Report) (answer, error) {
	out, err := encode(struct {
		ID       string      `json:"id"`
		Document documentNow `json:"document"`
	}{r.ID, describe(r)})
	out.status, out.header = http.StatusAccepted, http.Header{"Retry-After": {soon}}
	return out, err
}

// show writes a piece in the form that the client asked for.
func (a *API) show(r *http.Request, rep *disclosure.Report, text *extract.Text, piece document.Piece, offset int) (answer, error) {
	switch preferred(r.Header.Values("Accept")) {
	case plainText:
		return answer{body: []byte(document.Plain(piece)), contentType: plainText}, nil
	case markdown:
		return answer{body: []byte(document.Markdown(rep, piece, offset == 0)), contentType: markdown}, nil
	}
	out := documentText{
		ID: rep.ID, SHA256: rep.Document.SHA256, Type: string(text.Type), Bytes: rep.Document.Bytes, Pages: len(text.Pages),
		Language: nullable(text.Language), Method: string(text.Method), Notes: list(text.Notes), Outline: text.Outline, Text: piece.Pages,
		Offset: offset, TotalChars: piece.Total, TokenEstimate: document.Tokens(piece.Chars),
		TextReadyAt: nullableTime(rep.TextReadyAt), PDFURL: nullable(rep.PDFURL), Attribution: a.attribution(),
	}
	if out.Outline == nil {
		out.Outline = []extract.Heading{}
	}
	if out.Text == nil {
		out.Text = []document.PagePiece{}
	}
	if piece.Next > 0 {
		out.NextOffset = &piece.Next
	}
	return encode(out)
}

const (
	plainText = "text/plain; charset=utf-8"
	markdown  = "text/markdown; charset=utf-8"
)

// preferred returns the form of a text that an Accept header asks for most; JSON,
// which is nothing here, when it does not say.
func preferred(header []string) string {
	forms := map[string]string{"text/plain": plainText, "text/markdown": markdown, "application/json": "", "*/*": "", "application/*": "", "text/*": markdown}
	best, form := 0.0, ""
	for _, line := range header {
		for part := range strings.SplitSeq(line, ",") {
			name, rest, _ := strings.Cut(part, ";")
			known, ok := forms[strings.ToLower(strings.TrimSpace(name))]
			if q := quality(rest); ok && q > best {
				best, form = q, known
			}
		}
	}
	return form
}

// quality reads the weight among the parameters of a media type.
func quality(parameters string) float64 {
	for p := range strings.SplitSeq(parameters, ";") {
		if name, value, _ := strings.Cut(strings.TrimSpace(p), "="); strings.EqualFold(name, "q") {
			q, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return 0
			}
			return q
		}
	}
	return 1
}

// inDocuments returns a page of the filings whose documents have what the
// filter searches for, and that pass the rest of it.
func (a *API) inDocuments(ctx context.Context, s *catalog.Snapshot, f disclosure.Filter, page, limit int) (catalog.Page, error) {
	ids, err := document.Find(ctx, a.Documents, f.Search)
	if err != nil {
		return catalog.Page{}, err
	}
	f.Search = ""
	return s.Among(ids, f, page, limit), nil
}

// searchDocuments is listReports with in=document, and shows the places.
func (a *API) searchDocuments(r *http.Request, s *catalog.Snapshot) (answer, error) {
	p, err := readParams(r)
	if err != nil {
		return answer{}, err
	}
	filter, limit, page := p.list()
	if filter.Search == "" {
		p.refuse("search", "", "is needed: the words to look for")
	}
	if err := p.err(); err != nil {
		return answer{}, err
	}
	found, err := a.inDocuments(r.Context(), s, filter, page, limit)
	if err != nil {
		return answer{}, err
	}
	places := make([]document.Place, len(found.Filings))
	for i, f := range found.Filings {
		d := f.Report().Document
		places[i] = document.Place{SHA256: d.SHA256, Pages: d.Pages}
	}
	leave, err := a.enterLibrary(r.Context())
	if err != nil {
		return answer{}, err
	}
	defer leave()
	snippets, err := document.Snippets(r.Context(), a.Documents, filter.Search, places...)
	if err != nil {
		return answer{}, err
	}
	b := []byte(`{"data":[`)
	for i, f := range found.Filings {
		if i > 0 {
			b = append(b, ',')
		}
		places, err := json.Marshal(append([]document.Snippet{}, snippets[places[i].SHA256]...))
		if err != nil {
			return answer{}, err
		}
		b = f.AppendJSON(append(b, `{"report":`...))
		b = append(append(append(b, `,"snippets":`...), places...), '}')
	}
	return answer{body: appendPage(append(b, ']'), found.Total, page, limit)}, nil
}
