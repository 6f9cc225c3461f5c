package main_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/store/storetest"
	"pregon/internal/test/waittest"
)

// trial is replicas on a store that fails, with clients of every channel.
type trial struct {
	*fleet
	*reader
	key, known       string // a key, and a report that is published before the fault
	after            int64
	before           map[string]apiReport
	streamed, polled witness
	receiver         *receiver
}

func newTrial(t *testing.T, spec string, replicas int) *trial {
	t.Helper()
	return newTrialOf(t, spec, slices.Repeat([]string{spec}, replicas)...)
}

// newTrialOf is newTrial with replicas that have addresses of their own for the
// same store.
func newTrialOf(t *testing.T, spec string, specs ...string) *trial {
	t.Helper()
	return startTrial(t, spec, specs, nil)
}

// startTrial is newTrialOf with replicas whose clocks can be stepped, if there are any.
func startTrial(t *testing.T, spec string, specs []string, clocks []clock) *trial {
	t.Helper()
	src := startSource(t)
	w := &trial{
		fleet: &fleet{
			spec:   spec,
			specs:  specs,
			clocks: clocks,
			dir:    t.TempDir(),
			args: []string{
				"--source", "cnmv", "--poll", "100ms", "--webhook-allow-private", "--debug-listen", "127.0.0.1:0",
			},
		},
		reader: newReader(t, src, spec),
	}
	for range specs {
		w.sights = append(w.sights, &sight{url: src.url})
	}
	w.startAll(t)
	w.serve = w.serves[0]
	w.started(t)
	w.key = pregon(t, spec, "keys", "create", "--plan", "enterprise")
	w.before = w.filed(t)
	w.receiver = newReceiver(t, false)
	w.receiver.register(t, w.serve.url, w.key)
	w.after = w.receiver.hook.StartsAfter
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	go w.follow(ctx, w.key, w.after, &w.streamed)
	go w.poll(ctx, w.key, w.after, &w.polled)
	w.known = w.burst(t, 4)[0]
	w.agree(t)
	t.Cleanup(func() {
		if t.Failed() {
			for i, s := range w.serves {
				t.Logf("the log of serve %d:\n%s", i, s.log.events())
			}
		}
	})
	return w
}

// filed returns what the source has published.
func (w *trial) filed(t *testing.T) map[string]apiReport {
	t.Helper()
	from := disclosure.DayOf(time.Now()) - 30
	return w.truth(t, from, from+31, disclosure.IP, disclosure.OIR)
}

// published returns what the source has published since the start.
func (w *trial) published(t *testing.T) map[string]apiReport {
	t.Helper()
	filed := w.filed(t)
	for id := range w.before {
		delete(filed, id)
	}
	return filed
}

// burst publishes reports.
func (w *trial) burst(t *testing.T, n int) (ids []string) {
	t.Helper()
	for i := range n {
		ids = append(ids, w.publish(t, `{"type":%q}`, []string{"oir", "ip", "oir"}[i%3]))
	}
	return ids
}

// agree waits until each replica lists every report once, and every channel has
// announced it once.
func (w *trial) agree(t *testing.T) {
	t.Helper()
	filed := w.published(t)
	eventually(t, func() error {
		if err := w.lists(filed); err != nil {
			return err
		}
		asking, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		newest, err := w.store.Newest(asking)
		if err != nil {
			return err
		}
		return errors.Join(w.streamed.complete(w.after, newest), w.polled.complete(w.after, newest),
			w.receiver.received(newest), same(filed, &w.streamed, &w.polled))
	})
}

// lists returns an error unless each replica lists every report once.
func (w *trial) lists(filed map[string]apiReport) error {
	for i, s := range w.serves {
		list, err := listed(s.url)
		if err != nil {
			return err
		}
		for id := range filed {
			if list[id] != 1 {
				return fmt.Errorf("replica %d lists %s %d times, want 1", i, id, list[id])
			}
		}
	}
	return nil
}

// storeFault is a fault of the store and what clients see while it lasts.
type storeFault struct {
	begin, end func()
	reasons    []string // one of which the status gives
	status     int      // of a write, 0 for any
	readable   bool     // the store can still be read
	small      bool     // small writes may succeed, so that only a replica that stores reports must notice
	lasts      time.Duration
}

// endure plays a fault: reads continue from memory, the status names the store, a
// write fails in a documented way, and afterwards everything is complete without help.
func (w *trial) endure(t *testing.T, f storeFault) {
	t.Helper()
	before := w.lines()
	f.begin()
	began := time.Now()
	w.burst(t, 6)
	eventually(t, func() (err error) {
		noticed := 0
		for i, s := range w.serves {
			got := s.storeReasons(t)
			if slices.ContainsFunc(f.reasons, func(reason string) bool { return strings.Contains(strings.Join(got, "\n"), reason) }) {
				noticed++
			} else {
				err = fmt.Errorf("reasons of the store at replica %d: got %q, want one of %q", i, got, f.reasons)
			}
		}
		if f.small && noticed > 0 {
			return nil
		}
		return err
	})
	t.Logf("the status names the store after %v", time.Since(began).Round(100*time.Millisecond))
	for _, s := range w.serves {
		w.reads(t, s, !f.readable)
		w.writes(t, s, f.status)
	}
	for time.Since(began) < f.lasts {
		w.burst(t, 1)
		for _, s := range w.serves {
			w.reads(t, s, !f.readable)
		}
		waittest.Pace(t.Context(), time.Second)
	}
	f.end()
	ended := time.Now()
	w.burst(t, 3)
	w.resume(t, ended)
	w.agree(t)
	for _, s := range w.serves {
		eventually(t, func() error {
			if got := s.storeReasons(t); len(got) > 0 {
				return fmt.Errorf("reasons of the store: got %q, want none", got)
			}
			return nil
		})
	}
	t.Logf("everything is complete %v after the end of the fault", time.Since(ended).Round(100*time.Millisecond))
	w.fewLines(t, before)
}

// mostLines is how many lines a replica may log about one fault: about twenty parts log
// one when it begins and one when it ends, and new reports are logged.
const mostLines = 50

// fewLines fails if a replica has logged much since its log had the given number of
// lines.
func (w *trial) fewLines(t *testing.T, before []int) {
	t.Helper()
	for i, n := range w.lines() {
		if n -= before[i]; n > mostLines {
			t.Errorf("replica %d logged %d lines about the fault, want %d at most", i, n, mostLines)
		}
	}
}

// lines returns the number of lines in the log of each replica, without requests.
func (w *trial) lines() (n []int) {
	for _, s := range w.serves {
		n = append(n, strings.Count(s.log.events(), "\n"))
	}
	return n
}

// reads demands answers to requests that need no store. They state their age if the
// store cannot be read.
func (w *trial) reads(t *testing.T, s *service, aged bool) {
	t.Helper()
	for _, path := range []string{"/api/v1/reports?limit=5", "/api/v1/reports/" + w.known, "/api/v1/issuers?limit=5", "/readyz", "/"} {
		if got := s.status(t, path, "", ""); got != http.StatusOK {
			t.Errorf("%s without the store: got %d, want 200", path, got)
		}
	}
	if !aged {
		return
	}
	eventually(t, func() error { // once the last change is a few seconds old
		resp, err := http.Get(s.url + "/api/v1/reports?limit=1")
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if age := resp.Header.Get("Pregon-Age"); resp.StatusCode != http.StatusOK || age == "" {
			return fmt.Errorf("got %s and the age %q, want 200 and an age", resp.Status, age)
		}
		return nil
	})
}

// writes attempts to create a webhook. An error must be documented and name no
// internals.
func (w *trial) writes(t *testing.T, s *service, want int) {
	t.Helper()
	began := time.Now()
	resp, answer, err := w.write(t.Context(), s)
	if err != nil {
		t.Errorf("a write without the store: %v", err)
		return
	}
	t.Logf("a write is answered with %d after %v", resp.StatusCode, time.Since(began).Round(100*time.Millisecond))
	if want != 0 && (resp.StatusCode != want || want >= 400 && resp.Header.Get("Content-Type") != "application/problem+json") {
		t.Errorf("a write without the store: got %s %s, want %d and a problem document", resp.Status, answer, want)
	}
	for _, internal := range []string{"SQLSTATE", "pgx", "127.0.0.1:", "dial", "sqlite", ".db", "relation"} {
		if resp.StatusCode >= 500 && strings.Contains(string(answer), internal) {
			t.Errorf("a write without the store names internals: %s", answer)
		}
	}
}

// write requests a webhook that receives nothing.
func (w *trial) write(ctx context.Context, s *service) (*http.Response, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	body := strings.NewReader(fmt.Sprintf(`{"url":%q,"events":["issuer.updated"],"enabled":false}`, w.receiver.URL+"/other"))
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/api/v1/webhooks", body)
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("X-API-Key", w.key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	return resp, answer, err
}

// resume waits until every replica accepts a write and lists the reports that are
// published now, and logs how long that took.
func (w *trial) resume(t *testing.T, ended time.Time) {
	t.Helper()
	newest := w.burst(t, 1)[0]
	var all sync.WaitGroup
	for i, s := range w.serves {
		all.Go(func() {
			for ; t.Context().Err() == nil; waittest.Pace(t.Context(), comeBack) {
				if resp, _, err := w.write(t.Context(), s); err == nil && resp.StatusCode == http.StatusCreated {
					break
				}
			}
			t.Logf("replica %d accepts a write %v after the end of the fault", i, time.Since(ended).Round(100*time.Millisecond))
		})
		all.Go(func() {
			for t.Context().Err() == nil && s.status(t, "/api/v1/reports/"+newest, "", "") != http.StatusOK {
				waittest.Pace(t.Context(), comeBack)
			}
			t.Logf("replica %d has a new report %v after the end of the fault", i, time.Since(ended).Round(100*time.Millisecond))
		})
	}
	all.Wait()
}

// end stops the replicas and verifies the log.
func (w *trial) end(t *testing.T) {
	t.Helper()
	for _, s := range w.serves {
		if err := s.end(syscall.SIGTERM); err != nil {
			t.Errorf("serve did not end cleanly: %v\n%s", err, s.log.events())
		}
	}
	storetest.CheckLog(t, w.store)
}

// same returns an error unless the stream and the change list have the same events,
// and announce every report once and nothing else.
func same(filed map[string]apiReport, streamed, polled *witness) error {
	stream, _ := streamed.all()
	listed, _ := polled.all()
	if !slices.Equal(stream, listed) {
		return errors.New("the stream and the change list differ")
	}
	announced := map[string]int{}
	for _, e := range stream {
		// Later updates of a historical report have the same event.
		news := e.Event == string(disclosure.Published) || e.Event == string(disclosure.Backfilled) && e.Changed == 0
		if news && !strings.HasPrefix(e.ID, "hr-") { // those are seen within minutes
			announced[e.ID]++
		}
	}
	for id := range filed {
		if announced[id] != 1 {
			return fmt.Errorf("%s was announced %d times, want 1", id, announced[id])
		}
	}
	if len(announced) != len(filed) {
		return fmt.Errorf("announced reports: got %d, want %d", len(announced), len(filed))
	}
	return nil
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
