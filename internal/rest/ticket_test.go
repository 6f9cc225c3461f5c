package rest_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/push/events"
	"pregon/internal/push/ticket"
	"pregon/internal/test/longtest"
)

// streamTicket is a ticket as clients read it.
type streamTicket struct {
	Ticket, URL string
	ExpiresAt   time.Time `json:"expires_at"`
}

// ticket exchanges a credential for a ticket.
func (s *service) ticket(credential http.Header, body string) (made streamTicket) {
	s.t.Helper()
	s.call(http.MethodPost, "/api/v1/stream/tickets", credential, body, http.StatusCreated, &made)
	if made.URL != "/api/v1/stream?ticket="+made.Ticket {
		s.t.Errorf("the address is %q", made.URL)
	}
	if left := time.Until(made.ExpiresAt); left <= 0 || left > ticket.FirstUse {
		s.t.Errorf("it expires in %s", left)
	}
	return made
}

// A ticket opens a stream without a header, with its own filter and events, and again where the
// last event left off.
func TestTicketOpensAStream(t *testing.T) {
	s, _ := startLive(t)
	for _, credential := range s.credentials(access.ReadReports) {
		made := s.ticket(credential, `{"filter":{"type":"OIR"},"events":["report.published"]}`)
		l := s.listen(made.URL, http.Header{"Origin": {"https://page.example"}})
		l.want("hello", nil)
		id := int64(91000) + s.feed.Newest()*10
		s.file(newReport(disclosure.IP, id, "2026-05-01T08:00:00Z"), newReport(disclosure.OIR, id, "2026-05-01T08:00:00Z"))
		seen := l.want("report.published", nil)
		if !strings.Contains(seen.data, `"type":"OIR"`) {
			t.Errorf("the filter of the ticket does not hold: %s", seen.data)
		}
		l.end()
		s.file(newReport(disclosure.OIR, id+1, "2026-05-01T08:01:00Z"))
		again := s.listen(made.URL, http.Header{"Last-Event-Id": {seen.id}})
		again.want("hello", nil)
		if e := again.want("report.published", nil); !strings.Contains(e.data, `"OIR"`) || e.id == seen.id {
			t.Errorf("after reconnecting: %+v", e)
		}
		after := s.listen(made.URL+"&after="+seen.id, nil)
		after.want("hello", nil)
		after.want("report.published", nil)
	}
}

// Only the position may be beside a ticket: another filter is refused.
func TestBesideATicket(t *testing.T) {
	s, header := startLive(t)
	made := s.ticket(header, `{"filter":{"type":"OIR"}}`)
	for _, more := range []string{
		"&type=IP", "&type=OIR", "&search=x", "&events=report.published", "&watchlist=wl_0123456789abcdef", "&issuer=SAN",
		"&ticket=" + made.Ticket, "&after=x",
	} {
		a := s.getWith(http.StatusBadRequest, made.URL+more, nil)
		if strings.Contains(string(a.body), made.Ticket) {
			t.Errorf("%s: the error has the ticket: %s", more, a.body)
		}
	}
	a := s.getWith(http.StatusBadRequest, made.URL, header)
	if !strings.Contains(string(a.body), "one credential") {
		t.Errorf("with a key too: %s", a.body)
	}
	if head := s.do(http.MethodHead, made.URL+"&_=7", nil); head.status != http.StatusOK {
		t.Errorf("an unknown parameter: %d", head.status)
	}
}

// Whatever is no ticket is refused as an invalid credential is.
func TestRefusedTickets(t *testing.T) {
	s, header := startLive(t)
	made := s.ticket(header, ``)
	last := made.Ticket[len(made.Ticket)-1:]
	other := "x"
	if last == other {
		other = "y"
	}
	for _, text := range []string{"x", "stk_", made.Ticket[:20], strings.TrimSuffix(made.Ticket, last) + other} {
		s.getWith(http.StatusUnauthorized, "/api/v1/stream?ticket="+text, nil).challenged("invalid_token", 0)
	}
	s.getWith(http.StatusUnauthorized, "/api/v1/stream?ticket=", nil)
	s.getWith(http.StatusUnauthorized, "/api/v1/reports/oir-1/document?ticket="+made.Ticket, nil)
	s.getWith(http.StatusUnauthorized, "/api/v1/changes?ticket="+made.Ticket, nil)
	s.clock.moved.Store(int64(ticket.FirstUse))
	s.getWith(http.StatusUnauthorized, made.URL, nil).challenged("invalid_token", 0)
}

// A ticket has the rights that its key has at each connection, and ends with the key, also a
// stream that is open.
func TestTicketOfARevokedKey(t *testing.T) {
	s, _ := startLive(t)
	key, raw, err := s.keys.Create(t.Context(), access.Key{Plan: "pro", Scopes: access.AllScopes})
	if err != nil {
		t.Fatal(err)
	}
	made := s.ticket(http.Header{"X-Api-Key": {raw}}, `{}`)
	l := s.listen(made.URL, nil)
	l.want("hello", nil)
	if _, err := s.keys.Revoke(t.Context(), key.ID); err != nil {
		t.Fatal(err)
	}
	if e := l.want("goodbye", nil); !strings.Contains(e.data, "no longer valid") {
		t.Errorf("%+v", e)
	}
	a := s.getWith(http.StatusUnauthorized, made.URL, nil)
	if !strings.Contains(string(a.body), "revoked") {
		t.Errorf("after the key was revoked: %s", a.body)
	}
}

// A newer connection ends the older one, also when the account has no place left.
func TestTicketHasOneConnection(t *testing.T) {
	s, header := startLive(t)
	made := s.ticket(header, ``)
	first := s.listen(made.URL, nil)
	first.want("hello", nil)
	for range events.MaxOpen - 1 {
		s.listen("/api/v1/stream", header).want("hello", nil)
	}
	s.getWith(http.StatusTooManyRequests, "/api/v1/stream", header)
	second := s.listen(made.URL, nil)
	second.want("hello", nil)
	if e := first.want("goodbye", nil); !strings.Contains(e.data, "newer connection") {
		t.Errorf("%+v", e)
	}
	s.getWith(http.StatusTooManyRequests, "/api/v1/stream", header)
	s.getWith(http.StatusTooManyRequests, s.ticket(header, ``).URL, nil)
	second.end()
}

// The address of missed changes has the selection of the ticket, and not the ticket.
func TestTicketIsInNoEvent(t *testing.T) {
	s, header := startLive(t)
	made := s.ticket(header, `{"filter":{"type":"OIR","search":"dividendo"},"events":["report.published"]}`)
	l := s.listen(made.URL, http.Header{"Last-Event-Id": {made.Ticket}})
	var hello struct {
		Missed string `json:"missed_url"`
	}
	e := l.want("hello", &hello)
	if strings.Contains(e.data, made.Ticket) {
		t.Errorf("hello has the ticket: %s", e.data)
	}
	for _, want := range []string{"type=OIR", "search=dividendo", "events=report.published", "after="} {
		if !strings.Contains(hello.Missed, want) {
			t.Errorf("%s does not have %s", hello.Missed, want)
		}
	}
	if strings.Contains(s.log.String(), made.Ticket[:12]) {
		t.Error("the log has the ticket")
	}
}

// What a stream may not have, a ticket may not have either.
func TestRefusedSelections(t *testing.T) {
	s, _ := startLive(t)
	reports := s.credentials(access.ReadReports)[0]
	for _, test := range []struct {
		body   string
		status int
	}{
		{`{"filter":{"type":"XX"}}`, http.StatusBadRequest},
		{`{"events":["unknown"]}`, http.StatusBadRequest},
		{`{"filter":{"search":"` + strings.Repeat("x", events.LongestFilter+1) + `"}}`, http.StatusBadRequest},
		{`{"filtre":{}}`, http.StatusBadRequest},
		{`{"events":["position.published"]}`, http.StatusForbidden},
	} {
		s.call(http.MethodPost, "/api/v1/stream/tickets", reports, test.body, test.status, nil)
	}
	issuers := s.credentials(access.ReadIssuers)[0]
	s.call(http.MethodPost, "/api/v1/stream/tickets", issuers, `{}`, http.StatusForbidden, nil)
}

// A rotation without an overlap ends what the replaced text of a key had opened.
func TestTicketOfAReplacedKey(t *testing.T) {
	s, _ := startLive(t)
	key, raw, err := s.keys.Create(t.Context(), access.Key{Plan: "pro", Scopes: access.AllScopes})
	if err != nil {
		t.Fatal(err)
	}
	header := http.Header{"X-Api-Key": {raw}}
	made := s.ticket(header, `{}`)
	opened := []*listener{s.listen(made.URL, nil), s.listen("/api/v1/stream", header)}
	for _, l := range opened {
		l.want("hello", nil)
	}
	if _, _, err := s.keys.Rotate(t.Context(), key.ID, 0); err != nil {
		t.Fatal(err)
	}
	for _, l := range opened {
		if e := l.want("goodbye", nil); !strings.Contains(e.data, "no longer valid") {
			t.Errorf("%+v", e)
		}
	}
	a := s.getWith(http.StatusUnauthorized, made.URL, nil)
	if !strings.Contains(string(a.body), "replaced") {
		t.Errorf("after the key was rotated: %s", a.body)
	}
}

// EventSource gives up for good after an error status, so that a ticket which cannot be used now
// opens a stream that ends at once.
func TestTicketWhileTheStoreIsLocked(t *testing.T) {
	longtest.Skip(t, "it takes many seconds")
	t.Parallel()
	s, header := startLive(t)
	made := s.ticket(header, `{}`)
	release := s.lock()
	var got []string
	for lines := s.listen(made.URL, nil).lines; lines.Scan(); {
		got = append(got, lines.Text())
	}
	want := []string{"retry: 2000", ": The store does not answer. Try again in a few seconds.", ""}
	if !slices.Equal(got, want) {
		t.Errorf("while the store is locked: %q", got)
	}
	release()
	s.listen(made.URL, nil).want("hello", nil)
}

// A query string that cannot be read is no invalid credential.
func TestUnreadableQueryOfAStream(t *testing.T) {
	s, header := startLive(t)
	a := s.getWith(http.StatusBadRequest, "/api/v1/stream?x=%zz", header)
	if !strings.Contains(string(a.body), "query string cannot be read") {
		t.Errorf("%s", a.body)
	}
}
