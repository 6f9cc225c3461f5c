package render

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"pregon/internal/server/content"
	"pregon/internal/text/look"
)

// AssetPath is the path of files. Their names contain a hash, so that browsers keep
// them for ever.
const AssetPath = "/assets/"

// asset is a file that pages load.
type asset struct {
	url, contentType string
	body             []byte
}

var assetTypes = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

// loadAssets names the files of pages by their content. The style sheets of all public
// pages, in the order of their names, are one file.
func (r *Renderer) loadAssets() error {
	r.assets = map[string]*asset{}
	style, err := r.style()
	if err != nil {
		return err
	}
	r.addAsset("site.css", style)
	for _, folder := range r.folders() {
		if err := r.addAssets(folder); err != nil {
			return err
		}
	}
	for _, p := range r.Parts {
		r.addAsset(p.Name+".css", p.Style)
		r.addAsset(p.Name+".js", compactScript(p.Script))
	}
	return nil
}

// addAssets adds the files of a folder.
func (r *Renderer) addAssets(folder fs.FS) error {
	names, err := fs.Glob(folder, "assets/*")
	if err != nil {
		return err
	}
	for _, name := range names {
		body, err := fs.ReadFile(folder, name)
		if err != nil {
			return err
		}
		switch path.Ext(name) {
		case ".js":
			body = compactScript(body)
		case ".css":
			body = compact(body)
		}
		r.addAsset(path.Base(name), body)
	}
	return nil
}

// style returns the style sheets of what views show too, of the layout, of charts and of the
// public pages.
func (r *Renderer) style() ([]byte, error) {
	sheets := map[string][]byte{}
	for _, folder := range r.folders() {
		names, err := fs.Glob(folder, "style/*.css")
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if sheets[name], err = fs.ReadFile(folder, name); err != nil {
				return nil, err
			}
		}
	}
	all := []byte(look.Style)
	for _, name := range slices.Sorted(maps.Keys(sheets)) {
		all = append(all, sheets[name]...)
	}
	return compact(all), nil
}

// These match what a style sheet has for people only. No text in a sheet has a brace, a
// semicolon, or a colon or comma with a space after it; a test checks that.
var (
	cssComment = regexp.MustCompile(`(?s)/\*.*?\*/`)
	cssSpace   = regexp.MustCompile(`\s*([{};])\s*|([:,])\s+`)
)

// compact returns a style sheet without comments and needless spaces, an eighth of it:
// every page loads it.
func compact(sheet []byte) []byte {
	sheet = cssComment.ReplaceAll(sheet, nil)
	sheet = cssSpace.ReplaceAll(sheet, []byte("$1$2"))
	return bytes.TrimSpace(bytes.ReplaceAll(sheet, []byte(";}"), []byte("}")))
}

// These match what a script has for people only: the indentation, empty lines and lines
// with only a comment, and comments after code. No text in a script spans lines or has two
// slashes after a space; a test checks that.
var (
	scriptSpace   = regexp.MustCompile(`(?m)^\s*(//.*\n\s*)*`)
	scriptComment = regexp.MustCompile(`(?m) +// .*$`)
)

// compactScript returns a script without comments and needless spaces, a fifth of it:
// every page loads it.
func compactScript(script []byte) []byte {
	return scriptComment.ReplaceAll(scriptSpace.ReplaceAll(script, nil), nil)
}

func (r *Renderer) addAsset(file string, body []byte) {
	sum := sha256.Sum256(body)
	ending := path.Ext(file)
	name := strings.TrimSuffix(file, ending) + "." + hex.EncodeToString(sum[:5]) + ending
	a := &asset{AssetPath + name, assetTypes[ending], body}
	r.assets[name], r.assets[file] = a, a
}

// assetURL returns the address of a file.
func (r *Renderer) assetURL(name string) (string, error) {
	if a := r.assets[name]; a != nil {
		return a.url, nil
	}
	return "", fmt.Errorf("there is no file %q", name)
}

// Icon returns the address of the icon of the site.
func (r *Renderer) Icon() string { return r.assets["icon.svg"].url }

// ServeAsset serves a file. A name without a hash leads to the present one.
func (r *Renderer) ServeAsset(w http.ResponseWriter, req *http.Request) {
	name := req.PathValue("name")
	a := r.assets[name]
	switch {
	case a == nil:
		r.NotFound(w, req)
	case a.url != AssetPath+name:
		http.Redirect(w, req, a.url, http.StatusFound)
	default:
		h := w.Header()
		h.Set("Content-Type", a.contentType)
		content.SetImmutable(h, req, 365*24*time.Hour)
		// an image may be opened on its own
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
		http.ServeContent(w, req, "", time.Time{}, bytes.NewReader(a.body))
	}
}
