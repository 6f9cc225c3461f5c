package history_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"pregon/internal/catalog/history"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/store"
	"pregon/internal/test/longtest"
)

var errLog = errors.New("the store does not answer")

// scripted is a log whose answers a test can change.
type scripted struct {
	store.Store
	fails map[string]error // by the name of the method
	marks func([]disclosure.Mark) []disclosure.Mark
}

func (l *scripted) Head(ctx context.Context) (disclosure.Head, error) {
	if err := l.fails["Head"]; err != nil {
		return disclosure.Head{}, err
	}
	return l.Store.Head(ctx)
}

func (l *scripted) Marks(ctx context.Context, after int64, limit int) ([]disclosure.Mark, error) {
	if err := l.fails["Marks"]; err != nil {
		return nil, err
	}
	marks, err := l.Store.Marks(ctx, after, limit)
	if l.marks != nil {
		marks = l.marks(marks)
	}
	return marks, err
}

func (l *scripted) ChangesOf(ctx context.Context, of disclosure.Subject, id string, upTo int64, limit int) ([]disclosure.Change, error) {
	if err := l.fails["ChangesOf"]; err != nil {
		return nil, err
	}
	return l.Store.ChangesOf(ctx, of, id, upTo, limit)
}

func (l *scripted) AsOf(ctx context.Context, of disclosure.Subject, upTo int64, ids ...string) ([]disclosure.Change, error) {
	if err := l.fails["AsOf "+string(of)]; err != nil {
		return nil, err
	}
	return l.Store.AsOf(ctx, of, upTo, ids...)
}

// newLog returns a log with n reports, one after the other.
func newLog(t *testing.T, n int) *scripted {
	t.Helper()
	db := open(t, "sqlite:"+filepath.Join(t.TempDir(), "pregon.db"))
	l := &scripted{Store: db, fails: map[string]error{}}
	grow(t, l, 1, n)
	return l
}

// grow appends n reports from a number on.
func grow(t *testing.T, l *scripted, first, n int) {
	t.Helper()
	b := store.Batch{}
	for i := range n {
		b.Reports = append(b.Reports, disclosure.Report{
			Type:        disclosure.OIR,
			Number:      int64(first + i),
			CompanyName: names[0],
			Title:       "junta",
			PublishedAt: time.Date(2026, 4, 1, 9, 0, 0, 0, time.UTC),
		})
	}
	mustAppend(t, l, b)
}

// at returns a function that gives changes times, in seconds by seq.
func at(second func(seq int64) int64) func([]disclosure.Mark) []disclosure.Mark {
	return func(marks []disclosure.Mark) []disclosure.Mark {
		for i := range marks {
			marks[i].At = second(marks[i].Seq) * 1e6
		}
		return marks
	}
}

// TestPointOfATime: a time means the seq before the first change that occurred after
// it, also where times do not rise with seq.
func TestPointOfATime(t *testing.T) {
	l := newLog(t, 2500)
	s := load(t, l).Snapshot()
	for _, test := range []struct {
		name  string
		times func(seq int64) int64
		want  map[int64]int64 // the seq of a time in seconds
	}{
		{
			"times that rise",
			func(seq int64) int64 { return seq },
			map[int64]int64{0: 0, 1: 1, 2: 2, 1023: 1023, 1024: 1024, 1025: 1025, 2048: 2048, 2049: 2049, 2499: 2499, 2500: 2500, 9999: 2500},
		},
		{
			"a change from a clock that is ahead",
			func(seq int64) int64 {
				if seq == 1500 {
					return 2000
				}
				return seq
			},
			map[int64]int64{1499: 1499, 1500: 1499, 1999: 1499, 2000: 2000, 2001: 2001},
		},
		{
			"a change from a clock that is behind",
			func(seq int64) int64 {
				if seq == 1024 {
					return 7
				}
				return seq
			},
			map[int64]int64{6: 6, 7: 7, 1022: 1022, 1023: 1024, 1024: 1024},
		},
	} {
		l.marks = at(test.times)
		archive := history.New(l)
		for second, want := range test.want {
			if got, err := archive.At(t.Context(), s, time.Unix(second, 0)); err != nil || got != want {
				t.Errorf("%s: second %d is point %d, %v; want %d", test.name, second, got, err, want)
			}
		}
	}
	l.marks = at(func(seq int64) int64 { return seq })
	archive := history.New(l)
	if got, err := archive.At(t.Context(), s, time.Unix(2, 999_999_000)); err != nil || got != 2 {
		t.Errorf("a moment before second 3 is point %d, %v; want 2", got, err)
	}
}

// TestPointOfAnOlderSnapshot: a request that began before the log grew is answered from
// its own snapshot.
func TestPointOfAnOlderSnapshot(t *testing.T) {
	l := newLog(t, 3)
	l.marks = at(func(seq int64) int64 { return seq })
	before := load(t, l).Snapshot()
	grow(t, l, 10, 3)
	after := load(t, l).Snapshot()
	archive := history.New(l)
	if got, err := archive.At(t.Context(), after, time.Unix(5, 0)); err != nil || got != 5 {
		t.Errorf("point %d, %v; want 5", got, err)
	}
	if got, err := archive.At(t.Context(), before, time.Unix(5, 0)); err != nil || got != 3 {
		t.Errorf("of the older snapshot: point %d, %v; want 3", got, err)
	}
	if state, err := archive.State(t.Context(), before, 2); err != nil || state.Seq() != 2 {
		t.Errorf("the state of the older snapshot: %v", err)
	}
}

// TestFewerChangesThanTheSnapshot: a log that has fewer changes than the snapshot, or
// not the next one, is another log: nothing of it is returned.
func TestFewerChangesThanTheSnapshot(t *testing.T) {
	for _, test := range []struct {
		name  string
		marks func([]disclosure.Mark) []disclosure.Mark
	}{
		{"no changes", func([]disclosure.Mark) []disclosure.Mark { return nil }},
		{"fewer changes", func(marks []disclosure.Mark) []disclosure.Mark {
			kept := marks[:0]
			for _, m := range marks {
				if m.Seq <= 3 {
					kept = append(kept, m)
				}
			}
			return kept
		}},
		{"a first change that is missing", func(marks []disclosure.Mark) []disclosure.Mark { return marks[1:] }},
	} {
		l := newLog(t, 5)
		s := load(t, l).Snapshot()
		l.marks = test.marks
		archive := history.New(l)
		for name, err := range map[string]error{
			"State":     second(archive.State(t.Context(), s, 1)),
			"At":        second(archive.At(t.Context(), s, time.Now())),
			"Directory": second(archive.Directory(t.Context(), s, 1)),
		} {
			if fault.KindOf(err) != fault.Unavailable {
				t.Errorf("%s, %s: %v; want that it is unavailable", test.name, name, err)
			}
		}
		l.marks = nil
		if _, err := archive.State(t.Context(), s, 1); err != nil {
			t.Errorf("%s, afterwards: %v", test.name, err)
		}
	}
	// The changes of a block are gone after it was read first.
	l := newLog(t, 5)
	s := load(t, l).Snapshot()
	l.marks = at(func(seq int64) int64 { return seq })
	archive := history.New(l)
	if _, err := archive.At(t.Context(), s, time.Unix(9, 0)); err != nil {
		t.Fatal(err)
	}
	l.marks = func(marks []disclosure.Mark) []disclosure.Mark { return at(func(int64) int64 { return 1 })(marks) }
	if got, err := archive.At(t.Context(), s, time.Unix(2, 0)); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a block without the change that it had: point %d, %v", got, err)
	}
}

// TestEpochIsRenewedMeanwhile: what was read of a log whose epoch was renewed meanwhile
// is not returned, nor kept.
func TestEpochIsRenewedMeanwhile(t *testing.T) {
	l := newLog(t, 5)
	s := load(t, l).Snapshot()
	archive := history.New(l)
	l.marks = func(marks []disclosure.Mark) []disclosure.Mark {
		l.marks = nil
		if _, err := l.RenewEpoch(t.Context(), s.Head().Epoch, disclosure.Mark{}); err != nil {
			t.Error(err)
		}
		return marks
	}
	if _, err := archive.State(t.Context(), s, 1); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("State: %v", err)
	}
	renewed := load(t, l).Snapshot()
	if got, err := archive.State(t.Context(), renewed, 1); err != nil || got.Head().Epoch != renewed.Head().Epoch {
		t.Errorf("of the new epoch: %v", err)
	}
	if _, err := archive.State(t.Context(), s, 2); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("of the old epoch: %v", err)
	}
	if _, _, err := archive.Report(t.Context(), s, "oir-1", 2); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a report of the old epoch: %v", err)
	}
}

// TestLogFails: what the store cannot answer is unavailable.
func TestLogFails(t *testing.T) {
	issuer := disclosure.Issuer{NIF: numbers[0], Name: names[0]}
	for _, test := range []struct {
		method string
		calls  []string // that need it
	}{
		{"Head", []string{"Changes", "Report", "State", "Directory", "At"}},
		{"Marks", []string{"Report", "State", "Directory", "At"}},
		{"ChangesOf", []string{"Changes", "Report"}},
		{"AsOf " + string(disclosure.OfReport), []string{"State"}},
		{"AsOf " + string(disclosure.OfIssuer), []string{"Report", "State", "Directory"}},
	} {
		for _, call := range test.calls {
			l := newLog(t, 2)
			mustAppend(t, l, store.Batch{Issuers: []disclosure.Issuer{issuer}})
			renamed := issuer
			renamed.Name = names[1]
			mustAppend(t, l, store.Batch{Issuers: []disclosure.Issuer{renamed}, Reports: []disclosure.Report{{
				Type:        disclosure.OIR,
				Number:      1,
				CompanyName: names[0],
				Title:       "otra",
				PublishedAt: time.Date(2026, 4, 1, 9, 0, 0, 0, time.UTC),
			}}})
			s := load(t, l).Snapshot()
			archive := history.New(l)
			do := func() error {
				switch call {
				case "Changes":
					return second(archive.Changes(t.Context(), s, disclosure.OfReport, "oir-1", 9, 9))
				case "Report":
					_, _, err := archive.Report(t.Context(), s, "oir-1", 3)
					return err
				case "State":
					return second(archive.State(t.Context(), s, 3))
				case "Directory":
					return second(archive.Directory(t.Context(), s, 3))
				default:
					return second(archive.At(t.Context(), s, time.Unix(0, 0)))
				}
			}
			l.fails[test.method] = errLog
			if err := do(); fault.KindOf(err) != fault.Unavailable || !errors.Is(err, errLog) {
				t.Errorf("%s while %s fails: %v; want that it is unavailable", call, test.method, err)
			}
			delete(l.fails, test.method)
			if err := do(); err != nil {
				t.Errorf("%s afterwards: %v", call, err)
			}
		}
	}
	// The point of a time reads marks once more, and the head after it.
	for _, method := range []string{"Head", "Marks"} {
		l := newLog(t, 2)
		s := load(t, l).Snapshot()
		archive := history.New(l)
		if _, err := archive.At(t.Context(), s, time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		l.fails[method] = errLog
		if _, err := archive.At(t.Context(), s, time.Unix(0, 0)); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("the point of a time while %s fails: %v", method, err)
		}
	}
}

// TestUnknownReport: a report that was not known at a point is nil, which is no error.
func TestUnknownReport(t *testing.T) {
	l := newLog(t, 3)
	s := load(t, l).Snapshot()
	archive := history.New(l)
	for id, want := range map[string]bool{"oir-1": true, "oir-2": true, "oir-3": false, "oir-9": false} {
		one, dir, err := archive.Report(t.Context(), s, id, 2)
		if err != nil || (one != nil) != want || (dir != nil) != want {
			t.Errorf("%s as of 2: %v, %v, %v; want that it is known: %v", id, one, dir, err, want)
		}
	}
}

// TestChangedIsCountedExactly: a list as of a point is answered with as many changed
// reports as the limit allows, and reports that are newer than the point do not count.
func TestChangedIsCountedExactly(t *testing.T) {
	longtest.Skip(t, "it takes many seconds")
	l := newLog(t, 0)
	reports := make([]disclosure.Report, history.MaxChanged+1)
	for n := range reports {
		reports[n] = disclosure.Report{
			Type:        disclosure.OIR,
			Number:      int64(n + 1),
			CompanyName: names[0],
			Title:       "junta",
			PublishedAt: time.Date(2026, 4, 1, 9, 0, 0, 0, time.UTC),
		}
	}
	then := mustAppend(t, l, store.Batch{Reports: reports[:history.MaxChanged]})
	mustAppend(t, l, store.Batch{Reports: reports[history.MaxChanged:]}) // newer
	for n := range reports {
		reports[n].Title = "otra"
	}
	mustAppend(t, l, store.Batch{Reports: reports})
	archive := history.New(l)
	s := load(t, l).Snapshot()
	state, err := archive.State(t.Context(), s, then)
	if err != nil {
		t.Fatalf("with %d changed reports: %v", history.MaxChanged, err)
	}
	if found, err := state.Reports(t.Context(), disclosure.Filter{Search: "junta"}, 1, 1); err != nil || found.Total != history.MaxChanged {
		t.Errorf("%d reports as of then, %v; want %d", found.Total, err, history.MaxChanged)
	}
	if _, err := archive.State(t.Context(), s, then+1); fault.KindOf(err) != fault.Invalid {
		t.Errorf("with one changed report more: %v; want that it is refused", err)
	}
}
