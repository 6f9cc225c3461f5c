package discovery

import (
	"bytes"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"pregon/internal/server/content"
)

// maxAge is the cache time in seconds. It is short, so that a changed setting
// is visible soon.
const maxAge = 300

// document is a public response that does not change.
type document struct {
	contentType string
	body        []byte
	links       []string          // of the header Link, in addition to commonLinks
	header      map[string]string // additional headers
	tag         string            // the ETag, set when the document is complete
}

// commonLinks lead from each document to all others.
var commonLinks = []string{link(ardPath, "ard"), link(apiCatalogPath, "api-catalog")}

// link returns a value of the header Link, with further parameters as names and
// values.
func link(target, rel string, more ...string) string {
	s := "<" + target + `>; rel="` + rel + `"`
	for i := 0; i+1 < len(more); i += 2 {
		s += "; " + more[i] + `="` + more[i+1] + `"`
	}
	return s
}

// serve writes the format that the request prefers.
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

// preferred returns the format with the highest quality in an Accept header,
// the earlier one of equals.
func (v variants) preferred(accept []content.MediaRange) document {
	best, highest := v[0], 0.0
	for _, d := range v {
		if q := quality(accept, d.contentType); q > highest {
			best, highest = d, q
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
