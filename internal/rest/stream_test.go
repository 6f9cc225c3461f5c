package rest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/store"
	"pregon/internal/test/longtest"
	"pregon/internal/test/waittest"
)

// event is an event as a client reads it.
type event struct{ id, name, data string }

// listener reads a stream.
type listener struct {
	t      *testing.T
	header http.Header
	lines  *bufio.Scanner
	end    context.CancelFunc
}

// listen opens a stream, which must be accepted.
func (s *service) listen(target string, header http.Header) *listener {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.server.URL+target, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header = header
	res, err := s.server.Client().Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { cancel(); res.Body.Close() })
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/event-stream" {
		s.t.Fatalf("%s: %d %v", target, res.StatusCode, res.Header)
	}
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	return &listener{s.t, res.Header, lines, cancel}
}

// next reads the next event as the HTML standard specifies.
func (l *listener) next() event {
	l.t.Helper()
	var e event
	for l.lines.Scan() {
		name, value, _ := strings.Cut(l.lines.Text(), ": ")
		switch name {
		case "id":
			e.id = value
		case "event":
			e.name = value
		case "data":
			e.data += value
		case "":
			return e
		}
	}
	return event{name: "end"}
}

// want reads the next event, checks its name and decodes its data.
func (l *listener) want(name string, into any) event {
	l.t.Helper()
	e := l.next()
	if e.name != name {
		l.t.Fatalf("%+v, want %s", e, name)
	}
	if into != nil {
		if err := json.Unmarshal([]byte(e.data), into); err != nil {
			l.t.Fatalf("%s: %v", e.data, err)
		}
	}
	return e
}

// file appends reports one by one, as ingest does.
func (s *service) file(reports ...disclosure.Report) {
	s.t.Helper()
	for _, r := range reports {
		if err := r.Validate(); err != nil {
			s.t.Fatal(err)
		}
		if _, err := s.store.Append(s.t.Context(), store.Batch{Reports: []disclosure.Report{r}}); err != nil {
			s.t.Fatal(err)
		}
	}
}

// startLive serves a store whose changes are followed.
func startLive(t *testing.T) (*service, http.Header) {
	s := start(t, "demo", market())
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { _ = s.catalog.Follow(ctx); close(done) }()
	t.Cleanup(func() { s.server.CloseClientConnections(); cancel(); <-done })
	return s, s.credentials(access.ReadReports | access.ReadIssuers)[0]
}

type change struct {
	ID, Event string
	Seq       int64
	Ticker    *string
}

// at returns the cursor of a change.
func (s *service) at(seq int64) string {
	return disclosure.Cursor{Epoch: s.feed.Head().Epoch, Seq: seq}.String()
}

func TestStreamIsLive(t *testing.T) {
	s, header := startLive(t)
	l := s.listen("/api/v1/stream", header)
	if l.header.Get("Cache-Control") != "no-store" || l.header.Get("X-Accel-Buffering") != "no" {
		t.Error(l.header)
	}
	if head := s.do(http.MethodHead, "/api/v1/stream", header); head.status != 200 || head.header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("HEAD: %d %v", head.status, head.header)
	}
	var hello struct {
		After, Newest int64
		Reason        *string
	}
	l.want("hello", &hello)
	if hello.After != s.feed.Newest() || hello.After != hello.Newest || hello.Reason != nil {
		t.Errorf("%+v", hello)
	}
	for i := range int64(3) {
		s.file(newReport(disclosure.IP, 90001+i, "2026-05-01T08:00:00Z"))
		var got change
		e := l.want("report.published", &got)
		if got.ID != fmt.Sprintf("ip-%d", 90001+i) || got.Seq != hello.After+1+i || e.id != s.at(got.Seq) {
			t.Errorf("%+v of %+v", got, e)
		}
	}
}

// A client that reconnects while the service starts is kept waiting. If it were
// refused, it would not reconnect again.
func TestStreamWaitsForTheCatalogue(t *testing.T) {
	s := startEmpty(t, "demo")
	header := s.credentials(access.ReadReports)[0]
	go func() {
		waittest.Pace(t.Context(), 100*time.Millisecond) // the client probably waits by then
		s.append(market())
	}()
	s.listen("/api/v1/stream", header).want("hello", nil)
}

// A client that resumes after any change gets every later one once.
func TestStreamFromEveryCursor(t *testing.T) {
	s, header := startLive(t)
	newest := s.feed.Newest()
	for _, how := range []string{"Last-Event-ID", "last_event_id", "after"} {
		for after := range newest + 1 {
			target, h := "/api/v1/stream?events=report.published,report.backfilled,report.updated,report.corrected,issuer.updated", header.Clone()
			if how == "Last-Event-ID" {
				h.Set(how, fmt.Sprint(after))
				target += "&after=0&last_event_id=1" // the header wins
			} else {
				target += "&" + how + "=" + fmt.Sprint(after)
			}
			l := s.listen(target, h)
			l.want("hello", nil)
			for seq := after + 1; seq <= newest; seq++ {
				if e := l.next(); e.id != s.at(seq) {
					t.Fatalf("%s %d: %+v, want %d", how, after, e, seq)
				}
			}
			l.end()
		}
	}
}

// An invalid cursor is reported, and the changes in between can be fetched.
func TestStreamFromUnusableCursors(t *testing.T) {
	s, header := startLive(t)
	for cursor, reason := range map[string]string{"x": "unknown", "-1": "unknown", "99999999999999999999": "unknown", "123456789": "ahead"} {
		h := header.Clone()
		h.Set("Last-Event-ID", cursor)
		l := s.listen("/api/v1/stream", h)
		var hello struct {
			After, Newest     int64
			Requested, Reason string
			Missed            string `json:"missed_url"`
		}
		l.want("hello", &hello)
		if hello.After != s.feed.Newest() || hello.Requested != cursor || !strings.Contains(hello.Reason, reason) {
			t.Errorf("%s: %+v", cursor, hello)
		}
		s.getWith(http.StatusOK, strings.TrimPrefix(hello.Missed, baseURL), header)
		l.end()
	}
	s.getWith(http.StatusBadRequest, "/api/v1/stream?after=x", header)
	s.getWith(http.StatusBadRequest, "/api/v1/stream?last_event_id=-5", header)
	s.getWith(http.StatusBadRequest, "/api/v1/stream?events=nonsense", header)
	s.getWith(http.StatusBadRequest, "/api/v1/stream?type=XX", header)
	s.getWith(http.StatusBadRequest, "/api/v1/stream?search=a&in=documents", header).refused("in", "documents")
	s.getWith(http.StatusBadRequest, "/api/v1/changes?search=a&in=Document", header).refused("in", "Document")
	s.getWith(http.StatusBadRequest, "/api/v1/stream?in=document", header).refused("search", "")
	s.getWith(http.StatusBadRequest, "/api/v1/changes?in=document&search=-a", header).refused("search", "-a")
	s.getWith(http.StatusUnauthorized, "/api/v1/stream?search=a&in=document", nil)
	s.getWith(http.StatusUnauthorized, "/api/v1/changes?search=a&in=document", nil)
}

// A stream with a filter has the reports of a list with that filter.
func TestStreamFilters(t *testing.T) {
	s, header := startLive(t)
	for _, query := range []string{"type=IP", "search=" + "dividendo", "issuer=A69000016", "kind=company", "from=2026-04-01&to=2026-04-30"} {
		var list struct{ Data []struct{ ID string } }
		s.get(http.StatusOK, "/api/v1/reports?limit=50&"+query).decode(&list)
		want := map[string]bool{}
		for _, r := range list.Data {
			want[r.ID] = true
		}
		l := s.listen("/api/v1/stream?after=0&events=report.published,report.backfilled&"+query, header)
		l.want("hello", nil)
		s.file(newReport(disclosure.HR, 777, "2026-04-02T08:00:00Z")) // the last expected event
		for len(want) > 0 {
			var got change
			if err := json.Unmarshal([]byte(l.next().data), &got); err != nil || !want[got.ID] && got.ID != "hr-777" {
				t.Fatalf("%s: %+v, %v; want %v", query, got, err, want)
			}
			delete(want, got.ID)
		}
		l.end()
	}
}

func TestStreamEndsWithTheKey(t *testing.T) {
	s, _ := startLive(t)
	key, raw, err := s.keys.Create(t.Context(), access.Key{Plan: "pro", Scopes: access.ReadReports})
	if err != nil {
		t.Fatal(err)
	}
	l := s.listen("/api/v1/stream", http.Header{"X-Api-Key": {raw}})
	l.want("hello", nil)
	if _, err := s.keys.Revoke(t.Context(), key.ID); err != nil {
		t.Fatal(err)
	}
	if err := s.keys.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	var bye struct {
		Reason string
		LastID int64 `json:"last_id"`
	}
	l.want("goodbye", &bye)
	if bye.LastID != s.feed.Newest() || !strings.Contains(bye.Reason, "credential") {
		t.Errorf("%+v", bye)
	}
	l.want("end", nil)
}

// A stream ends when the key that signed its token is no longer trusted.
func TestStreamEndsWithTheSigningKey(t *testing.T) {
	s, _ := startLive(t)
	l := s.listen("/api/v1/stream", http.Header{"Authorization": {"Bearer read:reports"}})
	l.want("hello", nil)
	s.distrusted.Store(true)
	s.keys.Broadcast()
	var bye struct{ Reason string }
	l.want("goodbye", &bye)
	if !strings.Contains(bye.Reason, "credential") {
		t.Errorf("%+v", bye)
	}
	l.want("end", nil)
}

// A long poll returns nothing that occurred after its credential ended.
func TestLongPollEndsWithTheCredential(t *testing.T) {
	s, _ := startLive(t)
	newest := s.feed.Newest()
	answers := make(chan answer)
	header := http.Header{"Authorization": {"Bearer read:reports"}}
	go func() {
		answers <- s.getWith(http.StatusOK, fmt.Sprintf("/api/v1/changes?after=%d&wait=25", newest), header)
	}()
	waittest.For(t, "the long poll to be admitted", func() bool {
		s.used.mu.Lock()
		defer s.used.mu.Unlock()
		return len(s.used.all) > 0
	})
	s.distrusted.Store(true)
	s.keys.Broadcast()
	s.file(newReport(disclosure.IP, 90001, "2026-05-01T08:00:00Z"))
	var page struct{ Data []change }
	got := <-answers
	got.decode(&page)
	if len(page.Data) != 0 {
		t.Errorf("got %+v", page.Data)
	}
}

func TestTooManyStreams(t *testing.T) {
	s, header := startLive(t)
	for range 100 {
		s.listen("/api/v1/stream", header).want("hello", nil)
	}
	if a := s.do(http.MethodGet, "/api/v1/stream", header); a.status != http.StatusTooManyRequests || a.header.Get("Retry-After") == "" {
		t.Errorf("%d %v", a.status, a.header)
	}
	other := s.credentials(access.ReadReports)[0]
	s.listen("/api/v1/stream", other).want("hello", nil)
}

func TestChanges(t *testing.T) {
	s, header := startLive(t)
	newest := s.feed.Newest()
	var page struct {
		Data      []change
		NextAfter int64 `json:"next_after"`
		Newest    int64
		More      bool
	}
	get := func(query string) {
		t.Helper()
		s.getWith(http.StatusOK, "/api/v1/changes"+query, header).decode(&page)
	}
	var seqs []int64
	for after := int64(0); ; after = page.NextAfter {
		get(fmt.Sprintf("?after=%d&limit=2", after))
		for _, e := range page.Data {
			seqs = append(seqs, e.Seq)
		}
		if !page.More {
			break
		}
	}
	if int64(len(seqs)) != newest || seqs[0] != 1 || seqs[len(seqs)-1] != newest {
		t.Errorf("%v", seqs)
	}
	s.getWith(http.StatusBadRequest, "/api/v1/changes?after=123456789", header).refused("after", "123456789")
	go func() {
		waittest.Pace(t.Context(), 50*time.Millisecond) // the client probably waits by then
		s.file(newReport(disclosure.IP, 90001, "2026-05-01T08:00:00Z"))
	}()
	get(fmt.Sprintf("?after=%d&wait=25", newest))
	if len(page.Data) != 1 || page.Data[0].ID != "ip-90001" || page.NextAfter != newest+1 {
		t.Errorf("%+v", page)
	}
	get(fmt.Sprintf("?after=%d&wait=1&type=HR", newest))
	if len(page.Data) != 0 || page.NextAfter != newest+1 {
		t.Errorf("%+v", page)
	}
}

// A cursor of a change that this process does not have yet, because its copy of the log
// is behind, is never answered with an earlier one.
func TestCursorsOfOtherReplicas(t *testing.T) {
	longtest.Skip(t, "it takes many seconds")
	t.Parallel()
	s := start(t, "demo", market()) // the catalogue does not follow the log
	header := s.credentials(access.ReadReports | access.ReadIssuers)[0]
	has := s.feed.Head().Cursor
	s.file(newReport(disclosure.IP, 90001, "2026-05-01T08:00:00Z"))
	next := s.at(has.Seq + 1)

	for _, target := range []string{
		"/api/v1/changes?after=" + next, "/api/v1/reports?as_of=" + next, fmt.Sprintf("/api/v1/changes/%d/proof", has.Seq+1),
	} {
		a := s.getWith(http.StatusServiceUnavailable, target, header)
		if after := a.header.Get("Retry-After"); after != "2" || !strings.Contains(string(a.body), "does not have the change") {
			t.Errorf("%s: Retry-After is %q\n%s", target, after, a.body)
		}
	}
	beyond := s.at(has.Seq + 2)
	s.getWith(http.StatusBadRequest, "/api/v1/changes?after="+beyond, header).refused("after", beyond)
	s.getWith(http.StatusBadRequest, "/api/v1/reports?as_of="+beyond, header).refused("as_of", beyond)
	s.getWith(http.StatusNotFound, fmt.Sprintf("/api/v1/changes/%d/proof", has.Seq+2), header)

	resumed := header.Clone()
	resumed.Set("Last-Event-ID", next)
	var lines []string
	for l := s.listen("/api/v1/stream", resumed); l.lines.Scan(); {
		lines = append(lines, l.lines.Text())
	}
	if len(lines) != 3 || lines[0] != "retry: 2000" || !strings.HasPrefix(lines[1], ": This server does not have the change "+next) || lines[2] != "" {
		t.Errorf("a stream of a process that is behind is %q, want a comment only", lines)
	}
	for range 100 { // the stream above has returned its place
		s.listen("/api/v1/stream", header).want("hello", nil)
	}
}
