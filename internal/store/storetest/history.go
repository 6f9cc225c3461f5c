package storetest

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/disclosure"
	"pregon/internal/store"
)

// history appends changes of some reports and issuers, and returns the log. A report
// and an issuer have the same id.
func history(t *testing.T, s store.Store) []disclosure.Change {
	t.Helper()
	same := newReport(1, "Título").ID
	mustAppend(t, s, published(newReports(1, 9)...))
	for _, title := range []string{"Dos", "Tres", "Cuatro"} {
		mustAppend(t, s, store.Batch{Issuers: []disclosure.Issuer{company(same, title), company("A1", title)}})
		mustAppend(t, s, published(newReport(1, title), newReport(7, title)))
	}
	return checkLength(t, s, 21)
}

// testChangesOf: the changes of a subject are returned, the newest first, up to every
// seq and limit.
func testChangesOf(t *testing.T, e Engine) {
	s := e.fresh(t)()
	log := history(t, s)
	for _, of := range []disclosure.Subject{disclosure.OfReport, disclosure.OfIssuer} {
		for _, id := range []string{newReport(1, "").ID, newReport(2, "").ID, newReport(7, "").ID, "A1", "none", "", "' OR 1=1"} {
			for upTo := int64(-1); upTo < 24; upTo++ {
				for limit := range 6 {
					var want []disclosure.Change
					for _, c := range slices.Backward(log) {
						if c.Of() == of && c.Subject() == id && c.Seq <= upTo && len(want) < limit {
							want = append(want, c)
						}
					}
					checkChangesOf(t, s, want, of, id, upTo, limit)
				}
			}
		}
	}
	checkChangesOf(t, s, []disclosure.Change{log[20], log[16]}, disclosure.OfReport, newReport(7, "").ID, math.MaxInt64, 2)
}

func checkChangesOf(t *testing.T, s store.Store, want []disclosure.Change, of disclosure.Subject, id string, upTo int64, limit int) {
	t.Helper()
	got, err := s.ChangesOf(patiently(t), of, id, upTo, limit)
	if err != nil {
		t.Fatalf("ChangesOf(%s %q): %v", of, id, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the changes of %s %q up to %d, limit %d (-want +got):\n%s", of, id, upTo, limit, diff)
	}
}

// testAsOf: the state at every seq is that of a replay.
func testAsOf(t *testing.T, e Engine) {
	s := e.fresh(t)()
	log := history(t, s)
	ids := []string{"A1", "none", ""}
	for _, r := range newReports(1, 9) {
		ids = append(ids, r.ID, r.ID)
	}
	for upTo := int64(-1); upTo < 24; upTo++ {
		for _, of := range []disclosure.Subject{disclosure.OfReport, disclosure.OfIssuer} {
			newest := map[string]int64{}
			for _, c := range log {
				if c.Of() == of && c.Seq <= upTo {
					newest[c.Subject()] = c.Seq
				}
			}
			var want []disclosure.Change
			for _, c := range log {
				if c.Of() == of && newest[c.Subject()] == c.Seq {
					want = append(want, c)
				}
			}
			got, err := s.AsOf(patiently(t), of, upTo, ids...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("every %s as of %d (-want +got):\n%s", of, upTo, diff)
			}
		}
	}
	if got, err := s.AsOf(patiently(t), disclosure.OfReport, 100); len(got) > 0 || err != nil {
		t.Errorf("AsOf without ids = %v, %v", got, err)
	}
}

func testMarks(t *testing.T, e Engine) {
	s := e.fresh(t)()
	log := history(t, s)
	for after := range len(log) + 2 {
		for _, limit := range []int{1, 5, 100} {
			var want []disclosure.Mark
			for _, c := range log[min(after, len(log)):min(after+limit, len(log))] {
				want = append(want, c.Mark())
			}
			got, err := s.Marks(patiently(t), int64(after), limit)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Marks(%d, %d) (-want +got):\n%s", after, limit, diff)
			}
		}
	}
}
