package market_test

import (
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/disclosure"
	"pregon/internal/sim/market"
)

var today = time.Date(2026, 11, 15, 10, 0, 0, 0, time.UTC)

// whole returns the complete history of one market.
var whole = sync.OnceValue(func() []disclosure.Report { return market.New(1).History(time.Time{}, today) })

func TestHistoryAgreesWithItself(t *testing.T) {
	m := market.New(1)
	a := time.Date(2026, 2, 20, 9, 15, 0, 0, time.UTC)
	b := time.Date(2026, 2, 27, 8, 31, 12, 0, time.UTC)
	c := time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)
	full := m.History(a, c)
	if diff := cmp.Diff(full, append(m.History(a, b), m.History(b, c)...)); diff != "" {
		t.Errorf("two ranges differ from the whole: %s", diff)
	}
	if diff := cmp.Diff(full, market.New(1).History(a, c)); diff != "" {
		t.Errorf("the same seed gives another history: %s", diff)
	}
	if cmp.Equal(full, market.New(2).History(a, c)) {
		t.Error("two seeds give the same history")
	}
	all := whole()
	first := slices.IndexFunc(all, func(r disclosure.Report) bool { return r.ID == full[0].ID })
	if diff := cmp.Diff(full, all[first:first+len(full)]); diff != "" {
		t.Errorf("a later beginning changes the history: %s", diff)
	}
}

func TestHistoryHasEnds(t *testing.T) {
	m := market.New(1)
	if got := m.History(today, today); len(got) != 0 {
		t.Errorf("empty range: got %d reports, want 0", len(got))
	}
	if got := m.History(today, today.AddDate(-1, 0, 0)); len(got) != 0 {
		t.Errorf("reversed range: got %d reports, want 0", len(got))
	}
	if got := m.History(time.Time{}, time.Date(2020, 2, 7, 22, 0, 0, 0, time.UTC)); len(got) != 0 {
		t.Errorf("%d reports before the register began", len(got))
	}
	end := m.History(time.Date(2099, 12, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC))
	if len(end) == 0 {
		t.Error("the last month has no reports")
	}
	for _, r := range end {
		if err := r.Validate(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestNumbersAreDenseAndRise(t *testing.T) {
	next := map[disclosure.Type]int64{disclosure.IP: 1, disclosure.OIR: 1}
	var last time.Time
	for _, r := range whole() {
		if next[r.Type] == 0 {
			next[r.Type] = r.Number
		}
		if r.Number != next[r.Type] {
			t.Fatalf("got %s, want number %d", r.ID, next[r.Type])
		}
		next[r.Type]++
		if r.PublishedAt.Before(last) {
			t.Fatalf("%s was published before the one in front of it", r.ID)
		}
		last = r.PublishedAt
	}
	for series, near := range map[disclosure.Type]int64{disclosure.IP: 3400, disclosure.HR: 290_000, disclosure.OIR: 43_700} {
		if n := next[series]; n < near*94/100 || n > near*106/100 {
			t.Errorf("last number of %s: got %d, want about %d", series, n, near)
		}
	}
}

// The register's own spellings, stray spaces included.
var categories = []string{
	"Sobre negocio y situación financiera", "Sobre resultados ", "Sobre operaciones corporativas: fusiones, adquisiciones y otros",
	"Sobre ofertas públicas de adquisición de acciones", "Sobre instrumentos financieros",
	"Sobre colocaciones significativas de instrumentos financieros", "Sobre planes estratégicos y previsiones",
	"Sobre gobierno corporativo", "Sobre calificaciones crediticias", "Sobre situaciones concursales",
	"Fusión de IIC", "Baja/Disolución/Liquidación/Absorción", "Revocación de IIC", "Ecuación de canje definitiva en fusiones de IIC",
	"Rectificación Hecho Relevante", "Sustitución de Gestora o Depositario de IIC", "Otros hechos relevantes",
	"Otra información relevante", "Sobre operaciones corporativas", "Sobre Gobierno corporativo",
	"Sobre suspensiones, levantamientos y exclusiones de negociación", "Ofertas públicas de adquisición de acciones",
	"Ofertas públicas de suscripción y venta", "Programas de recompra de acciones, estabilización y autocartera",
	"Contratos de liquidez y contrapartida", "Convocatoria de Junta o Asamblea", "Comunicación de operaciones vinculadas",
	"Total número de derechos de voto y de capital  ", "Informes financieros anuales y de auditoría",
	"Informes financieros semestrales y de auditoría / revisiones limitadas", "Informe anual de gobierno corporativo",
	"Informe anual de remuneraciones de los consejeros", "Reglamentos del Consejo",
}

func TestReportsAreValid(t *testing.T) {
	known := map[string]string{} // names by id, and ids by name
	for _, i := range market.New(1).Issuers() {
		known[i.ID] = i.Ticker
		for _, name := range append([]string{i.Name}, i.FormerNames...) {
			known[fold(name)] = i.ID
		}
	}
	used := map[string]bool{}
	for _, r := range whole() {
		if err := r.Validate(); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(r.Title, "[Simulación] ") || strings.ContainsAny(r.Title, "{}") || strings.Contains(r.Title, "  ") {
			t.Errorf("%s: title %q", r.ID, r.Title)
		}
		if r.Summary != "" || r.PublishedAt.Nanosecond() != 0 {
			t.Errorf("%s: summary %q, published %v", r.ID, r.Summary, r.PublishedAt)
		}
		id := known[fold(r.CompanyName)]
		if key := r.IssuerKey(); id == "" || key != "" && key != id || r.Ticker != "" && r.Ticker != known[id] {
			t.Errorf("%s: %s, NIF %q, ticker %q is not in the directory", r.ID, r.CompanyName, r.NIF, r.Ticker)
		}
		first, second, _ := strings.Cut(r.Category, " - ")
		for _, category := range []string{first, second} {
			if category != "" && !slices.Contains(categories, category) {
				t.Errorf("%s: category %q", r.ID, r.Category)
			}
			used[category] = true
		}
		if !fictional(r.SourceURL) || r.PDFURL != "" && !fictional(r.PDFURL) {
			t.Errorf("%s: links %s %s", r.ID, r.SourceURL, r.PDFURL)
		}
	}
	for _, category := range categories {
		if !used[category] {
			t.Errorf("no report has the category %q", category)
		}
	}
}

func fictional(link string) bool {
	u, err := url.Parse(link)
	return err == nil && strings.HasSuffix(u.Hostname(), ".example")
}

func TestEveryTitleCanBeWritten(t *testing.T) {
	m := market.New(1)
	for _, s := range []string{"2020-02-10", "2026-08-09"} {
		day, _ := disclosure.ParseDay(s)
		for _, subject := range m.EveryTitle(day) { // an unknown blank panics
			if strings.ContainsAny(subject, "{}") || strings.Contains(subject, "  ") || strings.TrimSpace(subject) != subject {
				t.Errorf("%s: %q", s, subject)
			}
		}
	}
}

func TestRareForms(t *testing.T) {
	n := map[string]int{}
	for _, r := range whole() {
		n["all"]++
		for what, is := range map[string]bool{
			"document":   r.PDFURL != "",
			"no NIF":     r.NIF == "",
			"dash":       strings.Contains(r.NIF, "-"),
			"lower case": r.NIF != strings.ToUpper(r.NIF),
			"ticker":     r.Ticker != "",
			"two":        strings.Contains(r.Category, " - "),
			"spaces":     strings.HasSuffix(r.Category, " "),
		} {
			if is {
				n[what]++
			}
		}
	}
	for what, want := range map[string][2]float64{ // in percent
		"document": {77, 83}, "no NIF": {2, 4}, "dash": {15, 35}, "lower case": {1, 12}, "ticker": {1, 5}, "two": {4, 12}, "spaces": {1, 10},
	} {
		if got := 100 * float64(n[what]) / float64(n["all"]); got < want[0] || got > want[1] {
			t.Errorf("%s: %.1f %%, want %v", what, got, want)
		}
	}
}
