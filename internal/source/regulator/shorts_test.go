package regulator_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"pregon/internal/source/regulator"
)

const (
	workbookPath  = "/DocPortal/Posiciones-Cortas/NetShortPositions.xls"
	workbookStart = "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
)

func TestNetShortPositions(t *testing.T) {
	version := regulator.Validators{ETag: `"5897bb16bf55dd1:0"`, LastModified: "Tue, 06 Oct 2026 18:18:29 GMT"}
	_, c, _ := newFake(t, map[string]http.HandlerFunc{workbookPath: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", version.ETag)
		w.Header().Set("Last-Modified", version.LastModified)
		if r.Header.Get("If-None-Match") == version.ETag && r.Header.Get("If-Modified-Since") == version.LastModified {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Content-Type", "application/vnd.ms-excel")
		_, _ = w.Write([]byte(workbookStart + "x"))
	}})
	for _, known := range []regulator.Validators{{}, {ETag: `"other"`}, {ETag: "no tag", LastModified: "yesterday"}} {
		got, err := c.NetShortPositions(t.Context(), known)
		if err != nil || got.Unchanged || string(got.Body) != workbookStart+"x" || got.Validators != version ||
			got.URL != "https://www.cnmv.es"+workbookPath {
			t.Errorf("%+v: got %+v, %v", known, got, err)
		}
	}
	got, err := c.NetShortPositions(t.Context(), version)
	if err != nil || !got.Unchanged || got.Body != nil || got.Validators != version {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestNetShortPositionsRefused(t *testing.T) {
	page := strings.Repeat(" ", 10) + "\r\n<!DOCTYPE html><html><body><table></table></body></html>"
	for _, test := range []struct {
		name   string
		answer http.HandlerFunc
		known  regulator.Validators
		want   string
	}{
		{"a page", send([]byte(page)), regulator.Validators{}, "a page came instead of it"},
		{"nothing", send(nil), regulator.Validators{}, "it is empty"},
		{"a newer workbook", send([]byte("PK\x03\x04")), regulator.Validators{}, "it is not a workbook"},
		{"an error page", send([]byte("<html>No ha sido posible completar su consulta</html>")), regulator.Validators{}, "error page"},
		{"too large", send(make([]byte, regulator.MaxWorkbook+1)), regulator.Validators{}, "larger than 16 MB"},
		{"unasked", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) }, regulator.Validators{}, "status 304"},
		{"missing", nil, regulator.Validators{ETag: `"x"`}, "does not have this page"},
		{"a failure", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }, regulator.Validators{ETag: `"x"`}, "status 502"},
	} {
		t.Run(test.name, func(t *testing.T) {
			pages := map[string]http.HandlerFunc{}
			if test.answer != nil {
				pages[workbookPath] = test.answer
			}
			_, c, _ := newFake(t, pages)
			if _, err := c.NetShortPositions(t.Context(), test.known); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
		})
	}
}

// TestValidators: what the site calls a version is sent back only if it is one.
func TestValidators(t *testing.T) {
	for etag, kept := range map[string]bool{
		`"a"`:                                true,
		`W/"a:0"`:                            true,
		`a`:                                  false,
		`"a`:                                 false,
		`"`:                                  false,
		`"a b"`:                              false,
		`"` + strings.Repeat("a", 300) + `"`: false,
		`"` + strings.Repeat("a", 200) + `"`: true,
	} {
		_, c, _ := newFake(t, map[string]http.HandlerFunc{workbookPath: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("ETag", etag)
			w.Header().Set("Last-Modified", "soon")
			_, _ = w.Write([]byte(workbookStart))
		}})
		got, err := c.NetShortPositions(t.Context(), regulator.Validators{})
		if err != nil || (got.Validators.ETag == etag) != kept || got.Validators.LastModified != "" {
			t.Errorf("%q: got %+v, %v", etag, got.Validators, err)
		}
	}
	_, c, _ := newFake(t, map[string]http.HandlerFunc{workbookPath: send([]byte("<html>"))})
	_, err := c.NetShortPositions(t.Context(), regulator.Validators{})
	if e, ok := errors.AsType[*regulator.MarkupError](err); !ok || !e.Whole {
		t.Errorf("got %v, want a MarkupError of the whole", err)
	}
}
