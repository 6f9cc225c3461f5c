package main_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pregon/internal/test/waittest"
)

// fleet is some replicas of serve, which are killed and started again.
type fleet struct {
	spec, dir string
	specs     []string // one for each, if they do not have the same
	clocks    []clock  // one for each, if they can be stepped
	args      []string
	sights    []*sight // one for each

	mu     sync.Mutex
	serves []*service // guarded by mu
}

// sight is the connection of one replica to the source, which can be cut.
type sight struct {
	url   string
	blind atomic.Bool
}

func newSight(t *testing.T, origin string) *sight {
	t.Helper()
	target, err := url.Parse(origin)
	if err != nil {
		t.Fatal(err)
	}
	proxy, s := httputil.NewSingleHostReverseProxy(target), &sight{}
	proxy.ErrorLog = log.New(io.Discard, "", 0) // the source fails on purpose
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.blind.Load() {
			panic(http.ErrAbortHandler) // the connection ends without an answer
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (f *fleet) startAll(t *testing.T) {
	t.Helper()
	f.serves = make([]*service, len(f.sights))
	t.Cleanup(func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, s := range f.serves {
			if s != nil {
				_ = s.cmd.Process.Kill()
			}
		}
	})
	for i := range f.sights {
		if err := f.start(i); err != nil {
			t.Fatal(err)
		}
	}
}

func (f *fleet) start(i int) error {
	spec := f.spec
	if f.specs != nil {
		spec = f.specs[i]
	}
	build := program
	env := []string{"PREGON_STORE=" + spec}
	if f.clocks != nil {
		build = f.clocks[i].program
		env = append(env, f.clocks[i].env())
	}
	s, err := startServiceOf(build, env, f.dir, slices.Concat(f.args, sourceArgs(f.sights[i].url))...)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.serves[i] = s
	return nil
}

// at returns a replica, which may just have died.
func (f *fleet) at(i int) *service {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.serves[i]
}

// any returns the address of a random replica, which may just have died.
func (f *fleet) any() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.serves[rand.IntN(len(f.serves))].url
}

const comeBack = 50 * time.Millisecond // of clients, after something broke

// poll follows the change list until the context ends.
func (f *fleet) poll(ctx context.Context, key string, after int64, w *witness) {
	for ctx.Err() == nil {
		var list struct {
			Data      []pushed
			NextAfter int64 `json:"next_after"`
		}
		path := fmt.Sprintf("/api/v1/changes?after=%d&limit=100&wait=2", after)
		asking, end := context.WithTimeout(ctx, 10*time.Second) // of a process that hangs
		status, err := call(asking, f.any(), key, http.MethodGet, path, nil, &list)
		end()
		switch {
		case err != nil || status == http.StatusServiceUnavailable: // it is dead, just starts, or another replica was quicker
			waittest.Pace(ctx, comeBack)
			continue
		case status != http.StatusOK:
			w.protest(fmt.Errorf("changes after %d are answered with %d", after, status))
			return
		}
		w.saw(list.Data...)
		after = list.NextAfter
	}
}

// follow listens until the context ends, and comes back with the last id.
func (f *fleet) follow(ctx context.Context, key string, after int64, w *witness) {
	last := strconv.FormatInt(after, 10)
	for ; ctx.Err() == nil; waittest.Pace(ctx, comeBack) {
		l, err := listen(ctx, http.DefaultClient, f.any(), key, last)
		if err != nil {
			continue // it is dead, or just starts
		}
		last = l.record(last, w)
		l.Body.Close()
	}
}

// record reads a stream to its end and returns its last id.
func (l *listener) record(last string, w *witness) string {
	for {
		f, err := l.next()
		if err != nil {
			return last
		}
		if f.name == "hello" && !strings.Contains(f.data, `"requested":null`) {
			w.protest(fmt.Errorf("the cursor %s is not taken: %s", last, f.data))
			return last
		}
		e, ok, err := f.event()
		if err != nil {
			w.protest(err)
		}
		if ok {
			w.saw(e)
		}
		if f.id != "" {
			last = f.id
		}
	}
}
