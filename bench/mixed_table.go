package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"pregon/internal/store"
)

// run sends the mix and then each kind alone, and prints the table.
func (m *mix) run(ctx context.Context, title string, db store.Store, lasts time.Duration) error {
	m.send(min(lasts, 2*time.Second), func(i int) string { return anyKind(rand.N(20)) }) // to warm up
	m.mu.Lock()
	clear(m.times)
	m.mu.Unlock()
	before, err := m.busy()
	if err != nil {
		return err
	}
	publishing, stop := context.WithCancel(ctx)
	defer stop()
	appended := make(chan int, 1)
	go func() {
		n, err := publishSlowly(publishing, db)
		if err != nil {
			m.failed("append", err)
		}
		appended <- n
	}()
	sent, took := m.send(lasts, func(i int) string { return anyKind(rand.N(20)) })
	after, err := m.busy()
	if err != nil {
		return err
	}
	stop()
	n := <-appended
	m.await(n)
	memory, err := m.memory()
	if err != nil {
		return err
	}
	fmt.Printf("\n%s, streams: %d, webhooks: %d, reports appended: %d\n\n", title, mixedStreams, mixedHooks, n)
	fmt.Printf("%.0f requests/s, CPU %.2f s per 1,000 requests, memory %.0f MB each at most\n\n", float64(sent)/took.Seconds(),
		(after-before).Seconds()*1000/float64(sent), memory/1e6)
	if m.costs != nil {
		m.compare(n, took, after-before)
	}
	if err := m.table(took, lasts); err != nil {
		return err
	}
	if m.failure != nil {
		fmt.Printf("\nthe first error: %v\n", m.failure)
	}
	return nil
}

// compare prints the processor time of the replicas that the costs predict for a run, and
// that which the run took. Replicas on one machine share its processors, so that requests a
// second say nothing about several machines; processor time does.
func (m *mix) compare(appended int, took, busy time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	requests := 0
	for kind := range weights {
		requests += len(m.times[kind])
	}
	demand := m.costs.demand(fleet{
		replicas:  len(m.replicas),
		requests:  float64(requests) / took.Seconds(),
		listeners: mixedStreams,
		changes:   float64(appended) / took.Seconds(),
		hooks:     mixedHooks,
	})
	predicted := time.Duration(demand[atReplicas] * float64(took))
	fmt.Printf("processor time of the replicas: predicted %.1f s, measured %.1f s, ratio %.2f\n\n",
		predicted.Seconds(), busy.Seconds(), predicted.Seconds()/busy.Seconds())
}

// anyKind returns the kind of a number below 20, by its share.
func anyKind(n int) string {
	for _, kind := range slices.Sorted(maps.Keys(weights)) {
		if n -= weights[kind]; n < 0 {
			return kind
		}
	}
	return "list"
}

// await waits for the last events; those that are missing after a while are errors.
func (m *mix) await(appended int) {
	want := map[string]int{"stream": appended * len(m.replicas), "webhook": appended * mixedHooks}
	for begin := time.Now(); time.Since(begin) < 20*time.Second; time.Sleep(50 * time.Millisecond) {
		m.mu.Lock()
		done := len(m.times["stream"]) >= want["stream"] && len(m.times["webhook"]) >= want["webhook"]
		m.mu.Unlock()
		if done {
			return
		}
	}
	for kind, n := range want {
		m.mu.Lock()
		missing := n - len(m.times[kind])
		m.mu.Unlock()
		for range missing {
			m.failed(kind, errors.New("it did not arrive"))
		}
	}
}

// table prints a row for each kind. What a kind costs is measured alone.
func (m *mix) table(took, lasts time.Duration) error {
	var b bytes.Buffer
	b.WriteString("| operation | requests/s in the mix | p50 | p99 | errors | CPU per 1,000, alone |\n|---|---|---|---|---|---|\n")
	m.mu.Lock()
	mixed := m.times
	m.times = map[string][]time.Duration{}
	m.mu.Unlock()
	for _, kind := range slices.Sorted(maps.Keys(mixed)) {
		of := mixed[kind]
		slices.Sort(of)
		cost := "–"
		if weights[kind] > 0 {
			before, err := m.busy()
			if err != nil {
				return err
			}
			sent, _ := m.send(lasts/time.Duration(len(weights)), func(int) string { return kind })
			after, err := m.busy()
			if err != nil {
				return err
			}
			cost = fmt.Sprintf("%.2f s", (after-before).Seconds()*1000/float64(sent))
		}
		fmt.Fprintf(&b, "| %s | %.0f | %.1f ms | %.1f ms | %d | %s |\n", kind, float64(len(of))/took.Seconds(),
			percentile(of, 0.5)*1000, percentile(of, 0.99)*1000, m.errors[kind], cost)
	}
	fmt.Print(b.String())
	return nil
}

func (m *mix) busy() (sum time.Duration, err error) {
	for _, p := range m.replicas {
		d, err := p.busy()
		if err != nil {
			return 0, err
		}
		sum += d
	}
	return sum, nil
}

// memory returns the resident memory of the largest replica.
func (m *mix) memory() (most float64, err error) {
	for _, p := range m.replicas {
		n, err := p.memory()
		if err != nil {
			return 0, err
		}
		most = max(most, n)
	}
	return most, nil
}
