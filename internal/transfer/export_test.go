package transfer_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/search"
	"pregon/internal/sim/market"
	"pregon/internal/store"
	"pregon/internal/store/sqlite"
	"pregon/internal/transfer"
)

var noon = time.Date(2026, 4, 22, 10, 0, 33, 123456000, time.UTC)

// complete has a value in every field.
var complete = disclosure.Report{
	ID: "oir-43000", Type: disclosure.OIR, Number: 43000, CompanyName: "=ALMAZARA FICTICIA, S.A.", NIF: "A-00000018", Ticker: "ALM",
	Title: "[Simulación] \"Uno\"\nDos", Summary: "Resumen; con punto y coma", PublishedAt: noon, Category: "Sobre resultados - Otros",
	PDFURL: "https://regulator.example/d", SourceURL: "https://regulator.example/s", TimeFrom: disclosure.FromFeed,
	Related:     []disclosure.Relation{{ID: "oir-42999", Number: 42999, At: noon, Text: "Complementa"}, {Number: 7}},
	CorrectedBy: "oir-43001", FirstSeenAt: noon, AvailableAt: noon.Add(time.Second), EnrichedAt: noon.Add(2 * time.Second),
	Document: disclosure.Document{
		Status: disclosure.DocumentReady, Link: "https://regulator.example/d", SHA256: strings.Repeat("ab", 32), Type: "pdf",
		Bytes: 12345, Pages: 3, Method: "text", Language: "es",
	},
	SummaryMethod: "extractive", SummaryLanguage: "es", SummaryOf: strings.Repeat("ab", 32),
	Evidence:  []disclosure.Evidence{{Text: "Resumen", Page: 1, Quote: "Resumen"}},
	SummaryEN: "Summary", EvidenceEN: []disclosure.Evidence{{Text: "Summary", Page: 1, Quote: "Resumen"}},
	TextReadyAt: noon.Add(3 * time.Second), SummaryReadyAt: noon.Add(4 * time.Second),
	Facts:      []disclosure.Fact{{Kind: disclosure.Dividend, Fields: map[string]string{"form": "cash", "gross_per_share": "0.25"}}},
	FactsRules: 2, FactsOf: strings.Repeat("ab", 32), FactsDetail: strings.Repeat("cd", 32), FactsReadyAt: noon.Add(5 * time.Second),
}

// world is a store with a market, and a snapshot of it.
type world struct {
	reports  []disclosure.Report
	issuers  []disclosure.Issuer
	snapshot *transfer.Snapshot
	file     []byte // the snapshot's reports
}

func newWorld(t *testing.T) *world {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "p.db"), sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	m := market.New(1)
	w := &world{reports: slices.Collect(m.Bulk(1200, noon)), issuers: m.Issuers()}
	listed := &w.issuers[0]
	listed.LEI = market.LEI(*listed)
	listed.Sector = "BANCOS"
	listed.Capital = "5670161554.00"
	listed.VotingRights = "5670161554"
	listed.VotingRightsOn = "2024-05-13"
	w.reports = append(w.reports, complete)
	if _, err := db.Append(t.Context(), store.Batch{Issuers: w.issuers, Reports: w.reports}); err != nil {
		t.Fatal(err)
	}
	w.reports, w.issuers = nil, nil // as the store has them
	head, err := db.Current(t.Context(), func(c disclosure.Change) error {
		if c.Report != nil {
			w.reports = append(w.reports, *c.Report)
		} else {
			w.issuers = append(w.issuers, *c.Issuer)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if w.snapshot, err = transfer.Take(t.Context(), db, transfer.Files{Reports: &file}, nil); err != nil {
		t.Fatal(err)
	}
	w.file = file.Bytes()
	if s := w.snapshot; s.Head.Cursor != head.Cursor || s.Reports != len(w.reports) || len(s.Issuers) != len(w.issuers) || s.AsOf.IsZero() {
		t.Errorf("got a snapshot of %d reports and %d issuers at %v, want %d and %d at %v", s.Reports, len(s.Issuers), s.Head, len(w.reports), len(w.issuers), head)
	}
	return w
}

func (w *world) write(t *testing.T, e transfer.Export) []byte {
	t.Helper()
	var out bytes.Buffer
	if _, err := w.snapshot.Write(t.Context(), &out, bytes.NewReader(w.file), e); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Lines are what the store has, and can be imported.
func TestJSONLines(t *testing.T) {
	w := newWorld(t)
	var got []disclosure.Report
	for line := range bytes.Lines(w.write(t, transfer.Export{Kind: transfer.Reports, Format: transfer.JSONLines})) {
		r, err := disclosure.DecodeReport(string(bytes.TrimSpace(line)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := disclosure.ReadReport(line); err != nil {
			t.Fatalf("import would refuse %s: %v", line, err)
		}
		got = append(got, *r)
	}
	if !reflect.DeepEqual(got, w.reports) {
		t.Error("the lines are not the reports of the store")
	}
	var issuers []disclosure.Issuer
	for line := range bytes.Lines(w.write(t, transfer.Export{Kind: transfer.Issuers, Format: transfer.JSONLines})) {
		i, err := disclosure.ReadIssuer(line)
		if err != nil {
			t.Fatal(err)
		}
		issuers = append(issuers, i)
	}
	if len(issuers) != len(w.issuers) || !reflect.DeepEqual(issuers[0], w.issuers[0]) {
		t.Errorf("got %d issuers, the first %+v, want %d and %+v", len(issuers), issuers[0], len(w.issuers), w.issuers[0])
	}
}

// Exports and snapshots are published, so that a new field of a line needs a
// decision: add it here if anyone may read it.
func TestPublicFields(t *testing.T) {
	w := newWorld(t)
	var last map[string]any
	for line := range bytes.Lines(w.write(t, transfer.Export{Kind: transfer.Reports, Format: transfer.JSONLines})) {
		last = nil
		if err := json.Unmarshal(line, &last); err != nil {
			t.Fatal(err)
		}
	}
	want := strings.Fields(`available_at category cnmv_registration_number company_name corrected_by document enriched_at evidence evidence_en
		facts facts_detail facts_of facts_ready_at facts_rules
		first_seen_at id nif pdf_url published_at related source_url summary summary_en summary_language summary_method summary_of
		summary_ready_at text_ready_at ticker time_from title type`)
	if got := slices.Sorted(maps.Keys(last)); !slices.Equal(got, want) {
		t.Errorf("got fields %q, want %q", got, want)
	}
}

// The columns of CSV and Parquet are the same and have the values of the report.
func TestTables(t *testing.T) {
	w := newWorld(t)
	rows, err := csv.NewReader(bytes.NewReader(w.write(t, transfer.Export{Kind: transfer.Reports, Format: transfer.CSV}))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if begin := "id,company_name,ticker,type,title,summary,published_at,cnmv_registration_number,pdf_url"; !strings.HasPrefix(strings.Join(rows[0], ","), begin) {
		t.Errorf("got columns %q, want those of the API first", rows[0])
	}
	want := []string{
		"oir-43000", "'=ALMAZARA FICTICIA, S.A.", "ALM", "OIR", "[Simulación] \"Uno\"\nDos", "Resumen; con punto y coma", "2026-04-22T12:00:33.123456+02:00", "43000",
		"https://regulator.example/d", "A-00000018", "A00000018", "Sobre resultados; Otros", "https://regulator.example/s", "oir-42999; 7", "oir-43001",
		"second", "2026-04-22T12:00:33.123456+02:00", "2026-04-22T12:00:34.123456+02:00", "2026-04-22T12:00:35.123456+02:00", "2026-04-22T12:00:36.123456+02:00",
		"2026-04-22T12:00:37.123456+02:00", "ready", "pdf", "3", "12345", strings.Repeat("ab", 32), "es", "extractive", "es", "Summary",
		"2026-04-22T12:00:38.123456+02:00", `[{"kind":"dividend","fields":{"form":"cash","gross_per_share":"0.25"}}]`,
	}
	if got := rows[len(rows)-1]; !slices.Equal(got, want) {
		t.Errorf("got\n%q, want\n%q", got, want)
	}
	rows, err = csv.NewReader(bytes.NewReader(w.write(t, transfer.Export{Kind: transfer.Issuers, Format: transfer.CSV}))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	identity := [][]string{
		{"lei", "sector", "capital", "voting_rights", "voting_rights_on"},
		{market.LEI(w.issuers[0]), "BANCOS", "5670161554.00", "5670161554", "2024-05-13"},
		{"", "", "", "", ""},
	}
	for i, want := range identity {
		if got := rows[i][len(rows[i])-len(want):]; !slices.Equal(got, want) {
			t.Errorf("line %d of the issuers ends with %q, want %q", i+1, got, want)
		}
	}
	about := map[string]string{"cursor": w.snapshot.Head.String()}
	for kind, n := range map[transfer.Kind]int{transfer.Reports: len(w.reports), transfer.Issuers: len(w.issuers)} {
		body := w.write(t, transfer.Export{Kind: kind, Format: transfer.Parquet, About: about})
		file, err := parquet.OpenFile(bytes.NewReader(body), int64(len(body)))
		if err != nil {
			t.Fatal(err)
		}
		names := make([]string, 0, len(file.Schema().Fields()))
		for _, f := range file.Schema().Fields() {
			names = append(names, f.Name())
		}
		table, err := csv.NewReader(bytes.NewReader(w.write(t, transfer.Export{Kind: kind, Format: transfer.CSV}))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if cursor, _ := file.Lookup("pregon.cursor"); int(file.NumRows()) != n || len(table) != n+1 || !slices.Equal(names, table[0]) || cursor != about["cursor"] {
			t.Errorf("%s: got %d rows with columns %q and cursor %s, want %d and %q", kind, file.NumRows(), names, cursor, n, table[0])
		}
	}
}

// The filters select what the matcher of the API selects.
func TestFilters(t *testing.T) {
	w := newWorld(t)
	all := make([]*search.Issuer, len(w.issuers))
	for i := range w.issuers {
		all[i] = search.NewIssuer(&w.issuers[i])
	}
	directory := search.NewDirectory(all)
	some := w.reports[300]
	issuer := directory.IssuerOf(&some)
	day := disclosure.DayOf(some.PublishedAt)
	for name, e := range map[string]transfer.Export{
		"types":  {Types: []disclosure.Type{disclosure.IP, disclosure.HR}},
		"issuer": {Filter: disclosure.Filter{Issuer: issuer.ID}},
		"ticker": {Filter: disclosure.Filter{Issuer: strings.ToLower(issuer.Ticker)}},
		"nif":    {Filter: disclosure.Filter{Issuer: complete.NIF}}, // not in the directory
		"days":   {Filter: disclosure.Filter{From: day, To: day + 1}},
		"all":    {Types: []disclosure.Type{some.Type}, Filter: disclosure.Filter{Issuer: some.NIF, From: day, To: day}},
	} {
		t.Run(name, func(t *testing.T) {
			f := e.Filter
			if f.Issuer == strings.ToLower(issuer.Ticker) {
				f.Issuer = issuer.ID
			}
			var want []string
			for i := range w.reports {
				if r := &w.reports[i]; search.Compile(f).Match(directory.Analyze(r)) && (e.Types == nil || slices.Contains(e.Types, r.Type)) {
					want = append(want, r.ID)
				}
			}
			e.Kind, e.Format = transfer.Reports, transfer.CSV
			rows, err := csv.NewReader(bytes.NewReader(w.write(t, e))).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, row := range rows[1:] {
				got = append(got, row[0])
			}
			if len(want) == 0 || len(want) == len(w.reports) || !slices.Equal(got, want) {
				t.Errorf("got %d reports, want %d: %.200q, %.200q", len(got), len(want), got, want)
			}
		})
	}
	one := w.write(t, transfer.Export{Kind: transfer.Issuers, Format: transfer.JSONLines, Filter: disclosure.Filter{Issuer: issuer.ID}})
	if bytes.Count(one, []byte("\n")) != 1 || !bytes.Contains(one, []byte(strconv.Quote(issuer.ID))) {
		t.Errorf("issuer %s: got %s", issuer.ID, one)
	}
	_, err := w.snapshot.Write(t.Context(), io.Discard, bytes.NewReader(w.file), transfer.Export{
		Kind: transfer.Reports, Format: transfer.JSONLines, Filter: disclosure.Filter{Issuer: "nobody"},
	})
	if fault.KindOf(err) != fault.NotFound {
		t.Errorf("an unknown issuer: got error %v, want NotFound", err)
	}
}

// An error of a step, by which a caller slows down or stops the work, ends it.
func TestStepEnds(t *testing.T) {
	w := newWorld(t)
	stop := errors.New("stop")
	_, err := w.snapshot.Write(t.Context(), io.Discard, bytes.NewReader(w.file), transfer.Export{
		Kind: transfer.Reports, Format: transfer.Parquet, Step: func(int) error { return stop },
	})
	if !errors.Is(err, stop) {
		t.Errorf("got error %v, want that of the step", err)
	}
}
