package ingest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pregon/internal/source/coverage"
	"pregon/internal/source/health"
)

// TestIncidentLog plays states, one a second, after the start of a term. A capital
// letter is a state that also has a new reason.
func TestIncidentLog(t *testing.T) {
	names := map[rune]health.State{'l': health.Live, 'q': health.Quiet, 'd': health.Degraded, 's': health.Starting, 'b': health.Blind}
	for _, test := range []struct {
		name, states string
		want         string // state, first second, last second and number of reasons of each incident
	}{
		{"live", "lllqqqlll", ""},
		{"not read yet", "bbbbbbbbbbbbbbl", ""},
		{"starting", "sssssl", ""},
		{"starting for too long", strings.Repeat("s", 15) + "bbbbbb", "blind 15-… 1"},
		{"another process takes over", strings.Repeat("l", 20) + "dddddd" + "sss" + "ddl", "degraded 20-31 1"},
		{"never read", "bbbbbbbbbbbbbbbbbb", "blind 0-… 1"},
		{"a few seconds", strings.Repeat("l", 20) + "ddddl", ""},
		{"degraded", strings.Repeat("l", 20) + "ddddddl", "degraded 20-26 1"},
		{"it lasts", strings.Repeat("l", 20) + "dddddd", "degraded 20-… 1"},
		{"it worsens", strings.Repeat("l", 20) + "ddddddDbddl", "blind 20-30 2"},
		{"it comes and goes", strings.Repeat("l", 20) + "dddddd" + strings.Repeat("l", 50) + "dddddddl", "degraded 20-83 1"},
		{"again, later", strings.Repeat("l", 20) + "dddddd" + strings.Repeat("l", 60) + "bbbbbbbl", "blind 86-93 1, degraded 20-26 1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			began := time.Date(2026, 4, 22, 10, 0, 0, 0, time.UTC)
			log := &incidents{intervals: &usual, began: began}
			second := 0
			for _, c := range test.states {
				reasons := []health.Reason{{Surface: "feed-ip", Code: health.Failed, Params: health.Params{Detail: "it does not answer"}}}
				if c == 'D' {
					c, reasons = 'd', append(reasons, health.Reason{Surface: "list-ip", Code: health.Failed, Params: health.Params{Detail: "nor does it"}})
				}
				log.add(health.Status{State: names[c], Reasons: reasons}, began.Add(time.Duration(second)*time.Second))
				second++
			}
			var got []string
			for _, n := range log.log {
				until := "…"
				if !n.Until.IsZero() {
					until = fmt.Sprint(n.Until.Sub(began).Seconds())
				}
				got = append(got, fmt.Sprintf("%s %v-%s %d", n.State, n.Since.Sub(began).Seconds(), until, len(n.Reasons)))
			}
			if is := strings.Join(got, ", "); is != test.want {
				t.Errorf("incidents %q, want %q", is, test.want)
			}
		})
	}
}

// TestIncidentBounds: the log keeps the newest incidents, and reasons of a bounded
// size.
func TestIncidentBounds(t *testing.T) {
	now := time.Date(2026, 4, 22, 10, 0, 0, 0, time.UTC)
	log := &incidents{intervals: &usual}
	var many []health.Reason
	for n := range 2 * maxReasons {
		many = append(many, health.Reason{Surface: fmt.Sprint("surface-", n), Code: health.Failed, Params: health.Params{Detail: strings.Repeat("ñ", 2*maxReason)}})
	}
	for range 2 * maxIncidents {
		for range 10 {
			log.add(health.Status{State: health.Blind, Reasons: many}, now)
			now = now.Add(time.Second)
		}
		log.add(health.Status{State: health.Live}, now)
		now = now.Add(time.Hour)
	}
	if len(log.log) != maxIncidents || now.Sub(log.log[0].Until) != time.Hour {
		t.Fatalf("%d incidents, the newest ended at %s; want the newest %d", len(log.log), log.log[0].Until, maxIncidents)
	}
	if r := log.log[0].Reasons; len(r) != maxReasons || len([]rune(r[0].Text())) != maxReason+1 {
		t.Errorf("%d reasons, the first with %d characters", len(r), len(r[0].Text()))
	}
}

// TestIncidents: an incident is recorded while the source fails, ends when it
// recovers, and other processes read it.
func TestIncidents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, stop := w.start()
	w.state(health.Live, health.Quiet)
	w.arm(`{"kind":"error500","for":"1h"}`)
	replica := coverage.New(w.store)
	newest := func(over bool) error {
		if err := replica.Refresh(t.Context()); err != nil {
			return err
		}
		if log := replica.Incidents(); len(log) == 0 || log[0].Until.IsZero() == over || over && log[0].State != health.Blind {
			return fmt.Errorf("incidents %+v, want one that is blind; is over: %t", log, over)
		}
		return nil
	}
	w.eventually(func() error { return newest(false) })
	w.state(health.Blind)
	stop() // in the middle of it
	before := len(replica.Incidents())
	w.disarm()
	w.start()
	w.eventually(func() error { return newest(true) })
	if log := replica.Incidents(); len(log) != before || len(log[0].Reasons) == 0 {
		t.Errorf("%d incidents after the restart, the newest %+v; want %d with reasons", len(log), log[0], before)
	}
}

// TestUnread: when no process has read the source for a while, that is an incident.
func TestUnread(t *testing.T) {
	t.Parallel()
	w := newEmptyWorld(t)
	gone := time.Now().Add(-time.Hour).UTC().Truncate(time.Second)
	if err := w.coverage.SetStatus(t.Context(), nil, health.Status{State: health.Live, At: gone}); err != nil {
		t.Fatal(err)
	}
	w.coverage = coverage.New(w.store) // as after a restart
	if err := w.coverage.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	log := newIncidents(w.coverage, &usual)
	log.add(health.Status{State: health.Live}, time.Now())
	if len(log.log) != 1 || !log.log[0].Since.Equal(gone) || log.log[0].Until.IsZero() || log.log[0].Reasons[0].Surface != health.Service {
		t.Errorf("incidents %+v, want one since %s", log.log, gone)
	}
}
