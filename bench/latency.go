package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

const pushReports = 120

// deliveries records when reports were delivered to a listener or webhook.
type deliveries struct {
	mu    sync.Mutex
	at    map[string]time.Time // guarded by mu: by id
	twice int                  // guarded by mu
}

func (d *deliveries) note(event []byte, at time.Time) {
	var report struct {
		ID    string `json:"id"`
		Event string `json:"event"`
	}
	if json.Unmarshal(event, &report) != nil || report.Event != published {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.at[report.ID]; ok {
		d.twice++
		return
	}
	d.at[report.ID] = at
}

// pushLatency measures how long after its publication a report is delivered to a
// listener and to a webhook, with the usual intervals.
func (b *bench) pushLatency() error {
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
	key, err := b.key("sqlite:" + path)
	if err != nil {
		return err
	}
	p, err := b.reads(sim.url, "sqlite:"+path, "--webhook-allow-private")
	if err != nil {
		return err
	}
	defer p.stop()
	if err := settle(p); err != nil {
		return err
	}
	hooked := &deliveries{at: map[string]time.Time{}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	go http.Serve(l, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		now := time.Now()
		if body, err := io.ReadAll(r.Body); err == nil {
			hooked.note(body, now)
		}
	}))
	if err := post(p.url+"/api/v1/webhooks", key, fmt.Sprintf(`{"url":"http://%s/"}`, l.Addr())); err != nil {
		return err
	}
	streamed := &deliveries{at: map[string]time.Time{}}
	stream, err := listen(p.url, 1, [][]byte{request("/api/v1/stream", "X-API-Key: "+key)})
	if err != nil {
		return err
	}
	defer stream.stop()
	go func() {
		for r := range stream.receipts {
			streamed.note([]byte(r.Data), time.Unix(0, r.Last))
		}
	}()
	w := &watched{published: map[string]time.Time{}}
	if err := w.order(sim.url, pushReports); err != nil {
		return err
	}
	time.Sleep(10 * time.Second) // five times the promised latency
	for _, way := range []struct {
		name string
		*deliveries
	}{{"sse", streamed}, {"webhook", hooked}} {
		if err := way.show("publish.to.push."+way.name, w.published); err != nil {
			return fmt.Errorf("%s: %w", way.name, err)
		}
	}
	return nil
}

func (d *deliveries) show(name string, published map[string]time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []time.Duration
	for id, at := range published {
		if had, ok := d.at[id]; ok {
			all = append(all, had.Sub(at))
		}
	}
	if len(all) < len(published) || d.twice > 0 {
		return fmt.Errorf("%d of %d reports were delivered, and %d more than once", len(all), len(published), d.twice)
	}
	slices.Sort(all)
	figure(name+".p50", percentile(all, 0.50), "s")
	figure(name+".p99", percentile(all, 0.99), "s")
	figure(name+".max", percentile(all, 1), "s")
	return nil
}
