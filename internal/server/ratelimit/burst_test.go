package ratelimit_test

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"pregon/internal/server/ratelimit"
	"pregon/internal/server/ratelimit/redistest"
	"pregon/internal/test/waittest"
)

// TestBurst sends a thousand requests to each of two processes at once, more than
// Redis can answer in time.
func TestBurst(t *testing.T) {
	server := redistest.Start(t)
	far := serve(t, func(command []byte) []byte {
		waittest.Pace(t.Context(), 50*time.Millisecond)
		conn, err := net.Dial("unix", strings.TrimPrefix(server.URL(), "unix://"))
		if err != nil {
			return nil
		}
		defer func() { _ = conn.Close() }()
		reply := make([]byte, 1<<10)
		if _, err := conn.Write(command); err != nil {
			return nil
		}
		n, _ := conn.Read(reply)
		return reply[:n]
	})
	a, logA := open(t, far, time.Hour)
	b, logB := open(t, far, time.Hour)
	if in := takeAtOnce(t, 1000, a.Shared(perHour), b.Shared(perHour)); in != 60 {
		t.Errorf("%d of 2000 were allowed, want 60", in)
	}
	if !a.Up() || !b.Up() {
		t.Errorf("Redis is up: %s%s", logA, logB)
	}
	if n := connect(t, server.URL()).number("LLEN", keyOf(number(1))); n != 60 {
		t.Errorf("Redis counted %d requests, want 60", n)
	}
}

// TestSlowRedis sends more requests than Redis can answer in time.
func TestSlowRedis(t *testing.T) {
	var now, most atomic.Int64
	url := serve(t, func([]byte) []byte {
		n := now.Add(1)
		defer now.Add(-1)
		for seen := most.Load(); n > seen && !most.CompareAndSwap(seen, n); seen = most.Load() {
		}
		waittest.Pace(t.Context(), 100*time.Millisecond)
		return []byte("*3\r\n:1\r\n:42\r\n:3600000000\r\n")
	})
	r, log := open(t, url, time.Hour)
	l := r.Shared(perHour)
	var all sync.WaitGroup
	var asked, alone atomic.Int64
	for n := range 1000 {
		all.Go(func() {
			switch v := l.Take(t.Context(), number(n)); {
			case !v.OK:
				t.Error("a request was refused")
			case v.Remaining == 42:
				asked.Add(1)
			default:
				alone.Add(1)
			}
		})
	}
	all.Wait()
	if !r.Up() {
		t.Errorf("Redis is up: %s", log)
	}
	if asked.Load() < 32 || alone.Load() == 0 || most.Load() > 32 {
		t.Errorf("Redis was asked by %d, %d at once, and not by %d", asked.Load(), most.Load(), alone.Load())
	}
}

// TestCountedByRedisIsAllowed sends requests at the edge of the window.
func TestCountedByRedisIsAllowed(t *testing.T) {
	server := redistest.Start(t)
	r, log := open(t, server.URL(), time.Hour)
	l := r.Shared(ratelimit.Policy{Name: "test", Limit: 3, Window: 5 * time.Millisecond})
	var in atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for start := time.Now(); time.Since(start) < time.Second; {
				in.Add(int64(take(t, l, number(1), 1)))
			}
		})
	}
	all.Wait()
	stats, err := redis.String(connect(t, server.URL()).do("INFO", "commandstats"), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, calls, _ := strings.Cut(stats, "cmdstat_rpush:calls=")
	calls, _, _ = strings.Cut(calls, ",")
	if want := in.Load(); want == 0 || calls != strconv.FormatInt(want, 10) {
		t.Errorf("Redis counted %s, and %d were allowed", calls, want)
	}
	if !r.Up() {
		t.Errorf("Redis is up: %s", log)
	}
}

// TestRefusedByRedis checks that a request refused by Redis is not counted locally.
func TestRefusedByRedis(t *testing.T) {
	server := redistest.Start(t)
	a, _ := open(t, server.URL(), time.Hour)
	b, _ := open(t, server.URL(), time.Hour)
	one, two := a.Shared(perHour), b.Shared(perHour)
	take(t, one, number(1), 60)
	if in := takeAtOnce(t, 200, two); in != 0 {
		t.Errorf("%d were allowed", in)
	}
	if two.Len() != 0 {
		t.Error("a request is remembered that was refused")
	}
	server.Kill()
	if in := take(t, two, number(1), 100); in != 60 {
		t.Errorf("%d were allowed without Redis, want 60", in)
	}
}

// TestIdleConnectionIsClosed checks that a connection closed by Redis is not a failure.
func TestIdleConnectionIsClosed(t *testing.T) {
	server := redistest.Start(t)
	r, log := open(t, server.URL(), time.Hour)
	l := r.Shared(perHour)
	take(t, l, number(1), 1)
	connect(t, server.URL()).do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
	if in := take(t, l, number(1), 1); in != 1 || !r.Up() {
		t.Errorf("Redis is up: %s", log)
	}
}

// TestRun checks Up without requests.
func TestRun(t *testing.T) {
	server := redistest.Start(t)
	r, log := open(t, server.URL(), 10*time.Millisecond)
	ctx, cancel := context.WithCancel(t.Context())
	var watch sync.WaitGroup
	watch.Go(func() { r.Run(ctx) })
	await := func(up bool) {
		t.Helper()
		waittest.For(t, fmt.Sprintf("Redis is known to be up: %v", up), func() bool { return r.Up() == up })
	}
	for range 3 {
		server.Kill()
		await(false)
		server.Restart()
		await(true)
	}
	cancel()
	watch.Wait()
	server.Kill()
	if !r.Up() {
		t.Error("Redis is asked after the end")
	}
	if strings.Count(log.String(), "level=WARN") != 3 || strings.Count(log.String(), "level=INFO") != 3 {
		t.Errorf("want one line for each change:\n%s", log)
	}
}
