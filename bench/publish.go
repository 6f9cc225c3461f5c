package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"pregon/internal/disclosure"
)

// watched records when reports are published by the regulator and served by the
// API.
type watched struct {
	mu        sync.Mutex
	published map[string]time.Time     // guarded by mu: by id, just before publication
	available map[string]time.Duration // how long after; only the polling goroutine uses these two
	enriched  map[string]time.Duration
}

// publish publishes reports at ten times the rate of the busiest minute of the real
// market, and measures how long each takes to be served.
func (b *bench) publish(origin, url, path string) error {
	w := &watched{published: map[string]time.Time{}, available: map[string]time.Duration{}, enriched: map[string]time.Duration{}}
	const timeout = 2 * time.Minute
	ended := make(chan error, 1)
	go func() { ended <- w.order(origin, b.reports) }()
	var over time.Time
	for poll := 0; over.IsZero() || time.Since(over) < timeout && !w.complete(); poll++ {
		select {
		case err := <-ended:
			if err != nil {
				return err
			}
			over = time.Now()
		case <-time.After(20 * time.Millisecond):
		}
		if err := w.seeList(url); err != nil {
			return err
		}
		if poll%5 == 0 { // one request for each waiting report, so less often
			if err := w.seeEach(url); err != nil {
				return err
			}
		}
	}
	if len(w.available) == 0 || len(w.enriched) == 0 {
		return errors.New("none of the published reports arrived")
	}
	show := func(name string, took map[string]time.Duration) {
		if len(took) == 0 {
			return
		}
		var all []time.Duration
		for _, d := range took {
			all = append(all, d)
		}
		slices.Sort(all)
		figure(name+".p50", percentile(all, 0.50), "s")
		figure(name+".p99", percentile(all, 0.99), "s")
		figure(name+".max", percentile(all, 1), "s")
	}
	show("publish.to.available", w.available)
	for _, t := range disclosure.Types {
		show("publish.to.available."+t.Lower(), of(t, w.available))
	}
	show("publish.to.enriched", w.enriched)
	return w.account(path)
}

// of returns the reports of a series.
func of(t disclosure.Type, took map[string]time.Duration) map[string]time.Duration {
	out := map[string]time.Duration{}
	for id, d := range took {
		if series, _, _ := disclosure.ParseReportID(id); series == t {
			out[id] = d
		}
	}
	return out
}

// order publishes reports, one a second in the mean.
func (w *watched) order(origin string, n int) error {
	rng := rand.New(rand.NewPCG(seed, 2))
	start := time.Now()
	for _, at := range arrivals(rng, n) {
		time.Sleep(time.Until(start.Add(at)))
		series := []string{"ip", "oir", "hr"}[rng.IntN(3)]
		began := time.Now()
		resp, err := http.Post(origin+"/_sim/publish", "application/json", bytes.NewReader([]byte(`{"type":"`+series+`"}`)))
		if err != nil {
			return err
		}
		var report struct {
			ID string `json:"id"`
		}
		err = json.NewDecoder(resp.Body).Decode(&report)
		resp.Body.Close()
		if err != nil || report.ID == "" {
			return fmt.Errorf("publishing: got status %s: %w", resp.Status, err)
		}
		w.mu.Lock()
		w.published[report.ID] = began
		w.mu.Unlock()
	}
	return nil
}

// arrivals returns the times of reports: a Poisson process, some of them with up to
// four others within a second.
func arrivals(rng *rand.Rand, n int) []time.Duration {
	const mean = 1.75 // reports that come together: 0.7 of 1, 0.3 of 2 to 5
	var out []time.Duration
	var at time.Duration
	for len(out) < n {
		at += time.Duration(rng.ExpFloat64() * mean * float64(time.Second))
		size := 1
		if rng.Float64() < 0.3 {
			size = 2 + rng.IntN(4)
		}
		for k := range size {
			if k == 0 {
				out = append(out, at)
				continue
			}
			out = append(out, at+time.Duration(rng.Int64N(int64(time.Second))))
		}
	}
	slices.Sort(out)
	return out[:n]
}

// complete reports whether all published reports have arrived.
func (w *watched) complete() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.available) == len(w.published) && len(w.enriched) == len(w.published)
}

// missing returns the published reports that are not in a map yet.
func (w *watched) missing(in map[string]time.Duration) map[string]time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := map[string]time.Time{}
	for id, at := range w.published {
		if _, ok := in[id]; !ok {
			out[id] = at
		}
	}
	return out
}

// seeList polls the newest reports.
func (w *watched) seeList(url string) error {
	waiting := w.missing(w.available)
	if len(waiting) == 0 {
		return nil
	}
	var page struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := getJSON(url+"/api/v1/reports?limit=50", &page); err != nil {
		return err
	}
	now := time.Now()
	for _, r := range page.Data {
		if at, ok := waiting[r.ID]; ok {
			w.available[r.ID] = now.Sub(at)
		}
	}
	return nil
}

// seeEach polls the reports that are not enriched yet.
func (w *watched) seeEach(url string) error {
	for id, at := range w.missing(w.enriched) {
		if _, ok := w.available[id]; !ok {
			continue
		}
		var report struct {
			EnrichedAt *time.Time `json:"enriched_at"`
		}
		if err := getJSON(url+"/api/v1/reports/"+id, &report); err != nil {
			return err
		}
		if report.EnrichedAt != nil {
			w.enriched[id] = time.Since(at)
		}
	}
	return nil
}

// account counts the reports that the log lacks or has announced twice. There must
// be none of either.
func (w *watched) account(path string) error {
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		return err
	}
	defer db.Close()
	lost, repeated := 0, 0
	for id := range w.published {
		var n int
		if err := db.QueryRow("SELECT count(*) FROM change WHERE event = ? AND subject = ?", disclosure.Published, id).Scan(&n); err != nil {
			return err
		}
		_, seen := w.available[id]
		if n == 0 || !seen {
			fmt.Fprintln(os.Stderr, "# lost:", id)
			lost++
		}
		if n > 1 {
			fmt.Fprintln(os.Stderr, "# announced more than once:", id)
			repeated++
		}
	}
	figure("publish.lost", float64(lost), "filings")
	figure("publish.repeated", float64(repeated), "filings")
	figure("publish.not_enriched", float64(len(w.published)-len(w.enriched)), "filings")
	if lost+repeated > 0 {
		return errors.New("reports were lost or announced more than once")
	}
	return nil
}
