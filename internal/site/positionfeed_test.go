package site_test

import (
	"encoding/json"
	"encoding/xml"
	"net/http"
	"strings"
	"testing"

	"pregon/internal/disclosure"
	"pregon/internal/query/querytest"
)

func TestPositionFeeds(t *testing.T) {
	t.Parallel()
	b := registersMarket()
	b.Positions = append(b.Positions, querytest.Short(querytest.ISIN, "Nadie Ficticio", "2026-03-06", "0.5", disclosure.StateCurrent, 1))
	b.Positions[1].FirstSeenAt = querytest.Instant("2026-03-04T19:20:30.5Z")
	s := start(t, "", b)
	for path, want := range map[string]struct {
		entries int
		title   string
		first   string
		noindex string
	}{
		"/shorts":     {5, "Pregón · Posiciones cortas", "BODEGAS DE VALDEBRISA, S.A.: 0,5\u00a0% · nueva", ""},
		"/dealings":   {4, "Pregón · Operaciones de directivos", "BODEGAS DE VALDEBRISA, S.A.: directivo", "noindex"},
		"/holdings":   {3, "Pregón · Participaciones significativas", "BODEGAS DE VALDEBRISA, S.A.: 12,5\u00a0% · nueva", "noindex"},
		"/own-shares": {1, "Pregón · Autocartera", "BODEGAS DE VALDEBRISA, S.A.: BODEGAS DE VALDEBRISA, S.A. · 1,02\u00a0% · nueva", ""},
	} {
		has(t, s.get(http.StatusOK, path), `href="`+path+`/feed.atom"`, `title="JSON Feed" href="`+path+`/feed.json"`)
		w := s.get(http.StatusOK, path+"/feed.atom")
		var atom struct {
			ID      string `xml:"id"`
			Title   string `xml:"title"`
			Updated string `xml:"updated"`
			Entry   []struct {
				ID        string `xml:"id"`
				Title     string `xml:"title"`
				Published string `xml:"published"`
			} `xml:"entry"`
		}
		if err := xml.Unmarshal(w.Body.Bytes(), &atom); err != nil {
			t.Fatal(err)
		}
		if atom.Title != want.title || len(atom.Entry) != want.entries || atom.Entry[0].Title != want.first || atom.ID != baseURL+path+"/feed.atom" {
			t.Errorf("%s: got %+v, want %+v", path, atom, want)
		}
		if got := w.Header().Get("X-Robots-Tag"); got != want.noindex {
			t.Errorf("%s: X-Robots-Tag is %q, want %q", path, got, want.noindex)
		}
		lacks(t, w.Body.String(), "Elena Ruiz", "RUIZ SALVATIERRA", "Nadie Ficticio")
		var feed struct {
			Version string
			HomeURL string `json:"home_page_url"`
			Items   []struct{ ID, URL, Title string }
		}
		if err := json.Unmarshal(s.get(http.StatusOK, path+"/feed.json").Body.Bytes(), &feed); err != nil {
			t.Fatal(err)
		}
		if len(feed.Items) != want.entries || feed.Items[0].Title != want.first || feed.HomeURL != baseURL+path {
			t.Errorf("%s: got %+v", path, feed)
		}
	}
	has(t, s.get(http.StatusOK, "/shorts/feed.atom?issuer=bvb&current=true&lang=en"), "Pregón · Short positions · bvb", "Fondo Imaginario Alfa LLP · 0.71% · +0.09",
		"<id>https://pregon.example/api/v1/positions/short-es0sim000010-2026-03-04-1</id>", "2026-03-04T20:20:30+01:00",
		"https://pregon.example/shorts?issuer=A69000016&amp;lang=en#short-es0sim000010-2026-03-04-1", "https://pregon.example/shorts?current=true&amp;issuer=bvb&amp;lang=en")
	has(t, s.get(http.StatusOK, "/dealings/feed.json?side=sell"), "Venta · 54.000\u00a0€", `"mime_type":"application/pdf"`)
}

// No feed is about one person, and none has pages.
func TestPositionFeedOfOne(t *testing.T) {
	t.Parallel()
	s := start(t, "", registersMarket())
	for target, want := range map[string]string{
		"/dealings/feed.atom?issuer=bvb&person=elena": "no feed about one person",
		"/holdings/feed.json?issuer=bvb&holder=elena": "no feed about one person",
		"/dealings/feed.atom?person=elena":            "needs issuer",
		"/shorts/feed.atom?page=2":                    "/api/v1/shorts",
	} {
		has(t, s.get(http.StatusBadRequest, target, "Accept", "*/*"), want)
	}
	has(t, s.get(http.StatusOK, "/shorts/feed.json?holder=alfa"), "Fondo Imaginario Alfa LLP")
	lacks(t, s.get(http.StatusOK, "/holdings/feed.json?holder=elena").Body.String(), "12,5")
	if body := s.get(http.StatusOK, "/dealings?issuer=bvb&person=elena").Body.String(); strings.Contains(body, "feed.atom") {
		t.Error("the page about one person has a feed")
	}
}
