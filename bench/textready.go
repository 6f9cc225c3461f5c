package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// textReady measures how long after its publication a report's text and summary
// are ready, with the usual intervals: with 12 reports a minute, which is the
// simulator's own rate and twice the peak of the real market; with five times as
// many; and with 15 at once. The intervals are not shortened, so the time does
// not shrink either: one report a second already needs all four requests a second of
// the limit. The simulator chooses the documents.
func (b *bench) textReady() error {
	sim, err := launch(b.program, "sim", "--listen", "127.0.0.1:0", "--rate", "0")
	if err != nil {
		return err
	}
	defer sim.stop()
	path, err := b.emptyStore()
	if err != nil {
		return err
	}
	defer b.scratch(emptyStore)
	p, err := b.reads(sim.url, "sqlite:"+path, "--cache-dir", b.cache())
	if err != nil {
		return err
	}
	defer p.stop()
	if err := settle(p); err != nil {
		return err
	}
	for _, phase := range []struct {
		suffix string
		order  func(*watched) error
	}{
		{"", func(w *watched) error { return w.orderSlowly(sim.url, 60) }},
		{".busy", func(w *watched) error { return w.order(sim.url, 60) }},
		{".burst", func(w *watched) error { return w.orderAtOnce(sim.url, 15) }},
	} {
		w := &watched{published: map[string]time.Time{}}
		if err := errors.Join(phase.order(w), w.showReady(p.url, phase.suffix)); err != nil {
			return err
		}
	}
	return nil
}

// orderSlowly publishes 12 reports a minute on average, at the times of arrivals:
// some with up to four others within a second.
func (w *watched) orderSlowly(origin string, n int) error {
	const slower = 5
	rng := rand.New(rand.NewPCG(seed, 5))
	start := time.Now()
	var first, last time.Duration
	for _, at := range arrivals(rng, n) {
		if at-last > time.Second/2 {
			first = at
		}
		last = at
		time.Sleep(time.Until(start.Add(first*slower + at - first)))
		if err := w.file(origin, rng.IntN(3)); err != nil {
			return err
		}
	}
	return nil
}

// orderAtOnce publishes reports all at the same moment.
func (w *watched) orderAtOnce(origin string, n int) error {
	var all sync.WaitGroup
	failed := make([]error, n)
	for i := range n {
		all.Go(func() { failed[i] = w.file(origin, i%3) })
	}
	all.Wait()
	return errors.Join(failed...)
}

// file publishes a report of a random series.
func (w *watched) file(origin string, lot int) error {
	began := time.Now() // the response has only seconds
	body := []string{`{"type":"ip"}`, `{"type":"oir"}`, `{"type":"hr"}`}[lot]
	resp, err := http.Post(origin+"/_sim/publish", "application/json", strings.NewReader(body))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var report struct {
		ID string `json:"id"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&report); err != nil || report.ID == "" {
		return fmt.Errorf("publishing: got status %s: %w", resp.Status, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.published[report.ID] = began
	return nil
}

// showReady waits for the texts and summaries. It uses the times that the service
// records, because polling would slow it down.
func (w *watched) showReady(origin, suffix string) error {
	texts, summaries := map[string]time.Duration{}, map[string]time.Duration{}
	without := 0
	for begin := time.Now(); len(texts) < len(w.published) || len(summaries) < len(w.published); time.Sleep(time.Second) {
		if time.Since(begin) > 2*time.Minute {
			return fmt.Errorf("of %d reports %d have a text and %d a summary", len(w.published), len(texts), len(summaries))
		}
		for id, at := range w.missing(summaries) {
			var report struct {
				Document struct {
					Status string `json:"status"`
					Reason string `json:"reason"`
				} `json:"document"`
				TextAt    *time.Time `json:"text_ready_at"`
				SummaryAt *time.Time `json:"summary_ready_at"`
			}
			if getJSON(origin+"/api/v1/reports/"+id, &report) != nil {
				continue // it is not ready yet
			}
			switch {
			case report.Document.Status == "failed":
				return fmt.Errorf("%s: %s", id, report.Document.Reason)
			case report.Document.Status == "none":
				delete(w.published, id)
				without++
				continue
			}
			if report.TextAt != nil {
				texts[id] = report.TextAt.Sub(at)
			}
			if report.SummaryAt != nil {
				summaries[id] = report.SummaryAt.Sub(at)
			}
		}
	}
	fmt.Fprintf(os.Stderr, "# %d reports with a document, and %d without\n", len(texts), without)
	for _, kind := range []struct {
		name string
		took map[string]time.Duration
	}{{"text.ready" + suffix, texts}, {"summary.ready" + suffix, summaries}} {
		var all []time.Duration
		for _, d := range kind.took {
			all = append(all, d)
		}
		slices.Sort(all)
		figure(kind.name, percentile(all, 0.95), "s")
		figure(kind.name+".p50", percentile(all, 0.50), "s")
		figure(kind.name+".max", percentile(all, 1), "s")
	}
	return nil
}
