package shorts_test

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/disclosure"
	"pregon/internal/document/extract/xls"
	"pregon/internal/sim/market"
	"pregon/internal/sim/shorts"
	source "pregon/internal/source/shorts"
)

var (
	began = time.Date(2026, 11, 18, 12, 0, 0, 0, disclosure.Madrid)
	m     = market.New(1)
)

func options(size int, every time.Duration) shorts.Options {
	return shorts.Options{
		Market: m,
		Seed:   1,
		Size:   size,
		Began:  began,
		Every:  every,
	}
}

// read returns the register at a time as the service reads it.
func read(t testing.TB, r *shorts.Register, now time.Time) (source.Register, shorts.File) {
	t.Helper()
	file, err := r.At(now)
	if err != nil {
		t.Fatal(err)
	}
	book, err := xls.Read(file.Body)
	if err != nil {
		t.Fatal(err)
	}
	got, err := source.Parse(book)
	if err != nil {
		t.Fatal(err)
	}
	return got, file
}

// compare compares what was read with the truth.
func compare(t *testing.T, r *shorts.Register, got source.Register, now time.Time) {
	t.Helper()
	var all []shorts.Position
	for _, n := range got.Union() {
		all = append(all, shorts.Position{
			LEI:     n.LEI,
			ISIN:    n.ISIN,
			Name:    n.Name,
			Day:     n.Day,
			Percent: n.Percent,
			Current: n.Current,
		})
	}
	if diff := cmp.Diff(r.Truth(now), all); diff != "" {
		t.Error(diff)
	}
	for _, f := range got.Findings {
		t.Errorf("finding: %s", f)
	}
}

func TestRegister(t *testing.T) {
	for _, size := range []int{300, 2000, shorts.FullSize} {
		r := shorts.New(options(size, 0))
		got, file := read(t, r, began)
		compare(t, r, got, began)
		if n := len(r.Truth(began)); n < size*8/10 || n > size*12/10 {
			t.Errorf("size %d: %d notices", size, n)
		}
		t.Logf("size %d: %d bytes, %d current, %d series, %d previous", size, len(file.Body), len(got.Current), len(got.Series), len(got.Previous))
		if size == shorts.FullSize && got.Published.String() != "2026-11-17" || !strings.HasSuffix(file.ETag, `:0"`) {
			t.Errorf("published %s, %s", got.Published, file.ETag)
		}
	}
}

// TestTraps: the register has what makes the real one hard to read.
func TestTraps(t *testing.T) {
	r := shorts.New(options(shorts.FullSize, 0))
	got, _ := read(t, r, began)
	current := map[source.Pair]bool{}
	below, rawISIN, foreign, decimals, repeated := 0, 0, 0, 0, 0
	for _, row := range got.Current {
		current[row.Pair()] = true
		if strings.HasPrefix(row.Percent, "0.4") {
			below++
		}
	}
	isins, seen, last := map[string]map[string]bool{}, map[source.Key]int{}, map[source.Pair]source.Row{}
	names := map[string]bool{}
	for _, rows := range [][]source.Row{got.Series, got.Previous} {
		for _, row := range rows {
			names[row.Name] = true
			if row.ISIN != row.RawISIN {
				rawISIN++
			}
			if !strings.HasPrefix(row.ISIN, "ES") {
				foreign++
			}
			if _, d, _ := strings.Cut(row.Percent, "."); len(d) == 3 {
				decimals++
			}
			if isins[row.LEI] == nil {
				isins[row.LEI] = map[string]bool{}
			}
			isins[row.LEI][row.ISIN] = true
			if seen[row.Key()]++; seen[row.Key()] == 2 {
				repeated++
			}
			if before, ok := last[row.Pair()]; !ok || before.Day < row.Day {
				last[row.Pair()] = row
			}
		}
	}
	closed, silent, two := 0, 0, 0
	for pair, row := range last {
		switch {
		case row.Closed():
			closed++
			if current[pair] {
				t.Errorf("%v is closed and current", pair)
			}
		case !current[pair]:
			silent++
		}
	}
	for _, list := range isins {
		if len(list) == 2 {
			two++
		}
	}
	for what, n := range map[string]int{
		"below the threshold":        below,
		"ISINs in the wrong case":    rawISIN,
		"foreign ISINs":              foreign,
		"three decimals":             decimals,
		"repeated rows":              repeated,
		"closed positions":           closed,
		"positions that left":        silent,
		"issuers with two ISINs":     two,
		"a name that is not Latin-1": count(names, "Ż"),
		"a natural person":           count(names, "Íñigo"),
	} {
		if n == 0 {
			t.Errorf("the register has none of: %s", what)
		}
	}
	t.Logf("%d below, %d closed, %d left silently, %d pairs", below, closed, silent, len(last))
}

func count(names map[string]bool, part string) (n int) {
	for name := range names {
		if strings.Contains(name, part) {
			n++
		}
	}
	return n
}

// TestDeterministic: the register is the same however the clock reached a time.
func TestDeterministic(t *testing.T) {
	now := began.Add(30 * time.Hour)
	stepwise, direct := shorts.New(options(500, 3*time.Minute)), shorts.New(options(500, 3*time.Minute))
	for at := began; at.Before(now); at = at.Add(7 * time.Minute) {
		if _, err := stepwise.At(at); err != nil {
			t.Fatal(err)
		}
	}
	one, first := read(t, stepwise, now)
	_, second := read(t, direct, now)
	if !bytes.Equal(first.Body, second.Body) || first.ETag != second.ETag || !first.Modified.Equal(second.Modified) {
		t.Error("the registers differ")
	}
	compare(t, direct, one, now)
	other := options(500, 3*time.Minute)
	other.Seed = 2
	if _, third := read(t, shorts.New(other), now); bytes.Equal(first.Body, third.Body) {
		t.Error("another seed has the same register")
	}
}

// TestMoves: in a demonstration the register changes within minutes, and its validators
// with it; between changes they stay.
func TestMoves(t *testing.T) {
	r := shorts.New(options(500, 3*time.Minute))
	_, before := read(t, r, began)
	_, same := read(t, r, began.Add(time.Second))
	_, after := read(t, r, began.Add(10*time.Minute))
	if before.ETag != same.ETag || before.ETag == after.ETag || !after.Modified.After(before.Modified) {
		t.Errorf("validators %s %s, %s %s, %s %s", before.ETag, before.Modified, same.ETag, same.Modified, after.ETag, after.Modified)
	}
	old, err := r.Before(began)
	if err != nil || !bytes.Equal(old.Body, before.Body) {
		t.Errorf("the earlier file differs: %v", err)
	}
	for day := range 3 {
		at := began.AddDate(0, 0, day)
		got, _ := read(t, r, at)
		compare(t, r, got, at)
		if n := len(got.Current); n > 60 {
			t.Errorf("after %d days it has %d present positions", day, n)
		}
	}
}

func BenchmarkAt(b *testing.B) {
	for b.Loop() {
		if _, err := shorts.New(options(shorts.FullSize, 0)).At(began); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkParse reads and parses the register at its full size.
func BenchmarkParse(b *testing.B) {
	file, err := shorts.New(options(15_000, 0)).At(began)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(file.Body)))
	b.ReportAllocs()
	rows := 0
	for b.Loop() {
		book, err := xls.Read(file.Body)
		if err != nil {
			b.Fatal(err)
		}
		got, err := source.Parse(book)
		if err != nil {
			b.Fatal(err)
		}
		rows = len(got.Current) + len(got.Series) + len(got.Previous)
	}
	b.ReportMetric(float64(rows), "rows")
}

// TestConcurrent: clients may ask at the same time, with clocks that differ.
func TestConcurrent(t *testing.T) {
	r := shorts.New(options(300, time.Minute))
	var group sync.WaitGroup
	for n := range 4 {
		group.Go(func() {
			for k := range 5 {
				if _, err := r.At(began.Add(time.Duration(n*k) * time.Minute)); err != nil {
					t.Error(err)
				}
				r.Truth(began)
			}
		})
	}
	group.Wait()
	now := began.Add(time.Hour)
	got, _ := read(t, r, now)
	compare(t, r, got, now)
}
