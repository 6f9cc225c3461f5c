package follow_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/store"
	"pregon/internal/store/follow"
)

// fakeStore has records of one kind and counts how often it is read.
type fakeStore struct {
	mu      sync.Mutex
	records []store.Record
	err     error
	reads   int
}

func (f *fakeStore) RecordsSince(_ context.Context, kind string, revision int64) ([]store.Record, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reads++
	if f.err != nil {
		return nil, f.err
	}
	var found []store.Record
	for _, r := range f.records {
		if r.Kind == kind && r.Revision > revision {
			found = append(found, r)
		}
	}
	return found, nil
}

func (f *fakeStore) set(err error, records ...store.Record) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err, f.records = err, records
}

func (f *fakeStore) readCount() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.reads
}

func record(id, body string, revision int64) store.Record {
	return store.Record{Kind: "key", ID: id, Body: body, Revision: revision}
}

// copied is a copy of the records.
type copied struct {
	mu      sync.Mutex
	bodies  map[string]string
	applied int
}

func (c *copied) apply(_ context.Context, u follow.Update) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.applied++; u.Reload || c.bodies == nil {
		c.bodies = map[string]string{}
	}
	for _, r := range u.Records {
		c.bodies[r.ID] = r.Body
	}
}

func (c *copied) get(id string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bodies[id]
}

func run(t *testing.T, f *follow.Follower) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Run returned %v, want context.Canceled", err)
		}
	})
	synctest.Wait()
}

func TestRunAppliesNewRecordsWithinASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c copied
		db := &fakeStore{}
		db.set(nil, record("a", "1", 1))
		f := follow.New(follow.Options{Kind: "key", Noun: "keys", Store: db, Apply: c.apply})
		run(t, f)
		if got := c.get("a"); got != "1" {
			t.Errorf("at the start a = %q, want 1", got)
		}
		db.set(nil, record("a", "1", 1), record("b", "2", 2))
		time.Sleep(time.Second)
		synctest.Wait()
		if got := c.get("b"); got != "2" {
			t.Errorf("after a second b = %q, want 2", got)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if c.applied != 2 {
			t.Errorf("Apply was called %d times, want 2", c.applied)
		}
	})
}

func TestFailureKeepsTheCopyAndIsLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var (
			c   copied
			log bytes.Buffer
			db  = &fakeStore{}
		)
		db.set(nil, record("a", "1", 1))
		f := follow.New(follow.Options{
			Kind: "key", Noun: "keys", Store: db, Apply: c.apply, Logger: slog.New(slog.NewTextHandler(&log, nil)),
		})
		run(t, f)
		db.set(errors.New("down"))
		time.Sleep(30 * time.Second)
		synctest.Wait()
		if got, lines := c.get("a"), strings.Count(log.String(), "\n"); got != "1" || lines != 1 {
			t.Errorf("during an outage a = %q and %d log lines, want 1 and 1:\n%s", got, lines, &log)
		}
		if got, want := f.Behind(), 30*time.Second; got != want {
			t.Errorf("Behind() = %v, want %v", got, want)
		}
		db.set(nil, record("a", "2", 2))
		time.Sleep(time.Second)
		synctest.Wait()
		if got, lines := c.get("a"), strings.Count(log.String(), "\n"); got != "2" || lines != 2 || f.Behind() != 0 {
			t.Errorf("after an outage a = %q, %d log lines, behind %v, want 2, 2 and 0:\n%s", got, lines, f.Behind(), &log)
		}
	})
}

func TestNewEpochReadsAllRecordsAgain(t *testing.T) {
	var c copied
	db, epoch := &fakeStore{}, "a"
	db.set(nil, record("x", "new", 5), record("y", "new", 6))
	f := follow.New(follow.Options{Kind: "key", Noun: "keys", Store: db, Apply: c.apply, Epoch: func() string { return epoch }})
	poll := func(x, y string) {
		t.Helper()
		if err := f.Poll(t.Context()); err != nil {
			t.Fatal(err)
		}
		if gotX, gotY := c.get("x"), c.get("y"); gotX != x || gotY != y {
			t.Errorf("x = %q, y = %q, want %q and %q", gotX, gotY, x, y)
		}
	}
	poll("new", "new")
	db.set(nil, record("x", "old", 2)) // a backup that is older than y
	poll("new", "new")
	epoch = "b"
	db.err = errors.New("down")
	if err := f.Poll(t.Context()); err == nil || !strings.Contains(err.Error(), "reading keys: down") {
		t.Errorf("Poll() = %v, want reading keys: down", err)
	}
	db.err = nil
	poll("old", "")
	db.set(nil, record("x", "old", 2), record("y", "newer", 3))
	poll("old", "newer")
	db.set(nil)
	epoch = "c"
	poll("", "")
}

func TestWakeIsSharedAndLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c copied
		db := &fakeStore{}
		f := follow.New(follow.Options{Kind: "key", Noun: "keys", Store: db, Apply: c.apply})
		if err := f.Poll(t.Context()); err != nil {
			t.Fatal(err)
		}
		db.set(nil, record("a", "1", 1))
		var callers sync.WaitGroup
		for range 10 {
			callers.Go(func() {
				if err := f.Wake(t.Context()); err != nil || c.get("a") != "1" {
					t.Errorf("Wake() = %v, a = %q, want nil and 1", err, c.get("a"))
				}
			})
		}
		callers.Wait()
		if got := db.readCount(); got != 2 {
			t.Errorf("ten concurrent calls made %d reads, want 1", got-1)
		}
		start := time.Now()
		for time.Since(start) < time.Second {
			_ = f.Wake(t.Context())
		}
		if got := db.readCount() - 2; got != 10 {
			t.Errorf("calls during a second made %d reads, want 10", got)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if err := f.Wake(gone); !errors.Is(err, context.Canceled) {
			t.Errorf("Wake() with a cancelled context = %v, want context.Canceled", err)
		}
	})
}

func TestExclusiveWaitsForAPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var order []string
		f := follow.New(follow.Options{Kind: "key", Noun: "keys", Store: slowStore{release}, Apply: func(context.Context, follow.Update) {
			order = append(order, "poll")
		}})
		done := make(chan error)
		go func() { done <- f.Poll(t.Context()) }()
		synctest.Wait()
		go func() { done <- f.Exclusive(t.Context(), func() error { order = append(order, "write"); return nil }) }()
		close(release)
		for range 2 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if got := strings.Join(order, " "); got != "poll write" {
			t.Errorf("order is %q, want poll write", got)
		}
	})
}

// slowStore answers when it is released.
type slowStore struct{ release chan struct{} }

func (s slowStore) RecordsSince(context.Context, string, int64) ([]store.Record, error) {
	<-s.release
	return []store.Record{record("a", "1", 1)}, nil
}
