package search_test

import (
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/search"
)

var (
	issuer = &disclosure.Issuer{
		ID: "A69000016", Name: "TELEFÉRICA DEL ÑANDÚ, S.A.", NIF: "A-69000016", Ticker: "TFN",
		Kind: disclosure.Company, Market: "Segundo mercado", Sector: "BANCOS Y CAJAS DE AHORROS", ISINs: []string{"ES01SIM00018"},
	}
	report = &disclosure.Report{
		ID: "oir-40374", Type: disclosure.OIR, Number: 40374, CompanyName: "TELEFÉRICA DEL ÑANDÚ, S.A.", NIF: "A-69000016",
		Title:       "Anuncia el pago de dividendos a cuenta del ejercicio 2025 y la Junta General",
		Category:    "Otra información relevante - Sobre negocio y situación financiera ",
		Summary:     "Pagará 0,15 euros por acción.",
		PublishedAt: time.Date(2026, 4, 22, 22, 30, 0, 0, time.UTC), // the 23rd in Madrid
	}
)

func TestQueryLanguage(t *testing.T) {
	f := search.NewDirectory([]*search.Issuer{search.NewIssuer(issuer)}).Analyze(report)
	yes := []string{
		"", "   ", "teleferica", "TELEFÉRICA DEL ÑANDÚ, S.A.", "nandu teleferica", "teleferica sl",
		"dividendo", "divid", "pago divid", "TFN", "tf", "tfn dividendo", "junta general", "\"junta general\"", "«Junta General»",
		"a69000016", "A-69000016", "ES01SIM00018", "es01sim00018", "40374", "OIR-40374", "oir-40374 dividendo", "A-69000016 junta",
		"relevante", "situacion financiera", "euros acciones", "-fusión", "dividendo -\"junta extraordinaria\"", "sa", "s.a.",
		"2025 junta", "\"junta general", "dividendo\"junta general\"", "telefer s.a.",
	}
	no := []string{
		"-", "\"", "***", "😀", "-\"\"", // no word
		"fusión", "dividendo fusión", "divid pago x", "telef pago", "\"general junta\"", "\"junta gener\"", "-dividendo", "teleferica -junta",
		"40374 junta", "403", "ip-40374", "A69000017", "dividendo -\"junta general\"", "-A-69000016", "-tfn", "\"2025 y la junta relevante\"",
		"\"general otra\"", // no phrase across fields
	}
	for _, q := range yes {
		if !search.Compile(disclosure.Filter{Search: q}).Match(f) {
			t.Errorf("%q does not find the report", q)
		}
	}
	for _, q := range no {
		if search.Compile(disclosure.Filter{Search: q}).Match(f) {
			t.Errorf("%q finds the report", q)
		}
	}
}

func TestFilter(t *testing.T) {
	day := func(s string) disclosure.Day {
		d, ok := disclosure.ParseDay(s)
		if !ok {
			t.Fatal(s)
		}
		return d
	}
	f := search.NewDirectory([]*search.Issuer{search.NewIssuer(issuer)}).Analyze(report)
	tests := []struct {
		name   string
		filter disclosure.Filter
		want   bool
	}{
		{"zero", disclosure.Filter{}, true},
		{"type", disclosure.Filter{Type: disclosure.OIR}, true},
		{"other type", disclosure.Filter{Type: disclosure.IP}, false},
		{"its Madrid day", disclosure.Filter{From: day("2026-04-23"), To: day("2026-04-23")}, true},
		{"its UTC day", disclosure.Filter{To: day("2026-04-22")}, false},
		{"later", disclosure.Filter{From: day("2026-04-24")}, false},
		{"issuer by dashed NIF", disclosure.Filter{Issuer: "a-69000016"}, true},
		{"issuer by ISIN", disclosure.Filter{Issuer: "es01sim00018"}, true},
		{"other issuer", disclosure.Filter{Issuer: "A69000453"}, false},
		{"category", disclosure.Filter{Category: "sobre negocio y situacion financiera"}, true},
		{"part of a category", disclosure.Filter{Category: "negocio"}, false},
		{"words of a category", disclosure.Filter{Category: "FINANCIERAS negocios", CategoryWords: true}, true},
		{"words of two categories", disclosure.Filter{Category: "otra financiera", CategoryWords: true}, false},
		{"the beginning of a word of a category", disclosure.Filter{Category: "nego", CategoryWords: true}, false},
		{"no word of a category", disclosure.Filter{Category: "***", CategoryWords: true}, false},
		{"kind", disclosure.Filter{Kind: disclosure.Company}, true},
		{"other kind", disclosure.Filter{Kind: disclosure.Fund}, false},
		{"market", disclosure.Filter{Market: "SEGUNDO  Mercádo"}, true},
		{"part of a market", disclosure.Filter{Market: "mercado"}, false},
		{"word of a market", disclosure.Filter{Market: "Mercados", MarketWords: true}, true},
		{"word of no market", disclosure.Filter{Market: "primer mercado", MarketWords: true}, false},
		{"market without a word", disclosure.Filter{Market: "-", MarketWords: true}, false},
		{"whole market without a word", disclosure.Filter{Market: "-"}, false},
		{"sector", disclosure.Filter{Sector: "bancos y  cajas de ahorros"}, true},
		{"part of a sector", disclosure.Filter{Sector: "bancos"}, false},
		{"word of a sector", disclosure.Filter{Sector: "Banco", SectorWords: true}, true},
		{"English word of a sector", disclosure.Filter{Sector: "Banks", SectorWords: true}, true},
		{"words of a sector in both languages", disclosure.Filter{Sector: "banking cajas", SectorWords: true}, true},
		{"word of no sector", disclosure.Filter{Sector: "insurance", SectorWords: true}, false},
		{"sector without a word", disclosure.Filter{Sector: "-", SectorWords: true}, false},
		{"market as a sector", disclosure.Filter{Sector: "mercado", SectorWords: true}, false},
		{"no securitisation fund", disclosure.Filter{NoSecuritisation: true}, true},
		{"no routine report", disclosure.Filter{NoRoutine: true}, true},
		{"all at once", disclosure.Filter{Search: "dividendo", Type: disclosure.OIR, Issuer: "A69000016", Kind: disclosure.Company}, true},
	}
	for _, tt := range tests {
		if got := search.Compile(tt.filter).Match(f); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
	unlisted := search.NewDirectory(nil).Analyze(report)
	if !search.Compile(disclosure.Filter{Issuer: "A69000016"}).Match(unlisted) {
		t.Error("a report is not found by its NIF when the directory does not know the issuer")
	}
	if search.Compile(disclosure.Filter{Kind: disclosure.Company}).Match(unlisted) {
		t.Error("an unknown issuer has a kind")
	}
}

// A securitisation fund is known by its name in the directory. The name in the
// report counts only if nothing else refers to the issuer.
func TestFilterSecuritisation(t *testing.T) {
	const fund, company = "ÑANDÚ 1, F.T.A.", "ÑANDÚ, S.A."
	tests := []struct {
		directory, report, nif string
		selected               bool
	}{
		{fund, fund, "A69000016", false},
		{fund, company, "A69000016", false},
		{company, fund, "A69000016", true},
		{fund, fund, "", false},
		{company, fund, "", false}, // not the company's name
		{company, fund, "V69000107", true},
		{company, company, "", true},
	}
	m := search.Compile(disclosure.Filter{NoSecuritisation: true})
	for _, tt := range tests {
		i := &disclosure.Issuer{ID: "A69000016", Name: tt.directory}
		r := &disclosure.Report{ID: "oir-1", Type: disclosure.OIR, Number: 1, CompanyName: tt.report, NIF: tt.nif, PublishedAt: report.PublishedAt}
		if got := m.Match(search.NewDirectory([]*search.Issuer{search.NewIssuer(i)}).Analyze(r)); got != tt.selected {
			t.Errorf("%+v: selected %v", tt, got)
		}
		if got := m.MatchIssuer(i); got != (tt.directory == company) {
			t.Errorf("issuer %s: selected %v", tt.directory, got)
		}
	}
}

func TestRank(t *testing.T) {
	e := search.NewIssuer(&disclosure.Issuer{ID: "A69000016", Name: "MINAS DE AZAFRÁN, S.A.", NIF: "A-69000016", Ticker: "AZF", FormerNames: []string{"SALINAS DEL SUR"}})
	for query, want := range map[string]search.Rank{
		"azf": search.Identity, "A-69000016": search.Identity, "minas de az": search.InName, "mina": search.InName, "azafran": search.InWords,
		"salinas": search.InWords, "": search.InWords, "cobre": search.NoMatch, "minas -azafran": search.NoMatch, "Minas de Azafrán, S.A.": search.InName,
	} {
		if got := search.Parse(query).Rank(e); got != want {
			t.Errorf("%q ranks %d, want %d", query, got, want)
		}
	}
}

func FuzzQuery(f *testing.F) {
	for _, s := range []string{"a", "-\"", "««»", "S.A.", "-", "\xff-\x00", "oir-40374", "\"a b\" -c d"} {
		f.Add(s)
	}
	analyzed := search.NewDirectory([]*search.Issuer{search.NewIssuer(issuer)}).Analyze(report)
	f.Fuzz(func(t *testing.T, s string) {
		found := search.Compile(disclosure.Filter{Search: s}).Match(analyzed)
		if again := search.Compile(disclosure.Filter{Search: s + " "}).Match(analyzed); again != found {
			t.Errorf("%q: a space at the end changes the answer", s)
		}
	})
}
