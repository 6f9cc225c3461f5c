package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/source/coverage"
	"pregon/internal/source/regulator"
	"pregon/internal/store"
	"pregon/internal/test/longtest"
)

// dated holds the series that have lists by date.
var dated = []disclosure.Type{disclosure.IP, disclosure.OIR}

func days(t *testing.T, from, to string) (disclosure.Day, disclosure.Day) {
	t.Helper()
	a, ok := disclosure.ParseDay(from)
	b, okay := disclosure.ParseDay(to)
	if !ok || !okay {
		t.Fatal("bad days")
	}
	return a, b
}

// holds compares a range of the store with the published reports.
func (w *world) holds(from, to disclosure.Day, types ...disclosure.Type) error {
	have := map[string]disclosure.Report{}
	if _, err := w.store.Current(w.Context(), func(c disclosure.Change) error {
		if c.Report != nil {
			have[c.Report.ID] = *c.Report
		}
		return nil
	}); err != nil {
		return err
	}
	n := 0
	for _, want := range w.truth(from, to, types...) {
		if want.Type == disclosure.HR && want.NIF == "" {
			continue // HR without a NIF cannot be found by NIF
		}
		n++
		r, ok := have[want.ID]
		if !ok {
			return fmt.Errorf("%s of %v is missing", want.ID, want.PublishedAt)
		}
		if err := want.differs(&r); err != nil {
			return err
		}
	}
	if n < 50 {
		return fmt.Errorf("got only %d reports to load", n)
	}
	return nil
}

// TestBackfillNumbers: by its number every HR is found, also of entities without
// a tax number. After a crash the job continues.
func TestBackfillNumbers(t *testing.T) {
	t.Parallel()
	w := newEmptyWorld(t)
	from, to := days(t, "2025-06-30", "2025-07-11")
	var first, last int64
	silent := 0
	truth := w.truth(from, to, disclosure.HR)
	for _, f := range truth {
		_, n, _ := disclosure.ParseReportID(f.ID)
		first, last = min(cmp.Or(first, n), n), max(last, n)
		if f.NIF == "" {
			silent++
		}
	}
	asks := coverage.NewNumbersJob(disclosure.HR, first, last, from, to)
	i := w.newIngest("first")
	ctx, cancel := context.WithCancel(t.Context())
	stops := &stopsAfter{Store: w.store, appends: 15, stop: cancel}
	i.Store = stops
	if _, err := i.Backfill(ctx, asks, func(coverage.Job, bool) {}); !errors.Is(err, context.Canceled) {
		t.Fatalf("it was to be stopped, and ended with %v", err)
	}
	if done, _ := w.coverage.Job(asks.ID); done.Steps == 0 || done.Done {
		t.Fatalf("it was to be stopped midway: %+v", done)
	}
	i = w.newIngest("second")
	site := w.odd(i)
	job, err := i.Backfill(t.Context(), asks, func(coverage.Job, bool) {})
	if err != nil || !job.Done || job.Steps != job.Total || job.Total != int(last-first)/stretch+1 || len(job.Unread) > 0 {
		t.Fatalf("%+v, %v", job, err)
	}
	if asked := site.count("division=2&nreg="); asked > int(last-first)+1-10 {
		t.Errorf("got %d page requests for %d numbers, 15 of which were known", asked, last-first+1)
	}
	found := 0
	for _, f := range truth {
		r := w.report(f.ID)
		if r == nil {
			t.Errorf("%s is missing", f.ID)
		} else if err := f.differs(r); err != nil {
			t.Error(err)
		}
		found++
	}
	if found < 40 || silent == 0 {
		t.Errorf("%d reports, %d of them without a tax number: too few to show anything", found, silent)
	}
	w.once()
}

// TestNumbersOfAnotherForm: when pages have an unknown form, the job stops
// with the reason. It does not skip thousands of reports.
func TestNumbersOfAnotherForm(t *testing.T) {
	t.Parallel()
	w := newEmptyWorld(t)
	s := w.session()
	site := w.odd(s.Ingest)
	odd := func(string, []byte) []byte { return []byte("<html><body>otra cosa</body></html>") }
	site.be(odd)
	job := coverage.NewNumbersJob(disclosure.HR, 289_000, 289_009, 1, 2)
	steps := stretches(&job)
	err := s.backfill.doStep(t.Context(), &steps[0])
	if _, markup := errors.AsType[*regulator.MarkupError](err); err == nil || markup || !strings.Contains(regulator.Reason(err), "unknown format") {
		t.Errorf("back-fill ended with %v", err)
	}
	if n := site.count("nreg="); n != mostOdd {
		t.Errorf("%d pages were asked for, want %d", n, mostOdd)
	}
	site.be(func(request string, page []byte) []byte {
		if strings.Contains(request, "nreg=289004&") {
			return odd(request, page)
		}
		return page
	})
	err = s.backfill.doStep(t.Context(), &steps[0])
	if _, markup := errors.AsType[*regulator.MarkupError](err); !markup || steps[0].outcome.New != 9 {
		t.Errorf("one odd page of ten: %+v, %v", steps[0].outcome, err)
	}
}

func TestBackfillAlone(t *testing.T) {
	t.Parallel()
	w := newEmptyWorld(t)
	from, to := days(t, "2025-08-10", "2025-08-24")
	i := w.newIngest("alone")
	shown := 0
	job, err := i.Backfill(t.Context(), coverage.NewJob(from, to, dated), func(coverage.Job, bool) { shown++ })
	if err != nil {
		t.Fatal(err)
	}
	if !job.Done || job.Steps != job.Total || job.Total == 0 || job.New == 0 || shown == 0 {
		t.Errorf("the job ended as %+v, shown %d times", job, shown)
	}
	if err := w.holds(from, to, dated...); err != nil {
		t.Error(err)
	}
	w.once()
	for day := from; day <= to; day++ {
		if w.coverage.Covered(disclosure.OIR, day).IsZero() {
			t.Errorf("%s was read and does not count as covered", day)
		}
	}
	if w.coverage.Value(aloneKey) != "" {
		t.Error("the memo of a lone back-fill is still set")
	}
}

// TestBackfillResumes: steps completed before a crash are not repeated.
func TestBackfillResumes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	from, to := days(t, "2024-08-01", "2024-09-08")
	first := w.newIngest("first")
	stops := &stopsAfter{Store: w.store, appends: 8}
	first.Store = stops
	ctx, cancel := context.WithCancel(t.Context())
	stops.stop = cancel
	job, err := first.Backfill(ctx, coverage.NewJob(from, to, dated), func(coverage.Job, bool) {})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("it was to be stopped, and ended with %v, %+v", err, job)
	}
	done, _ := w.coverage.Job(job.ID)
	if done.Steps == 0 || done.Done {
		t.Fatalf("it was to be stopped midway: %+v", done)
	}
	if job.Steps != done.Steps || job.Total != done.Total {
		t.Errorf("stored job: got %d of %d steps, returned job has %d of %d", done.Steps, done.Total, job.Steps, job.Total)
	}
	second := w.newIngest("second")
	counted := &stopsAfter{Store: w.store, appends: 1 << 30}
	second.Store = counted
	job, err = second.Backfill(t.Context(), coverage.NewJob(from, to, dated), func(coverage.Job, bool) {})
	if err != nil || !job.Done {
		t.Fatalf("%+v, %v", job, err)
	}
	if counted.reports+stops.reports > job.New+pageSize*30 {
		t.Errorf("%d and %d reports were read for %d", stops.reports, counted.reports, job.New)
	}
	if err := w.holds(from, to, dated...); err != nil {
		t.Error(err)
	}
	w.once()
}

// stopsAfter is a store that requests a stop after a number of appends.
type stopsAfter struct {
	store.Store
	appends, reports int
	stop             func()
}

func (s *stopsAfter) Append(ctx context.Context, b store.Batch) (store.Outcome, error) {
	out, err := s.Store.Append(ctx, b)
	s.reports += len(b.Reports)
	if s.appends--; s.appends == 0 {
		s.stop()
	}
	return out, err
}

// TestBackfillHandedOver: a process that reads the source runs the job. One that
// starts later takes the lease from a lone back-fill.
func TestBackfillHandedOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	from, to := days(t, "2025-08-01", "2025-08-12")
	ours := false
	job, err := w.newIngest("asks").Backfill(t.Context(), coverage.NewJob(from, to, dated), func(_ coverage.Job, mine bool) { ours = ours || mine })
	if err != nil || !job.Done || ours {
		t.Errorf("got job %+v, %v, run by the caller: %v", job, err, ours)
	}
	if err := w.holds(from, to, dated...); err != nil {
		t.Error(err)
	}
}

func TestBackfillStepsDown(t *testing.T) {
	longtest.Skip(t, "it takes many seconds")
	t.Parallel()
	w := newWorld(t)
	w.arm(`{"kind":"stall","surface":"list","by":"300ms","for":"1h"}`) // so that it takes a while
	from, to := days(t, "2025-08-01", "2025-09-07")
	alone := w.newIngest("alone")
	ended := make(chan error, 1)
	go func() {
		_, err := alone.Backfill(context.Background(), coverage.NewJob(from, to, dated), func(coverage.Job, bool) {})
		ended <- err
	}()
	w.eventually(func() error {
		if !alone.Holding() {
			return errors.New("it does not begin")
		}
		return nil
	})
	// The clock of a process that waits may be behind, or was set back.
	term := func() int64 {
		lease, _, err := w.store.CurrentLease(t.Context(), LeaseName)
		if err != nil {
			t.Fatal(err)
		}
		return lease.Term
	}
	first := term()
	w.eventually(func() error {
		// A process that waits says so again and again.
		if err := w.coverage.SetTime(t.Context(), nil, waitingKey, time.Now().Add(-time.Hour)); err != nil {
			return err
		}
		if term() == first {
			return errors.New("it does not release the lease for a process with another clock")
		}
		return nil
	})
	reads := w.newIngest("reads")
	w.run(reads.Run)
	w.eventually(func() error {
		if !reads.Holding() {
			return errors.New("a process that reads the feeds has to wait for a back-fill")
		}
		return nil
	})
	w.disarm()
	w.publish(`{"type":"oir"}`)
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patient):
		t.Fatal("the job is not gone on with")
	}
	if err := w.holds(from, to, dated...); err != nil {
		t.Error(err)
	}
	w.whole()
}

// TestRelationsOfHistory: the newest reports come first, with relations to reports
// that are not stored yet.
func TestRelationsOfHistory(t *testing.T) {
	t.Parallel()
	w := newEmptyWorld(t)
	from, to := days(t, "2025-05-05", "2025-05-18")
	if _, err := w.newIngest("alone").Backfill(t.Context(), coverage.NewJob(from, to, dated), func(coverage.Job, bool) {}); err != nil {
		t.Fatal(err)
	}
	tied := 0
	for _, f := range w.truth(from, to, dated...) {
		r := w.report(f.ID)
		if r == nil || len(f.Related) == 0 || w.report(f.Related[0].ID) == nil {
			continue
		}
		tied++
		if len(r.Related) == 0 || r.Related[0].ID != f.Related[0].ID {
			t.Errorf("%s: got relations %v, want %s", f.ID, r.Related, f.Related[0].ID)
		}
		other := w.report(f.Related[0].ID)
		if !slices.ContainsFunc(other.Related, func(back disclosure.Relation) bool { return back.ID == f.ID }) {
			t.Errorf("%s has no relation to %s", other.ID, f.ID)
		}
	}
	if tied < 3 {
		t.Errorf("got only %d related reports", tied)
	}
	changes, err := w.store.Changes(t.Context(), 0, 100_000)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		if c.Report != nil && c.Event != disclosure.Backfilled {
			t.Errorf("change %d of %s (%v) is %s, want report.backfilled", c.Seq, c.Report.ID, c.Changed, c.Event)
		}
	}
}
