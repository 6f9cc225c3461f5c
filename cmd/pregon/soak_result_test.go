package main_test

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// soakResult is what was measured on one store.
type soakResult struct {
	Replicas, Published, Changes int
	Late                         []time.Duration // of each report on a stream, shortest first
	Delivered, Repeated          int             // webhooks

	mu       sync.Mutex
	seen     time.Time                  // guarded by mu: when a replica last said that it can see
	Blind    time.Duration              // guarded by mu: the longest time
	Struck   map[string]int             // guarded by mu: by kind of fault
	Recovery map[string][]time.Duration // guarded by mu
	TakeOver map[string][]time.Duration // guarded by mu
	Load     map[string]*loadResult     // guarded by mu: by kind of request
	Surfaces map[string]surfaceResult   // guarded by mu
	Wrong    error                      // guarded by mu: the first wrong answer of the load
}

// loadResult counts the requests of one kind.
type loadResult struct {
	Answered, Refused, Unreachable, GaveUp int
	times                                  []time.Duration
}

// surfaceResult is how a surface compares with what was published.
type surfaceResult struct{ Reports, Lost, Doubled int }

func newSoakResult(replicas int) *soakResult {
	return &soakResult{
		Replicas: replicas, seen: time.Now(), Struck: map[string]int{}, Recovery: map[string][]time.Duration{},
		TakeOver: map[string][]time.Duration{}, Load: map[string]*loadResult{}, Surfaces: map[string]surfaceResult{},
	}
}

func (r *soakResult) sighted() {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	r.Blind, r.seen = max(r.Blind, now.Sub(r.seen)), now
}

func (r *soakResult) struck(kind string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Struck[kind]++
}

func (r *soakResult) recovered(kind string, after time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Recovery[kind] = append(r.Recovery[kind], after)
}

func (r *soakResult) tookOver(kind string, after time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.TakeOver[kind] = append(r.TakeOver[kind], after)
}

func (r *soakResult) tallied(surface string, reports, lost, doubled int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Surfaces[surface] = surfaceResult{reports, lost, doubled}
}

// answered records the answer to a request. It reports whether there was one that need
// not be asked for again.
func (r *soakResult) answered(kind string, status int, err error, after time.Duration) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	of := r.of(kind)
	switch {
	case err != nil:
		of.Unreachable++
		if strings.Contains(err.Error(), "not answered as documented") {
			r.Wrong = cmp.Or(r.Wrong, err)
		}
		return false
	case status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests:
		of.Refused++
		return false
	case status != http.StatusOK:
		r.Wrong = cmp.Or(r.Wrong, fmt.Errorf("%s is answered with %d", kind, status))
	}
	of.Answered++
	of.times = append(of.times, after)
	return true
}

func (r *soakResult) gaveUp(kind string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.of(kind).GaveUp++
}

// of returns the counts of a kind of request. The caller holds mu.
func (r *soakResult) of(kind string) *loadResult {
	if r.Load[kind] == nil {
		r.Load[kind] = &loadResult{}
	}
	return r.Load[kind]
}

// soakResults are the results of all stores.
type soakResults struct {
	lasts time.Duration
	seed  uint64
	mu    sync.Mutex
	of    map[string]*soakResult // guarded by mu: by store
}

func (r *soakResults) add(store string, of *soakResult) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of == nil {
		r.of = map[string]*soakResult{}
	}
	r.of[store] = of
}

// write writes the tables to a file, if it is named.
func (r *soakResults) write(path string) error {
	if path == "" {
		return nil
	}
	return os.WriteFile(path, []byte(r.String()), 0o644)
}

// String returns the tables as Markdown, with a column for each store.
func (r *soakResults) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := &tableWriter{results: r, stores: slices.Sorted(maps.Keys(r.of))}
	slices.Reverse(w.stores) // sqlite first
	w.head("")
	r.totals(w.row)
	w.head("fault: number, median and longest recovery, longest take-over")
	for _, kind := range keys(w, func(of *soakResult) map[string]int { return of.Struck }) {
		w.row(kind, func(of *soakResult) string { return suffered(of.Struck[kind], of.Recovery[kind], of.TakeOver[kind]) })
	}
	w.row(both, func(of *soakResult) string { return suffered(len(of.Recovery[both]), of.Recovery[both], nil) })
	w.head("surface: reports, lost, more than once")
	for _, surface := range keys(w, func(of *soakResult) map[string]surfaceResult { return of.Surfaces }) {
		w.row(surface, func(of *soakResult) string {
			got := of.Surfaces[surface]
			return fmt.Sprintf("%d, %d, %d", got.Reports, got.Lost, got.Doubled)
		})
	}
	w.head("request: answered, refused, unreachable, failed on every replica; p50, p99")
	for _, kind := range keys(w, func(of *soakResult) map[string]*loadResult { return of.Load }) {
		w.row(kind, func(of *soakResult) string {
			got := of.of(kind)
			return fmt.Sprintf("%d, %d, %d, %d; %s, %s", got.Answered, got.Refused, got.Unreachable, got.GaveUp, quantile(got.times, 0.5), quantile(got.times, 0.99))
		})
	}
	return w.String()
}

// tableWriter writes tables with a column for each store.
type tableWriter struct {
	strings.Builder
	results *soakResults
	stores  []string
}

// head begins a table. The first column has a name.
func (w *tableWriter) head(first string) {
	if w.Len() > 0 {
		w.WriteString("\n")
	}
	w.row(first, func(of *soakResult) string {
		if of.Replicas == 1 {
			return "SQLite, 1 replica"
		}
		return fmt.Sprintf("PostgreSQL, %d replicas", of.Replicas)
	})
	w.WriteString("|---|" + strings.Repeat("---|", len(w.stores)) + "\n")
}

func (w *tableWriter) row(name string, cell func(*soakResult) string) {
	fmt.Fprintf(w, "| %s |", name)
	for _, store := range w.stores {
		fmt.Fprintf(w, " %s |", cell(w.results.of[store]))
	}
	w.WriteString("\n")
}

// totals writes the rows of the first table.
func (r *soakResults) totals(row func(string, func(*soakResult) string)) {
	sum := func(of *soakResult, value func(surfaceResult) int) (n int) {
		for _, s := range of.Surfaces {
			n += value(s)
		}
		return n
	}
	row("faults", func(of *soakResult) string {
		n := 0
		for _, k := range of.Struck {
			n += k
		}
		return fmt.Sprintf("%d in %v", n, r.lasts)
	})
	row("reports published", func(of *soakResult) string { return fmt.Sprint(of.Published) })
	row("changes in the log", func(of *soakResult) string { return fmt.Sprint(of.Changes) })
	row("**lost**, on any surface", func(of *soakResult) string {
		return fmt.Sprintf("**%d**", sum(of, func(s surfaceResult) int { return s.Lost }))
	})
	row("**more than once**, on any surface", func(of *soakResult) string {
		return fmt.Sprintf("**%d**", sum(of, func(s surfaceResult) int { return s.Doubled }))
	})
	row("longest time blind", func(of *soakResult) string { return seconds(of.Blind) })
	row("publication to stream: p50, p99, longest", func(of *soakResult) string {
		return fmt.Sprintf("%s, %s, %s", quantile(of.Late, 0.5), quantile(of.Late, 0.99), quantile(of.Late, 1))
	})
	row("webhooks delivered, of which again with the same id", func(of *soakResult) string { return fmt.Sprintf("%d, %d", of.Delivered+of.Repeated, of.Repeated) })
}

// keys returns the keys of a map of all stores, sorted.
func keys[V any](w *tableWriter, values func(*soakResult) map[string]V) []string {
	all := map[string]bool{}
	for _, store := range w.stores {
		for key := range values(w.results.of[store]) {
			all[key] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// suffered describes the faults of a kind.
func suffered(n int, recovery, takeOver []time.Duration) string {
	if n == 0 {
		return ""
	}
	out := fmt.Sprintf("%d, %s, %s", n, quantile(recovery, 0.5), quantile(recovery, 1))
	if len(takeOver) > 0 {
		out += fmt.Sprintf(", %s", quantile(takeOver, 1))
	}
	return out
}

func quantile(times []time.Duration, p float64) string {
	if len(times) == 0 {
		return "–"
	}
	times = slices.Sorted(slices.Values(times))
	return seconds(times[min(int(p*float64(len(times))), len(times)-1)])
}

func seconds(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}
