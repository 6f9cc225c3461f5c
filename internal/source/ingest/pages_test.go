package ingest

import (
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/source/health"
	"pregon/internal/source/regulator"
	"pregon/internal/source/throttle"
	"pregon/internal/store/sqlite"
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
		walked := newFeed(&series{name: disclosure.IP}, l)
		walked.walking.Store(true)
		if got, want := walked.interval(), 3*time.Second; got != want {
			t.Errorf("a feed whose list is read in its place is polled every %v, want %v", got, want)
		}
		time.Sleep(time.Minute)
	})
}

// TestPollIntervalDuringBackfill: while back-fill has half of the requests, the feeds
// other than that of inside information are polled every two seconds. A report that
// is appended ends that, unless it is history.
func TestPollIntervalDuringBackfill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queue := throttle.New(time.Minute)
		source, err := regulator.New(regulator.Options{Origin: "https://regulator.example", UserAgent: "test", Queue: queue})
		if err != nil {
			t.Fatal(err)
		}
		db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "pregon.db"), sqlite.Options{Create: true})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		i := &Ingest{
			Options: Options{Store: db, Regulator: source, Poll: time.Second},
			monitor: health.NewMonitor(time.Minute),
		}
		w := &writer{term: &term{Ingest: i}}
		w.claimed.Store(true)
		check := func(when string, want time.Duration) {
			t.Helper()
			if err := queue.Wait(t.Context(), throttle.Backfill); err != nil {
				t.Fatal(err)
			}
			for name, want := range map[disclosure.Type]time.Duration{disclosure.IP: time.Second, disclosure.OIR: want} {
				if got := newFeed(&series{name: name}, &lists{w}).interval(); got != want {
					t.Errorf("%s the feed of %s is polled every %v, want %v", when, name, got, want)
				}
			}
		}
		number := int64(0)
		add := func(event disclosure.Event) {
			t.Helper()
			number++
			r := disclosure.Report{
				ID:          disclosure.ReportID(disclosure.OIR, number),
				Type:        disclosure.OIR,
				Number:      number,
				CompanyName: "ACERINOX, S.A.",
				Title:       "A title",
				Category:    "A category",
				PublishedAt: time.Now(),
				FirstSeenAt: time.Now(),
			}
			if _, err := w.append(t.Context(), event, []disclosure.Report{r}); err != nil {
				t.Fatal(err)
			}
		}
		check("at the start", time.Second)
		time.Sleep(time.Minute)
		check("after a calm minute", 2*time.Second)
		add(disclosure.Backfilled)
		check("after a report of history", 2*time.Second)
		time.Sleep(time.Minute) // so that the next request is granted at once
		add(disclosure.Published)
		check("after a new report", time.Second)
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
