package main_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"pregon/internal/store/postgres/pgtest"
	"pregon/internal/test/longtest"
	"pregon/internal/test/processtest"
	"pregon/internal/test/waittest"
)

// proxied is three replicas behind HAProxy, and its clients.
type proxied struct {
	url   string // of the proxy
	key   string
	wrong witness // the errors that clients see

	requests, streams atomic.Int64
}

func port(t *testing.T) int {
	t.Helper()
	p, err := processtest.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// load calls an operation again and again until the context ends.
func (p *proxied) load(ctx context.Context, name string, operation func(ctx context.Context) error) {
	for ctx.Err() == nil {
		// A request that has begun is finished, to see its answer.
		if err := operation(context.WithoutCancel(ctx)); err != nil {
			p.wrong.protest(fmt.Errorf("%s: %w", name, err))
			return
		}
		p.requests.Add(1)
		waittest.Pace(ctx, 10*time.Millisecond)
	}
}

// read gets a list.
func (p *proxied) read(client *http.Client) func(context.Context) error {
	return func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+"/api/v1/reports?limit=20", nil)
		if err != nil {
			return err
		}
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			return err
		}
		if resp.StatusCode != http.StatusOK {
			return errors.New(resp.Status)
		}
		return nil
	}
}

// write creates and deletes a webhook.
func (p *proxied) write(ctx context.Context) error {
	var h hook
	draft := map[string]any{"url": "http://127.0.0.1:1/hook", "enabled": false}
	if status, err := call(ctx, p.url, p.key, http.MethodPost, "/api/v1/webhooks", draft, &h); err != nil || status != http.StatusCreated {
		return fmt.Errorf("creating: %d %v", status, err)
	}
	if status, err := call(ctx, p.url, p.key, http.MethodDelete, "/api/v1/webhooks/"+h.ID, nil, nil); err != nil || status != http.StatusNoContent {
		return fmt.Errorf("deleting: %d %v", status, err)
	}
	return nil
}

// follow listens and returns with the last id. Each stream must end with goodbye.
func (p *proxied) follow(ctx context.Context, after int64, w *witness) {
	last := fmt.Sprint(after)
	for ctx.Err() == nil {
		l, err := listen(ctx, http.DefaultClient, p.url, p.key, last)
		if err != nil {
			if ctx.Err() == nil {
				p.wrong.protest(fmt.Errorf("opening a stream: %w", err))
			}
			return
		}
		p.streams.Add(1)
		var polite bool
		if last, polite = l.recordAll(last, w); !polite && ctx.Err() == nil {
			p.wrong.protest(errors.New("a stream ended without goodbye"))
		}
		l.Body.Close()
		waittest.Pace(ctx, comeBack)
	}
}

// recordAll reads a stream to its end. It returns its last id, and whether the server
// announced the end, or said in a comment that this replica does not have the cursor yet.
func (l *listener) recordAll(last string, w *witness) (_ string, polite bool) {
	for {
		f, err := l.next()
		if err != nil {
			return last, polite
		}
		polite = f.name == "goodbye" || f == frame{}
		if e, ok, err := f.event(); err != nil {
			w.protest(err)
		} else if ok {
			w.saw(e)
		}
		if f.id != "" {
			last = f.id
		}
	}
}

// TestRollingRestart restarts three replicas behind HAProxy, one after the other. No
// client sees an error, and no event is missed.
func TestRollingRestart(t *testing.T) {
	longtest.Skip(t, "it needs HAProxy")
	t.Parallel()
	spec, src := pgtest.Database(t), startSource(t)
	replicas, ports := make([]*service, 3), make([]int, 3)
	start := func(i int) {
		replicas[i] = startReplica(t, spec, append(sourceArgs(src.url), "--source", "cnmv", "--poll", "100ms",
			"--drain", "5s", "--webhook-allow-private", "--trusted-proxy", "127.0.0.1/32", "--listen", fmt.Sprintf("127.0.0.1:%d", ports[i]))...)
	}
	for i := range replicas {
		ports[i] = port(t)
		start(i)
	}
	r := newReader(t, src, spec)
	r.serve = replicas[0]
	r.started(t)
	p := &proxied{url: "http://" + startFront(t, "haproxy", replicas...).Address, key: pregon(t, spec, "keys", "create", "--plan", "enterprise")}
	after, err := r.store.Newest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	listening, end := context.WithCancel(t.Context())
	defer end()
	var clients, listeners sync.WaitGroup
	defer stop()
	fresh := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for range 2 {
		clients.Go(func() { p.load(ctx, "a request on a kept connection", p.read(clientOf(t, false))) })
		clients.Go(func() { p.load(ctx, "a request on a new connection", p.read(fresh)) })
		clients.Go(func() { p.load(ctx, "a write", p.write) })
	}
	seen := make([]witness, 6)
	for i := range seen {
		listeners.Go(func() { p.follow(listening, after, &seen[i]) })
	}
	var polled witness
	listeners.Go(func() { p.pollAll(listening, after, &polled) })
	clients.Go(func() {
		for ctx.Err() == nil {
			src.publish(t, `{"type":"oir"}`)
			waittest.Pace(ctx, 300*time.Millisecond)
		}
	})
	for i := range replicas {
		if err := replicas[i].end(syscall.SIGTERM); err != nil {
			t.Errorf("replica %d did not end cleanly: %v\n%s", i, err, replicas[i].log.events())
		}
		start(i)
	}
	stop()
	clients.Wait()
	eventually(t, func() error {
		if _, err := p.wrong.all(); err != nil {
			return nil // reported below
		}
		newest, err := r.store.Newest(t.Context())
		err = errors.Join(err, polled.complete(after, newest))
		for i := range seen {
			err = errors.Join(err, seen[i].complete(after, newest))
		}
		return err
	})
	end()
	listeners.Wait()
	if _, err := p.wrong.all(); err != nil {
		t.Error(err)
	}
	if p.streams.Load() <= int64(len(seen)) {
		t.Error("no stream was opened again: the restarts were not seen by any client")
	}
	t.Logf("%d requests and %d streams during the restarts", p.requests.Load(), p.streams.Load())
}

// pollAll follows the change list until the context ends.
func (p *proxied) pollAll(ctx context.Context, after int64, w *witness) {
	for ctx.Err() == nil {
		var list struct {
			Data      []pushed
			NextAfter int64 `json:"next_after"`
		}
		status, err := call(ctx, p.url, p.key, http.MethodGet, fmt.Sprintf("/api/v1/changes?after=%d&limit=100&wait=2", after), nil, &list)
		if ctx.Err() != nil {
			return
		}
		if err != nil || status != http.StatusOK {
			p.wrong.protest(fmt.Errorf("a long poll: %d %v", status, err))
			return
		}
		w.saw(list.Data...)
		after = list.NextAfter
	}
}
