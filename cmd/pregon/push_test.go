package main_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/rest/resttest"
)

// everyEvent lists all event types.
var everyEvent = []string{"report.published", "report.backfilled", "report.updated", "report.corrected", "issuer.updated"}

func everyEventQuery() string { return "events=" + url.QueryEscape(strings.Join(everyEvent, ",")) }

// pushed is an event as a client received it, over any channel.
type pushed struct {
	Seq       int64
	ID, Event string
	Changed   int // number of changed fields
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *pushed) UnmarshalJSON(b []byte) error {
	var e struct {
		Seq       int64
		ID, Event string
		Changed   []string
	}
	err := json.Unmarshal(b, &e)
	*p = pushed{e.Seq, e.ID, e.Event, len(e.Changed)}
	return err
}

// isNew reports whether an event announces a report. Later updates of a historical
// report have the same event.
func (p pushed) isNew() bool {
	return p.Event == string(disclosure.Published) || p.Event == string(disclosure.Backfilled) && p.Changed == 0
}

// witness records the events of one channel, in the order of arrival.
type witness struct {
	mu       sync.Mutex
	seen     []pushed               // guarded by mu
	arrivals map[string][]time.Time // guarded by mu: when each report was announced
	wrong    error                  // guarded by mu: the first error
}

func (w *witness) saw(events ...pushed) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range events {
		w.add(e)
	}
}

// add records an event. The caller holds mu.
func (w *witness) add(e pushed) {
	w.seen = append(w.seen, e)
	if e.isNew() {
		if w.arrivals == nil {
			w.arrivals = map[string][]time.Time{}
		}
		w.arrivals[e.ID] = append(w.arrivals[e.ID], time.Now())
	}
}

func (w *witness) protest(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.wrong == nil {
		w.wrong = err
	}
}

func (w *witness) all() ([]pushed, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.seen), w.wrong
}

// complete returns an error unless every change came once, in order.
func (w *witness) complete(after, newest int64) error {
	seen, err := w.all()
	if err != nil {
		return err
	}
	for i, e := range seen {
		if want := after + 1 + int64(i); e.Seq != want {
			return fmt.Errorf("got change %d, want %d", e.Seq, want)
		}
	}
	if last := after + int64(len(seen)); last != newest {
		return fmt.Errorf("last change: got %d, want %d", last, newest)
	}
	return nil
}

// call sends a request with a key and a body. It validates the answer against the
// OpenAPI document.
func call(ctx context.Context, base, key, method, path string, body, into any) (int, error) {
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return 0, err
		}
		sent = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, base+path, sent)
	if err != nil {
		return 0, err
	}
	if key != "" {
		req.Header.Set("X-API-Key", key)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	answer, err := resttest.Read(resp)
	if err != nil {
		return 0, err
	}
	if err := resttest.Check(req, answer); err != nil {
		return 0, fmt.Errorf("%s %s is not answered as documented: %w", method, path, err)
	}
	if into == nil || resp.StatusCode >= 300 {
		return resp.StatusCode, nil
	}
	return resp.StatusCode, json.Unmarshal(answer.Body, into)
}

// demand is like call but fails unless the status is want.
func demand(t *testing.T, base, key, method, path string, body, into any, want int) {
	t.Helper()
	got, err := call(t.Context(), base, key, method, path, body, into)
	if err != nil || got != want {
		t.Fatalf("%s %s: %d %v, want %d", method, path, got, err, want)
	}
}

// hook is a webhook as its owner sees it.
type hook struct {
	ID, Secret, URL string
	StartsAfter     int64 `json:"starts_after"`
	Enabled         bool
	DisabledReason  *string `json:"disabled_reason"`
	Endpoint        struct{ Pending, Dead int }
}

// delivery is the delivery of a change to a webhook.
type delivery struct {
	ID      string
	Seq     int64
	State   string
	DueAt   *time.Time `json:"due_at"`
	History []struct {
		OK      bool
		Status  *int
		Error   *string
		Excerpt *string
	}
}

func createHook(t *testing.T, base, key, target string) (h hook) {
	t.Helper()
	demand(t, base, key, http.MethodPost, "/api/v1/webhooks", map[string]any{"url": target, "events": everyEvent}, &h, http.StatusCreated)
	return h
}

// isMessage reports whether an id is that of the delivery of a change to a webhook.
func isMessage(id, webhook string, seq int64) bool {
	cursor, ok := strings.CutPrefix(id, webhook+".")
	return ok && frame{id: cursor}.at(seq)
}

// frame is a part of a stream.
type frame struct{ id, name, data string }

// at reports whether the cursor of a frame is at a change.
func (f frame) at(seq int64) bool { return strings.HasSuffix(f.id, fmt.Sprintf("-%d", seq)) }

// event decodes the frame of a change. It returns false for other frames.
func (f frame) event() (e pushed, ok bool, err error) {
	if !slices.Contains(everyEvent, f.name) {
		return pushed{}, false, nil
	}
	if err := json.Unmarshal([]byte(f.data), &e); err != nil {
		return pushed{}, false, err
	}
	if !f.at(e.Seq) || f.name != e.Event {
		return pushed{}, false, fmt.Errorf("frame of %+v: got id %s and event %s", e, f.id, f.name)
	}
	return e, true, nil
}

// listener reads a stream.
type listener struct {
	*http.Response
	lines *bufio.Reader
}

// listen opens a stream that continues after a change.
func listen(ctx context.Context, client *http.Client, base, key, after string) (*listener, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/api/v1/stream?"+everyEventQuery(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("X-API-Key", key)
	req.Header.Set("Last-Event-ID", after)
	req.Header.Set("Accept-Encoding", "gzip") // the answer must not be compressed
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Encoding") != "" {
		resp.Body.Close()
		return nil, fmt.Errorf("the stream is answered with %s %v", resp.Status, resp.Header)
	}
	return &listener{resp, bufio.NewReader(resp.Body)}, nil
}

// next returns the next frame. As the standard requires, an incomplete frame is
// dropped.
func (l *listener) next() (f frame, err error) {
	for {
		line, err := l.lines.ReadString('\n')
		if err != nil {
			return frame{}, err
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "id":
			f.id = value
		case "event":
			f.name = value
		case "data":
			f.data += value
		case "":
			return f, nil
		}
	}
}

// until reads events up to a change.
func (l *listener) until(newest int64) (seen []pushed, err error) {
	for len(seen) == 0 || seen[len(seen)-1].Seq < newest {
		f, err := l.next()
		if err != nil {
			return seen, err
		}
		e, ok, err := f.event()
		if err != nil {
			return seen, err
		}
		if ok {
			seen = append(seen, e)
		}
	}
	return seen, nil
}
