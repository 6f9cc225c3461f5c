package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/disclosure"
	"pregon/internal/store"
)

// brief has the fields of a change that matter to tests of events and order.
type brief struct {
	Event   disclosure.Event
	Subject string
	Changed []string
}

func briefs(log []disclosure.Change) []brief {
	var all []brief
	for _, c := range log {
		all = append(all, brief{c.Event, c.Subject(), c.Changed})
	}
	return all
}

func checkBriefs(t *testing.T, s store.Store, want ...brief) {
	t.Helper()
	if diff := cmp.Diff(want, briefs(CheckLog(t, s))); diff != "" {
		t.Errorf("the log (-want +got):\n%s", diff)
	}
}

func checkOutcome(t *testing.T, got, want store.Outcome) {
	t.Helper()
	if got != want {
		t.Errorf("outcome = %+v, want %+v", got, want)
	}
}

func testNewUpdatedUnchanged(t *testing.T, e Engine) {
	s := e.fresh(t)()
	first, second := newReport(1, "Resultados"), newReport(2, "Dividendo")
	checkOutcome(t, mustAppend(t, s, published(first)), store.Outcome{Seq: 1, New: 1})
	checkOutcome(t, mustAppend(t, s, published(first)), store.Outcome{Seq: 1, Unchanged: 1})

	first.PDFURL, first.PublishedAt = "https://regulator.example/1", first.PublishedAt.Add(27*time.Second)
	checkOutcome(t,
		mustAppend(t, s, store.Batch{Reports: []disclosure.Report{first, second}, New: disclosure.Backfilled}),
		store.Outcome{Seq: 3, New: 1, Updated: 1})
	checkOutcome(t, mustAppend(t, s, published(first, second)), store.Outcome{Seq: 3, Unchanged: 2})
	checkBriefs(t, s,
		brief{disclosure.Published, "oir-1", nil},
		brief{disclosure.Backfilled, "oir-1", []string{"published_at", "pdf_url"}}, // a back-fill's changes are history
		brief{disclosure.Backfilled, "oir-2", nil})
}

func testIssuerNewUpdatedUnchanged(t *testing.T, e Engine) {
	s := e.fresh(t)()
	issuers := func(all ...disclosure.Issuer) store.Batch { return store.Batch{Issuers: all} }
	checkOutcome(t, mustAppend(t, s, issuers(company("A1", "Uno"), company("A2", "Dos"))), store.Outcome{Seq: 2, New: 2, NewIssuers: 2})
	renamed := company("A2", "Dos y Medio")
	renamed.Ticker = "DOS"
	checkOutcome(t, mustAppend(t, s, issuers(company("A1", "Uno"), renamed)), store.Outcome{Seq: 3, Updated: 1, Unchanged: 1})
	checkOutcome(t, mustAppend(t, s, issuers(renamed)), store.Outcome{Seq: 3, Unchanged: 1})
	checkBriefs(t, s,
		brief{disclosure.IssuerUpdated, "A1", nil},
		brief{disclosure.IssuerUpdated, "A2", nil},
		brief{disclosure.IssuerUpdated, "A2", []string{"name", "ticker", "former_names"}})
}

func testTwiceInOneBatch(t *testing.T, e Engine) {
	s := e.fresh(t)()
	plain, titled := newReport(1, "Resultados"), newReport(1, "Resultados del año")
	one, renamed := company("A1", "Uno"), company("A1", "Único")
	outcome := mustAppend(t, s, store.Batch{
		Issuers: []disclosure.Issuer{one, renamed, renamed},
		Reports: []disclosure.Report{plain, plain, titled},
		New:     disclosure.Published,
	})
	checkOutcome(t, outcome, store.Outcome{
		Seq:        4,
		New:        2,
		Updated:    2,
		Unchanged:  2,
		NewIssuers: 1,
	})
	checkBriefs(t, s,
		brief{disclosure.IssuerUpdated, "A1", nil},
		brief{disclosure.IssuerUpdated, "A1", []string{"name", "former_names"}},
		brief{disclosure.Published, "oir-1", nil},
		brief{disclosure.Updated, "oir-1", []string{"title"}})
}

func testMergeNeverErases(t *testing.T, e Engine) {
	s := e.fresh(t)()
	rich := everything()
	mustAppend(t, s, published(rich))
	poor := disclosure.Report{
		ID:     rich.ID,
		Type:   rich.Type,
		Number: rich.Number,
		Title:  "Otro título",
	}
	mustAppend(t, s, published(poor))
	log := checkLength(t, s, 2)

	want := *log[0].Report
	want.Title = poor.Title
	if diff := cmp.Diff(want, *log[1].Report); diff != "" {
		t.Errorf("report after a partial observation (-want +got):\n%s", diff)
	}
}

func testBatchOrder(t *testing.T, e Engine) {
	s := e.fresh(t)()
	mustAppend(t, s, store.Batch{
		Issuers: []disclosure.Issuer{company("B2", "Dos"), company("A1", "Uno")},
		Reports: []disclosure.Report{newReport(3, "c"), newReport(1, "a"), newReport(2, "b")},
		New:     disclosure.Backfilled,
	})
	checkBriefs(t, s,
		brief{disclosure.IssuerUpdated, "B2", nil},
		brief{disclosure.IssuerUpdated, "A1", nil},
		brief{disclosure.Backfilled, "oir-3", nil},
		brief{disclosure.Backfilled, "oir-1", nil},
		brief{disclosure.Backfilled, "oir-2", nil})
}

// testEqualIDs: an issuer and a report may have the same id, here oir-1.
func testEqualIDs(t *testing.T, e Engine) {
	s := e.fresh(t)()
	b := store.Batch{
		Issuers: []disclosure.Issuer{company("oir-1", "Uno")},
		Reports: []disclosure.Report{newReport(1, "Resultados")},
		New:     disclosure.Published,
	}
	checkOutcome(t, mustAppend(t, s, b), store.Outcome{Seq: 2, New: 2, NewIssuers: 1})
	checkOutcome(t, mustAppend(t, s, b), store.Outcome{Seq: 2, Unchanged: 2})
	checkLength(t, s, 2)
}

// everything returns a report with all fields set, to values that are difficult to
// store unchanged.
func everything() disclosure.Report {
	return disclosure.Report{
		ID:          "hr-999999999999999999",
		Type:        disclosure.HR,
		Number:      999999999999999999,
		CompanyName: "COMPAÑÍA DE AÑIL Ł Ω 日本 🏛️, S.A.",
		NIF:         " A-69001238 ",
		Ticker:      "AÑIL",
		Title:       "Línea una\nlínea dos\r\n\tcon «comillas», \"otras\", \\barras\\, 'apóstrofos', <b>&amp;</b>, $1, %s, ?, \u2028 y \u00e1 no es a\u0301",
		Summary:     "Un acuerdo\n\nde 1.000,50 €.",
		PublishedAt: time.Date(2026, 4, 22, 8, 0, 33, 123456000, time.UTC),
		Category:    "Sobre resultados -  Sobre negocio ",
		PDFURL:      "https://regulator.example/d?a=1&b=%7B2%7D",
		SourceURL:   "https://regulator.example/s",
		TimeFrom:    disclosure.FromPermalink,
		Backfilled:  true,
		CorrectedBy: "hr-7",
		Related: []disclosure.Relation{
			{
				ID:     "hr-7",
				Number: 7,
				At:     time.Date(2026, 4, 22, 9, 0, 0, 0, time.UTC),
				Text:   "Rectifica \"ésta\"\n",
			},
			{Number: 8},
		},
		FirstSeenAt: time.Date(2026, 4, 22, 8, 0, 34, 1000, time.UTC),
		EnrichedAt:  time.Date(2026, 4, 22, 8, 1, 0, 123456000, time.UTC),
	}
}

func testCorrected(t *testing.T, e Engine) {
	s := e.fresh(t)()
	mustAppend(t, s, published(newReport(1, "Resultados")))
	corrected := newReport(1, "Resultados")
	corrected.CorrectedBy = "oir-2"
	checkOutcome(t, mustAppend(t, s, published(newReport(2, "Rectifica"), corrected)), store.Outcome{Seq: 3, New: 1, Updated: 1})
	checkOutcome(t, mustAppend(t, s, published(corrected)), store.Outcome{Seq: 3, Unchanged: 1})

	again := corrected // stated by another report, in Aside
	again.Title = "Con otro título"
	checkOutcome(t,
		mustAppend(t, s, store.Batch{Reports: []disclosure.Report{newReport(3, "Otra")}, Aside: []disclosure.Report{again}}),
		store.Outcome{Seq: 5, New: 1})
	checkBriefs(t, s,
		brief{disclosure.Published, "oir-1", nil},
		brief{disclosure.Published, "oir-2", nil},
		brief{disclosure.Corrected, "oir-1", []string{"corrected_by"}},
		brief{disclosure.Published, "oir-3", nil},
		brief{disclosure.Updated, "oir-1", []string{"title"}})
}

func testRoundTrip(t *testing.T, e Engine) {
	open := e.fresh(t)
	s := open()
	report := everything()
	issuer := disclosure.Issuer{
		ID:          "A69001238",
		Name:        "Añil \"Ω\" 🏛️",
		NIF:         "A-69001238",
		Ticker:      "AÑIL",
		Market:      "BME Growth",
		Kind:        disclosure.Company,
		ISINs:       []string{"ES0000000001", "ES0000000002"},
		FormerNames: []string{"Antes, S.A.", "Más antes"},
		Aliases:     []string{"fi-1"},

		LEI:            "SIM000000A6900123810",
		Sector:         "MEDIOS DE COMUNICACIÓN",
		Capital:        "5670161554.00",
		VotingRights:   "5670161554",
		VotingRightsOn: "2024-05-13",
	}
	start := time.Now().Truncate(time.Microsecond)
	mustAppend(t, s, store.Batch{Issuers: []disclosure.Issuer{issuer}, Reports: []disclosure.Report{report}, New: disclosure.Published})

	log := checkLength(t, open(), 2) // opened again, so that nothing comes from memory
	if diff := cmp.Diff(issuer, *log[0].Issuer); diff != "" {
		t.Errorf("the issuer (-want +got):\n%s", diff)
	}
	report.AvailableAt = log[1].OccurredAt
	if diff := cmp.Diff(report, *log[1].Report); diff != "" {
		t.Errorf("the report (-want +got):\n%s", diff)
	}
	if at := log[1].OccurredAt; at.Before(start) || at.After(time.Now()) {
		t.Errorf("OccurredAt = %v, want a time after %v", at, start)
	}
	checkOutcome(t,
		mustAppend(t, s, store.Batch{Issuers: []disclosure.Issuer{issuer}, Reports: []disclosure.Report{report}}),
		store.Outcome{Seq: 2, Unchanged: 2})
}

// testLargeBatch appends more reports than one statement can have parameters.
func testLargeBatch(t *testing.T, e Engine) {
	s := e.fresh(t)()
	const n = 3000
	b := store.Batch{Reports: newReports(1, n), New: disclosure.Backfilled}
	for i := range n {
		b.Issuers = append(b.Issuers, company(fmt.Sprintf("fi-%d", i), "Fondo"))
	}
	checkOutcome(t, mustAppend(t, s, b), store.Outcome{Seq: 2 * n, New: 2 * n, NewIssuers: n})
	checkOutcome(t, mustAppend(t, s, b), store.Outcome{Seq: 2 * n, Unchanged: 2 * n})
	checkLength(t, s, 2*n)
}
