package discovery

import (
	"bytes"
	"net/http"
	"strings"
	"time"

	"pregon/internal/server/content"
)

// maxAge is how long a client may keep a document. It is short, so that a changed setting
// is visible soon.
const maxAge = 5 * time.Minute

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
		d = v.preferred(r.Header.Values("Accept"))
	}
	for name, value := range d.header {
		h.Set(name, value)
	}
	h.Set("Content-Type", d.contentType)
	content.SetPublic(h, r, maxAge)
	h.Set("Link", d.linkHeader())
	h.Set("ETag", d.tag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(d.body))
}

// linkHeader returns the header Link.
func (d *document) linkHeader() string {
	return strings.Join(append(commonLinks[:len(commonLinks):len(commonLinks)], d.links...), ", ")
}

// preferred returns the format that an Accept header prefers.
func (v variants) preferred(accept []string) document {
	types := make([]string, len(v))
	for i, d := range v {
		types[i] = d.contentType
	}
	return v[content.Preferred(accept, types...)]
}
