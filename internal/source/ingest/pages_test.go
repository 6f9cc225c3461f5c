package ingest

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/source/regulator"
	"pregon/internal/source/throttle"
)

// TestPollInterval: feeds are polled less often while pages or documents wait.
func TestPollInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queue := throttle.New(time.Minute)
		source, err := regulator.New(regulator.Options{Origin: "https://regulator.example", UserAgent: "test", Queue: queue})
		if err != nil {
			t.Fatal(err)
		}
		l := &lists{&writer{term: &term{Ingest: &Ingest{Options: Options{Regulator: source, Poll: time.Second}}}}}
		check := func(hr time.Duration) {
			t.Helper()
			for name, want := range map[disclosure.Type]time.Duration{disclosure.IP: time.Second, disclosure.OIR: hr, disclosure.HR: hr} {
				if got := newFeed(&series{name: name}, l).interval(); got != want {
					t.Errorf("the feed of %s is polled every %v, want %v", name, got, want)
				}
			}
		}
		check(time.Second)
		if err := queue.Wait(t.Context(), throttle.Feeds); err != nil { // the next is in a minute
			t.Fatal(err)
		}
		go func() { _ = queue.Wait(t.Context(), throttle.Registers) }() // in the background
		synctest.Wait()
		check(time.Second)
		for _, class := range []throttle.Priority{throttle.Permalinks, throttle.Documents} {
			go func() { _ = queue.Wait(t.Context(), class) }()
			synctest.Wait()
			check(1500 * time.Millisecond)
			time.Sleep(time.Minute) // it has its turn
			synctest.Wait()
			check(time.Second)
		}
		time.Sleep(time.Minute)
	})
}

// TestPagesForget: the state about old reports does not grow during a term.
func TestPagesForget(t *testing.T) {
	p := newPages(&writer{})
	for n := range int64(10_000) {
		p.markListed(disclosure.OIR, n, n)
	}
	if got, want := len(p.listed[disclosure.OIR]), crowd*pageSize; got != want {
		t.Errorf("numbers for which a list was read: got %d, want %d", got, want)
	}
	now := time.Now()
	for day := range 100 {
		p.noSeconds[fmt.Sprint("oir-", day)] = now.AddDate(0, 0, -day)
	}
	p.forgetBefore(now.AddDate(0, 0, -7))
	if got, want := len(p.noSeconds), 8; got != want {
		t.Errorf("reports without seconds: got %d, want %d", got, want)
	}
	if !p.lacksSeconds("oir-7") || p.lacksSeconds("oir-8") {
		t.Error("lacksSeconds: want the reports of the last week and no others")
	}
}
