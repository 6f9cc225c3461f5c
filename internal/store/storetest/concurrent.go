package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"pregon/internal/disclosure"
	"pregon/internal/store"
)

var errInjected = errors.New("the commit failed, says the test")

const (
	handles          = 3
	writersPerHandle = 2
	batchesPerWriter = 20
)

// testConcurrentWriters has many writers write the same records through several
// open stores, with failing commits and canceled calls, during reads. In the end
// no record is lost, the log is valid, and every reader that followed it saw all
// of it.
func testConcurrentWriters(t *testing.T, e Engine) {
	open := e.fresh(t)
	ctx := patiently(t)
	last := newReport(999_999, "El último")
	var writers, readers errgroup.Group
	var followed [handles][]disclosure.Change
	var first store.Store
	for h := range handles {
		s := open()
		if h == 0 {
			first = s
			readers.Go(func() error { return watchCurrent(ctx, s, last.ID) })
		}
		readers.Go(func() (err error) {
			followed[h], err = follow(ctx, s, last.ID)
			return err
		})
		for i := range writersPerHandle {
			w := newWriter(e, s, h*writersPerHandle+i)
			writers.Go(func() error { return w.run(ctx) })
		}
	}
	if err := writers.Wait(); err != nil {
		t.Fatalf("a writer: %v", err)
	}
	if err := persist(ctx, first, published(last)); err != nil {
		t.Fatal(err)
	}
	if err := readers.Wait(); err != nil {
		t.Fatalf("a reader: %v", err)
	}
	log := CheckLog(t, first)
	checkNothingLost(t, log)
	for h := range followed {
		if diff := cmp.Diff(log, followed[h]); diff != "" {
			t.Errorf("reader %d saw another log (-log +seen):\n%s", h, diff)
		}
	}
}

// checkNothingLost verifies that each batch's own report is in the store.
func checkNothingLost(t *testing.T, log []disclosure.Change) {
	t.Helper()
	found := map[string]bool{}
	for _, c := range log {
		found[c.Subject()] = true
	}
	for w := range handles * writersPerHandle {
		for i := range batchesPerWriter {
			if id := ownReport(w, i).ID; !found[id] {
				t.Errorf("%s was appended and is not there", id)
			}
		}
	}
}

// writer appends batches that overlap those of all other writers.
type writer struct {
	engine Engine
	s      store.Store
	id     int
	rand   *rand.Rand
}

func newWriter(e Engine, s store.Store, id int) *writer {
	return &writer{
		engine: e,
		s:      s,
		id:     id,
		rand:   rand.New(rand.NewPCG(1, uint64(id))),
	}
}

func (w *writer) run(ctx context.Context) error {
	for i := range batchesPerWriter {
		if err := w.append(ctx, w.batch(i)); err != nil {
			return fmt.Errorf("writer %d, batch %d: %w", w.id, i, err)
		}
	}
	return nil
}

// batch returns a batch of a few shared records, in one of few states so that some
// are unchanged, and one report that no other batch has.
func (w *writer) batch(i int) store.Batch {
	b := store.Batch{New: disclosure.Published}
	for range w.rand.IntN(3) {
		is := company(fmt.Sprintf("A%d", w.rand.IntN(4)), "Uno")
		is.Ticker = fmt.Sprintf("T%d", w.rand.IntN(3))
		b.Issuers = append(b.Issuers, is)
	}
	for range w.rand.IntN(6) {
		r := newReport(1+w.rand.Int64N(12), fmt.Sprintf("Título %d", w.rand.IntN(3)))
		if w.rand.IntN(2) == 0 {
			r.Summary = fmt.Sprintf("Resumen %d", w.rand.IntN(2))
		}
		b.Reports = append(b.Reports, r)
	}
	b.Reports = append(b.Reports, ownReport(w.id, i))
	return b
}

func ownReport(writer, batch int) disclosure.Report {
	return newReport(int64(1000*(writer+1)+batch), "Propio")
}

// append tries until it succeeds. Many attempts are made to fail.
func (w *writer) append(ctx context.Context, b store.Batch) error {
	return w.retry(ctx, func(try context.Context) error {
		_, err := w.s.Append(try, b)
		return err
	})
}

// retry writes with injected failures until it succeeds, or fails for another
// reason.
func (w *writer) retry(ctx context.Context, write func(context.Context) error) error {
	for {
		try, cancel := w.mishap(ctx)
		err := write(try)
		gaveUp := try.Err() != nil
		cancel()
		if err == nil || ctx.Err() != nil {
			return err
		}
		// The failure may have been injected by another writer on the same store.
		if !gaveUp && !errors.Is(err, errInjected) {
			return err
		}
	}
}

// mishap injects a failure into the next attempt, or none.
func (w *writer) mishap(ctx context.Context) (context.Context, context.CancelFunc) {
	switch w.rand.IntN(6) {
	case 0:
		w.engine.FailCommit(w.s, false, errInjected)
	case 1:
		w.engine.FailCommit(w.s, true, errInjected)
	case 2:
		return context.WithTimeout(ctx, time.Duration(w.rand.IntN(3000))*time.Microsecond)
	}
	return context.WithCancel(ctx)
}

// persist appends in spite of injected failures that are still pending.
func persist(ctx context.Context, s store.Store, b store.Batch) error {
	for {
		if _, err := s.Append(ctx, b); !errors.Is(err, errInjected) {
			return err
		}
	}
}

func testFailureBeforeCommit(t *testing.T, e Engine) {
	testFailure(t, e, false)
}

func testFailureAfterCommit(t *testing.T, e Engine) {
	testFailure(t, e, true)
}

// testFailure makes a commit fail between two that succeed. It leaves all or
// nothing, and repeating it is safe.
func testFailure(t *testing.T, e Engine, after bool) {
	open := e.fresh(t)
	s := open()
	mustAppend(t, s, published(newReports(1, 3)...))
	b := store.Batch{
		Issuers: []disclosure.Issuer{company("A1", "Uno")},
		Reports: []disclosure.Report{newReport(3, "Otro título"), newReport(4, "Resultados")},
		New:     disclosure.Published,
	}
	e.FailCommit(s, after, errInjected)
	if _, err := s.Append(patiently(t), b); !errors.Is(err, errInjected) {
		t.Fatalf("Append returned %v", err)
	}
	left, again := 3, store.Outcome{
		Seq:        6,
		New:        2,
		Updated:    1,
		NewIssuers: 1,
	}
	if after {
		left, again = 6, store.Outcome{Seq: 6, Unchanged: 3}
	}
	checkLength(t, s, left)
	checkLength(t, open(), left)
	checkOutcome(t, mustAppend(t, s, b), again)
	checkLength(t, s, 6)
	checkOutcome(t, mustAppend(t, s, published(newReport(5, "Después"))), store.Outcome{Seq: 7, New: 1})
	checkLength(t, s, 7)
}

func testCancelledAppend(t *testing.T, e Engine) {
	s := e.fresh(t)()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Append(ctx, published(newReport(1, "Resultados"))); err == nil {
		t.Error("Append succeeded with a cancelled context")
	}
	checkLength(t, s, 0)
	mustAppend(t, s, published(newReport(1, "Resultados")))
	checkLength(t, s, 1)
}
