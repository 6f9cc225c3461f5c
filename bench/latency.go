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

const pushFilings = 120

// told are the reports that somebody was told of, by when.
type told struct {
	mu    sync.Mutex
	at    map[string]time.Time // guarded by mu: by id
	twice int                  // guarded by mu
}

func (t *told) note(event []byte, at time.Time) {
	var filing struct {
		ID    string `json:"id"`
		Event string `json:"event"`
	}
	if json.Unmarshal(event, &filing) != nil || filing.Event != published {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ok := t.at[filing.ID]; ok {
		t.twice++
		return
	}
	t.at[filing.ID] = at
}

// pushLatency measures how long after its publication a report is told to a
// listener and to a webhook, with the usual pace.
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
	hooked := &told{at: map[string]time.Time{}}
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
	streamed := &told{at: map[string]time.Time{}}
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
	if err := w.order(sim.url, pushFilings); err != nil {
		return err
	}
	time.Sleep(10 * time.Second) // five times what is promised
	for _, way := range []struct {
		name string
		*told
	}{{"sse", streamed}, {"webhook", hooked}} {
		if err := way.show("publish.to.push."+way.name, w.published); err != nil {
			return fmt.Errorf("%s: %w", way.name, err)
		}
	}
	return nil
}

func (t *told) show(name string, published map[string]time.Time) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []time.Duration
	for id, at := range published {
		if had, ok := t.at[id]; ok {
			all = append(all, had.Sub(at))
		}
	}
	if len(all) < len(published) || t.twice > 0 {
		return fmt.Errorf("%d of %d reports were told, and %d more than once", len(all), len(published), t.twice)
	}
	slices.Sort(all)
	figure(name+".p50", percentile(all, 0.50), "s")
	figure(name+".p99", percentile(all, 0.99), "s")
	figure(name+".max", percentile(all, 1), "s")
	return nil
}
