package simserver_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"pregon/internal/document/extract/xls"
	source "pregon/internal/source/shorts"
)

const shortsPath = "/DocPortal/Posiciones-Cortas/NetShortPositions.xls"

// register returns the register that the site shows.
func (s *site) register(body string) (source.Register, error) {
	book, err := xls.Read([]byte(body))
	if err != nil {
		return source.Register{}, err
	}
	return source.Parse(book)
}

func TestShorts(t *testing.T) {
	s := open(t, early, "")
	first := s.do(http.MethodGet, shortsPath, "")
	got, err := s.register(first.body)
	if err != nil || len(got.Findings) > 0 || len(got.Union()) != len(s.Shorts().Truth(early)) {
		t.Fatalf("%d notices, findings %v, %v", len(got.Union()), got.Findings, err)
	}
	etag, modified := first.Header.Get("ETag"), first.Header.Get("Last-Modified")
	if etag == "" || modified == "" || first.Header.Get("Content-Type") != "application/vnd.ms-excel" {
		t.Errorf("got headers %v", first.Header)
	}
	for _, test := range []struct {
		headers []string
		want    int
	}{
		{[]string{"If-None-Match", etag}, http.StatusNotModified},
		{[]string{"If-Modified-Since", modified}, http.StatusNotModified},
		{[]string{"If-None-Match", `"other"`, "If-Modified-Since", modified}, http.StatusOK},
		{[]string{"If-Modified-Since", "Mon, 01 Jan 2018 00:00:00 GMT"}, http.StatusOK},
		{[]string{"If-Modified-Since", "soon"}, http.StatusOK},
	} {
		r := s.do(http.MethodGet, shortsPath, "", test.headers...)
		if r.StatusCode != test.want || (r.body == "") != (test.want == http.StatusNotModified) {
			t.Errorf("%q: status %d with %d bytes, want %d", test.headers, r.StatusCode, len(r.body), test.want)
		}
	}
	s.clock.set(early.Add(10 * time.Minute)) // the demonstration has a notice every few minutes
	later := s.do(http.MethodGet, shortsPath, "", "If-None-Match", etag)
	if later.StatusCode != http.StatusOK || later.Header.Get("ETag") == etag || later.body == first.body {
		t.Errorf("ten minutes later: status %d, ETag %s", later.StatusCode, later.Header.Get("ETag"))
	}
}

func TestFaultsOfShorts(t *testing.T) {
	s := open(t, early, "")
	whole := s.get(shortsPath)
	s.arm(`{"kind":"half","surface":"shorts","times":1}`)
	if r := s.do(http.MethodGet, shortsPath, ""); r.err != nil || len(r.body) != len(whole)/2 {
		t.Errorf("half: %d bytes of %d, %v", len(r.body), len(whole), r.err)
	}
	s.arm(`{"kind":"truncate","surface":"shorts","times":1}`)
	if r := s.do(http.MethodGet, shortsPath, ""); r.err == nil {
		t.Error("truncate: the answer is whole")
	}
	s.arm(`{"kind":"errorpage","surface":"shorts","times":1}`)
	if body := s.get(shortsPath); !strings.Contains(body, "<html") {
		t.Errorf("errorpage: got %.100q", body)
	}
	s.arm(`{"kind":"stale","surface":"shorts","times":1}`)
	old, err := s.register(s.get(shortsPath))
	present, err2 := s.register(whole)
	if err != nil || err2 != nil || old.Published >= present.Published || len(old.Union()) >= len(present.Union()) {
		t.Errorf("stale: published %s with %d notices, now %s with %d; %v, %v",
			old.Published, len(old.Union()), present.Published, len(present.Union()), err, err2)
	}
	s.arm(`{"kind":"half","surface":"all"}`)
	if body := s.get(oirFeed); !strings.Contains(body, "</rss>") && !strings.HasSuffix(strings.TrimSpace(body), ">") {
		t.Error("half affects a feed")
	}
	if body := s.get(shortsPath); len(body) != len(whole)/2 {
		t.Errorf("%d bytes with a fault everywhere", len(body))
	}
}
