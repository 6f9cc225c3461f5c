package statement_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/sim/market"
	"pregon/internal/sim/paper/statement"
)

// reportsOfMarket returns two years of a market, all with documents.
func reportsOfMarket() []disclosure.Report {
	until := time.Date(2026, 10, 1, 0, 0, 0, 0, disclosure.Madrid)
	return market.New(1).History(until.AddDate(-2, 0, 0), until)
}

// TestOf checks the documents of a market: they are those of their reports, and all
// kinds of facts are among them.
func TestOf(t *testing.T) {
	kinds := map[string]int{}
	languages := map[string]int{}
	total := 0
	for _, r := range reportsOfMarket() {
		d, ok := statement.Of(&r, 1)
		if !ok {
			continue
		}
		total++
		kinds[d.Kind]++
		languages[d.Language]++
		at := r.PublishedAt.In(disclosure.Madrid)
		if d.Title != r.Title || d.Company != r.CompanyName || d.Category != r.Category ||
			d.Day.Format(time.DateOnly) != at.Format(time.DateOnly) {
			t.Fatalf("%s %s %s: got the document %s %s %s of %v", r.ID, r.CompanyName, r.Title,
				d.Company, d.Title, d.Category, d.Day)
		}
		if d.Kind == "results" && strings.Contains(r.Title, "ensayo") {
			t.Errorf("%s %s: got results of a period, want none of a clinical trial", r.ID, r.Title)
		}
		if len(d.Facts) != 1 || d.Facts[0].Kind != d.Kind {
			t.Fatalf("%s %s: got the facts %v", r.ID, r.Title, d.Facts)
		}
		text := strings.Join(d.Pages(), "\n\n")
		if !strings.Contains(text, strings.TrimPrefix(r.Title, market.Mark)) || !strings.Contains(text, r.CompanyName) {
			t.Fatalf("%s does not have its title %s: %s", r.ID, r.Title, text)
		}
		folded := strings.ToLower(text)
		for field, value := range d.Facts[0].Fields {
			if !occurs(folded, field, value) && field != "second_call" { // which is "al día siguiente"
				t.Fatalf("%s: %s %q is not in the text: %s", r.ID, field, value, text)
			}
		}
		checkFuture(t, &d)
		if again, _ := statement.Of(&r, 1); !reflect.DeepEqual(d, again) {
			t.Fatalf("%s: got two different documents", r.ID)
		}
	}
	t.Log(kinds, languages)
	for _, kind := range statement.Kinds() {
		if kinds[kind] == 0 {
			t.Errorf("no report states %s", kind)
		}
	}
	if es, en, ca := languages["es"], languages["en"], languages["ca"]; en == 0 || ca == 0 || en < ca || es < 3*(en+ca) {
		t.Errorf("got %v of %d, want most in Spanish, some in English, a few in Catalan", languages, total)
	}
}

// checkFuture checks that what a document announces is still to come.
func checkFuture(t *testing.T, d *statement.Document) {
	t.Helper()
	day := d.Day.Format(time.DateOnly)
	for _, field := range []string{"ex_date", "record_date", "first_call", "second_call", "ends_on"} {
		if value := d.Facts[0].Fields[field]; value != "" && value <= day {
			t.Errorf("%s of %s: got %s %s", d.Voice, day, field, value)
		}
	}
	fields := d.Facts[0].Fields
	dates := []string{fields["ex_date"], fields["record_date"], fields["payment_date"]}
	dates = slices.DeleteFunc(dates, func(s string) bool { return s == "" })
	if !slices.IsSorted(dates) {
		t.Errorf("%s: got the days %v", d.Voice, dates)
	}
}

// TestOfTakesTheValuesOfTheTitle has titles with values, which the fact has.
func TestOfTakesTheValuesOfTheTitle(t *testing.T) {
	for _, test := range []struct {
		title string
		kind  string
		want  map[string]string
	}{
		{
			"Pago de dividendo: importe bruto de 0,085 euros por acción y fecha de abono el 17 de junio de 2026",
			"dividend",
			map[string]string{"gross_per_share": "0.085", "payment_date": "2026-06-17", "currency": "EUR", "form": "cash"},
		},
		{
			"Convocatoria de la Junta General Extraordinaria de Accionistas, prevista para el 16 de junio de 2026 en " +
				"primera convocatoria y, en su caso, al día siguiente en segunda",
			"meeting",
			map[string]string{"meeting_kind": "extraordinary", "first_call": "2026-06-16", "second_call": "2026-06-17"},
		},
		{
			"Inicio de un programa de recompra de acciones por un importe máximo de 1.250 millones de euros",
			"buyback_programme",
			map[string]string{"event": "start", "max_amount": "1250000000", "currency": "EUR"},
		},
		{
			"Operaciones realizadas entre el 4 y el 8 de mayo de 2026 en el marco del programa de recompra de " +
				"acciones propias",
			"buyback_trades",
			map[string]string{"from": "2026-05-04", "to": "2026-05-08"},
		},
		{
			"Número total de derechos de voto: 45.120.300",
			"voting_rights",
			map[string]string{"voting_rights": "45120300"},
		},
		{
			"Admisión a negociación de 4.512.000 acciones nuevas procedentes del aumento de capital",
			"capital",
			map[string]string{"action": "increase", "new_shares": "4512000"},
		},
		{
			"Se levanta, con efectos desde las 9:30 horas, la suspensión de la negociación de las acciones de Xxx, S.A.",
			"suspension",
			map[string]string{"action": "lifted", "at": "2026-05-12T09:30"},
		},
		{
			"La sociedad comunica la dimisión de D.ª Inés Gil Belcarrón como consejera dominical",
			"board",
			map[string]string{"action": "resigned", "person": "Inés Gil Belcarrón"},
		},
		{
			"Ponderal Ratings ha rebajado la calificación crediticia a largo plazo de la sociedad de BBB a BBB-, con " +
				"perspectiva negativa",
			"rating",
			map[string]string{"agency": "Ponderal", "action": "downgrade", "rating": "BBB-", "outlook": "negative"},
		},
		{
			"Autorizada la oferta pública voluntaria de adquisición de acciones de Xxx, S.A. formulada por Yyy, S.A.",
			"takeover",
			map[string]string{"action": "authorised", "bidder": "Yyy, S.A.", "target": "Xxx, S.A."},
		},
		{
			"Gestora Uno, S.G.F.T., S.A. remite la información relativa a la fecha de pago del 8 de mayo de 2026",
			"securitisation_payment",
			map[string]string{"payment_date": "2026-05-08"},
		},
	} {
		made := 0
		for number := range int64(40) {
			r := disclosure.Report{
				Type:        disclosure.OIR,
				Number:      number,
				CompanyName: "Xxx, S.A.",
				Title:       market.Mark + test.title,
				PublishedAt: time.Date(2026, 5, 12, 10, 0, 0, 0, time.UTC),
			}
			d, ok := statement.Of(&r, 1)
			if !ok {
				continue
			}
			made++
			fields := d.Facts[0].Fields
			for field, want := range test.want {
				got := fields[field]
				if day, _, hasTime := strings.Cut(got, "T"); hasTime && len(want) == len(time.DateOnly) {
					got = day // the text may give the time
				}
				if got != want || d.Kind != test.kind {
					t.Errorf("%s, %s: got %s %s %q, want %q", test.title, d.Voice, d.Kind, field, got, want)
				}
			}
		}
		if made < 15 {
			t.Errorf("%s: got %d documents of 40", test.title, made)
		}
	}
}

// TestResultsOfAPeriodAgree has the three reports of a company about a period.
func TestResultsOfAPeriodAgree(t *testing.T) {
	seen := map[string]string{}
	for number := range int64(60) {
		r := disclosure.Report{
			Type:        disclosure.OIR,
			Number:      number,
			CompanyName: "Xxx, S.A.",
			Title:       market.Mark + "Informe de resultados del primer semestre de 2026",
			PublishedAt: time.Date(2026, 7, 22, 10, 0, 0, 0, time.UTC),
		}
		d, ok := statement.Of(&r, 1)
		if !ok {
			continue
		}
		for field, value := range d.Facts[0].Fields {
			if other, known := seen[field]; known && strings.TrimSuffix(other, ".0") != strings.TrimSuffix(value, ".0") {
				t.Errorf("%s: got %s %s and %s", d.Voice, field, value, other)
			}
			seen[field] = value
		}
	}
	if seen["period"] != "2026-H1" || seen["revenue"] == "" || seen["net_profit"] == "" {
		t.Errorf("got %v", seen)
	}
}
