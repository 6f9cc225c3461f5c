package catalog_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
)

// followingMemory runs a test while a catalogue follows a log in memory.
func followingMemory(t *testing.T, log *memoryLog, test func(t *testing.T, c *catalog.Catalog)) {
	t.Helper()
	c := load(t, log)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Follow(ctx) }()
	test(t, c)
	cancel()
	<-ended
}

// nights are instants around which days begin, the clocks change and months end.
var nights = []string{
	"2026-03-28T22:59:59Z", // Madrid's midnight before the clocks go forward
	"2026-03-29T01:00:00Z", // they go
	"2026-03-29T22:00:00Z", // midnight after
	"2026-10-24T22:00:00Z", // midnight before they go back
	"2026-10-25T00:30:00Z", // an hour that comes twice
	"2026-10-25T01:30:00Z",
	"2026-10-25T23:00:00Z",
	"2026-10-31T22:59:59.999999Z",
}

// storm makes changes of a few reports and issuers at random.
type storm struct{ rng *rand.Rand }

func (s storm) change() disclosure.Change {
	if s.rng.IntN(12) == 0 {
		return listed(disclosure.Issuer{
			ID: s.pick("A69000016", "A69000024", "fi-4720"), Name: s.pick(bodegas, aceros), Ticker: s.pick("BVB", "ANB", ""), Market: s.pick("SIBE", "BME Growth", ""),
		})
	}
	at, err := time.Parse(time.RFC3339Nano, nights[s.rng.IntN(len(nights))])
	if err != nil {
		panic(err)
	}
	at = at.Add(time.Duration(s.rng.IntN(7)-3) * []time.Duration{time.Second, time.Hour, 24 * time.Hour}[s.rng.IntN(3)])
	n := int64(1 + s.rng.IntN(25))
	return published(disclosure.Report{
		Type: disclosure.Types[s.rng.IntN(3)], Number: n, CompanyName: s.pick(bodegas, aceros, "X"), NIF: s.pick("A-69000016", "A69000024", "A69000032", ""),
		Ticker: s.pick("", "", "OWN"), Title: fmt.Sprintf("Estado %d", s.rng.IntN(1000)), PublishedAt: at.UTC(),
		Category: s.pick("Sobre resultados", "Sobre dividendos", "Sobre resultados - Sobre dividendos", "Rara "+fmt.Sprint(s.rng.IntN(40)), ""),
	})
}

func (s storm) pick(from ...string) string { return from[s.rng.IntN(len(from))] }

// A catalogue that followed random changes returns the same as one that was loaded
// after them: lists, joins and all figures, at any time. So do its earlier
// snapshots, which later changes leave as they were.
func TestRandomUpdates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newMemoryLog()
		s := storm{rand.New(rand.NewPCG(11, 12))}
		followingMemory(t, log, func(t *testing.T, c *catalog.Catalog) {
			oldFollowed, oldLoaded := c.Snapshot(), load(t, log).Snapshot()
			for round := range 40 {
				for range 1 + s.rng.IntN(3) { // appends that may be read in one batch
					var changes []disclosure.Change
					for range 1 + s.rng.IntN(30) {
						changes = append(changes, s.change())
					}
					log.append(changes...)
				}
				settle()
				loaded := load(t, log).Snapshot()
				same(t, c.Snapshot(), loaded)
				same(t, oldFollowed, oldLoaded)
				if t.Failed() {
					t.Fatalf("in round %d, at %d", round, loaded.Seq())
				}
				oldFollowed, oldLoaded = c.Snapshot(), loaded
			}
		})
	})
}

// same compares everything that two snapshots return.
func same(t *testing.T, followed, loaded *catalog.Snapshot) {
	t.Helper()
	if followed.Seq() != loaded.Seq() || followed.Len() != loaded.Len() {
		t.Errorf("followed to %d with %d reports, loaded at %d with %d", followed.Seq(), followed.Len(), loaded.Seq(), loaded.Len())
	}
	if diff := cmp.Diff(describe(loaded), describe(followed)); diff != "" {
		t.Errorf("followed, it differs from loaded: %s", diff)
	}
	for _, night := range nights {
		now, err := time.Parse(time.RFC3339Nano, night)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(loaded.Analytics(now), followed.Analytics(now)); diff != "" {
			t.Errorf("the figures as of %s differ: %s", night, diff)
		}
	}
	for page := 1; page <= 3; page++ {
		for _, f := range []disclosure.Filter{{}, {Type: disclosure.HR}, {Search: "estado"}, {Search: "bvb"}} {
			if one, other := reports(followed, f, page, 20).Hash(), reports(loaded, f, page, 20).Hash(); one != other {
				t.Errorf("page %d of %+v has the hash %x, loaded %x", page, f, one, other)
			}
		}
	}
}

// A report that changes is removed from the figures that counted it, to the second
// and across the nights on which clocks change.
func TestReportMovesThroughTheYear(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newMemoryLog()
		log.append(published(newReport(disclosure.IP, 1, "2026-04-22T08:00:00Z", aceros)))
		followingMemory(t, log, func(t *testing.T, c *catalog.Catalog) {
			now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
			for _, night := range nights {
				moved := newReport(disclosure.OIR, 1, night, bodegas)
				log.append(published(moved))
				settle()
				a := c.Snapshot().Analytics(now)
				local := moved.PublishedAt.In(disclosure.Madrid)
				on := 0
				for _, d := range a.Daily {
					on += d.Total
					if d.Total > 0 && (d.Date != local.Format(time.DateOnly) || d.OIR != 1) {
						t.Errorf("moved to %v, it is counted on %s", local, d.Date)
					}
				}
				if want := min(1, max(0, int(local.Month())-9)); on != want { // within thirty days, or not
					t.Errorf("moved to %v, it is counted on %d days, want %d", local, on, want)
				}
				if a.Totals != (catalog.Totals{All: 2, ByType: catalog.Counts{IP: 1, OIR: 1}}) {
					t.Errorf("moved to %v, the totals are %+v", local, a.Totals)
				}
				hours := make([]int, 24)
				hours[10]++ // the one that stays
				hours[local.Hour()]++
				for h := range hours {
					if a.Hours[h].Total != hours[h] {
						t.Errorf("moved to %v, hour %d counts %d", local, h, a.Hours[h].Total)
					}
				}
			}
		})
	})
}

// A category, or a spelling of one, that no report has any more is not returned.
func TestCategoryIsRemovedWithItsLastReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newMemoryLog()
		one := newReport(disclosure.OIR, 1, "2026-04-22T08:00:00Z", bodegas)
		one.Category = "Sobre dividendos"
		log.append(published(one))
		followingMemory(t, log, func(t *testing.T, c *catalog.Catalog) {
			for _, category := range []string{"SOBRE RESULTADOS", "Sobre resultados", "sobre dividendos"} {
				one.Category = category
				log.append(published(one))
				settle()
				english, _ := disclosure.CategoryEN(category)
				want := []catalog.CategoryUse{{Category: category, English: english, Total: 1}}
				if diff := cmp.Diff(want, c.Snapshot().Analytics(one.PublishedAt).Categories); diff != "" {
					t.Error(diff)
				}
			}
		})
	})
}
