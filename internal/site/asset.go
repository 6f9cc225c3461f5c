package site

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"net/http"
	"path"
	"strings"
	"time"
)

//go:embed assets style
var assetFiles embed.FS

// assetPath is the path of files. Their names contain a hash, so that browsers keep
// them for ever.
const assetPath = "/assets/"

// asset is a file that pages load.
type asset struct {
	url, contentType string
	body             []byte
}

var assetTypes = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

// loadAssets names the embedded files by their content. The style sheets, in the
// order of their names, are one file.
func (s *Site) loadAssets() {
	s.assets = map[string]*asset{}
	s.addAsset("site.css", embedded("style"))
	for _, name := range namesOf(assetFiles, "assets") {
		s.addAsset(name, embedded("assets/"+name))
	}
	for _, p := range s.Parts {
		s.addAsset(p.Name+".css", p.Style)
		s.addAsset(p.Name+".js", p.Script)
	}
}

// embedded returns the content of an embedded file, or of all files of a folder.
func embedded(name string) []byte {
	if !strings.Contains(name, "/") {
		var all []byte
		for _, file := range namesOf(assetFiles, name) {
			all = append(all, embedded(name+"/"+file)...)
		}
		return all
	}
	body, err := assetFiles.ReadFile(name)
	if err != nil {
		panic(err) // a name here is wrong
	}
	return body
}

// namesOf returns the names of the files in an embedded folder.
func namesOf(files embed.FS, folder string) (names []string) {
	entries, err := files.ReadDir(folder)
	if err != nil {
		panic(err) // a name here is wrong
	}
	for _, f := range entries {
		names = append(names, f.Name())
	}
	return names
}

func (s *Site) addAsset(file string, body []byte) {
	sum := sha256.Sum256(body)
	ending := path.Ext(file)
	name := strings.TrimSuffix(file, ending) + "." + hex.EncodeToString(sum[:5]) + ending
	a := &asset{assetPath + name, assetTypes[ending], body}
	s.assets[name], s.assets[file] = a, a
}

// assetURL returns the address of a file.
func (s *Site) assetURL(name string) (string, error) {
	if a := s.assets[name]; a != nil {
		return a.url, nil
	}
	return "", fmt.Errorf("there is no file %q", name)
}

// serveAsset serves a file. A name without a hash leads to the present one.
func (s *Site) serveAsset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	a := s.assets[name]
	switch {
	case a == nil:
		s.NotFound(w, r)
	case a.url != assetPath+name:
		http.Redirect(w, r, a.url, http.StatusFound)
	default:
		h := w.Header()
		h.Set("Content-Type", a.contentType)
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox") // an image may be opened on its own
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(a.body))
	}
}
