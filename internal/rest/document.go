package rest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/document"
	"pregon/internal/document/extract"
	"pregon/internal/query"
	"pregon/internal/server/content"
)

const (
	defaultMaxChars = 20_000
	maxMaxChars     = 200_000
)

// searchesDocuments reports whether a list is searched in documents, which
// needs a credential. An unknown value is rejected later, with or without a
// credential.
func searchesDocuments(r *http.Request) bool {
	raw := r.URL.RawQuery
	if !strings.Contains(raw, "in=") && !strings.Contains(raw, "%") { // the name may be escaped
		return false
	}
	return slices.ContainsFunc(r.URL.Query()["in"], func(s string) bool { return s != "" })
}

func (a *API) getDocument(r *http.Request, s *catalog.Snapshot) (response, error) {
	p := a.readParams(r)
	offset := p.Integer("offset", 0, 0, query.MaxOffset)
	most := p.Integer("max_chars", defaultMaxChars, 1, maxMaxChars)
	if err := p.Err(); err != nil {
		return response{}, err
	}
	f, err := query.Find(s, r.PathValue("id"))
	if err != nil {
		return response{}, err
	}
	rep := f.Decode()
	piece, text, err := a.Query.ReadDocument(r.Context(), rep, offset, most)
	if err != nil {
		return response{}, err
	}
	if piece == nil {
		return pendingDocument(rep)
	}
	out, err := a.encodePiece(r, rep, text, piece, offset)
	out.header = http.Header{"Vary": {"Accept"}}
	if piece.Next > 0 {
		next := url.Values{"offset": {strconv.Itoa(piece.Next)}, "max_chars": {strconv.Itoa(most)}}
		out.header.Set("Link", fmt.Sprintf(`<%s/api/v1/reports/%s/document?%s>; rel="next"`, a.BaseURL, rep.ID,
			next.Encode()))
	}
	return out, err
}

// pendingRetryAfter is the number of seconds after which to ask again for a
// pending document.
const pendingRetryAfter = "5"

// pendingDocument is the response for a document that is not read yet.
func pendingDocument(r *disclosure.Report) (response, error) {
	out, err := encode(struct {
		ID       string               `json:"id"`
		Document query.DocumentStatus `json:"document"`
	}{r.ID, query.DescribeDocument(r)})
	out.status, out.header = http.StatusAccepted, http.Header{"Retry-After": {pendingRetryAfter}}
	return out, err
}

// encodePiece writes a piece in the format that the client accepts.
func (a *API) encodePiece(
	r *http.Request,
	rep *disclosure.Report,
	text *extract.Text,
	piece *document.Piece,
	offset int,
) (response, error) {
	switch preferredType(r.Header.Values("Accept")) {
	case plainText:
		return response{body: []byte(document.Plain(*piece)), contentType: plainText}, nil
	case markdown:
		return response{body: []byte(document.Markdown(rep, *piece, offset == 0)), contentType: markdown}, nil
	}
	return encode(a.Query.DocumentText(rep, text, piece, offset))
}

const (
	plainText = "text/plain; charset=utf-8"
	markdown  = "text/markdown; charset=utf-8"
)

// preferredType returns the content type that an Accept header prefers, or "" for JSON.
func preferredType(header []string) string {
	types := map[string]string{
		"text/plain": plainText, "text/markdown": markdown, "application/json": "",
		"*/*": "", "application/*": "", "text/*": markdown,
	}
	best, preferred := 0.0, ""
	for _, r := range content.ParseAccept(header) {
		if known, ok := types[r.Type]; ok && r.Quality > best {
			best, preferred = r.Quality, known
		}
	}
	return preferred
}

// searchDocuments lists the reports whose documents match, with snippets.
func (a *API) searchDocuments(r *http.Request, s *catalog.Snapshot) (response, error) {
	p := a.listParams(r)
	list := p.ListInDocuments(s)
	if err := p.Err(); err != nil {
		return response{}, err
	}
	found, err := a.Query.Reports(r.Context(), s, list)
	if err != nil {
		return response{}, err
	}
	snippets, err := a.Query.Snippets(r.Context(), list.Filter, found.Reports)
	if err != nil {
		return response{}, err
	}
	type hit struct {
		Report   json.RawMessage    `json:"report"`
		Snippets []document.Snippet `json:"snippets"`
	}
	hits := make([]hit, len(found.Reports))
	for i, f := range found.Reports {
		hits[i] = hit{f.AppendJSON(nil), snippets[i]}
	}
	out, err := encode(struct {
		Data  []hit `json:"data"`
		Total int   `json:"total"`
		Page  int   `json:"page"`
		Limit int   `json:"limit"`
	}{hits, found.Total, list.Page, list.Limit})
	return out.warn(p.Warnings()).widen(list.Filter), err
}
