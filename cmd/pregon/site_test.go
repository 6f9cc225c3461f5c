package main_test

import (
	"net/http"
	"strings"
	"syscall"
	"testing"

	"pregon/internal/test/longtest"
)

// A browser uses the site as people do.
func TestSite(t *testing.T) {
	longtest.Skip(t, "it needs Chromium")
	t.Parallel()
	r := startMarket(t)
	key := pregon(t, r.spec, "keys", "create", "--plan", "pro")
	runChecker(t, "site.mjs", r.serve.url, key, r.source.url)
}

// A page that stays open asks every second, which must not fill the log.
func TestPollsAreNotLogged(t *testing.T) {
	t.Parallel()
	s := startReplica(t, engines["sqlite"](t))
	resp, err := http.Get(s.url + "/live")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if got := s.status(t, "/live", "If-None-Match", resp.Header.Get("ETag")); got != http.StatusNotModified {
		t.Fatalf("got status %d", got)
	}
	if err := s.end(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	log := s.log.String()
	if !strings.Contains(log, "path=/live status=200") || strings.Contains(log, "path=/live status=304") {
		t.Error(log)
	}
}
