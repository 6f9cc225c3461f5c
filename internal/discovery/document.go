package discovery

import (
	"bytes"
	"encoding/json"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"pregon/internal/server/content"
)

// maxAge is for how many seconds a document may be kept: an operator who
// changes a setting should not have to wait long.
const maxAge = 300

// document is an answer that is the same for everybody.
type document struct {
	contentType string
	body        []byte
	links       []string          // of the header, beside those that every document has
	header      map[string]string // that only this one has
	tag         string            // the ETag, once the document is whole
}

// everywhere are the links by which one document leads to all others.
var commonLinks = []string{link(ardPath, "ard"), link(apiCatalogPath, "api-catalog")}

// link is a value of the header Link, with more of its parameters by name and
// value.
func link(target, rel string, more ...string) string {
	s := "<" + target + `>; rel="` + rel + `"`
	for i := 0; i+1 < len(more); i += 2 {
		s += "; " + more[i] + `="` + more[i+1] + `"`
	}
	return s
}

// newJSON is a document of a value.
func newJSON(contentType string, v any) (document, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ") // people read these too
	err := enc.Encode(v)
	return document{contentType: contentType, body: b.Bytes()}, err
}

// serve answers with the form that the request prefers.
func (v variants) serve(w http.ResponseWriter, r *http.Request) {
	d := v[0]
	h := w.Header()
	if len(v) > 1 {
		h.Add("Vary", "Accept")
		d = v.preferred(content.ParseAccept(r.Header.Values("Accept")))
	}
	for name, value := range d.header {
		h.Set(name, value)
	}
	h.Set("Content-Type", d.contentType)
	h.Set("Cache-Control", "public, max-age="+strconv.Itoa(maxAge))
	h.Set("Link", strings.Join(append(commonLinks[:len(commonLinks):len(commonLinks)], d.links...), ", "))
	h.Set("ETag", d.tag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(d.body))
}

// preferred is the form that an Accept header likes best, the earlier one of
// two that it likes alike.
func (v variants) preferred(accept []content.MediaRange) document {
	best, liked := v[0], 0.0
	for _, d := range v {
		if q := quality(accept, d.contentType); q > liked {
			best, liked = d, q
		}
	}
	return best
}

// quality returns the quality of a type in an Accept header: that of the most specific
// range.
func quality(accept []content.MediaRange, contentType string) float64 {
	if len(accept) == 0 {
		return 1
	}
	name, _, _ := mime.ParseMediaType(contentType)
	major, _, _ := strings.Cut(name, "/")
	ranks := map[string]int{name: 3, major + "/*": 2, "*/*": 1}
	q, specific := 0.0, 0
	for _, r := range accept {
		if rank := ranks[r.Type]; rank > specific {
			q, specific = r.Quality, rank
		}
	}
	return q
}
