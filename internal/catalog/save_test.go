package catalog_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/sim/market"
	"pregon/internal/store"
	"pregon/internal/store/sqlite"
)

// savedReports are so many that words have sets of both forms.
const savedReports = 6000

const naturalName = "Consejera Inventada Ejemplar"

// newMarket returns a store with a market, with positions and facts.
func newMarket(t *testing.T) store.Store {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "store.db"), sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	m := market.New(1)
	batch := store.Batch{Issuers: m.Issuers(), New: disclosure.Backfilled}
	for r := range m.Bulk(savedReports, time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)) {
		if len(batch.Reports)%100 == 7 {
			r.Facts = []disclosure.Fact{{Kind: "dividend", Fields: map[string]string{"amount": "1.5"}}}
		}
		batch.Reports = append(batch.Reports, r)
	}
	for n := range 300 {
		p := disclosure.Position{
			ID:      disclosure.ShortID(shortISIN, "2026-03-02", n+1),
			Kind:    disclosure.Short,
			ISIN:    shortISIN,
			Name:    fmt.Sprintf("Fondo Ficticio %d LLP", n),
			Date:    "2026-03-02",
			Percent: "0.5",
			State:   disclosure.StateCurrent,
		}
		if n%10 == 0 {
			p.Name = naturalName
			p.Natural = true
		}
		batch.Positions = append(batch.Positions, p)
	}
	if _, err := db.Append(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	return db
}

// saving is a catalogue that is saved to a file, with what it logs.
type saving struct {
	*catalog.Catalog
	log *lines
}

// lines are what a catalogue logs, on several goroutines.
type lines struct {
	mu   sync.Mutex
	text strings.Builder // guarded by mu
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func openSaved(t *testing.T, log catalog.Log, path, variant string) saving {
	t.Helper()
	s := saving{log: &lines{}}
	s.Catalog = catalog.New(log, slog.New(slog.NewTextHandler(s.log, nil)))
	s.SaveTo(path, variant)
	if err := s.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// opened reports whether the catalogue was opened, and not built.
func (s saving) opened() bool { return strings.Contains(s.log.String(), "catalogue opened") }

func (s saving) save(t *testing.T) {
	t.Helper()
	if done, err := s.Save(); !done || err != nil {
		t.Fatalf("saving: %v, %v", done, err)
	}
}

var savedSearches = []string{
	"", "dividendo", "banco", "junta general", `"junta general"`, `"pago de dividendo"`, "d", "di", "div", "banco -dividendo",
	`resultados -"junta general"`, "dividend", "buyback", "oir-17", "17", "noexiste",
}

// state returns what a catalogue answers.
func (s saving) state(t *testing.T) string {
	t.Helper()
	now := s.Snapshot()
	var b strings.Builder
	fmt.Fprintln(&b, now.Head(), now.Last(), now.Len())
	for _, search := range savedSearches {
		for _, f := range []disclosure.Filter{
			{Search: search},
			{Search: search, Type: disclosure.OIR},
			{Search: search, Fact: "dividend"},
			{Search: search, Kind: disclosure.Company},
			{Search: search, From: disclosure.DayOf(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC))},
		} {
			page, err := now.Reports(t.Context(), f, 1, 20)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(&b, search, page.Total, page.Hash())
			for _, r := range page.Reports {
				fmt.Fprintln(&b, *r.Decode(), r.IssuerID(), r.Title(), r.Categories())
			}
		}
	}
	for e := range now.Positions().All(disclosure.Short) {
		fmt.Fprintln(&b, *e.Stored(), e.IssuerID())
	}
	b.WriteString(describe(now))
	return b.String()
}

// A catalogue that is opened answers as one that is built, also after later changes. The
// process that saved it goes on with the file.
func TestSave(t *testing.T) {
	db := newMarket(t)
	path := filepath.Join(t.TempDir(), "catalogue")
	built := openSaved(t, db, path, "")
	want := built.state(t)
	built.save(t)
	if diff := cmp.Diff(want, built.state(t)); diff != "" {
		t.Fatalf("after it was saved: %s", diff)
	}
	first := openSaved(t, db, path, "")
	if !first.opened() {
		t.Fatalf("it was not opened: %s", first.log)
	}
	if diff := cmp.Diff(want, first.state(t)); diff != "" {
		t.Fatalf("opened: %s", diff)
	}

	changed := built.Known().Since(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))[:40]
	for i := range changed {
		changed[i].Title = "Otra cosa sobre dividendos " + changed[i].ID
	}
	r := newReport(disclosure.OIR, 999_999, "2026-11-01T08:00:00Z", bodegas)
	issuer := built.Snapshot().Directory().Issuers()[3].Issuer
	other := *issuer
	other.Ticker = "OTRO"
	if _, err := db.Append(t.Context(), store.Batch{
		Issuers: []disclosure.Issuer{other},
		Reports: append(changed, r),
		New:     disclosure.Published,
	}); err != nil {
		t.Fatal(err)
	}
	again := openSaved(t, db, path, "")
	whole := openSaved(t, db, filepath.Join(t.TempDir(), "other"), "")
	want = whole.state(t)
	ctx, cancel := context.WithCancel(t.Context())
	var following sync.WaitGroup
	for _, c := range []saving{built, first} {
		following.Go(func() { _ = c.Follow(ctx) })
		for c.Snapshot().Seq() < whole.Snapshot().Seq() {
			if ctx.Err() != nil {
				break
			}
			if err := db.Wait(ctx, 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	cancel()
	following.Wait()
	for name, c := range map[string]saving{"that saved": built, "opened before": first, "opened after": again} {
		if diff := cmp.Diff(want, c.state(t)); diff != "" {
			t.Errorf("the one %s: %s", name, diff)
		}
	}
	again.save(t) // of segments in a file and in memory, some of which are gone
	last := openSaved(t, db, path, "")
	if diff := cmp.Diff(want, last.state(t)); diff != "" || !last.opened() {
		t.Errorf("saved again: %v %s", last.opened(), diff)
	}
}

// lookingLog calls a function before changes are read.
type lookingLog struct {
	catalog.Log
	look func()
}

func (l *lookingLog) Changes(ctx context.Context, after int64, limit int) ([]disclosure.Change, error) {
	l.look()
	return l.Log.Changes(ctx, after, limit)
}

// What was saved is not served before the later changes are applied: a client that has them
// already would miss them.
func TestSavedIsNotServed(t *testing.T) {
	log := newMemoryLog()
	log.append(published(newReport(disclosure.OIR, 1, "2026-03-02T10:00:00Z", bodegas)))
	path := filepath.Join(t.TempDir(), "catalogue")
	openSaved(t, log, path, "").save(t)
	for n := range int64(5000) {
		log.append(published(newReport(disclosure.OIR, n+2, "2026-03-02T10:00:00Z", bodegas)))
	}
	looks := 0
	looking := &lookingLog{Log: log}
	c := catalog.New(looking, slog.New(slog.DiscardHandler))
	c.SaveTo(path, "")
	looking.look = func() {
		looks++
		if s := c.Snapshot(); s != nil {
			t.Errorf("a state of %d reports is served", s.Len())
		}
	}
	if err := c.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	if c.Snapshot().Len() != 5001 || looks < 3 {
		t.Errorf("got %d reports after %d reads", c.Snapshot().Len(), looks)
	}
}

// Files of another log, of another variant, or of a later state of the log are ignored.
func TestSaveOfAnotherLog(t *testing.T) {
	db := newMarket(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "catalogue")
	openSaved(t, db, path, "one").save(t)
	if c := openSaved(t, db, path, "two"); c.opened() {
		t.Error("the file of another variant was used")
	}
	if c := openSaved(t, newMarket(t), path, "one"); c.opened() {
		t.Error("the file of another log was used")
	}
	log := newMemoryLog()
	log.append(published(newReport(disclosure.OIR, 1, "2026-03-02T10:00:00Z", bodegas)),
		published(newReport(disclosure.OIR, 2, "2026-03-02T10:00:00Z", bodegas)))
	path = filepath.Join(dir, "memory")
	openSaved(t, log, path, "").save(t)
	if c := openSaved(t, log, path, ""); !c.opened() {
		t.Fatalf("it was not opened: %s", c.log)
	}
	shorter := newMemoryLog()
	shorter.append(published(newReport(disclosure.OIR, 1, "2026-03-02T10:00:00Z", bodegas)))
	if c := openSaved(t, shorter, path, ""); c.opened() || c.Snapshot().Len() != 1 {
		t.Errorf("a log that lacks changes: opened %v, %d reports", c.opened(), c.Snapshot().Len())
	}
	shorter.append(published(newReport(disclosure.OIR, 3, "2026-03-02T10:00:00Z", bodegas)))
	if c := openSaved(t, shorter, path, ""); c.opened() {
		t.Error("a log with another change at the same place was used")
	}
}

// The names of natural persons are not in the files, so that erasing them in the store is
// enough.
func TestSaveHasNoNames(t *testing.T) {
	db := newMarket(t)
	path := filepath.Join(t.TempDir(), "catalogue")
	c := openSaved(t, db, path, "")
	c.save(t)
	found, err := filepath.Glob(path + "*")
	if err != nil || len(found) < 3 {
		t.Fatalf("the files are %v, %v", found, err)
	}
	for _, name := range found {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte("Inventada")) {
			t.Errorf("%s has the name of a natural person", name)
		}
	}
	id := disclosure.ShortID(shortISIN, "2026-03-02", 1)
	if e, _ := openSaved(t, db, path, "").Snapshot().Positions().Get(id); e.Name() != naturalName {
		t.Errorf("the name is %q", e.Name())
	}
	if _, err := db.EraseNames(t.Context(), nil, id); err != nil {
		t.Fatal(err)
	}
	opened := openSaved(t, db, path, "")
	if e, ok := opened.Snapshot().Positions().Get(id); !opened.opened() || !ok || e.Name() != "" {
		t.Errorf("opened %v, found %v, and the erased name is %q", opened.opened(), ok, e.Name())
	}
}

// Whatever is damaged, nothing wrong is served: the catalogue is built again, at the start or
// once the damage is found.
func TestSaveDamaged(t *testing.T) {
	db := newMarket(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "catalogue")
	built := openSaved(t, db, path, "")
	want := built.state(t)
	built.save(t)
	data, err := filepath.Glob(path + "-data-*")
	if err != nil || len(data) != 1 {
		t.Fatalf("the data files are %v, %v", data, err)
	}
	good, err := os.ReadFile(data[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]func() error{
		"cut":       func() error { return os.Truncate(data[0], int64(len(good)/2)) },
		"empty":     func() error { return os.Truncate(data[0], 0) },
		"bits":      func() error { return os.WriteFile(data[0], flipped(good), 0o600) },
		"other way": func() error { return os.Truncate(data[0], int64(len(good)/3)) },
	} {
		if err := os.WriteFile(data[0], good, 0o600); err != nil {
			t.Fatal(err)
		}
		opened := openSaved(t, db, path, "") // before the damage
		if name == "other way" {
			opened.state(t) // every block was verified
		}
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		started := openSaved(t, db, path, "") // after it
		for _, c := range []saving{opened, started} {
			if got, broken := c.tryState(t); !broken && got != want {
				t.Errorf("%s: something wrong is served: %s", name, cmp.Diff(want, got))
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		var following sync.WaitGroup
		following.Go(func() { _ = opened.Follow(ctx) })
		for ctx.Err() == nil {
			if got, broken := opened.tryState(t); !broken {
				if got != want {
					t.Errorf("%s: another state is served: %s", name, cmp.Diff(want, got))
				}
				break
			}
		}
		if ctx.Err() != nil {
			t.Errorf("%s: it was not built again: %s", name, opened.log)
		}
		cancel()
		following.Wait()
	}
}

func flipped(good []byte) []byte {
	bad := slices.Clone(good)
	for at := 1000; at < len(bad); at += 50_000 {
		bad[at] ^= 4
	}
	return bad
}

// tryState returns the state, or that a damaged file prevents it.
func (s saving) tryState(t *testing.T) (state string, broken bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			if !s.Broken(p) {
				panic(p)
			}
			broken = true
		}
	}()
	return s.state(t), false
}

// The version of what is saved is increased with every change of it. If this test fails,
// increase saveVersion and replace the hash.
func TestSaveVersion(t *testing.T) {
	const want = "1 8cf25e98df5d296d"
	sum := hex.EncodeToString(catalog.EncodedSample())
	if got := fmt.Sprintf("%d %s", catalog.SaveVersion, sum); got != want {
		t.Errorf("reports are encoded in another way: the version and the hash are %q, not %q", got, want)
	}
}
