package rest_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/store"
	"pregon/internal/test/longtest"
)

// rows returns as many reports and issuers, whose texts take many bytes together.
func rows(n int) store.Batch {
	var b store.Batch
	first := instant("2026-01-01T00:00:00Z")
	for i := range n {
		r := newReport(disclosure.OIR, int64(50_000+i), first.Add(time.Duration(i)*time.Second).Format(time.RFC3339))
		r.Title = fmt.Sprintf("Informe %d; con «comillas» y %s", i, strings.Repeat("palabras ", 20))
		b.Reports = append(b.Reports, r)
		b.Issuers = append(b.Issuers, disclosure.Issuer{
			NIF:  fmt.Sprintf("V%08d", i),
			Name: fmt.Sprintf("FONDO %d, FI", i),
			Kind: disclosure.Fund,
		})
	}
	return b
}

// A table has more rows than a list, and most with a credential. The limits of other
// requests stay as they are.
func TestTableLimits(t *testing.T) {
	longtest.Skip(t, "it takes many seconds")
	s := start(t, "demo", rows(10_050))
	keys := s.credentials(access.AllScopes)
	key, token := keys[0], keys[2]
	for _, test := range []struct {
		target string
		header http.Header
		want   int // rows, or 0 for an error
	}{
		{".csv", nil, 500},
		{".csv", key, 500},
		{".csv?limit=0", nil, 0},
		{".csv?limit=0", key, 0},
		{".csv?limit=1", nil, 1},
		{".csv?limit=500", nil, 500},
		{".csv?limit=501", nil, 0},
		{".csv?limit=501", key, 501},
		{".csv?limit=10000", nil, 0},
		{".csv?limit=10000", key, 10_000},
		{".csv?limit=10000", token, 10_000},
		{".csv?limit=10001", key, 0},
		{"", http.Header{"Accept": {"text/csv"}}, 10},
		{"?limit=50", http.Header{"Accept": {"text/csv"}}, 50},
		{"?limit=51", http.Header{"Accept": {"text/csv"}}, 0},
		{"?limit=51", with(key, "Accept", "text/csv"), 0},
		{"?limit=51", key, 0},
	} {
		for path := range strings.FieldsSeq(lists) {
			_, limit, _ := strings.Cut(test.target, "limit=")
			if test.want == 0 {
				s.getWith(400, path+test.target, test.header).refused("limit", limit)
				continue
			}
			a := s.getWith(200, path+test.target, test.header)
			seen := map[string]bool{}
			for _, row := range a.csv()[1:] {
				seen[row[0]] = true
			}
			if len(seen) != test.want {
				t.Errorf("%s%s: %d rows, want %d", path, test.target, len(seen), test.want)
			}
			if total := a.header.Get("Pregon-Total"); total != "10050" {
				t.Errorf("%s%s: a total of %q, want 10050", path, test.target, total)
			}
			tag := a.header.Get("ETag")
			if again := s.do(http.MethodGet, path+test.target, withAll(test.header, "If-None-Match", tag)); again.status != 304 {
				t.Errorf("%s%s: %d, want 304", path, test.target, again.status)
			}
		}
	}
	if got := s.get(400, "/api/v1/reports.csv?limit=501").problem().Errors[0].Reason; !strings.Contains(got, "10000 with a key") {
		t.Errorf("the error does not say how to get more: %s", got)
	}
	if got := s.getWith(400, "/api/v1/reports.csv?limit=10001", key).problem().Errors[0].Reason; strings.Contains(got, "key") {
		t.Errorf("a key does not help: %s", got)
	}
	s.tablePages(key)
	s.revokedKey()
}

// withAll is with for a header that may be nil.
func withAll(header http.Header, name, value string) http.Header {
	if header == nil {
		header = http.Header{}
	}
	return with(header, name, value)
}

// tablePages follows the links of large pages.
func (s *service) tablePages(key http.Header) {
	s.t.Helper()
	seen := map[string]bool{}
	target, pages := "/api/v1/reports.csv?limit=4000&dialect=es", 0
	for ; target != ""; pages++ {
		a := s.getWith(200, target, key)
		if got := a.header.Get("Pregon-Total"); got != "10050" {
			s.t.Errorf("the total is %q", got)
		}
		for _, row := range a.spanish()[1:] {
			seen[row[0]] = true
		}
		target = next(a)
	}
	if pages != 3 || len(seen) != 10_050 {
		s.t.Errorf("%d pages with %d reports, want 3 with 10050", pages, len(seen))
	}
	past := s.getWith(200, "/api/v1/reports.csv?limit=10000&page=2147483647", key)
	if len(past.csv()) != 1 || past.header.Get("Link") != "" {
		s.t.Errorf("a page past the end: %v %s", past.header, past.body)
	}
}

// revokedKey: a key that was revoked is refused, and not taken for no key.
func (s *service) revokedKey() {
	s.t.Helper()
	k, raw, err := s.keys.Create(s.t.Context(), access.Key{Plan: "pro", Scopes: access.AllScopes})
	if err != nil {
		s.t.Fatal(err)
	}
	header := http.Header{"X-Api-Key": {raw}}
	s.getWith(200, "/api/v1/reports.csv?limit=501", header)
	if _, err := s.keys.Revoke(s.t.Context(), k.ID); err != nil {
		s.t.Fatal(err)
	}
	for _, target := range []string{"/api/v1/reports.csv?limit=501", "/api/v1/reports.csv", "/api/v1/issuers.csv"} {
		s.getWith(401, target, header)
	}
}

// spanish returns the rows of an answer in the Spanish dialect.
func (a answer) spanish() [][]string {
	a.t.Helper()
	body, found := bytes.CutPrefix(a.body, []byte("\xef\xbb\xbf"))
	if !found || a.header.Get("Content-Type") != csvType {
		a.t.Fatalf("no byte order mark, or another type: %v %.200q", a.header, a.body)
	}
	r := csv.NewReader(bytes.NewReader(body))
	r.Comma = ';'
	all, err := r.ReadAll()
	if err != nil {
		a.t.Fatal(err)
	}
	return all
}

// Every list has the dialect, with the same rows, and refuses others. JSON does not
// change with it.
func TestDialect(t *testing.T) {
	s := startRegisters(t)
	key := s.credentials(access.AllScopes)[0]
	for target := range s.lists(key) {
		plain := s.getWith(200, byPath(target), key)
		a := s.getWith(200, byPath(target)+"&dialect=es", key)
		if got, want := fmt.Sprintf("%q", a.spanish()), fmt.Sprintf("%q", withCommas(plain.csv())); got != want {
			t.Errorf("%s: rows %s, want %s", target, got, want)
		}
		if strings.Contains(a.header.Get("Pregon-Ignored"), "dialect") || a.header.Get("ETag") == plain.header.Get("ETag") {
			t.Errorf("%s: %v", target, a.header)
		}
		if a.header.Get("Link") != "" && !strings.Contains(a.header.Get("Link"), "dialect=es") {
			t.Errorf("%s: the next page has another dialect: %s", target, a.header.Get("Link"))
		}
		asJSON := s.getWith(200, target+"&dialect=es", key)
		if got := asJSON.header.Get("Content-Type"); got != "application/json" {
			t.Errorf("%s: JSON is %s", target, got)
		}
		for _, value := range []string{"fr", "ES", "es-ES", ";"} {
			bad := s.getWith(400, byPath(target)+"&dialect="+strings.ReplaceAll(value, ";", "%3B"), key)
			bad.refused("dialect", value)
			if got := bad.problem().Errors[0].Reason; got != "must be es, or be left out" {
				t.Errorf("%s: %s", target, got)
			}
		}
		s.getWith(400, byPath(target)+"&dialect=es&dialect=es", key).refused("dialect", "es, es")
		if a := s.getWith(200, byPath(target)+"&dialect=", key); !bytes.Equal(a.body, plain.body) {
			t.Errorf("%s: an empty dialect is %.200q", target, a.body)
		}
	}
}

// withCommas returns the rows of a list of positions with the decimals that are texts in
// JSON as the Spanish dialect writes them.
func withCommas(rows [][]string) [][]string {
	for i, name := range rows[0] {
		last := name[strings.LastIndexByte(name, '.')+1:]
		if !strings.HasPrefix(name, "percent") && name != "amount" && name != "trades."+last ||
			name == "trades.quote" {
			continue
		}
		for _, row := range rows[1:] {
			row[i] = strings.ReplaceAll(row[i], ".", ",")
		}
	}
	return rows
}

// stalled is a connection whose reader is slow: each write waits for a permission. It
// records the sizes of writes and the deadlines before them.
type stalled struct {
	*httptest.ResponseRecorder
	permits   chan error
	writes    []int
	deadlines []time.Time
	parked    bool
}

func (w *stalled) Park() { w.parked = true }

func (w *stalled) SetWriteDeadline(t time.Time) error {
	w.deadlines = append(w.deadlines, t)
	return nil
}

func (w *stalled) Write(b []byte) (int, error) {
	w.writes = append(w.writes, len(b))
	if err := <-w.permits; err != nil {
		return 0, err
	}
	return w.ResponseRecorder.Write(b)
}

// A slow reader of a large table holds one slot of its own: changes are loaded, and
// others, and the caller itself, are answered. The table is sent in parts, each with a
// deadline, and none of them is large.
func TestSlowTable(t *testing.T) {
	const n = 3000
	s := start(t, "demo", rows(n))
	key := s.credentials(access.AllScopes)[0]
	slow := func() (w *stalled, done chan struct{}) {
		w = &stalled{ResponseRecorder: httptest.NewRecorder(), permits: make(chan error)}
		done = make(chan struct{})
		req := httptest.NewRequest(http.MethodGet, "/api/v1/reports.csv?limit=10000", nil)
		req.Header = key.Clone()
		go func() {
			defer close(done)
			s.mux.ServeHTTP(w, req)
		}()
		return w, done
	}
	start := time.Now()
	w, done := slow()
	w.permits <- nil // the first part is sent, and the second one waits
	s.append(store.Batch{Reports: []disclosure.Report{newReport(disclosure.OIR, 90_000, "2026-04-01T08:00:00Z")}})
	if got := s.get(200, "/api/v1/reports?limit=1").ids(); got != "oir-90000" {
		t.Errorf("the newest report is %s", got)
	}
	s.getWith(200, "/api/v1/reports.csv?limit=10000", key)
	sent := 1
	for waiting := true; waiting; {
		select {
		case w.permits <- nil:
			sent++
		case <-done:
			waiting = false
		}
	}
	got := answer{t: t, header: w.Header(), body: w.Body.Bytes()}.csv()
	if len(got)-1 != n { // as of when the request was made
		t.Errorf("%d rows, want %d", len(got)-1, n)
	}
	for i, size := range w.writes {
		if size > 66<<10 {
			t.Errorf("write %d of %d has %d bytes", i, len(w.writes), size)
		}
	}
	end := start.Add(3 * time.Minute)
	if !w.parked || len(w.writes) < 10 || len(w.deadlines) != len(w.writes) || w.deadlines[0].Before(start) || w.deadlines[len(w.deadlines)-1].After(end) {
		t.Errorf("parked %t, %d writes, deadlines %v", w.parked, len(w.writes), w.deadlines)
	}
	broken, done := slow()
	broken.permits <- nil
	broken.permits <- os.ErrDeadlineExceeded
	<-done
	if len(broken.writes) != 2 {
		t.Errorf("%d writes to a reader that is gone", len(broken.writes))
	}
	var held []chan struct{}
	var writers []*stalled
	for range 8 { // all slots are free again
		w, done := slow()
		w.permits <- nil
		held = append(held, done)
		writers = append(writers, w)
	}
	if a := s.do(http.MethodGet, "/api/v1/reports.csv?limit=10000", key); a.status != 429 {
		t.Errorf("a ninth large table at the same time: %d, want 429", a.status)
	}
	s.getWith(200, "/api/v1/reports.csv?limit=500", key)
	s.get(200, "/api/v1/issuers.csv")
	for i, w := range writers {
		w.permits <- os.ErrDeadlineExceeded
		<-held[i]
	}
}
