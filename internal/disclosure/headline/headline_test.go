package headline_test

import (
	"maps"
	"math/big"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pregon/internal/disclosure"
	"pregon/internal/disclosure/headline"
)

// fact makes a fact of a kind from "name=value" pairs that are separated by "; ".
func fact(kind disclosure.FactKind, fields string) disclosure.Fact {
	f := disclosure.Fact{Kind: kind, Fields: map[string]string{}}
	for pair := range strings.SplitSeq(fields, "; ") {
		if name, value, ok := strings.Cut(pair, "="); ok {
			f.Fields[name] = value
		}
	}
	return f
}

func TestHeadlines(t *testing.T) {
	tests := []struct {
		kind                                  disclosure.FactKind
		fields                                string
		spanish, english, lineES, lineEnglish string
	}{
		{
			"dividend", "gross_per_share=0.25; currency=EUR; ex_date=2026-12-15; payment_date=2026-12-17",
			"Dividendo bruto de 0,25 euros por acción; fecha ex-dividendo el 15 de diciembre de 2026, pago el 17 de diciembre",
			"Dividend of €0.25 gross per share; ex-date 15 December 2026, payment 17 December",
			"0,25 € · ex 15 dic · pago 17 dic",
			"€0.25 · ex 15 Dec · paid 17 Dec",
		},
		{
			"dividend", "gross_per_share=0.0850; currency=CHF; form=cash; ex_date=2026-12-30; record_date=2026-12-31; payment_date=2027-01-04",
			"Dividendo bruto en efectivo de 0,085 CHF por acción; fecha ex-dividendo el 30 de diciembre de 2026, " +
				"registro el 31 de diciembre, pago el 4 de enero de 2027",
			"Cash dividend of CHF 0.085 gross per share; ex-date 30 December 2026, record date 31 December, payment 4 January 2027",
			"0,085 CHF · ex 30 dic · pago 4 ene",
			"CHF 0.085 · ex 30 Dec · paid 4 Jan",
		},
		{
			"dividend", "gross_per_share=0.25; record_date=2026-12-16", // in which currency?
			"Dividendo: registro el 16 de diciembre de 2026",
			"Dividend: record date 16 December 2026",
			"dividendo · registro 16 dic",
			"dividend · record 16 Dec",
		},
		{
			"dividend", "gross_per_share=1.00; currency=EUR; form=scrip",
			"Dividendo bruto en acciones (scrip) de 1 euro por acción",
			"Scrip dividend of €1 gross per share",
			"1 €",
			"€1",
		},
		{"dividend", "gross_per_share=-0.25; currency=EUR", "", "", "", ""},
		{
			"meeting", "meeting_kind=ordinary; first_call=2026-06-18T12:00; second_call=2026-06-19T12:00",
			"Junta general ordinaria: primera convocatoria el 18 de junio de 2026 a las 12:00, " +
				"segunda convocatoria el 19 de junio a las 12:00",
			"Ordinary general meeting: first call 18 June 2026 at 12:00, second call 19 June at 12:00",
			"junta ordinaria · 18 jun 12:00 · segunda convocatoria 19 jun 12:00",
			"ordinary meeting · 18 Jun 12:00 · second call 19 Jun 12:00",
		},
		{
			"meeting", "second_call=2026-06-19",
			"Junta o asamblea: segunda convocatoria el 19 de junio de 2026",
			"Meeting: second call 19 June 2026",
			"junta o asamblea · segunda convocatoria 19 jun",
			"meeting · second call 19 Jun",
		},
		{"meeting", "first_call=2026-02-30; second_call=soon", "", "", "", ""},
		{
			"results", "period=2026-H1; revenue=1284600000; ebitda=210000000; net_profit=-12300000; currency=EUR",
			"Resultados del primer semestre de 2026: ingresos de 1.284,6 millones de euros, EBITDA de 210 millones de euros, " +
				"pérdida neta de 12,3 millones de euros",
			"Results for the first half of 2026: revenue of €1,284.6 million, EBITDA of €210 million, net loss of €12.3 million",
			"1S 2026 · ingresos 1.284,6 M€ · EBITDA 210 M€ · pérdida neta 12,3 M€",
			"H1 2026 · revenue €1,284.6m · EBITDA €210m · net loss €12.3m",
		},
		{
			"results", "period=2025; revenue=1284612345; ebitda=-1000000; net_profit=0; currency=USD",
			"Resultados de 2025: ingresos de 1.284.612.345 dólares estadounidenses, " +
				"EBITDA negativo de 1 millón de dólares estadounidenses, resultado neto de 0 dólares estadounidenses",
			"Results for 2025: revenue of $1,284,612,345, negative EBITDA of $1 million, net result of $0",
			"2025 · ingresos 1.284.612.345 $ · EBITDA -1 M$ · resultado neto 0 $",
			"2025 · revenue $1,284,612,345 · EBITDA -$1m · net result $0",
		},
		{
			"results", "period=2026-9M; net_profit=-5000000", // in which currency?
			"Resultados de los nueve primeros meses de 2026",
			"Results for the first nine months of 2026",
			"",
			"",
		},
		{
			"results", "net_profit=85312300; currency=GBP; period=2026-X",
			"Resultados: beneficio neto de 85,3123 millones de libras esterlinas",
			"Results: net profit of £85.3123 million",
			"beneficio neto 85,3123 M£",
			"net profit £85.3123m",
		},
		{
			"buyback_programme", "event=start; max_amount=50000000; currency=EUR; max_shares=3000000; ends_on=2027-12-31",
			"Inicio de un programa de recompra de acciones por un máximo de 50 millones de euros y 3.000.000 de acciones; " +
				"fecha de fin, 31 de diciembre de 2027",
			"Start of a share buy-back programme of up to €50 million and 3,000,000 shares; end date 31 December 2027",
			"inicio de la recompra · máx. 50 M€ · máx. 3.000.000 de acciones · fin 31 dic 2027",
			"buy-back starts · max. €50m · max. 3,000,000 shares · end 31 Dec 2027",
		},
		{
			"buyback_programme", "event=suspension",
			"Suspensión de un programa de recompra de acciones",
			"Suspension of a share buy-back programme",
			"recompra suspendida",
			"buy-back suspended",
		},
		{
			"buyback_programme", "event=resumption; max_shares=3500000",
			"Reanudación de un programa de recompra de acciones por un máximo de 3.500.000 acciones",
			"Resumption of a share buy-back programme of up to 3,500,000 shares",
			"recompra reanudada · máx. 3.500.000 acciones",
			"buy-back resumed · max. 3,500,000 shares",
		},
		{
			"buyback_programme", "event=change; ends_on=2027-06-30",
			"Modificación de un programa de recompra de acciones; fecha de fin, 30 de junio de 2027",
			"Change to a share buy-back programme; end date 30 June 2027",
			"recompra modificada · fin 30 jun 2027",
			"buy-back changed · end 30 Jun 2027",
		},
		{
			"buyback_programme", "event=end; max_amount=1000000; currency=EUR",
			"Fin de un programa de recompra de acciones por un máximo de 1 millón de euros",
			"End of a share buy-back programme of up to €1 million",
			"fin de la recompra · máx. 1 M€",
			"buy-back ends · max. €1m",
		},
		{
			"buyback_trades", "from=2026-11-09; to=2026-11-13; shares=12345; amount=1234567.8; currency=EUR",
			"Recompra de 12.345 acciones por 1.234.567,80 euros del 9 al 13 de noviembre de 2026",
			"Buy-back of 12,345 shares for €1,234,567.80 from 9 to 13 November 2026",
			"12.345 acciones · 1.234.567,80 € · 9–13 nov",
			"12,345 shares · €1,234,567.80 · 9–13 Nov",
		},
		{
			"buyback_trades", "from=2026-12-28; to=2027-01-04; shares=1",
			"Recompra de 1 acción del 28 de diciembre de 2026 al 4 de enero de 2027",
			"Buy-back of 1 share from 28 December 2026 to 4 January 2027",
			"1 acción · 28 dic 2026 – 4 ene 2027",
			"1 share · 28 Dec 2026 – 4 Jan 2027",
		},
		{
			"buyback_trades", "from=2026-11-13; to=2026-11-09; amount=500; currency=EUR", // the wrong way round
			"Recompra de acciones por 500 euros",
			"Buy-back of shares for €500",
			"500 €",
			"€500",
		},
		{
			"voting_rights", "shares=12345678; voting_rights=12400000; capital=1234567.80; currency=EUR; as_of=2026-10-31",
			"Totales: 12.345.678 acciones, 12.400.000 derechos de voto, capital social de 1.234.567,80 euros, a 31 de octubre de 2026",
			"Totals: 12,345,678 shares, 12,400,000 voting rights, share capital of €1,234,567.80, as of 31 October 2026",
			"12.345.678 acciones · 12.400.000 votos · capital 1.234.567,80 € · a 31 oct 2026",
			"12,345,678 shares · 12,400,000 votes · capital €1,234,567.80 · as of 31 Oct 2026",
		},
		{"voting_rights", "as_of=2026-10-31; currency=EUR", "", "", "", ""},
		{
			"capital", "action=increase; new_shares=2400000; amount=1200000; price=3.45; capital_after=45000000; currency=EUR",
			"Aumento de capital por un nominal de 1,2 millones de euros, con 2.400.000 acciones nuevas, " +
				"a un precio de 3,45 euros por acción; capital resultante de 45 millones de euros",
			"Capital increase of €1.2 million nominal, with 2,400,000 new shares, at €3.45 per share; capital afterwards €45 million",
			"aumento de capital · nominal 1,2 M€ · 2.400.000 acciones nuevas · 3,45 € por acción", // more is too long
			"capital increase · nominal €1.2m · 2,400,000 new shares · €3.45 per share · capital afterwards €45m",
		},
		{
			"capital", "action=reduction; new_shares=2400000; amount=1200000; price=3.45; currency=EUR",
			"Reducción de capital por un nominal de 1,2 millones de euros",
			"Capital reduction of €1.2 million nominal",
			"reducción de capital · nominal 1,2 M€",
			"capital reduction · nominal €1.2m",
		},
		{
			"suspension", "action=suspended; at=2026-11-18T10:30",
			"Negociación suspendida con efectos del 18 de noviembre de 2026 a las 10:30",
			"Trading suspended with effect from 18 November 2026 at 10:30",
			"negociación suspendida · 18 nov 10:30",
			"trading suspended · 18 Nov 10:30",
		},
		{
			"suspension", "action=lifted; at=2026-11-18",
			"Suspensión de la negociación levantada con efectos del 18 de noviembre de 2026",
			"Suspension of trading lifted with effect from 18 November 2026",
			"suspensión levantada · 18 nov",
			"suspension lifted · 18 Nov",
		},
		{
			"suspension", "action=excluded",
			"Exclusión de la negociación", "Exclusion from trading", "exclusión de negociación", "exclusion from trading",
		},
		{"suspension", "at=2026-11-18T10:30", "", "", "", ""},
		{
			"board", "action=appointed; person=Leonor Castaño; role=Consejera independiente; effective=2027-01-01",
			"Nombramiento de Leonor Castaño como Consejera independiente, con efectos del 1 de enero de 2027",
			"Appointment of Leonor Castaño as independent director, effective 1 January 2027",
			"nombramiento · Leonor Castaño · Consejera independiente",
			"appointed · Leonor Castaño · independent director",
		},
		{
			"board", "action=resigned; person=Íñigo\nGil; role=independent director",
			"Dimisión de Íñigo Gil como «independent director»",
			"Resignation of Íñigo Gil as independent director",
			"dimisión · Íñigo Gil · «independent director»",
			"resigned · Íñigo Gil · independent director",
		},
		{
			"board", "action=removed; role=vocal suplente",
			"Cese como «vocal suplente»", "Removal as “vocal suplente”", "cese · «vocal suplente»", "removed · “vocal suplente”",
		},
		{"board", "action=reelected; person=Ana Gil", "Reelección de Ana Gil", "Re-election of Ana Gil", "reelección · Ana Gil", "re-elected · Ana Gil"},
		{"board", "person=Ana Gil; role=consejera", "", "", "", ""}, // what happened?
		{"board", "action=appointed; person=Ana \u202eGil", "", "", "", ""},
		{
			"rating", "agency=Fiel Ratings; action=upgrade; rating=Baa1; outlook=stable",
			"Calificación crediticia elevada a Baa1 por Fiel Ratings, perspectiva estable",
			"Credit rating upgraded to Baa1 by Fiel Ratings, stable outlook",
			"sube a Baa1 · perspectiva estable · Fiel Ratings",
			"upgraded to Baa1 · stable outlook · Fiel Ratings",
		},
		{
			"rating", "action=downgrade; outlook=negative",
			"Calificación crediticia rebajada, perspectiva negativa",
			"Credit rating downgraded, negative outlook",
			"perspectiva negativa",
			"negative outlook",
		},
		{
			"rating", "action=affirmed; rating=BBB-; outlook=positive",
			"Calificación crediticia confirmada en BBB-, perspectiva positiva",
			"Credit rating affirmed at BBB-, positive outlook",
			"confirmada en BBB- · perspectiva positiva",
			"affirmed at BBB- · positive outlook",
		},
		{
			"rating", "action=review; rating=BBB-",
			"Calificación crediticia BBB- puesta en revisión", "Credit rating BBB- placed under review",
			"en revisión: BBB-", "under review: BBB-",
		},
		{
			"rating", "action=assigned; rating=BBB-; outlook=developing",
			"Calificación crediticia BBB- asignada, perspectiva en desarrollo",
			"Credit rating BBB- assigned, developing outlook",
			"asignada: BBB- · perspectiva en desarrollo",
			"assigned: BBB- · developing outlook",
		},
		{
			"rating", "action=withdrawn; rating=BBB-; outlook=stable",
			"Calificación crediticia BBB- retirada", "Credit rating BBB- withdrawn", "retirada: BBB-", "withdrawn: BBB-",
		},
		{"rating", "agency=Fiel Ratings", "", "", "", ""},
		{
			"takeover", "action=announced; bidder=Aceros Valdebrisa, S.A.; target=Naviera Sotohondo, S.A.; price=10.5; currency=EUR",
			"Oferta pública de adquisición de Aceros Valdebrisa, S.A. sobre Naviera Sotohondo, S.A. anunciada, a 10,50 euros por acción",
			"Takeover bid by Aceros Valdebrisa, S.A. for Naviera Sotohondo, S.A. announced, at €10.50 per share",
			"OPA anunciada · 10,50 € por acción · sobre Naviera Sotohondo, S.A. · de Aceros Valdebrisa, S.A.",
			"bid announced · €10.50 per share · for Naviera Sotohondo, S.A. · by Aceros Valdebrisa, S.A.",
		},
		{
			"takeover", "action=result; target=Naviera Sotohondo; acceptance=87.30",
			"Resultado de la oferta pública de adquisición sobre Naviera Sotohondo; aceptación del 87,3 %",
			"Result of the takeover bid for Naviera Sotohondo; acceptance of 87.3%",
			"resultado de la OPA · aceptación 87,3 % · sobre Naviera Sotohondo",
			"result of the bid · acceptance 87.3% · for Naviera Sotohondo",
		},
		{
			"takeover", "action=withdrawn", "Oferta pública de adquisición retirada", "Takeover bid withdrawn",
			"OPA retirada", "bid withdrawn",
		},
		{
			"takeover", "action=authorised; acceptance=1234567", // a number of shares is no percentage
			"Oferta pública de adquisición autorizada", "Takeover bid authorised", "OPA autorizada", "bid authorised",
		},
		{
			"takeover", "action=accepted; bidder=Aceros", "Oferta pública de adquisición de Aceros aceptada",
			"Takeover bid by Aceros accepted", "OPA aceptada · de Aceros", "bid accepted · by Aceros",
		},
		{
			"liquidity_contract", "from=2026-07-01; to=2026-09-30; bought=12345; sold=1; balance_shares=34000; " +
				"balance_cash=750000.12; currency=EUR",
			"Contrato de liquidez del 1 de julio al 30 de septiembre de 2026: 12.345 acciones compradas, 1 acción vendida, " +
				"saldo de 34.000 acciones y 750.000,12 euros en efectivo",
			"Liquidity contract from 1 July to 30 September 2026: 12,345 shares bought, 1 share sold, " +
				"balance of 34,000 shares and €750,000.12 in cash",
			"12.345 acciones compradas · 1 acción vendida · saldo 34.000 acciones · efectivo 750.000,12 € · 1 jul – 30 sep",
			"12,345 shares bought · 1 share sold · balance 34,000 shares · cash €750,000.12 · 1 Jul – 30 Sep",
		},
		{
			"securitisation_payment", "payment_date=2026-12-15",
			"Pago a los tenedores de los bonos del fondo el 15 de diciembre de 2026",
			"Payment to the holders of the fund's bonds on 15 December 2026",
			"pago 15 dic",
			"payment 15 Dec",
		},
		{"unknown", "amount=5; currency=EUR", "", "", "", ""},
	}
	for _, test := range tests {
		facts := []disclosure.Fact{fact(test.kind, test.fields)}
		for _, c := range [][2]string{
			{headline.Spanish(facts), test.spanish},
			{headline.English(facts), test.english},
			{headline.Line(facts, "es"), test.lineES},
			{headline.Line(facts, "en"), test.lineEnglish},
		} {
			if c[0] != c[1] {
				t.Errorf("%s %s:\n got %s\nwant %s", test.kind, test.fields, c[0], c[1])
			}
		}
	}
}

// TestSeveral: the most important facts come first, none is repeated, and there are two
// sentences at most.
func TestSeveral(t *testing.T) {
	facts := []disclosure.Fact{
		fact("meeting", "meeting_kind=ordinary"),
		fact("dividend", "gross_per_share=0.1; currency=EUR"),
		fact("dividend", "gross_per_share=0.1; currency=EUR"),
		fact("results", "period=2026"),
		fact("board", ""),
	}
	if got, want := headline.English(facts), "Results for 2026. Dividend of €0.10 gross per share"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := headline.Line(facts, "en"), "€0.10"; got != want { // the period alone is no line
		t.Errorf("got %s, want %s", got, want)
	}
	if facts[0].Kind != disclosure.Meeting {
		t.Error("the facts of the caller were sorted")
	}
	for _, none := range [][]disclosure.Fact{nil, {}, {{Kind: disclosure.Dividend}}} {
		if got := headline.Spanish(none) + headline.English(none) + headline.Line(none, "es"); got != "" {
			t.Errorf("%v: %s", none, got)
		}
	}
}

// samples has values for every field, so that those of one draw differ from each other.
var samples = map[string][]string{
	"meeting_kind": {"ordinary", "extraordinary", "bondholders"},
	"form":         {"cash", "scrip"},
	"event":        {"start", "end", "suspension", "resumption", "change"},
	"currency":     {"EUR", "USD", "GBP", "CHF"},
	"period":       {"2026", "2025-H1", "2026-9M", "2024-Q3"},
	"person":       {"Leonor Castaño", strings.Repeat("á", 40)},
	"role":         {"consejera delegada", "chief executive officer", "vocal", strings.Repeat("é", 40)},
	"agency":       {"Fiel Ratings", strings.Repeat("í", 40)},
	"rating":       {"BBB+", "AA"},
	"outlook":      {"stable", "positive", "negative", "developing"},
	"bidder":       {"Aceros Valdebrisa, S.A.", strings.Repeat("ó", 40)},
	"target":       {"Naviera Sotohondo", strings.Repeat("ú", 40)},
}

var actions = map[disclosure.FactKind][]string{
	disclosure.Capital:    {"increase", "reduction"},
	disclosure.Suspension: {"suspended", "lifted", "excluded"},
	disclosure.Board:      {"appointed", "reelected", "resigned", "removed"},
	disclosure.Rating:     {"upgrade", "downgrade", "affirmed", "review", "assigned", "withdrawn"},
	disclosure.Takeover:   {"announced", "authorised", "accepted", "withdrawn", "result"},
}

var dateFields = []string{
	"ex_date", "record_date", "payment_date", "first_call", "second_call", "ends_on", "from", "to", "as_of", "at", "effective",
}

// sample draws a value for a field.
func sample(random *rand.Rand, kind disclosure.FactKind, field string) string {
	if field == "action" {
		return actions[kind][random.IntN(len(actions[kind]))]
	}
	if values := samples[field]; values != nil {
		return values[random.IntN(len(values))]
	}
	pad := func(n int) string { return strconv.Itoa(100 + n)[1:] }
	if slices.Contains(dateFields, field) {
		date := strconv.Itoa(2025+random.IntN(3)) + "-" + pad(1+random.IntN(12)) + "-" + pad(1+random.IntN(28))
		if strings.HasSuffix(field, "_call") || field == "at" {
			date += []string{"", "T09:30", "T17:05"}[random.IntN(3)]
		}
		return date
	}
	if field == "acceptance" {
		return strconv.Itoa(random.IntN(100)) + "." + pad(random.IntN(100))
	}
	number := strconv.FormatInt(1+random.Int64N(1<<[]int{1, 10, 24, 40, 50}[random.IntN(5)]), 10)
	switch random.IntN(4) {
	case 0:
		number += "00000"[:random.IntN(6)]
	case 1:
		if !strings.Contains(field, "shares") && field != "bought" && field != "sold" && field != "voting_rights" {
			number = number[:min(len(number), 12)] + "." + pad(random.IntN(100)) + strconv.Itoa(random.IntN(10))
		}
	}
	if (field == "net_profit" || field == "ebitda") && random.IntN(2) == 0 {
		number = "-" + number
	}
	return number
}

// TestEverySubset writes every kind with every subset of its fields, with many values:
// the text is well formed and bounded, and each number and date in it is one of the fact.
func TestEverySubset(t *testing.T) {
	random := rand.New(rand.NewPCG(39, 3))
	for _, kind := range disclosure.FactKinds() {
		names := kind.Fields()
		said := 0
		for set := range 1 << len(names) {
			for range 12 {
				f := disclosure.Fact{Kind: kind, Fields: map[string]string{}}
				for i, name := range names {
					if set&(1<<i) != 0 {
						f.Fields[name] = sample(random, kind, name)
					}
				}
				facts := []disclosure.Fact{f}
				if es, en := headline.Spanish(facts), headline.English(facts); (es == "") != (en == "") {
					t.Fatalf("%v: %q and %q", f, es, en)
				}
				check(t, f, headline.Spanish(facts), true, 300)
				check(t, f, headline.English(facts), false, 300)
				check(t, f, headline.Line(facts, "es"), true, 120)
				check(t, f, headline.Line(facts, "en"), false, 120)
				if headline.Spanish(facts) != "" {
					said++
				}
			}
		}
		if said == 0 {
			t.Errorf("%s is never mentioned", kind)
		}
		// With all fields there is always a sentence: the bounds leave room for the longest.
		all := disclosure.Fact{Kind: kind, Fields: map[string]string{}}
		for _, name := range names {
			all.Fields[name] = sample(random, kind, name)
		}
		if headline.Spanish([]disclosure.Fact{all}) == "" {
			t.Errorf("%v has no sentence", all)
		}
	}
}

var (
	malformed = regexp.MustCompile(`  |^\W*[,;:.·]|[,;:·] ?$| [,;:]|[,;:] ?[,;:·]|· *·| (de|a|el|of|to|at|by|on) ?([,;·]|$)`)
	periods   = regexp.MustCompile(`\b(H[12]|Q[1-4]|[12]S|[1-4]T|9M) `)
	clocks    = regexp.MustCompile(`\d\d:\d\d`)
	dates     = regexp.MustCompile(`(\d{1,2})(?: de)? (\p{L}+)(?:(?: de)? (\d{4})\b)?`)
	numbers   = regexp.MustCompile(`\d[\d.,]*\d|\d`)
	millions  = regexp.MustCompile(`^( mill| M[€$£ ]|m\b)`)
)

var months = strings.Fields("ene jan 1 feb feb 2 mar mar 3 abr apr 4 may may 5 jun jun 6 jul jul 7 ago aug 8 sep sep 9 oct oct 10 nov nov 11 dic dec 12")

// monthOf returns the month of a word, or 0.
func monthOf(word string) int {
	if utf8.RuneCountInString(word) < 3 {
		return 0
	}
	if i := slices.Index(months, strings.ToLower(word)[:3]); i >= 0 {
		return i/3 + 1
	}
	return 0
}

// check reports what is wrong with a text about a fact.
func check(t *testing.T, f disclosure.Fact, got string, spanish bool, most int) {
	t.Helper()
	if len(got) > most || malformed.MatchString(got) {
		t.Fatalf("%v: %q has %d bytes, or is malformed", f, got, len(got))
	}
	var days, bareDays, times []string // YYYY-MM-DD and MM-DD as the text may have them
	values := map[string]bool{}
	for name, value := range f.Fields {
		day, clock, _ := strings.Cut(value, "T")
		if slices.Contains(dateFields, name) {
			parts := strings.Split(day, "-")
			month, _ := strconv.Atoi(parts[1])
			dayOfMonth, _ := strconv.Atoi(parts[2])
			short := strconv.Itoa(month) + "-" + strconv.Itoa(dayOfMonth)
			days = append(days, parts[0]+"-"+short, short)
			bareDays = append(bareDays, strconv.Itoa(dayOfMonth))
			times = append(times, clock)
		} else if x, ok := new(big.Rat).SetString(value); ok && name != "period" {
			values[x.Abs(x).RatString()] = true
		}
		if name == "period" {
			values[value[:4]] = true
		}
	}
	rest := periods.ReplaceAllString(got, "")
	rest = clocks.ReplaceAllStringFunc(rest, func(clock string) string {
		if !slices.Contains(times, clock) {
			t.Fatalf("%v: %q has the time %s", f, got, clock)
		}
		return ""
	})
	rest = dates.ReplaceAllStringFunc(rest, func(date string) string {
		m := dates.FindStringSubmatch(date)
		month := monthOf(m[2])
		if month == 0 {
			return date
		}
		day := strconv.Itoa(month) + "-" + m[1]
		if m[3] != "" {
			day = m[3] + "-" + day
		}
		if !slices.Contains(days, day) {
			t.Fatalf("%v: %q has the date %s", f, got, day)
		}
		return ""
	})
	for _, at := range numbers.FindAllStringIndex(rest, -1) {
		number, after := rest[at[0]:at[1]], rest[at[1]:]
		isDay := slices.Contains(bareDays, number) &&
			(strings.HasPrefix(after, " al ") || strings.HasPrefix(after, " to ") || strings.HasPrefix(after, "–"))
		if isDay {
			continue
		}
		if spanish {
			number = strings.NewReplacer(".", "", ",", ".").Replace(number)
		} else {
			number = strings.ReplaceAll(number, ",", "")
		}
		x, ok := new(big.Rat).SetString(number)
		if !ok {
			t.Fatalf("%v: %q has %q", f, got, number)
		}
		if millions.MatchString(after) {
			x.Mul(x, big.NewRat(1_000_000, 1))
		}
		if !values[x.RatString()] {
			t.Fatalf("%v: %q has the number %s, which is none of %v", f, got, x.RatString(), slices.Collect(maps.Keys(values)))
		}
	}
}

// FuzzHeadline: whatever an import gives a fact, the text is bounded and can be printed.
func FuzzHeadline(f *testing.F) {
	f.Add("board", "action", "appointed", "person", "Ana \x00 Gil")
	f.Add("dividend", "gross_per_share", "99999999999999999999999", "currency", "EUR")
	f.Add("results", "net_profit", "-0.0", "currency", "EUR")
	f.Add("takeover", "bidder", strings.Repeat("\xff", 70), "target", strings.Repeat("ñ", 41))
	f.Add("meeting", "first_call", "2026-06-18T9:00", "second_call", "0000-00-00T24:00")
	f.Fuzz(func(t *testing.T, kind, name1, value1, name2, value2 string) {
		facts := []disclosure.Fact{{Kind: disclosure.FactKind(kind), Fields: map[string]string{name1: value1, name2: value2}}}
		for _, got := range []string{
			headline.Spanish(facts),
			headline.English(facts),
			headline.Line(facts, "es"),
			headline.Line(facts, "en"),
		} {
			if len(got) > 300 || !utf8.ValidString(got) || strings.ContainsFunc(got, unicode.IsControl) {
				t.Errorf("%v: %q", facts, got)
			}
		}
	})
}
