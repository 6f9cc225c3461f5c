package ratelimit_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gomodule/redigo/redis"

	"pregon/internal/fault"
	"pregon/internal/server/ratelimit"
	"pregon/internal/server/ratelimit/redistest"
	"pregon/internal/test/waittest"
)

var perHour = ratelimit.Policy{Name: "test", Limit: 60, Window: time.Hour}

// open opens Redis with timeouts that a slow machine does not reach.
func open(t *testing.T, url string, pause time.Duration) (*ratelimit.Redis, *bytes.Buffer) {
	t.Helper()
	return openWithin(t, url, time.Minute, pause)
}

func openWithin(t *testing.T, url string, timeout, pause time.Duration) (*ratelimit.Redis, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	r, err := ratelimit.Open(url, slog.New(slog.NewTextHandler(&log, nil)), timeout, pause)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r, &log
}

// inspector asks a server on a connection of its own.
type inspector struct {
	t    *testing.T
	conn redis.Conn
}

func connect(t *testing.T, url string) inspector {
	t.Helper()
	socket, database, _ := strings.Cut(strings.TrimPrefix(url, "unix://"), "?db=")
	number, _ := strconv.Atoi(database)
	conn, err := redis.Dial("unix", socket, redis.DialDatabase(number))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return inspector{t, conn}
}

// do sends a command and returns the reply.
func (i inspector) do(command string, args ...any) any {
	i.t.Helper()
	reply, err := i.conn.Do(command, args...)
	if err != nil {
		i.t.Fatal(err)
	}
	return reply
}

// number sends a command and returns the number that is the reply.
func (i inspector) number(command string, args ...any) int64 {
	i.t.Helper()
	n, err := redis.Int64(i.do(command, args...), nil)
	if err != nil {
		i.t.Fatal(err)
	}
	return n
}

func keyOf(s ratelimit.Subject) string { return fmt.Sprintf("pregon:limit:test:%x", s) }

// take makes so many requests of a subject and returns how many were allowed.
func take(t *testing.T, l ratelimit.Limiter, s ratelimit.Subject, times int) (in int) {
	for range times {
		if l.Take(t.Context(), s).OK {
			in++
		}
	}
	return in
}

func TestSharedIsExact(t *testing.T) {
	server := redistest.Start(t)
	a, _ := open(t, server.URL(), time.Hour)
	b, _ := open(t, server.URL(), time.Hour)
	if got := takeAtOnce(t, 100, a.Shared(perHour), b.Shared(perHour)); got != 60 {
		t.Errorf("%d of 200 were allowed, want 60", got)
	}
	if !a.Up() || !b.Up() {
		t.Error("Redis is up")
	}
	client := connect(t, server.URL())
	if n := client.number("LLEN", keyOf(number(1))); n != 60 {
		t.Errorf("Redis remembers %d requests, want 60", n)
	}
	if ttl := time.Duration(client.number("PTTL", keyOf(number(1)))) * time.Millisecond; ttl <= 0 || ttl > time.Hour+time.Millisecond {
		t.Errorf("Redis remembers them for %v", ttl)
	}
}

func TestSharedDecisions(t *testing.T) {
	server := redistest.Start(t)
	a, _ := open(t, server.URL(), time.Hour)
	b, _ := open(t, server.URL()+"?db=0", time.Hour)
	one, two := a.Shared(perHour), b.Shared(perHour)
	expect := func(got ratelimit.Decision, ok bool, remaining int) {
		t.Helper()
		if got.OK != ok || got.Remaining != remaining {
			t.Errorf("%+v, want %v and %d left", got, ok, remaining)
		}
		if counted := remaining < 60; counted != (got.Reset > 0) || got.Reset > time.Hour {
			t.Errorf("%+v resets in %v", got, got.Reset)
		}
	}
	for range 3 {
		expect(one.Peek(t.Context(), number(1)), true, 60)
	}
	expect(one.Take(t.Context(), number(1)), true, 59)
	expect(two.Take(t.Context(), number(1)), true, 58)
	expect(two.Peek(t.Context(), number(1)), true, 58)
	expect(one.Peek(t.Context(), number(1)), true, 58)
	take(t, two, number(1), 58)
	expect(one.Take(t.Context(), number(1)), false, 0)
	expect(one.Peek(t.Context(), number(1)), false, 0)
	expect(two.Take(t.Context(), number(1)), false, 0)
	expect(two.Peek(t.Context(), number(1)), false, 0)
	if one.Len() != 1 || two.Len() != 1 {
		t.Errorf("the processes remember %d and %d subjects, want 1", one.Len(), two.Len())
	}
}

func TestLocalLimitSkipsRedis(t *testing.T) {
	server := redistest.Start(t)
	r, log := open(t, server.URL(), time.Hour)
	l := r.Shared(perHour)
	take(t, l, number(1), 60)
	server.Kill()
	if l.Take(t.Context(), number(1)).OK || l.Peek(t.Context(), number(1)).OK {
		t.Error("the limit does not hold")
	}
	if !r.Up() {
		t.Errorf("Redis was asked for nothing: %s", log)
	}
}

func TestRedisIsKilledAndComesBack(t *testing.T) {
	server := redistest.Start(t)
	a, logA := open(t, server.URL(), 10*time.Millisecond)
	b, logB := open(t, server.URL(), 10*time.Millisecond)
	one, two := a.Shared(perHour), b.Shared(perHour)
	if in := take(t, one, number(1), 20) + take(t, two, number(1), 10); in != 30 {
		t.Fatalf("%d were allowed, want 30", in)
	}

	server.Kill()
	if in := take(t, one, number(1), 100); in != 40 {
		t.Errorf("%d more were allowed, want 40, for 20 were before", in)
	}
	if in := takeAtOnce(t, 200, two); in != 50 {
		t.Errorf("%d more were allowed, want 50, for 10 were before", in)
	}
	if a.Up() || b.Up() {
		t.Error("Redis is not up")
	}

	server.Restart()
	awaitUp(t, a, one)
	awaitUp(t, b, two)
	if in := take(t, one, number(1), 10) + take(t, two, number(1), 10); in != 0 {
		t.Errorf("%d more were allowed after Redis lost its data, want 0", in)
	}
	if in := take(t, one, number(2), 40) + take(t, two, number(2), 40); in != 60 {
		t.Errorf("%d were allowed by two processes, want 60", in)
	}
	for _, log := range []*bytes.Buffer{logA, logB} {
		if strings.Count(log.String(), "level=WARN") != 1 || strings.Count(log.String(), "level=INFO") != 1 {
			t.Errorf("want one line for each change:\n%s", log)
		}
	}
}

// awaitUp polls a limit until Redis answers.
func awaitUp(t *testing.T, r *ratelimit.Redis, l ratelimit.Limiter) {
	t.Helper()
	waittest.For(t, "Redis is up again", func() bool {
		l.Peek(t.Context(), number(99))
		return r.Up()
	})
}

// TestRedisLosesData is a race: requests that found room in this process,
// all allowed by a Redis that has just been emptied.
func TestRedisLosesData(t *testing.T) {
	server := redistest.Start(t)
	r, _ := open(t, server.URL(), time.Hour)
	l := r.Shared(perHour)
	take(t, l, number(1), 55)
	connect(t, server.URL()).do("FLUSHALL")
	if in := takeAtOnce(t, 50, l); in != 5 {
		t.Errorf("%d more were allowed, want 5", in)
	}
}

func TestRedisHangs(t *testing.T) {
	const patience, requests = time.Second, 100
	server := redistest.Start(t)
	r, log := openWithin(t, server.URL(), patience, time.Hour)
	l := r.Shared(perHour)
	server.Pause()
	start := time.Now()
	for n := range requests {
		if !l.Take(t.Context(), number(n)).OK {
			t.Fatal("a request was refused")
		}
	}
	if took := time.Since(start); took >= requests*patience {
		t.Errorf("%d requests took %v: they wait again and again", requests, took)
	}
	if r.Up() || strings.Count(log.String(), "level=WARN") != 1 {
		t.Errorf("Redis is up, or it was not said once that it is not:\n%s", log)
	}
}

func TestSingleProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		r, err := ratelimit.OpenRedis("unix:///no/such/socket", slog.New(slog.NewTextHandler(&log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = r.Close() }()
		for n := range 3 {
			if r.Up() {
				t.Fatal("Redis is not up")
			}
			time.Sleep(time.Second - time.Nanosecond)
			if ratelimit.Ask(r) != nil {
				t.Error("Redis was used within a second of its failure")
			}
			time.Sleep(time.Nanosecond)
			probe := ratelimit.Ask(r)
			if probe == nil {
				t.Fatal("Redis was not used for more than a second")
			}
			time.Sleep(time.Hour)
			if ratelimit.Ask(r) != nil {
				t.Error("more than one finds out")
			}
			if n < 2 {
				ratelimit.Answered(r, probe, io.EOF)
				continue
			}
			ratelimit.Answered(r, probe, nil)
			if !r.Up() || ratelimit.Ask(r) != probe || ratelimit.Ask(r) != probe {
				t.Error("Redis is up and is not asked")
			}
		}
		// A failure of three requests at once, the last of which takes longer
		// than to find out that Redis is back.
		client := ratelimit.Ask(r)
		ratelimit.Answered(r, client, io.EOF)
		ratelimit.Answered(r, client, nil)
		if r.Up() {
			t.Error("an answer from before a failure made it forgotten")
		}
		time.Sleep(time.Second)
		ratelimit.Answered(r, ratelimit.Ask(r), nil)
		ratelimit.Answered(r, client, io.EOF)
		if !r.Up() {
			t.Error("a failure was counted twice")
		}
		if strings.Count(log.String(), "level=WARN") != 2 || strings.Count(log.String(), "level=INFO") != 2 {
			t.Errorf("want one line for each change:\n%s", &log)
		}
	})
}

func TestScriptIsFlushed(t *testing.T) {
	server := redistest.Start(t)
	r, log := open(t, server.URL(), time.Hour)
	client := connect(t, server.URL())
	for n := range 3 {
		if got := r.Shared(perHour).Take(t.Context(), number(1)); !got.OK || got.Remaining != 59-n {
			t.Errorf("request %d: %+v", n+1, got)
		}
		client.do("SCRIPT", "FLUSH")
	}
	if !r.Up() {
		t.Errorf("Redis is up: %s", log)
	}
}

// TestEndedContext cancels requests before and during the query.
func TestEndedContext(t *testing.T) {
	server := redistest.Start(t)
	r, log := open(t, server.URL(), time.Hour)
	l := r.Shared(perHour)
	ctx, cancel := context.WithCancel(t.Context())
	server.Pause()
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() { l.Take(ctx, number(1)) })
	}
	cancel()
	all.Go(func() { l.Take(ctx, number(1)) })
	server.Resume()
	all.Wait()
	if !r.Up() {
		t.Errorf("Redis is up: %s", log)
	}
	if n := connect(t, server.URL()).number("LLEN", keyOf(number(1))); n != 6 {
		t.Errorf("Redis counted %d requests, want 6", n)
	}
}

// TestScriptAgainstModel brackets the times that Redis saw by local times.
func TestScriptAgainstModel(t *testing.T) {
	type span struct{ from, to time.Time }
	const slack = 5 * time.Millisecond // clocks are adjusted
	server := redistest.Start(t)
	r, log := open(t, server.URL(), time.Hour)
	for seed := range uint64(4) {
		random := rand.New(rand.NewPCG(seed, 0))
		policy := ratelimit.Policy{Name: "test", Limit: 1 + random.IntN(10), Window: 100 * time.Millisecond}
		who := number(int(seed))
		var in []span
		refused := 0
		for start := time.Now(); time.Since(start) < time.Second; {
			waittest.Pace(t.Context(), time.Duration(random.Int64N(int64(policy.Window)/int64(policy.Limit))))
			// Shared anew, for only Redis to count.
			now := span{from: time.Now()}
			v := r.Shared(policy).Take(t.Context(), who)
			now.to = time.Now()
			if v.Remaining < 0 || v.Remaining >= policy.Limit || v.Reset <= 0 || v.Reset > policy.Window {
				t.Fatalf("seed %d, limit %d: %+v", seed, policy.Limit, v)
			}
			first := len(in) - policy.Limit
			switch {
			case !v.OK && (first < 0 || now.from.Sub(in[first].to) > policy.Window+slack):
				t.Fatalf("seed %d, limit %d: refused without a reason", seed, policy.Limit)
			case v.OK && first >= 0 && now.to.Sub(in[first].from) < policy.Window-slack:
				t.Fatalf("seed %d, limit %d: one more than the limit was allowed", seed, policy.Limit)
			case v.OK:
				in = append(in, now)
			default:
				refused++
			}
		}
		t.Logf("seed %d, limit %d: %d allowed, %d refused", seed, policy.Limit, len(in), refused)
	}
	if !r.Up() {
		t.Errorf("Redis is up: %s", log)
	}
}

// TestScriptOnLogs runs the script on logs that it does not write itself.
func TestScriptOnLogs(t *testing.T) {
	server := redistest.Start(t)
	r, _ := open(t, server.URL(), time.Hour)
	client := connect(t, server.URL())
	clock, err := redis.Int64s(client.do("TIME"), nil)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(clock[0], clock[1]*1000)
	for n, c := range []struct {
		name      string
		limit     int
		minutes   []int // of the logged requests, from now
		ok        bool
		remaining int
		reset     int // minutes
	}{
		{"old ones are gone", 3, []int{-90, -70, -61, -50}, true, 1, 10},
		{"all are gone", 3, []int{-90, -70, -61}, true, 2, 60},
		{"the limit was lowered", 2, []int{-50, -40, -30, -20}, false, 0, 30},
		{"the clock was set back", 3, []int{-50, 500, 600}, false, 0, 10},
		{"the clock was set back a lot", 3, []int{400, 500, 600}, false, 0, 60},
	} {
		for _, minutes := range c.minutes {
			at := now.Add(time.Duration(minutes) * time.Minute).UnixMicro()
			client.do("RPUSH", keyOf(number(n)), at)
		}
		policy := ratelimit.Policy{Name: "test", Limit: c.limit, Window: time.Hour}
		got := r.Shared(policy).Take(t.Context(), number(n))
		// The test takes its time, less than ten minutes.
		late := time.Duration(c.reset)*time.Minute - got.Reset
		if got.OK != c.ok || got.Remaining != c.remaining || late < 0 || late > 9*time.Minute {
			t.Errorf("%s: %+v, want %v, %d left and %d minutes", c.name, got, c.ok, c.remaining, c.reset)
		}
	}
}

func TestURLs(t *testing.T) {
	discard := slog.New(slog.DiscardHandler)
	for _, url := range []string{
		"",
		"hunter2",
		"http://:hunter2@localhost",
		"redis://:hunter2@localhost:port",
		"redis://:hun/ter2@localhost:6379/0",
		"redis://user:1/hunter2@localhost:6379",
		"redis://user:1?hunter2@localhost:6379",
		"redis://user:hunter2%zz@localhost:6379",
		"redis://:hunter2@localhost/zero",
		"redis://:hunter2@localhost/0?unknown=1",
		"unix://:hunter2@",
		"redis://user:pass@hun#ter2@localhost:6379/0",
		"redis://user:hunter2@localhost:6379/0#",
		"redis://user:1/0?client_name=hunter2@localhost:6379",
		"unix://user:1/hunter2@/no/such/socket",
		"unix://hunter2/socket",
	} {
		r, err := ratelimit.OpenRedis(url, discard)
		if err == nil {
			_ = r.Close()
			t.Errorf("%q is taken for an URL", url)
			continue
		}
		if fault.KindOf(err) != fault.Invalid || strings.Contains(err.Error(), "ter2") {
			t.Errorf("%q: %v: %v", url, fault.KindOf(err), err)
		}
	}
	for _, url := range []string{
		"redis://127.0.0.1:1/2", "rediss://user:password@127.0.0.1:1", "unix:///no/such/socket?db=1", "redis://[::1]:1",
		"unix://user:password@/no/such@/socket", "redis://user:p%23@ss@127.0.0.1:1",
	} {
		r, err := ratelimit.OpenRedis(url, discard)
		if err != nil {
			t.Errorf("%q: %v", url, err)
			continue
		}
		if r.Up() {
			t.Errorf("%q: there is no Redis", url)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestDatabase(t *testing.T) {
	server := redistest.Start(t)
	r, _ := open(t, server.URL()+"?db=3", time.Hour)
	r.Shared(perHour).Take(t.Context(), number(1))
	for db, want := range map[string]int64{"?db=3": 1, "": 0} {
		if n := connect(t, server.URL()+db).number("EXISTS", keyOf(number(1))); n != want {
			t.Errorf("%q has %d logs, want %d", db, n, want)
		}
	}
}

func TestClosed(t *testing.T) {
	server := redistest.Start(t)
	r, log := open(t, server.URL(), time.Hour)
	l := r.Shared(perHour)
	take(t, l, number(1), 20)
	client := ratelimit.Ask(r)
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	ratelimit.Answered(r, client, net.ErrClosed)
	if in := take(t, l, number(1), 60); in != 40 {
		t.Errorf("%d were allowed, want 40", in)
	}
	if log.Len() > 0 {
		t.Errorf("closing is no failure: %s", log)
	}
}

// TestFailures makes many requests fail at once. It checks for leaks and races with
// goleak and the race detector.
func TestFailures(t *testing.T) {
	server := redistest.Start(t)
	r, _ := open(t, server.URL(), time.Millisecond)
	for range 5 {
		l := r.Shared(perHour)
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() { take(t, l, number(1), 20) })
		}
		server.Kill()
		all.Wait()
		server.Restart()
		awaitUp(t, r, l)
	}
}
