package main_test

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pregon/internal/test/attacktest"
	"pregon/internal/test/longtest"
)

// Every wait within a request is bounded, and what one caller does delays another by a
// bounded time. This is what requests wait for, and what bounds the wait. TestWaits in
// internal/test/layering lists each lock and channel.
//
//   - a slot of the own caller: a second, and as many waiters as there are slots
//     (access.SlotLimiter)
//   - a turn to render a page, or a text of a document: callers take turns, five seconds
//     (access.Turns)
//   - another request that renders the same page: it has its turn already; five seconds
//     (site.cache)
//   - a past state of the catalogue (history): callers take turns, and a deadline
//   - the store: its deadlines (see docs/reliability.md)
//   - other hosts (providers, client documents, buckets): a timeout of seconds, and the
//     request's own end
//   - a reader that does not read: ten seconds for each 64 KiB, and 256 requests of a
//     client (httpserver)

// TestOneCallerStopsNobody attacks the service directly and through proxies. Every
// request of another caller is answered.
func TestOneCallerStopsNobody(t *testing.T) {
	longtest.Skip(t, "it attacks for a while, also through proxies")
	store := engines["sqlite"](t)
	file := filepath.Join(t.TempDir(), "reports.jsonl")
	var lines bytes.Buffer
	for n := range 9500 { // one sitemap of nearly a megabyte
		at := time.Date(2025, 3, 1, 9, 0, 0, 0, time.UTC).Add(time.Duration(n) * time.Minute)
		fmt.Fprintf(&lines, `{"type":"OIR","cnmv_registration_number":"%d","company_name":"SIERRALBINA %d","title":"[Simulación] Comunicación %d","published_at":%q}`+"\n",
			n+1, n%97, n+1, at.Format(time.RFC3339))
	}
	if err := os.WriteFile(file, lines.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	pregon(t, store, "import", "reports", file)
	s := startReplica(t, store, "--trusted-proxy", "127.0.0.1/32", "--anonymous-limit", "0")
	address := strings.TrimPrefix(s.url, "http://")
	paths := []attacktest.Path{{
		Name:   "direct",
		HTTP1:  address,
		HTTP2:  address,
		Direct: true,
	}}
	for _, name := range []string{"nginx", "haproxy"} {
		front := startFront(t, name, s, s)
		paths = append(paths, attacktest.Path{
			Name:  name,
			HTTP1: front.Address,
			HTTP2: front.HTTP2,
		})
	}
	for _, p := range paths {
		t.Run(p.Name, func(t *testing.T) {
			alone, beside := p.Reader(patient), p.Reader(patient)
			defer alone.Close()
			defer beside.Close()
			for round := range 4 {
				page := "/search?search=" + url.QueryEscape(fmt.Sprintf("comunicación %s %d", p.Name, round))
				reader := alone
				if round > 0 {
					defer p.Attack(t.Context(), "/sitemaps/2025.xml", page)()
					reader = beside
				}
				for n := range 25 {
					for _, target := range []string{
						page,
						fmt.Sprintf("/reports/oir-%d", 1+n+25*round),
						fmt.Sprintf("/api/v1/reports?limit=5&page=%d", 1+n),
						"/signin",
					} {
						if err := reader.Get(t.Context(), target); err != nil {
							t.Errorf("round %d: %v", round, err)
						}
					}
				}
			}
			t.Logf("the 99th percentile is %v alone, and %v during the attack", alone.P99(), beside.P99())
		})
	}
}
