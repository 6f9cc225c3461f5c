package transfer_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/parquet-go/parquet-go"

	"pregon/internal/disclosure"
	"pregon/internal/store"
	"pregon/internal/store/sqlite"
	"pregon/internal/transfer"
)

const (
	manager = "Elena Ruiz Salvatierra"
	fund    = "ATALAYA CAPITAL LLP"
)

// somePositions are of all kinds: a read dealing of a natural person, one that will be
// erased, and others of legal persons.
func somePositions() []disclosure.Position {
	dealing := disclosure.Position{
		ID:             "dealing-2026000001",
		Kind:           disclosure.Dealing,
		Issuer:         "A00000018",
		IssuerName:     "ALMAZARA FICTICIA, S.A.",
		NIF:            "A-00000018",
		Name:           manager,
		Natural:        true,
		State:          disclosure.StateCurrent,
		Number:         "2026000001",
		RegisteredOn:   "2026-09-25",
		Relation:       disclosure.RelationManager,
		Rectifies:      []string{"2025000001", "2025000002"},
		SourceURL:      "https://regulator.example/s",
		DocumentURL:    "https://regulator.example/d",
		DocumentStatus: disclosure.DocumentReady,
		DocumentSHA256: strings.Repeat("ab", 32),
		Trades: []disclosure.Trade{{
			ISIN:     "ES0100000001",
			Nature:   "Compra",
			Side:     disclosure.Buy,
			Date:     "2026-09-24",
			Volume:   "1000",
			Price:    "8.29",
			Currency: "EUR",
			Page:     1,
			Quote:    "Compra 24/09/2026 1.000 8,29 <EUR>",
		}},
		Aggregates: disclosure.SumsAgree,
	}
	another := dealing
	another.ID = "dealing-2026000002"
	another.Number = "2026000002"
	another.RegisteredOn = "2026-10-01"
	short := disclosure.Position{
		ID:         "short-es0100000001-2026-10-02-1",
		Kind:       disclosure.Short,
		IssuerName: "OTRA FICTICIA, S.A.",
		ISIN:       "ES0100000001",
		Name:       fund,
		State:      disclosure.StateCurrent,
		Date:       "2026-10-02",
		Percent:    "0.49",
	}
	holding := disclosure.Position{
		ID:                 "holding-2026121404",
		Kind:               disclosure.Holding,
		IssuerName:         "OTRA FICTICIA, S.A.",
		Name:               "=CASAMAR, S.L.",
		State:              disclosure.StatePast,
		Number:             "2026121404",
		RegisteredOn:       "2026-10-03",
		Percent:            "5.033",
		PercentShares:      "5",
		PercentDirect:      "0",
		PercentIndirect:    "5",
		PercentInstruments: "0.033",
	}
	own := disclosure.Position{
		ID:           "own-shares-2026121405",
		Kind:         disclosure.OwnShares,
		IssuerName:   "OTRA FICTICIA, S.A.",
		State:        disclosure.StateAnnulled,
		Number:       "2026121405",
		RegisteredOn: "2026-10-04",
		Percent:      "1.5",
		AnnulledBy:   "2026121406",
	}
	return []disclosure.Position{dealing, another, short, holding, own}
}

func newSQLite(t *testing.T) *sqlite.Store {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "p.db"), sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// withPositions returns a store in which one name is erased.
func withPositions(t *testing.T) *sqlite.Store {
	t.Helper()
	db := newSQLite(t)
	batch := store.Batch{
		Issuers:   []disclosure.Issuer{{ID: "A00000018", NIF: "A-00000018", Name: "ALMAZARA FICTICIA, S.A.", Ticker: "ALM"}},
		Positions: somePositions(),
	}
	if _, err := db.Append(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	if _, err := db.EraseNames(t.Context(), nil, "dealing-2026000002"); err != nil {
		t.Fatal(err)
	}
	return db
}

func exportPositions(t *testing.T, db store.Log, e transfer.Export) string {
	t.Helper()
	var file, out bytes.Buffer
	s, err := transfer.Take(t.Context(), db, transfer.Files{Positions: &file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	e.Kind = transfer.Positions
	done, err := s.Write(t.Context(), &out, &file, e)
	if err != nil {
		t.Fatal(err)
	}
	if e.Filter == (disclosure.Filter{}) && done.Records != s.Positions {
		t.Errorf("%d records of %d positions", done.Records, s.Positions)
	}
	return out.String()
}

func importPositions(t *testing.T, db store.Store, lines string) transfer.Imported {
	t.Helper()
	im := transfer.Importer{
		DB:       db,
		Kind:     transfer.Positions,
		Progress: func(int) {},
		BadLine:  func(line int, err error) { t.Errorf("line %d: %v", line, err) },
	}
	done, err := im.Import(t.Context(), strings.NewReader(lines))
	if err != nil {
		t.Fatal(err)
	}
	return done
}

func allPositions(t *testing.T, db store.Log) map[string]disclosure.Position {
	t.Helper()
	all := map[string]disclosure.Position{}
	_, err := db.Current(t.Context(), func(c disclosure.Change) error {
		if c.Position != nil {
			all[c.Position.ID] = *c.Position
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Positions are imported as they were exported, as history. An erased name stays erased,
// and a kept one gets a seal of the other store.
func TestPositions(t *testing.T) {
	from, to := withPositions(t), newSQLite(t)
	lines := exportPositions(t, from, transfer.Export{Format: transfer.JSONLines})
	if strings.Count(lines, manager) != 1 || strings.Contains(lines, "holder_sealed") {
		t.Errorf("want the name that is kept, and no seal: %s", lines)
	}
	if done := importPositions(t, to, lines); done.New != 5 || done.Bad != 0 {
		t.Errorf("imported %+v", done)
	}
	want, got := allPositions(t, from), allPositions(t, to)
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(disclosure.Position{}, "Sealed")); diff != "" {
		t.Errorf("the positions (-exported +imported):\n%s", diff)
	}
	const kept, erased = "dealing-2026000001", "dealing-2026000002"
	if p := got[kept]; p.Name != manager || p.Sealed == "" || p.Sealed == want[kept].Sealed {
		t.Errorf("the kept name is %q with seal %q, before %q", p.Name, p.Sealed, want[kept].Sealed)
	}
	if p := got[erased]; p.Name != "" || !p.Erased || !p.Natural {
		t.Errorf("the erased name: %+v", p)
	}
	changes, err := to.Changes(t.Context(), 0, 10)
	if err != nil || len(changes) != 5 {
		t.Fatalf("%d changes, %v", len(changes), err)
	}
	for _, c := range changes {
		if c.Event != disclosure.PositionBackfilled {
			t.Errorf("%s of %s", c.Event, c.Subject())
		}
	}
	if done := importPositions(t, to, lines); done.Unchanged != 5 {
		t.Errorf("importing again: %+v", done)
	}
}

// A name that was erased is not restored by an older export, and an export of a store in
// which it was erased erases it elsewhere.
func TestErasedName(t *testing.T) {
	from, to := withPositions(t), newSQLite(t)
	const id = "dealing-2026000001"
	before := exportPositions(t, from, transfer.Export{Format: transfer.JSONLines})
	importPositions(t, to, before)
	if _, err := from.EraseNames(t.Context(), nil, id); err != nil {
		t.Fatal(err)
	}
	importPositions(t, from, before)
	after := exportPositions(t, from, transfer.Export{Format: transfer.JSONLines})
	if strings.Contains(after, manager) {
		t.Errorf("the erased name is exported: %s", after)
	}
	if done := importPositions(t, to, after); done.Updated != 1 {
		t.Errorf("imported %+v", done)
	}
	for _, db := range []*sqlite.Store{from, to} {
		changes, err := db.Changes(t.Context(), 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range changes {
			if p := c.Position; p != nil && p.ID == id && p.Name != "" {
				t.Errorf("change %d has the name %q", c.Seq, p.Name)
			}
		}
	}
}

// An export that was made before there were positions has none.
func TestNoPositions(t *testing.T) {
	db := newSQLite(t)
	for _, format := range transfer.Formats {
		got := exportPositions(t, db, transfer.Export{Format: format})
		if lines := strings.Count(got, "\n"); format == transfer.JSONLines && lines != 0 ||
			format == transfer.CSV && lines != 1 {
			t.Errorf("%s: %q", format, got)
		}
	}
	if done := importPositions(t, db, ""); done.New != 0 || done.Lines != 0 {
		t.Errorf("imported %+v", done)
	}
}

func TestPositionTables(t *testing.T) {
	db := withPositions(t)
	rows, err := csv.NewReader(strings.NewReader(exportPositions(t, db, transfer.Export{Format: transfer.CSV}))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	byID := map[string]map[string]string{}
	for _, row := range rows[1:] {
		cells := map[string]string{}
		for i, name := range rows[0] {
			if row[i] != "" {
				cells[name] = row[i]
			}
		}
		delete(cells, "first_seen_at")
		delete(cells, "available_at")
		byID[cells["id"]] = cells
	}
	trades := `[{"isin":"ES0100000001","instrument":null,"nature":"Compra","side":"buy","date":"2026-09-24","venue":null,` +
		`"volume":"1000","price":"8.29","currency":"EUR","page":1,"quote":"Compra 24/09/2026 1.000 8,29 <EUR>"}]`
	dealing := map[string]string{
		"id": "dealing-2026000001", "kind": "dealing", "issuer_id": "A00000018", "issuer_name": "ALMAZARA FICTICIA, S.A.",
		"nif": "A-00000018", "holder": manager, "holder_natural": "true", "holder_erased": "false", "state": "current",
		"number": "2026000001", "registered_on": "2026-09-25", "relation": "manager",
		"rectifies": "2025000001; 2025000002", "amount": "8290", "currency": "EUR", "aggregates": "agree",
		"trades": trades, "source_url": "https://regulator.example/s", "document_url": "https://regulator.example/d",
		"document_status": "ready", "document_sha256": strings.Repeat("ab", 32), "backfilled": "false",
	}
	erased := maps.Clone(dealing)
	erased["id"] = "dealing-2026000002"
	erased["number"] = "2026000002"
	erased["registered_on"] = "2026-10-01"
	erased["holder_erased"] = "true"
	delete(erased, "holder")
	want := map[string]map[string]string{
		dealing["id"]: dealing,
		erased["id"]:  erased,
		"short-es0100000001-2026-10-02-1": {
			"id": "short-es0100000001-2026-10-02-1", "kind": "short", "issuer_name": "OTRA FICTICIA, S.A.",
			"isin": "ES0100000001", "holder": fund, "holder_natural": "false", "holder_erased": "false", "state": "current",
			"date": "2026-10-02", "percent": "0.49", "backfilled": "false",
		},
		"holding-2026121404": {
			"id": "holding-2026121404", "kind": "holding", "issuer_name": "OTRA FICTICIA, S.A.", "holder": "'=CASAMAR, S.L.",
			"holder_natural": "false", "holder_erased": "false", "state": "past", "number": "2026121404",
			"registered_on": "2026-10-03", "percent": "5.033", "percent_shares": "5", "percent_direct": "0",
			"percent_indirect": "5", "percent_instruments": "0.033", "backfilled": "false",
		},
		"own-shares-2026121405": {
			"id": "own-shares-2026121405", "kind": "own_shares", "issuer_name": "OTRA FICTICIA, S.A.", "holder_natural": "false",
			"holder_erased": "false", "state": "annulled", "number": "2026121405", "registered_on": "2026-10-04",
			"percent": "1.5", "annulled_by": "2026121406", "backfilled": "false",
		},
	}
	if diff := cmp.Diff(want, byID); diff != "" {
		t.Errorf("the rows (-want +got):\n%s", diff)
	}
	body := exportPositions(t, db, transfer.Export{Format: transfer.Parquet})
	file, err := parquet.OpenFile(strings.NewReader(body), int64(len(body)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range file.Schema().Fields() {
		names = append(names, f.Name())
	}
	if file.NumRows() != 5 || !slices.Equal(names, rows[0]) {
		t.Errorf("Parquet has %d rows with columns %q, want %q", file.NumRows(), names, rows[0])
	}
}

// Exports are published, so that a new field needs a decision: see TestPublicFields.
func TestPublicFieldsOfPositions(t *testing.T) {
	fields := map[string]any{}
	lines := exportPositions(t, withPositions(t), transfer.Export{Format: transfer.JSONLines})
	for line := range strings.Lines(lines) {
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatal(err)
		}
	}
	want := strings.Fields(`aggregates annulled_by available_at date document_sha256 document_status document_url
		first_seen_at holder holder_erased id isin issuer_id issuer_name kind natural nif number percent percent_direct
		percent_indirect percent_instruments percent_shares rectifies registered_on relation source_url state trades`)
	if got := slices.Sorted(maps.Keys(fields)); !slices.Equal(got, want) {
		t.Errorf("got fields %q, want %q", got, want)
	}
}

func TestPositionFilters(t *testing.T) {
	db := withPositions(t)
	day, _ := disclosure.ParseDay("2026-10-01")
	dealings := disclosure.NewPositionSet(disclosure.Dealing)
	for _, test := range []struct {
		filter disclosure.Filter
		want   string
	}{
		{disclosure.Filter{Positions: disclosure.NewPositionSet(disclosure.Short, disclosure.OwnShares)}, "own-shares-2026121405 short-es0100000001-2026-10-02-1"},
		{disclosure.Filter{Issuer: "alm"}, "dealing-2026000001 dealing-2026000002"},
		{disclosure.Filter{Issuer: "A00000018", To: day - 1}, "dealing-2026000001"},
		{disclosure.Filter{From: day, Positions: dealings}, "dealing-2026000002"},
		{disclosure.Filter{Issuer: "ES0100000001"}, "short-es0100000001-2026-10-02-1"}, // not in the directory
	} {
		var got []string
		lines := exportPositions(t, db, transfer.Export{Format: transfer.JSONLines, Filter: test.filter})
		for line := range strings.Lines(lines) {
			p, err := disclosure.ReadPosition([]byte(line))
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, p.ID)
		}
		slices.Sort(got)
		if strings.Join(got, " ") != test.want {
			t.Errorf("%+v: got %q, want %s", test.filter, got, test.want)
		}
	}
}

// The largest notice that the service reads is imported from its own export, and a longer
// line is refused.
func TestLargePosition(t *testing.T) {
	from, to := newSQLite(t), newSQLite(t)
	p := somePositions()[0]
	p.Trades = slices.Repeat(p.Trades, disclosure.MaxTrades)
	for i := range p.Trades {
		p.Trades[i].Instrument = strings.Repeat("á", 250)
		p.Trades[i].Nature = strings.Repeat("é", 250)
		p.Trades[i].Quote = strings.Repeat("ñ ", 700)
	}
	if _, err := from.Append(t.Context(), store.Batch{Positions: []disclosure.Position{p}}); err != nil {
		t.Fatal(err)
	}
	line := exportPositions(t, from, transfer.Export{Format: transfer.JSONLines})
	if done := importPositions(t, to, line); done.New != 1 || len(line) < transfer.MaxLine {
		t.Errorf("imported %+v from %d bytes", done, len(line))
	}
	var refused error
	im := transfer.Importer{
		DB:       to,
		Kind:     transfer.Positions,
		Progress: func(int) {},
		BadLine:  func(_ int, err error) { refused = err },
	}
	long := strings.Repeat("x", transfer.MaxPositionLine+1) + "\n" + line
	done, err := im.Import(t.Context(), strings.NewReader(long))
	if err != nil || done.Bad != 1 || done.Unchanged != 1 || refused == nil || refused.Error() != "the line is longer than 8 MiB" {
		t.Errorf("a line that is too long: %+v, %v, %v", done, err, refused)
	}
}
