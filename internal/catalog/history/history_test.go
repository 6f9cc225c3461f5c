package history_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/catalog"
	"pregon/internal/catalog/history"
	"pregon/internal/disclosure"
	"pregon/internal/search"
	"pregon/internal/store"
	"pregon/internal/store/engine"
	"pregon/internal/store/postgres/pgtest"
)

// past is a log that ends at a seq, and the naive way to what was known then: all of
// it is replayed.
type past struct {
	catalog.Log
	seq int64
}

func (p past) Current(ctx context.Context, fn func(disclosure.Change) error) (disclosure.Head, error) {
	changes, err := p.Changes(ctx, 0, int(p.seq)+1)
	if err != nil {
		return disclosure.Head{}, err
	}
	newest := map[string]disclosure.Change{}
	for _, c := range changes[:p.seq] {
		newest[string(c.Of())+c.Subject()] = c
	}
	for _, c := range slices.SortedFunc(maps.Values(newest), func(a, b disclosure.Change) int { return int(a.Seq - b.Seq) }) {
		if err := fn(c); err != nil {
			return disclosure.Head{}, err
		}
	}
	head, err := p.Head(ctx)
	head.Seq = p.seq
	return head, err
}

func load(t testing.TB, log catalog.Log) *catalog.Catalog {
	t.Helper()
	c := catalog.New(log, slog.New(slog.DiscardHandler))
	if err := c.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

func open(t testing.TB, address string) store.Store {
	t.Helper()
	at, err := engine.ParseAddress(address)
	if err != nil {
		t.Fatal(err)
	}
	db, err := at.Open(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// engines runs a test on both engines.
func engines(t *testing.T, test func(t *testing.T, db store.Store)) {
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		test(t, open(t, "sqlite:"+filepath.Join(t.TempDir(), "pregon.db")))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		test(t, open(t, pgtest.Database(t)))
	})
}

func mustAppend(t testing.TB, db store.Store, b store.Batch) int64 {
	t.Helper()
	for i := range b.Reports {
		if err := b.Reports[i].Validate(); err != nil {
			t.Fatal(err)
		}
	}
	for i := range b.Issuers {
		if err := b.Issuers[i].Validate(); err != nil {
			t.Fatal(err)
		}
	}
	out, err := db.Append(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	return out.Seq
}

// market makes changes of few reports and issuers with few words, so that filters
// match some of them, and issuers change names, tickers and numbers.
type market struct{ *rand.Rand }

func pick[T any](m market, of ...T) T { return of[m.IntN(len(of))] }

var (
	names   = []string{"ALBA, S.A.", "BRUMA, S.L.", "CARMONA RENTA, FI", "DUERO TITULIZACIÓN, FT", "Alba Dos SA"}
	numbers = []string{"A69000016", "A69000024", "B69000032", "V69000107"}
	words   = []string{"dividendo", "junta", "general", "resultados", "BVB", "ANB", "fusión"}
)

func (m market) report() disclosure.Report {
	r := disclosure.Report{
		Type: pick(m, disclosure.IP, disclosure.OIR, disclosure.HR), Number: int64(1 + m.IntN(12)), CompanyName: pick(m, names...),
		Title:       pick(m, words...) + " " + pick(m, words...) + " " + pick(m, words...),
		PublishedAt: time.Date(2026, 4, 1+m.IntN(9), m.IntN(24), m.IntN(60), 0, 0, time.UTC),
		NIF:         pick(m, append(numbers, "", "")...), Ticker: pick(m, "", "", "", "BVB", "ZZZ"),
		Category: pick(m, "", "Sobre dividendos", "Sobre resultados - Otros", "Otros"), Summary: pick(m, "", "", "Pagará un dividendo."),
	}
	if m.IntN(4) == 0 {
		r.PDFURL = fmt.Sprintf("https://regulator.example/ver?t=%d", m.IntN(9))
	}
	return r
}

func (m market) issuer() disclosure.Issuer {
	i := disclosure.Issuer{
		NIF: pick(m, numbers...), Name: pick(m, names...), Ticker: pick(m, "", "BVB", "ANB", "CRM GEN"), Market: pick(m, "", "SIBE", "BME Growth"),
		Kind: pick(m, "", disclosure.Company, disclosure.Fund),
	}
	if m.IntN(3) == 0 {
		i.Aliases = []string{pick(m, numbers...)}
	}
	return i
}

func (m market) filter() (f disclosure.Filter) {
	f = m.condition()
	if m.IntN(4) == 0 {
		f.Entries = &disclosure.Entries{
			Issuers: []string{pick(m, numbers...)},
			Filters: []disclosure.Filter{m.condition(), m.condition()},
		}
	}
	return f
}

// condition returns a filter without a watchlist.
func (m market) condition() (f disclosure.Filter) {
	if m.IntN(3) == 0 {
		f.Search = pick(m, "dividendo", "BVB", `"junta general"`, "-BVB", "anb", "alba", "div", "A69000016", "crm gen", `"crm gen"`, "oir-3", "7", "zzz -junta")
	}
	if m.IntN(3) == 0 {
		f.Type = pick(m, disclosure.IP, disclosure.OIR, disclosure.HR)
	}
	if m.IntN(3) == 0 {
		f.Issuer = pick(m, append(numbers, "unknown")...)
		if m.IntN(2) == 0 {
			f.Issuer = disclosure.JoinIssuers([]string{f.Issuer, pick(m, numbers...)})
		}
	}
	if m.IntN(3) == 0 {
		f.From = disclosure.DayOf(time.Date(2026, 4, 1+m.IntN(9), 12, 0, 0, 0, time.UTC))
	}
	if m.IntN(3) == 0 {
		f.To = disclosure.DayOf(time.Date(2026, 4, 1+m.IntN(9), 12, 0, 0, 0, time.UTC))
	}
	if m.IntN(4) == 0 {
		f.Category = pick(m, "otros", "Sobre dividendos", "unknown")
	}
	if m.IntN(4) == 0 {
		f.Kind = pick(m, disclosure.Company, disclosure.Fund)
	}
	if m.IntN(4) == 0 {
		f.Market = pick(m, "SIBE", "bme growth")
	}
	f.NoSecuritisation = m.IntN(5) == 0
	f.NoRoutine = m.IntN(5) == 0
	return f
}

// TestStateIsTheReplay: every past state answers lists, pages and single reports as
// a catalogue that ends there does, while the log grows.
func TestStateIsTheReplay(t *testing.T) {
	engines(t, func(t *testing.T, db store.Store) {
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		m := market{rand.New(rand.NewPCG(seed, 1))}
		archive, c := history.New(db), load(t, db)
		for round := range 8 {
			for range 6 {
				b := store.Batch{Reports: []disclosure.Report{m.report(), m.report()}, New: disclosure.Published}
				if m.IntN(2) == 0 {
					b.Issuers = []disclosure.Issuer{m.issuer()}
				}
				mustAppend(t, db, b)
			}
			if round%3 == 0 {
				c = load(t, db)
			} else { // as the catalogue follows the log, in several segments
				follow(t, c, db)
			}
			s := c.Snapshot()
			for range 8 {
				seq := m.Int64N(s.Seq() + 1)
				compareStates(t, m, archive, db, s, seq)
				if t.Failed() {
					t.FailNow()
				}
			}
		}
	})
}

// follow lets the catalogue apply all changes of the log.
func follow(t *testing.T, c *catalog.Catalog, db store.Store) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- c.Follow(ctx) }()
	err := c.Known().CatchUp(t.Context())
	cancel()
	<-done
	if err != nil {
		t.Fatal(err)
	}
}

func compareStates(t *testing.T, m market, archive *history.Archive, db store.Store, s *catalog.Snapshot, seq int64) {
	t.Helper()
	want := load(t, past{db, seq}).Snapshot()
	got, err := archive.State(t.Context(), s, seq)
	if err != nil {
		t.Fatal(err)
	}
	if got.Seq() != seq || got.Head().Epoch != s.Head().Epoch {
		t.Errorf("the state as of %d has the head %v", seq, got.Head())
	}
	for range 25 {
		f, page, limit := m.filter(), 1+m.IntN(4), 1+m.IntN(8)
		a, err := want.Reports(t.Context(), f, page, limit)
		if err != nil {
			t.Fatal(err)
		}
		b, err := got.Reports(t.Context(), f, page, limit)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(a.AppendJSON(nil)), string(b.AppendJSON(nil))); diff != "" || a.Total != b.Total || a.Hash() != b.Hash() {
			t.Errorf("as of %d of %d, %+v page %d limit %d: %d in all, want %d (-want +got):\n%s", seq, s.Seq(), f, page, limit, b.Total, a.Total, diff)
		}
	}
	for _, kind := range []disclosure.Type{disclosure.IP, disclosure.OIR, disclosure.HR} {
		for n := range int64(14) {
			compareReports(t, archive, s, want, got, disclosure.ReportID(kind, n), seq)
		}
	}
	if diff := cmp.Diff(issuers(want.Directory()), issuers(got.Directory())); diff != "" {
		t.Errorf("the directory as of %d (-want +got):\n%s", seq, diff)
	}
}

func compareReports(t *testing.T, archive *history.Archive, s, want, got *catalog.Snapshot, id string, seq int64) {
	t.Helper()
	one, dir, err := archive.Report(t.Context(), s, id, seq)
	if err != nil {
		t.Fatal(err)
	}
	a, known := want.Report(id)
	b, found := got.Report(id)
	if known != found || known != (one != nil) {
		t.Fatalf("%s as of %d is known: %v, %v, want %v", id, seq, found, one != nil, known)
	}
	if !known {
		return
	}
	if diff := cmp.Diff(a.Decode(), b.Decode()); diff != "" || a.Ticker() != b.Ticker() || a.IssuerID() != b.IssuerID() {
		t.Errorf("%s as of %d, ticker %s, want %s (-want +got):\n%s", id, seq, b.Ticker(), a.Ticker(), diff)
	}
	if diff := cmp.Diff(a.Decode(), one); diff != "" {
		t.Errorf("%s as of %d in the log (-want +got):\n%s", id, seq, diff)
	}
	if joined := dir.Analyze(one); joined.Ticker != a.Ticker() || a.Issuer() != nil && joined.Issuer.ID != a.IssuerID() {
		t.Errorf("%s as of %d is joined with %v", id, seq, joined.Issuer)
	}
}

func issuers(d *search.Directory) (out []disclosure.Issuer) {
	for _, e := range d.Issuers() {
		out = append(out, *e.Issuer)
	}
	return out
}
