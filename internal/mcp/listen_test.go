package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/query/querytest"
	"pregon/internal/store"
	"pregon/internal/test/longtest"
	"pregon/internal/test/waittest"
)

const (
	latest  = "pregon://reports/latest"
	patient = 5 * time.Minute // timeout for expected events
)

// startLive serves a store and notifies listeners of its changes.
func startLive(t *testing.T, change ...func(*setup)) *service {
	t.Helper()
	s := start(t, market(), change...)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{}, 2)
	go func() { _ = s.catalog.Follow(ctx); done <- struct{}{} }()
	go func() { _ = s.mcp.Run(ctx); done <- struct{}{} }()
	t.Cleanup(func() { s.server.CloseClientConnections(); cancel(); <-done; <-done })
	// Changes from before the server follows the store are not sent: wait until it does.
	l := s.listen([]string{latest})
	for number := int64(1); ; number++ {
		s.file(newReport(disclosure.HR, number, "2026-04-30T08:00:00Z"))
		select {
		case <-l.events:
			l.end()
			s.settled(0)
			return s
		case <-time.After(300 * time.Millisecond):
		}
	}
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

// settled waits until there are n listeners.
func (s *service) settled(n int) {
	s.t.Helper()
	waittest.ForNil(s.t, func() error {
		if s.seats.Open() != n || n == 0 && s.mcp.SubscribedURIs() != 0 {
			return fmt.Errorf("%d listeners of %d URIs, want %d", s.seats.Open(), s.mcp.SubscribedURIs(), n)
		}
		return nil
	})
}

// listener is a client that is subscribed to changes.
type listener struct {
	t      testing.TB
	events chan string // URIs of updated resources; closed at the end
	header http.Header
	end    func()
}

func listenParams(uris []string) string {
	raw, err := json.Marshal(uris)
	if err != nil {
		panic(err)
	}
	return `{"notifications":{"resourceSubscriptions":` + string(raw) + `}}`
}

// listen subscribes and waits for the acknowledgement.
func (s *service) listen(uris []string, header ...string) *listener {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	body, of := modern("subscriptions/listen", listenParams(uris))
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.server.URL+access.MCPPath, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	header = append(append([]string{"Content-Type", "application/json"}, of...), header...)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := s.server.Client().Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" || res.Header.Get("X-Accel-Buffering") != "no" {
		b, _ := io.ReadAll(res.Body)
		s.t.Fatalf("%d %v %.300s", res.StatusCode, res.Header, b)
	}
	l := &listener{t: s.t, events: make(chan string, 1000), header: res.Header}
	done := make(chan struct{})
	go func() { defer close(done); defer res.Body.Close(); l.read(res.Body) }()
	l.end = func() { cancel(); <-done }
	s.t.Cleanup(l.end)
	if got := l.next(); got != "ack "+strings.Join(uris, " ") {
		s.t.Fatalf("the stream begins with %.300s", got)
	}
	return l
}

// read sends the notifications to events until the stream ends.
func (l *listener) read(body io.Reader) {
	defer close(l.events)
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var m struct {
			Method string
			Params struct {
				URI           string
				Meta          map[string]any `json:"_meta"`
				Notifications struct{ ResourceSubscriptions []string }
			}
		}
		if err := json.Unmarshal([]byte(data), &m); err != nil {
			l.t.Errorf("%v in %.300s", err, data)
		}
		switch m.Method {
		case "notifications/subscriptions/acknowledged":
			l.events <- "ack " + strings.Join(m.Params.Notifications.ResourceSubscriptions, " ")
		case "notifications/resources/updated":
			if m.Params.Meta["io.modelcontextprotocol/subscriptionId"] != 1.0 {
				l.t.Errorf("the notification has no subscription id: %.300s", data)
			}
			l.events <- m.Params.URI
		}
	}
}

// next returns the URI of the next updated resource, or reports the end.
func (l *listener) next() string {
	l.t.Helper()
	select {
	case uri, ok := <-l.events:
		if !ok {
			return "end"
		}
		return uri
	case <-time.After(patient):
		l.t.Fatal("got no notification")
		return ""
	}
}

// all reads the wanted URIs in any order.
func (l *listener) all(want ...string) {
	l.t.Helper()
	left := map[string]bool{}
	for _, w := range want {
		left[w] = true
	}
	for range want {
		uri := l.next()
		if !left[uri] {
			l.t.Fatalf("got an update of %s, want %v", uri, want)
		}
		delete(left, uri)
	}
}

func TestListen(t *testing.T) {
	t.Parallel()
	s := startLive(t)
	const ip, bodegas = "pregon://reports/search?type=IP", "pregon://reports/search?issuer=A69000016&search=dividendo"
	l := s.listen([]string{latest, ip, bodegas, "pregon://reports/search"})
	if c := l.header.Get("Cache-Control"); !strings.Contains(c, "no-") {
		t.Errorf("caches may keep a stream: %s", c)
	}
	s.file(newReport(disclosure.OIR, 90001, "2026-05-01T08:00:00Z"))
	l.all(latest, "pregon://reports/search")
	s.file(newReport(disclosure.IP, 90002, "2026-05-01T08:00:00Z"))
	l.all(latest, "pregon://reports/search", ip)
	r := newReport(disclosure.OIR, 90003, "2026-05-01T08:00:00Z")
	r.CompanyName, r.NIF, r.Title = "BODEGAS DE VALDEBRISA, S.A.", "A69000016", "[Simulación] Dividendo a cuenta"
	s.file(r)
	l.all(latest, "pregon://reports/search", bodegas)
	r.Number, r.ID, r.Title = 90004, "", "[Simulación] Otra cosa"
	s.file(r)
	l.all(latest, "pregon://reports/search")
	// Back-filled history and the directory are not notified.
	old := newReport(disclosure.IP, 5, "2019-05-01T08:00:00Z")
	if err := old.Validate(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.store.Append(t.Context(), store.Batch{
		Reports: []disclosure.Report{old}, New: disclosure.Backfilled, Issuers: []disclosure.Issuer{{ID: "fi-1", Name: "ARDAZUL UNO, FI", Kind: disclosure.Fund}},
	}); err != nil {
		t.Fatal(err)
	}
	s.file(newReport(disclosure.OIR, 90005, "2026-05-01T08:00:00Z"))
	l.all(latest, "pregon://reports/search")
	s.file(newReport(disclosure.OIR, 90006, "2026-05-01T08:00:00Z"))
	l.all(latest, "pregon://reports/search")
	// A changed report is notified.
	changed := newReport(disclosure.IP, 90002, "2026-05-01T08:00:00Z")
	changed.Title = "[Simulación] Otro título"
	s.file(changed)
	l.all(latest, "pregon://reports/search", ip)
	l.end()
	s.settled(0)
	if taken, failed := s.mcp.CallCounts("subscriptions/listen"); taken < 1 || failed != 0 {
		t.Errorf("counted %d taken and %d failed", taken, failed)
	}
}

// When the catalogue is reloaded, the changes are unknown: all listeners are
// notified.
func TestListenAfterReload(t *testing.T) {
	t.Parallel()
	s := start(t, market())
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { _ = s.mcp.Run(ctx); close(done) }()
	t.Cleanup(func() { cancel(); <-done })
	l := s.listen([]string{latest, "pregon://reports/search?search=nothing"})
	for number, notified := int64(90001), false; !notified; number++ {
		s.append(store.Batch{Reports: []disclosure.Report{newReport(disclosure.OIR, number, "2026-05-01T08:00:00Z")}})
		select {
		case uri := <-l.events:
			if notified = true; uri != latest { // the only resource that changed
				t.Errorf("got an update of %s, want %s", uri, latest)
			}
		case <-time.After(300 * time.Millisecond): // the server did not follow the store yet
		}
	}
	l.end()
	s.settled(0)
}

// Every replica notifies its listeners.
func TestListenAtReplicas(t *testing.T) {
	t.Parallel()
	one := startLive(t)
	two := startLive(t, func(o *setup) { o.store = one.store })
	a, b := one.listen([]string{latest}), two.listen([]string{latest})
	for number := range int64(3) {
		one.file(newReport(disclosure.IP, 90001+number, "2026-05-01T08:00:00Z"))
		a.all(latest)
		b.all(latest)
	}
}

func TestManyListen(t *testing.T) {
	longtest.Skip(t, "it takes many seconds")
	t.Parallel()
	s := startLive(t)
	var all []*listener
	key := s.key(access.ReadReports)
	for i := range 40 {
		all = append(all, s.listen([]string{fmt.Sprintf("pregon://reports/search?type=IP&n=%d", i), latest}, key...))
	}
	s.settled(40)
	for number := range int64(2) {
		s.file(newReport(disclosure.IP, 90001+number, "2026-05-01T08:00:00Z"))
		for i, l := range all {
			l.all(fmt.Sprintf("pregon://reports/search?type=IP&n=%d", i), latest)
		}
	}
	for _, l := range all[:20] {
		l.end()
	}
	s.settled(20)
	s.file(newReport(disclosure.IP, 90009, "2026-05-01T08:00:00Z"))
	for i, l := range all[20:] {
		l.all(fmt.Sprintf("pregon://reports/search?type=IP&n=%d", 20+i), latest)
	}
	s.stop()
	for _, l := range all[20:] {
		for uri := ""; uri != "end"; uri = l.next() {
		}
	}
	s.settled(0)
}

func TestListenersAreLimited(t *testing.T) {
	t.Parallel()
	s := startLive(t)
	var strangers []*listener
	for range 4 {
		strangers = append(strangers, s.listen([]string{latest}))
	}
	s.settled(4)
	full := func(header ...string) {
		t.Helper()
		a := s.ask("subscriptions/listen", listenParams([]string{latest}), header...)
		a.refused(http.StatusTooManyRequests, -32005)
		if a.header.Get("Retry-After") == "" {
			t.Error(a.header)
		}
	}
	full()
	key := s.key(access.ReadReports)
	for range 100 {
		s.listen([]string{latest}, key...)
	}
	full(key...)
	s.listen([]string{latest}, s.key(access.ReadReports)...)
	s.settled(105)
	strangers[0].end()
	s.settled(104)
	s.listen([]string{latest})
	full()
}

// An invalid subscription is refused as any other message, and leaves no state.
func TestInvalidSubscriptions(t *testing.T) {
	t.Parallel()
	s := startLive(t)
	many := make([]string, 51)
	for i := range many {
		many[i] = fmt.Sprintf("pregon://reports/search?n=%d", i)
	}
	for _, uris := range [][]string{
		{"pregon://reports/oir-40374"},
		{"pregon://documents/oir-40374"},
		{"https://evil.example"},
		{""},
		{latest, "pregon://nope"},
		{"PREGON://reports/latest"},
		{"pregon://reports/latest/"},
		{"pregon://reports/search?type=XX"},
		{"pregon://reports/search?from=x"},
		{"pregon://reports/search?%zz"},
		{"pregon://reports/search?type=IP&type=HR"},
		{"pregon://reports/search?search=" + strings.Repeat("x", 500)},
		many,
	} {
		s.ask("subscriptions/listen", listenParams(uris)).refused(http.StatusBadRequest, -32602)
	}
	s.ask("subscriptions/listen", listenParams([]string{latest, "pregon://reports/search?search=a&in=document"})).refused(http.StatusUnauthorized, -32001)
	for _, in := range []string{"search=a&in=documents", "in=document", "search=-a&in=document"} {
		s.ask("subscriptions/listen", listenParams([]string{"pregon://reports/search?" + in}), s.key(access.ReadReports)...).refused(http.StatusBadRequest, -32602)
	}
	s.ask("subscriptions/listen", `{}`).refused(http.StatusBadRequest, -32602)
	s.ask("subscriptions/listen", `{"notifications":5}`).refused(http.StatusBadRequest, -32602)
	a := s.ask("subscriptions/listen", listenParams([]string{latest}), s.key(access.ReadIssuers)...)
	a.refused(http.StatusForbidden, -32003)
	a.challenged("insufficient_scope", access.ReadReports)
	s.ask("subscriptions/listen", listenParams([]string{latest}), "Authorization", "Bearer nonsense").refused(http.StatusUnauthorized, -32001)
	s.settled(0)
	s.listen(many[:10]).end()
	s.settled(0)
}

// A subscription by words of documents is notified when a text that has them is
// ready, and not before.
func TestListenInDocuments(t *testing.T) {
	t.Parallel()
	s := startLive(t)
	const words, others = "pregon://reports/search?search=dividendo&in=document", "pregon://reports/search?search=canje&in=document"
	l := s.listen([]string{words, others}, s.key(access.ReadReports)...)
	for i, text := range []string{"El canje.", "Un dividendo."} {
		r := newReport(disclosure.IP, 90001+int64(i), time.Now().UTC().Format(time.RFC3339))
		s.file(r)
		ready := querytest.Document(t, s.store, disclosure.ReportID(r.Type, r.Number), text)
		if _, err := s.store.Append(t.Context(), store.Batch{Aside: []disclosure.Report{ready}}); err != nil {
			t.Fatal(err)
		}
		l.all([]string{others, words}[i])
	}
	l.end()
	s.settled(0)
}

// A subscription by facts is notified when they are found, and not before; facts that
// are found again in history notify nobody.
func TestListenByFacts(t *testing.T) {
	t.Parallel()
	s := startLive(t)
	const dividends = "pregon://reports/search?fact=dividend"
	const large = "pregon://reports/search?fact=buyback_programme&min_amount=100"
	l := s.listen([]string{dividends, large})
	for i, test := range []struct {
		kind     disclosure.FactKind
		field    string
		event    disclosure.Event
		notified string
	}{
		{disclosure.Dividend, "payment_date", disclosure.Backfilled, ""},
		{disclosure.BuybackProgramme, "ends_on", disclosure.Published, ""},
		{disclosure.Dividend, "payment_date", disclosure.Published, dividends},
		{disclosure.BuybackProgramme, "max_amount", disclosure.Published, large},
	} {
		r := newReport(disclosure.IP, 90001+int64(i), time.Now().UTC().Format(time.RFC3339))
		s.file(r)
		r.ID = disclosure.ReportID(r.Type, r.Number)
		value := "2026-12-15"
		if test.field == "max_amount" {
			value = "100"
		}
		r.Facts = []disclosure.Fact{{Kind: test.kind, Fields: map[string]string{test.field: value, "currency": "EUR"}}}
		r.FactsRules = 1
		if _, err := s.store.Append(t.Context(), store.Batch{New: test.event, Aside: []disclosure.Report{r}}); err != nil {
			t.Fatal(err)
		}
		if test.notified != "" {
			l.all(test.notified)
		}
	}
	l.end()
	s.settled(0)
}

func TestListeningEnds(t *testing.T) {
	t.Parallel()
	s := startLive(t)
	t.Run("with the key", func(t *testing.T) {
		key, raw, err := s.keys.Create(t.Context(), access.Key{Plan: "pro", Scopes: access.ReadReports})
		if err != nil {
			t.Fatal(err)
		}
		l, other := s.listen([]string{latest}, "X-API-Key", raw), s.listen([]string{latest}, s.key(access.ReadReports)...)
		if _, err := s.keys.Revoke(t.Context(), key.ID); err != nil {
			t.Fatal(err)
		}
		if err := s.keys.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := l.next(); got != "end" {
			t.Errorf("%s after the key was revoked", got)
		}
		s.settled(1)
		s.file(newReport(disclosure.IP, 90001, "2026-05-01T08:00:00Z"))
		other.all(latest)
		other.end()
		s.settled(0)
	})
	t.Run("with the token", func(t *testing.T) {
		if got := s.listen([]string{latest}, "Authorization", "Bearer brief+read:reports").next(); got != "end" {
			t.Errorf("%s after the token expired", got)
		}
		s.settled(0)
	})
	t.Run("with the service", func(t *testing.T) {
		l := s.listen([]string{latest})
		s.stop()
		if got := l.next(); got != "end" {
			t.Errorf("%s after the service stopped", got)
		}
		s.settled(0)
	})
}
