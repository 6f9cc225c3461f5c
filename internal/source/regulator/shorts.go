package regulator

import (
	"bytes"
	"context"
	"net/http"
	"strings"
)

// shortsPath is the path of the workbook of net short positions.
const shortsPath = "/DocPortal/Posiciones-Cortas/NetShortPositions.xls"

// MaxWorkbook is the size of the largest workbook that is downloaded. The register of
// net short positions has less than 2 MB.
const MaxWorkbook = 16 << 20

// Validators identify a version of a file, as the site names it. The zero value
// identifies none.
type Validators struct {
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"last_modified,omitempty"`
}

// File is a downloaded file, or the answer that it has not changed.
type File struct {
	Body       []byte // nil if it is unchanged
	Validators Validators
	Unchanged  bool
	URL        string // public link, after redirects
}

// maxValidator bounds a validator that is kept.
const maxValidator = 256

// validatorsOf returns the validators of an answer. One that could not be sent back
// counts as missing.
func validatorsOf(h http.Header) Validators {
	v := Validators{ETag: h.Get("ETag"), LastModified: h.Get("Last-Modified")}
	if !isETag(v.ETag) {
		v.ETag = ""
	}
	if _, err := http.ParseTime(v.LastModified); err != nil {
		v.LastModified = ""
	}
	return v
}

// isETag reports whether a text is an entity tag, strong or weak.
func isETag(s string) bool {
	body, ok := strings.CutPrefix(strings.TrimPrefix(s, "W/"), `"`)
	body, closed := strings.CutSuffix(body, `"`)
	if !ok || !closed || len(s) > maxValidator {
		return false
	}
	return !strings.ContainsFunc(body, func(c rune) bool { return c <= ' ' || c == '"' || c >= 0x7f })
}

// set adds the condition that the file is another version.
func (v Validators) set(h http.Header) {
	if isETag(v.ETag) {
		h.Set("If-None-Match", v.ETag)
	}
	if _, err := http.ParseTime(v.LastModified); err == nil {
		h.Set("If-Modified-Since", v.LastModified)
	}
}

// NetShortPositions downloads the workbook of net short positions, unless it is still
// the version that is known. A page that came instead of a workbook is a MarkupError.
func (c *Client) NetShortPositions(ctx context.Context, known Validators) (File, error) {
	l := c.limits.workbook
	l.unless = known
	a, err := c.get(ctx, shortsPath, l)
	if err != nil {
		return File{}, err
	}
	f := File{
		Body:       a.body,
		Validators: a.validators,
		Unchanged:  a.unchanged,
		URL:        c.site().public + pathOf(a.address),
	}
	if f.Unchanged {
		f.Body = nil
		if f.Validators == (Validators{}) { // it does not have to repeat them
			f.Validators = known
		}
		return f, nil
	}
	return f, c.checkRedirects(&a, checkWorkbook(a.body))
}

// workbookStart begins every workbook of Excel 97 to 2003.
var workbookStart = []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")

// checkWorkbook refuses what does not begin like a workbook. Its content is read in
// another process.
func checkWorkbook(body []byte) error {
	bad := defects{surface: "workbook of net short positions"}
	start := bytes.ToLower(bytes.TrimLeft(body[:min(len(body), 1024)], "\xef\xbb\xbf \t\r\n"))
	switch {
	case bytes.HasPrefix(body, workbookStart):
		return nil
	case len(body) == 0:
		bad.fail(0, "it is empty")
	case bytes.HasPrefix(start, []byte("<")):
		bad.fail(1, "a page came instead of it")
	default:
		bad.fail(1, "it is not a workbook of Excel 97 to 2003")
	}
	return bad.err()
}
