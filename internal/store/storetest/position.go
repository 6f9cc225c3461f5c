package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/store"
	"pregon/internal/verify"
)

const (
	aName       = "Elena Ruiz Salvatierra"
	anotherName = "Elena Ruiz Salvatierra-Gil"
)

// newDealing returns a dealing of a natural person.
func newDealing(number int) disclosure.Position {
	return disclosure.Position{
		ID:           disclosure.PositionID(disclosure.Dealing, fmt.Sprint(number), 1),
		Kind:         disclosure.Dealing,
		IssuerName:   "EJEMPLAR FICTICIA, S.A.",
		Name:         aName,
		Natural:      true,
		State:        disclosure.StateCurrent,
		Number:       fmt.Sprint(number),
		RegisteredOn: "2026-09-25",
		DocumentURL:  "https://regulator.example/d",
	}
}

// newShort returns a short position of a legal person.
func newShort(n int, percent string) disclosure.Position {
	return disclosure.Position{
		ID:      disclosure.ShortID("ES0100000001", "2026-10-02", n),
		Kind:    disclosure.Short,
		ISIN:    "ES0100000001",
		Name:    "ATALAYA CAPITAL LLP",
		State:   disclosure.StateCurrent,
		Date:    "2026-10-02",
		Percent: percent,
	}
}

func ofPositions(positions ...disclosure.Position) store.Batch {
	return store.Batch{Positions: positions}
}

func withTrades(p disclosure.Position) disclosure.Position {
	p.DocumentStatus = disclosure.DocumentReady
	p.Trades = []disclosure.Trade{{
		ISIN:     "ES0100000001",
		Nature:   "Compra",
		Side:     disclosure.Buy,
		Date:     "2026-09-24",
		Volume:   "1000",
		Price:    "8.29",
		Currency: "EUR",
		Page:     1,
		Quote:    "Compra 24/09/2026 1.000 8,29",
	}}
	return p
}

// testPositionEvents: which changes are news, and the order within a batch.
func testPositionEvents(t *testing.T, e Engine) {
	s := e.fresh(t)()
	live, old := newDealing(1), newDealing(2)
	checkOutcome(t, mustAppend(t, s, store.Batch{
		Positions: []disclosure.Position{live},
		Reports:   newReports(1, 1),
		Issuers:   []disclosure.Issuer{company("dealing-1", "Uno")}, // with the id of a position
	}), store.Outcome{
		Seq:          3,
		New:          3,
		NewIssuers:   1,
		NewPositions: 1,
	})
	checkOutcome(t, mustAppend(t, s, store.Batch{Positions: []disclosure.Position{old}, New: disclosure.Backfilled}),
		store.Outcome{Seq: 4, New: 1, NewPositions: 1})
	checkOutcome(t, mustAppend(t, s, ofPositions(live, old)), store.Outcome{Seq: 4, Unchanged: 2})

	checkOutcome(t, mustAppend(t, s, ofPositions(withTrades(live), withTrades(old))), store.Outcome{Seq: 6, Updated: 2})
	live.IssuerName = "EJEMPLAR REAL, S.A."
	live.LEI = "SIM000000A6900123810"
	old.LEI = live.LEI
	mustAppend(t, s, ofPositions(live, old))
	old.RectifiedBy = []string{"9"}
	old.State = disclosure.StateRectified
	mustAppend(t, s, ofPositions(live, old))
	live.IssuerName = "EJEMPLAR FICTICIA, S.A."
	old.State = disclosure.StateAnnulled
	mustAppend(t, s, store.Batch{Positions: []disclosure.Position{live, old}, New: disclosure.Backfilled})
	checkBriefs(t, s,
		brief{disclosure.IssuerUpdated, "dealing-1", nil},
		brief{disclosure.Published, "oir-1", nil},
		brief{disclosure.PositionPublished, "dealing-1", nil},
		brief{disclosure.PositionBackfilled, "dealing-2", nil},
		brief{disclosure.PositionUpdated, "dealing-1", []string{"trades"}},
		brief{disclosure.PositionBackfilled, "dealing-2", []string{"trades"}},
		brief{disclosure.PositionUpdated, "dealing-1", []string{"issuer_name", "lei"}},
		brief{disclosure.PositionBackfilled, "dealing-2", []string{"lei"}},
		brief{disclosure.PositionUpdated, "dealing-2", []string{"rectified_by", "state"}},
		brief{disclosure.PositionBackfilled, "dealing-1", []string{"issuer_name"}},
		brief{disclosure.PositionWithdrawn, "dealing-2", []string{"state"}})
	Verify(t, s)
}

func testPositionRoundTrip(t *testing.T, e Engine) {
	open := e.fresh(t)
	s := open()
	full := withTrades(newDealing(1))
	full.Issuer = "A69001238"
	full.NIF = "A-69001238"
	full.LEI = "959800TESTTESTTEST00"
	full.Name = "Íñigo «Ω» 日本, 'apóstrofo' \\ $1 %s \u2028"
	full.Percent = "5.033"
	full.Relation = disclosure.RelationAssociated
	full.Rectifies = []string{"2025000001"}
	full.RectifiedBy = []string{"2026000001", "2026000002"}
	full.SourceURL = "https://regulator.example/s?a=1&b=2"
	full.DocumentReason = "Línea una\nlínea dos"
	full.Aggregates = disclosure.SumsDiffer
	mustAppend(t, s, ofPositions(full))
	log := checkLength(t, open(), 1) // opened again, so that nothing comes from memory
	want := full
	want.Sealed = log[0].Position.Sealed
	want.AvailableAt = log[0].OccurredAt
	want.FirstSeenAt = log[0].OccurredAt
	if diff := cmp.Diff(want, *log[0].Position); diff != "" {
		t.Errorf("the position (-want +got):\n%s", diff)
	}
	got, err := s.Positions(patiently(t), full.ID, "none", "")
	if diff := cmp.Diff([]disclosure.Position{want}, got); err != nil || diff != "" {
		t.Errorf("Positions: %v (-want +got):\n%s", err, diff)
	}
	if got, err := s.Positions(patiently(t)); err != nil || len(got) > 0 {
		t.Errorf("Positions without ids = %v, %v", got, err)
	}
}

// bodies returns what the log has of all changes.
func bodies(t *testing.T, s store.Store) (all []string) {
	t.Helper()
	leaves, err := s.Leaves(patiently(t), 0, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range leaves {
		all = append(all, string(l.Record))
	}
	return all
}

func checkHidden(t *testing.T, s store.Store) {
	t.Helper()
	for n, body := range bodies(t, s) {
		if strings.Contains(body, "Salvatierra") {
			t.Errorf("the log has the name of a natural person in change %d: %s", n+1, body)
		}
	}
}

// testSeals: the log has a seal in place of the name of a natural person, which stays
// the same until the name changes and can be opened.
func testSeals(t *testing.T, e Engine) {
	s := e.fresh(t)()
	p, legal := newDealing(1), newShort(1, "0.5")
	p.Sealed = strings.Repeat("0", 64) // of another store
	mustAppend(t, s, ofPositions(p, newDealing(2), legal, withTrades(p)))
	mustAppend(t, s, ofPositions(disclosure.Position{
		ID:      p.ID,
		Kind:    p.Kind,
		Name:    anotherName,
		Natural: true,
	}))
	log := checkLength(t, s, 5)
	checkHidden(t, s)
	first, other, clear, read, renamed := log[0].Position, log[1].Position, log[2].Position, log[3].Position, log[4].Position
	if clear.Name != legal.Name || clear.Sealed != "" || !strings.Contains(bodies(t, s)[2], legal.Name) {
		t.Errorf("the name of a legal person is %q, sealed %q", clear.Name, clear.Sealed)
	}
	if first.Name != aName || read.Name != aName || renamed.Name != anotherName {
		t.Errorf("the names are %q, %q and %q", first.Name, read.Name, renamed.Name)
	}
	if first.Sealed == p.Sealed || first.Sealed == other.Sealed || first.Sealed != read.Sealed || first.Sealed == renamed.Sealed {
		t.Errorf("the seals are %q, %q, %q and %q", first.Sealed, other.Sealed, read.Sealed, renamed.Sealed)
	}
	for _, position := range []*disclosure.Position{first, other, renamed} {
		n, found, err := s.NameOpening(patiently(t), position.Sealed)
		if err != nil || !found || n.Name != position.Name || len(n.Salt) != 32 || !n.Opens() {
			t.Errorf("NameOpening(%s) = %+v, %v, %v", position.Sealed, n, found, err)
		}
	}
	want := map[string]string{}
	for _, c := range log {
		if c.Position.Sealed != "" {
			want[c.Position.Sealed] = c.Position.Name
		}
	}
	names := map[string]string{}
	if err := s.SealedNames(patiently(t), func(sealed, name string) { names[sealed] = name }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("SealedNames: %s", diff)
	}
	for _, none := range []string{"", p.Sealed, "' OR 1=1"} {
		if n, found, err := s.NameOpening(patiently(t), none); err != nil || found || n.Name != "" {
			t.Errorf("NameOpening(%q) = %+v, %v, %v, want none", none, n, found, err)
		}
	}
	Verify(t, s)
}

// testHistoryOfPositions: positions are distinguished from reports and issuers with the same id,
// and every reader joins the names.
func testHistoryOfPositions(t *testing.T, e Engine) {
	s := e.fresh(t)()
	same := newReport(1, "").ID
	for n := range 3 {
		p := newDealing(1)
		p.ID = same
		p.Percent = fmt.Sprint(n + 1)
		b := published(newReport(1, fmt.Sprint("Título ", n)))
		b.Issuers = []disclosure.Issuer{company(same, fmt.Sprint("Uno ", n))}
		b.Positions = []disclosure.Position{p, newShort(n+1, "0.5")}
		mustAppend(t, s, b)
	}
	log := checkLength(t, s, 12)
	for _, of := range []disclosure.Subject{disclosure.OfReport, disclosure.OfIssuer, disclosure.OfPosition} {
		for upTo := int64(-1); upTo < 14; upTo++ {
			var want []disclosure.Change
			for _, c := range slices.Backward(log) {
				if c.Of() == of && c.Subject() == same && c.Seq <= upTo {
					want = append(want, c)
				}
			}
			checkChangesOf(t, s, want, of, same, upTo, 20)
			got, err := s.AsOf(patiently(t), of, upTo, same, same, "none")
			if diff := cmp.Diff(want[:min(1, len(want))], got); err != nil || diff != "" && len(want)+len(got) > 0 {
				t.Errorf("the %s as of %d: %v (-want +got):\n%s", of, upTo, err, diff)
			}
		}
	}
	at, err := s.ChangesAt(patiently(t), 3, 12)
	if diff := cmp.Diff([]disclosure.Change{log[2], log[11]}, at); err != nil || diff != "" {
		t.Errorf("ChangesAt: %v (-want +got):\n%s", err, diff)
	}
	if at[0].Position.Name != aName {
		t.Errorf("the name is %q, want %q", at[0].Position.Name, aName)
	}
}

// testEraseNames: a name is erased from all changes of a position and does not come
// back. The log before is the same to the byte, so that its proofs hold.
func testEraseNames(t *testing.T, e Engine) {
	s := e.fresh(t)()
	ctx := patiently(t)
	p := newDealing(1)
	mustAppend(t, s, ofPositions(p, newDealing(2)))
	mustAppend(t, s, ofPositions(withTrades(p)))
	p.Name = anotherName
	mustAppend(t, s, ofPositions(p))
	log := checkLength(t, s, 4)
	before, hashes := bodies(t, s), leafHashes(ctx, t, s, 0)

	out, err := s.EraseNames(ctx, nil, p.ID)
	if err != nil {
		t.Fatal(err)
	}
	checkOutcome(t, out, store.Outcome{Seq: 5, Updated: 1})
	if out, err = s.EraseNames(ctx, nil, p.ID); err != nil || out.Seq != 5 || out.Updated != 0 {
		t.Errorf("erasing it again: %+v, %v", out, err)
	}
	checkOutcome(t, mustAppend(t, s, ofPositions(p)), store.Outcome{Seq: 5, Unchanged: 1})
	p.Percent = "1"
	mustAppend(t, s, ofPositions(p))

	after := checkLength(t, s, 6)
	if got := after[4]; got.Event != disclosure.PositionBackfilled || !slices.Equal(got.Changed, []string{"holder"}) {
		t.Errorf("the change is %s of %v", got.Event, got.Changed)
	}
	for _, c := range after {
		q := c.Position
		if erased := q.ID == p.ID; erased != (q.Name == "") || erased != q.NameErased() {
			t.Errorf("change %d has the name %q, erased: %v", c.Seq, q.Name, q.NameErased())
		}
	}
	if !slices.Equal(bodies(t, s)[:4], before) || !slices.Equal(leafHashes(ctx, t, s, 0)[:4], hashes) {
		t.Error("the log before was changed")
	}
	checkHidden(t, s)
	for _, c := range log {
		_, found, err := s.NameOpening(ctx, c.Position.Sealed)
		if err != nil || found == (c.Position.ID == p.ID) {
			t.Errorf("NameOpening of change %d: %v, %v", c.Seq, found, err)
		}
	}
	got, err := s.Positions(ctx, p.ID)
	if err != nil || len(got) != 1 || got[0].Name != "" || !got[0].Erased || got[0].Percent != "1" {
		t.Errorf("Positions = %+v, %v", got, err)
	}
	Verify(t, s)
}

// testEraseNamesOfSome: positions without a name to erase are left alone, and the lease
// must be held. An import of an erased position removes the name too.
func testEraseNamesOfSome(t *testing.T, e Engine) {
	s := e.fresh(t)()
	ctx := patiently(t)
	legal := newShort(1, "0.5")
	for _, ids := range [][]string{nil, {"none"}, {""}, {"none", legal.ID}} {
		out, err := s.EraseNames(ctx, nil, ids...)
		if err != nil || out.New+out.Updated > 0 {
			t.Errorf("EraseNames(%v) = %+v, %v", ids, out, err)
		}
	}
	batch := ofPositions(legal)
	var ids []string
	for n := range 600 {
		batch.Positions = append(batch.Positions, newDealing(n+1))
		ids = append(ids, newDealing(n+1).ID)
	}
	mustAppend(t, s, batch)
	lease, err := s.AcquireLease(ctx, "ingest", "a", patience)
	if err != nil {
		t.Fatal(err)
	}
	stale := lease
	stale.Term--
	if _, err := s.EraseNames(ctx, &stale, ids...); fault.KindOf(err) != fault.Conflict {
		t.Errorf("erasing with a lease that is not held: %v", err)
	}
	checkLength(t, s, 601)
	out, err := s.EraseNames(ctx, &lease, append(ids, ids[0], legal.ID, "none")...)
	if err != nil {
		t.Fatal(err)
	}
	checkOutcome(t, out, store.Outcome{Seq: 1201, Updated: 600})

	imported := newDealing(700)
	imported.Erased = true
	known := newDealing(701)
	mustAppend(t, s, ofPositions(imported, known))
	known.Erased = true
	mustAppend(t, s, ofPositions(known))
	log := checkLength(t, s, 1204)
	for _, c := range log[1:] {
		if c.Position.Name != "" || !c.Position.NameErased() && c.Seq != 1202 {
			t.Fatalf("change %d has the name %q", c.Seq, c.Position.Name)
		}
	}
	Verify(t, s)
}

// testEraseNamesFailures: names and changes are erased together or not at all.
func testEraseNamesFailures(t *testing.T, e Engine) {
	s := e.fresh(t)()
	ctx := patiently(t)
	mustAppend(t, s, ofPositions(newDealing(1)))
	for _, after := range []bool{false, true} {
		e.FailCommit(s, after, errInjected)
		if _, err := s.EraseNames(ctx, nil, "dealing-1"); !errors.Is(err, errInjected) {
			t.Fatalf("EraseNames = %v, want the error of the commit", err)
		}
		got, err := s.Positions(ctx, "dealing-1")
		if err != nil || len(got) != 1 || got[0].Erased != after || (got[0].Name == "") != after {
			t.Errorf("after a commit that took effect (%v) the position is %+v, %v", after, got, err)
		}
		Verify(t, s)
	}
	e.FailCommit(s, false, errInjected)
	if _, err := s.Append(ctx, ofPositions(newDealing(2))); !errors.Is(err, errInjected) {
		t.Fatalf("Append = %v, want the error of the commit", err)
	}
	checkLength(t, s, 2)
	Verify(t, s) // no name without a change
}

// testEraseNamesRace: others append to the positions whose names are erased.
func testEraseNamesRace(t *testing.T, e Engine) {
	open := e.fresh(t)
	first := open()
	const positions = 20
	batch := store.Batch{}
	for n := range positions {
		batch.Positions = append(batch.Positions, newDealing(n+1))
	}
	mustAppend(t, first, batch)
	ctx := patiently(t)
	var group errgroup.Group
	for i := range handles {
		s := open()
		group.Go(func() error { return changePositions(ctx, s, batch.Positions, i) })
		group.Go(func() error {
			for _, p := range batch.Positions {
				if _, err := s.EraseNames(ctx, nil, p.ID); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, c := range CheckLog(t, first) {
		if c.Position.Name != "" {
			t.Errorf("change %d has the name %q", c.Seq, c.Position.Name)
		}
	}
	if names := countNames(t, first); names != 0 {
		t.Errorf("%d names are left", names)
	}
	Verify(t, first)
}

func changePositions(ctx context.Context, s store.Store, positions []disclosure.Position, by int) error {
	for n, p := range positions {
		p.Name = fmt.Sprint(aName, " ", by, n)
		p.Percent = fmt.Sprint(by + 1)
		if _, err := s.Append(ctx, ofPositions(p)); err != nil {
			return err
		}
	}
	return nil
}

func countNames(t *testing.T, s store.Store) (n int) {
	t.Helper()
	rows, err := s.(verify.Store).Relational().Query(patiently(t), `SELECT sealed FROM sealed_name`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		n++
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return n
}
