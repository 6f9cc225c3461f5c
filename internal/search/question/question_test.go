package question_test

import (
	"slices"
	"strings"
	"testing"

	"pregon/internal/disclosure"
	"pregon/internal/search"
	"pregon/internal/search/question"
)

// directory has issuers whose names are words of questions too.
var directory = search.NewDirectory([]*search.Issuer{
	search.NewIssuer(&disclosure.Issuer{ID: "A69000016", NIF: "A69000016", Name: "BODEGAS DE VALDEBRISA, S.A.", Ticker: "BVB"}),
	search.NewIssuer(&disclosure.Issuer{ID: "A69000024", NIF: "A69000024", Name: "COMPAÑÍA IMAGINARIA DE SEGUROS, S.A.", Ticker: "OPA"}),
	search.NewIssuer(&disclosure.Issuer{ID: "A69000032", NIF: "A69000032", Name: "ANDARÍN, S.A.", Ticker: "AND"}),
})

// day parses a day of a test.
func day(t *testing.T, s string) disclosure.Day {
	t.Helper()
	d, ok := disclosure.ParseDay(s)
	if !ok {
		t.Fatalf("%q is not a day", s)
	}
	return d
}

// Thursday 19 November 2026 is today, unless a test says otherwise.
const today = "2026-11-19"

func TestDays(t *testing.T) {
	for _, test := range []struct{ asked, today, want string }{
		{"What was announced today?", today, "2026-11-19 2026-11-19"},
		{"¿Qué se ha publicado hoy?", today, "2026-11-19 2026-11-19"},
		{"yesterday's buy-backs", today, "2026-11-18 2026-11-18"},
		{"dividendos de ayer", today, "2026-11-18 2026-11-18"},
		{"anteayer", today, "2026-11-17 2026-11-17"},
		{"the day before yesterday", today, "2026-11-17 2026-11-17"},
		{"buy-backs last week", today, "2026-11-09 2026-11-15"},
		{"buy-backs last week", "2026-11-16", "2026-11-09 2026-11-15"}, // a Monday
		{"buy-backs last week", "2026-11-15", "2026-11-02 2026-11-08"}, // a Sunday
		{"recompras de la semana pasada", today, "2026-11-09 2026-11-15"},
		{"this week", today, "2026-11-16 2026-11-22"},
		{"esta semana", today, "2026-11-16 2026-11-22"},
		{"during the past week", today, "2026-11-13 2026-11-19"},
		{"la última semana", today, "2026-11-13 2026-11-19"},
		{"this month", today, "2026-11-01 2026-11-30"},
		{"este mes", today, "2026-11-01 2026-11-30"},
		{"last month", today, "2026-10-01 2026-10-31"},
		{"last month", "2026-01-31", "2025-12-01 2025-12-31"},
		{"el mes pasado", "2026-03-31", "2026-02-01 2026-02-28"},
		{"last year", today, "2025-01-01 2025-12-31"},
		{"el año pasado", today, "2025-01-01 2025-12-31"},
		{"so far this year", today, "2026-01-01 2026-12-31"},
		{"en lo que va de año", today, "2026-01-01 2026-12-31"},
		{"last quarter", today, "2026-07-01 2026-09-30"},
		{"el trimestre pasado", "2026-02-01", "2025-10-01 2025-12-31"},
		{"in the last 30 days", today, "2026-10-21 2026-11-19"},
		{"los últimos 7 días", today, "2026-11-13 2026-11-19"},
		{"en las dos últimas semanas", today, "2026-11-06 2026-11-19"},
		{"últimos tres meses", today, "2026-08-20 2026-11-19"},
		{"past month", "2026-03-31", "2026-03-01 2026-03-31"}, // February has no 31st
		{"el último mes", "2026-03-31", "2026-03-01 2026-03-31"},
		{"last 3 months", "2026-05-31", "2026-03-01 2026-05-31"},
		{"los últimos 3 meses", "2026-05-31", "2026-03-01 2026-05-31"},
		{"last 6 months", "2026-12-31", "2026-07-01 2026-12-31"},
		{"los últimos dos trimestres", "2026-12-31", "2026-07-01 2026-12-31"},
		{"past year", "2028-02-29", "2027-03-01 2028-02-29"},
		{"el último año", "2028-02-29", "2027-03-01 2028-02-29"},
		{"past year", today, "2025-11-20 2026-11-19"},
		{"last 24 hours", today, "2026-11-18 2026-11-19"},
		{"in October", today, "2026-10-01 2026-10-31"},
		{"in December", today, "2025-12-01 2025-12-31"},
		{"en diciembre", today, "2025-12-01 2025-12-31"},
		{"November", today, "2026-11-01 2026-11-30"},
		{"en octubre de 2024", today, "2024-10-01 2024-10-31"},
		{"October 2024", today, "2024-10-01 2024-10-31"},
		{"in May", today, "2026-05-01 2026-05-31"},
		{"companies that may pay", today, ""},
		{"junta de mayo", today, "2026-05-01 2026-05-31"},
		{"in 2025", today, "2025-01-01 2025-12-31"},
		{"en 2025", today, "2025-01-01 2025-12-31"},
		{"since 2025", today, "2025-01-01 "},
		{"desde 2025", today, "2025-01-01 "},
		{"after 2024", today, "2025-01-01 "},
		{"before 2025", today, " 2024-12-31"},
		{"until 2025", today, " 2025-12-31"},
		{"hasta 2025", today, " 2025-12-31"},
		{"between 2024 and 2025", today, "2024-01-01 2025-12-31"},
		{"entre 2024 y 2025", today, "2024-01-01 2025-12-31"},
		{"from 2024 to March 2025", today, "2024-01-01 2025-03-31"},
		{"desde octubre de 2024 hasta 2025", today, "2024-10-01 2025-12-31"},
		{"resultados del 2025", today, ""},
		{"resultados 2025", today, ""}, // of the year, published in any
		{"on 5 October", today, "2026-10-05 2026-10-05"},
		{"October 5th, 2025", today, "2025-10-05 2025-10-05"},
		{"el 5 de octubre de 2025", today, "2025-10-05 2025-10-05"},
		{"5 de diciembre", today, "2025-12-05 2025-12-05"},
		{"29 February", today, "2024-02-29 2024-02-29"},
		{"el 29 de febrero", today, "2024-02-29 2024-02-29"},
		{"29 February", "2028-02-29", "2028-02-29 2028-02-29"},
		{"29 de febrero de 2020", today, "2020-02-29 2020-02-29"},
		{"since 29 February", today, "2024-02-29 "},
		{"on 2026-10-05", today, "2026-10-05 2026-10-05"},
		{"el 05/10/2026", today, "2026-10-05 2026-10-05"},
		{"since Monday", today, "2026-11-16 "},
		{"desde el 1 de noviembre", today, "2026-11-01 "},
		{"since October", today, "2026-10-01 "},
		{"until yesterday", today, " 2026-11-18"},
		{"before October", today, " 2026-09-30"},
		{"between 3 October and 9 October", today, "2026-10-03 2026-10-09"},
		{"from 3 to 9 October", today, "2026-10-03 2026-10-09"},
		{"del 3 al 9 de octubre", today, "2026-10-03 2026-10-09"},
		{"entre el 3 y el 9 de octubre de 2025", today, "2025-10-03 2025-10-09"},
		{"from 2026-10-01 to 2026-10-31", today, "2026-10-01 2026-10-31"},
		{"from 3 March to 5 April 2025", today, "2025-03-03 2025-04-05"},
		{"del 3 de marzo al 5 de abril de 2025", today, "2025-03-03 2025-04-05"},
		{"between January and March 2025", today, "2025-01-01 2025-03-31"},
		{"entre enero y marzo de 2025", today, "2025-01-01 2025-03-31"},
		{"from October to March 2025", today, "2024-10-01 2025-03-31"},
		{"desde octubre hasta marzo de 2025", today, "2024-10-01 2025-03-31"},
		{"from March to April 2027", today, "2027-03-01 2027-04-30"},
		{"del 20 de noviembre al 5 de diciembre de 2026", today, "2026-11-20 2026-12-05"},
		{"from 29 February to March 2026", today, "2024-02-29 2026-03-31"},
		{"from October to March", today, "2025-10-01 2026-03-31"},
		{"desde octubre hasta marzo", today, "2025-10-01 2026-03-31"},
		{"from January through March", today, "2026-01-01 2026-03-31"},
		{"from October to November", today, "2026-10-01 2026-11-30"},
		{"from December to this month", today, "2025-12-01 2026-11-30"},
		{"from 28 December to 3 January", "2027-01-02", "2026-12-28 2027-01-03"},
		{"del 28 de diciembre al 3 de enero", "2027-01-02", "2026-12-28 2027-01-03"},
		{"from 28 December to 3 January", "2027-01-03", "2026-12-28 2027-01-03"},
		{"since 28 December until yesterday", "2027-01-02", "2026-12-28 2027-01-01"},
		{"from 16 to 20 November", today, "2026-11-16 2026-11-20"},
		{"del 16 de noviembre al 5 de diciembre", today, "2026-11-16 2026-12-05"},
		{"from 1 to 5 December", today, "2025-12-01 2025-12-05"},
		{"from 1 December to 5 December", today, "2025-12-01 2025-12-05"},
		{"from Monday to Wednesday", today, "2026-11-16 2026-11-18"},
		{"from Monday to Friday", today, "2026-11-09 2026-11-13"},
		{"del lunes al viernes", today, "2026-11-09 2026-11-13"},
		{"on Monday", today, "2026-11-16 2026-11-16"},
		{"on Thursday", today, "2026-11-19 2026-11-19"},
		{"last Thursday", today, "2026-11-12 2026-11-12"},
		{"el viernes pasado", today, "2026-11-13 2026-11-13"},
		{"What was published two days ago?", today, "2026-11-17 2026-11-17"},
		{"hechos relevantes de hace dos días", today, "2026-11-17 2026-11-17"},
		{"buy-backs a week ago", today, "2026-11-09 2026-11-15"},
		{"recompras de hace 2 semanas", "2026-01-05", "2025-12-22 2025-12-28"},
		{"a month ago", "2026-03-31", "2026-02-01 2026-02-28"},
		{"hace un año", "2028-02-29", "2027-01-01 2027-12-31"},
		{"desde hace tres días", today, "2026-11-16 "},
		{"five hours ago", today, "2026-11-18 2026-11-19"},
		{"what happened this morning?", today, "2026-11-19 2026-11-19"},
		{"esta tarde", today, "2026-11-19 2026-11-19"},
		{"yesterday afternoon", today, "2026-11-18 2026-11-18"},
		{"ayer por la tarde", today, "2026-11-18 2026-11-18"},
		{"el lunes por la mañana", today, "2026-11-16 2026-11-16"},
		{"over the weekend", today, "2026-11-14 2026-11-15"},
		{"this weekend", "2026-11-15", "2026-11-14 2026-11-15"},
		{"last weekend", "2026-11-15", "2026-11-07 2026-11-08"},
		{"el fin de semana pasado", today, "2026-11-14 2026-11-15"},
		{"since the weekend", today, "2026-11-14 "},
		{"in the week of 9 November", today, "2026-11-09 2026-11-15"},
		{"la semana del 11 de noviembre", today, "2026-11-09 2026-11-15"},
		{"the week of 30 December 2025", today, "2025-12-29 2026-01-04"},
		{"in the last fortnight", today, "2026-11-06 2026-11-19"},
		{"la última quincena", today, "2026-11-06 2026-11-19"},
		{"since the beginning of the year", today, "2026-01-01 "},
		{"desde principios de año", today, "2026-01-01 "},
		{"a comienzos de este mes", today, "2026-11-01 2026-11-19"},
		{"board changes in Q3", today, "2026-07-01 2026-09-30"},
		{"board changes in Q4", "2026-09-30", "2025-10-01 2025-12-31"},
		{"during the first half of 2026", today, "2026-01-01 2026-06-30"},
		{"en el tercer trimestre de 2025", today, "2025-07-01 2025-09-30"},
		{"durante el primer semestre", today, "2026-01-01 2026-06-30"},
		{"since Q2 2025", today, "2025-04-01 "},
		{"results of Q3", today, ""},
		{"Q3 results", today, ""},
		{"resultados del tercer trimestre de 2025", today, ""},
		{"the latest dividends", today, ""},
		{"last 100000 years", today, ""},
	} {
		q := question.Parse(test.asked, directory, day(t, test.today))
		got := ""
		if q.From != 0 {
			got = q.From.String()
		}
		if q.From != 0 || q.To != 0 {
			got += " "
		}
		if q.To != 0 {
			got += q.To.String()
		}
		if got != test.want {
			t.Errorf("%q on %s: got %q, want %q", test.asked, test.today, got, test.want)
		}
	}
}

// No part of a period that does not exist is read as another one: its words are left.
func TestImpossibleDays(t *testing.T) {
	for _, test := range []struct{ asked, words string }{
		{"dividends on 31 June 2026", "31 june 2026"},
		{"dividendos del 31 de junio", "31 junio"},
		{"dividends June 31", "june 31"},
		{"dividends on 30 February", "30 february"},
		{"dividendos del 29 de febrero de 2025", "29 febrero 2025"},
		{"dividends in 2025-02-29", "2025 02 29"},
		{"dividendos del 13/13/2025", "13 13 2025"},
		{"dividends since 31 June", "31 june"},
		{"dividends in the week of 31 June", "week 31 june"},
		{"dividends until 31 June", "31 june"},
		{"dividendos hasta el 31 de junio", "31 junio"},
		{"dividends from 31 June to 5 July", "31 june 5 july"},
		{"dividends from 3 to 31 June", "3 31 june"},
		{"dividends from 9 to 3 October", "9 3 october"},
		{"dividendos del 9 al 3 de octubre", "9 3 octubre"},
		{"dividends from 2026-10-31 to 2026-10-01", "2026 10 31 2026 10 01"},
		{"dividends between 2025 and 2024", "2025 2024"},
		{"dividendos entre 2025 y 2024", "2025 2024"},
		{"dividends from October 2025 to March 2025", "october 2025 march 2025"},
		{"dividendos desde octubre de 2025 hasta marzo de 2025", "octubre 2025 marzo 2025"},
		{"dividends from last Monday to 1 November", "monday 1 november"},
		{"dividends since yesterday until 3 March 2025", "3 march 2025"},
	} {
		q := question.Parse(test.asked, directory, day(t, today))
		if q.From != 0 || q.To != 0 {
			t.Errorf("%q: got %v to %v, want no days", test.asked, q.From, q.To)
		}
		if got := strings.Join(q.Words, " "); got != test.words {
			t.Errorf("%q: got the words %q, want %q", test.asked, got, test.words)
		}
	}
	if q := question.Parse("31 June or yesterday", directory, day(t, today)); q.From != day(t, "2026-11-18") {
		t.Errorf("a period behind an impossible one begins on %v, want yesterday", q.From)
	}
}

func TestSubjects(t *testing.T) {
	for _, test := range []struct {
		asked, issuer, topics, words string
		tool                         question.Tool
	}{
		{asked: "Which companies announced buy-backs last week?", topics: "buyback_programme buyback_trades"},
		{asked: "¿Qué empresas han anunciado recompras de acciones?", topics: "buyback_programme buyback_trades"},
		{asked: "Which firms filed results this month?", topics: "results"},
		{asked: "compañías con dividendo esta semana", topics: "dividend"},
		{asked: "dividends and buybacks today", topics: "dividend buyback_programme buyback_trades"},
		{asked: "What did Bodegas de Valdebrisa announce today?", issuer: "A69000016"},
		{asked: "¿Qué ha comunicado BVB sobre su dividendo?", issuer: "A69000016", topics: "dividend"},
		{asked: "noticias de Bodegas de Valdebrisa, S.A.", issuer: "A69000016"},
		{asked: "A-69000016 results", issuer: "A69000016", topics: "results"},
		{asked: "any OPA?", topics: "takeover"}, // a ticker, but a subject before all
		{asked: "dividends and meetings of Valdebrisa", topics: "dividend", words: "meetings valdebrisa"},
		{asked: "news about Andarín", issuer: "A69000032"},
		{asked: "what about the solar plant", words: "solar plant"},
		{asked: "largest short positions", words: "largest", tool: question.Shorts},
		{asked: "¿Quién apuesta contra Valdebrisa? posiciones cortas", words: "valdebrisa", tool: question.Shorts},
		{asked: "insider purchases this week", tool: question.Dealings},
		{asked: "Who owns Valdebrisa?", words: "valdebrisa", tool: question.Ownership},
		{asked: "What is the share price of Valdebrisa?", words: "valdebrisa", tool: question.Prices},
		{asked: "¿a cuánto cotiza Andarín y qué PER tiene?", issuer: "A69000032", tool: question.Prices},
		{asked: "dividend per share of Andarín", issuer: "A69000032", topics: "dividend", words: "per share"},
		{asked: "profit warnings"},
		{asked: "rating downgrades", topics: "rating", words: "downgrades"},
		{asked: "changes on the board: new directors resigned", topics: "board"},
		{asked: "rating upgrades or downgrades", topics: "rating"},
		{asked: "ampliaciones de capital de más de 10 millones de euros", topics: "capital"},
		{asked: "buy-backs above 1,500,000 euros in 2026", topics: "buyback_programme buyback_trades", words: "above"},
		{asked: "plant with 300 workers in 3 months", words: "plant 300 workers 3 months"},
		{asked: "insider information since Monday"},
		{asked: "junta general de accionistas: la junta", topics: "meeting"},
		{asked: "what happens tomorrow?", words: "happens", tool: question.Calendar},
		{asked: "¿Cuánto dividendo paga Valdebrisa?", topics: "dividend", words: "valdebrisa"},
		{asked: "noticias de bodegas valdebrisa", issuer: "A69000016"},
		{asked: "upcoming dividends", topics: "dividend", tool: question.Calendar},
		{asked: "junta general extraordinaria", topics: "meeting"},
		{asked: "new buy-back programmes", topics: "buyback_programme"},
		{asked: "Which companies had their trading suspended?", topics: "suspension"},
		{asked: "¿Qué cambios ha habido en el consejo?", topics: "board", words: "cambios"},
	} {
		q := question.Parse(test.asked, directory, day(t, today))
		issuer := ""
		if q.Issuer != nil {
			issuer = q.Issuer.Issuer.ID
		}
		var topics []string
		for _, topic := range q.Topics {
			for _, fact := range topic.Facts {
				topics = append(topics, string(fact))
			}
		}
		words := strings.Join(q.Words, " ")
		if issuer != test.issuer || strings.Join(topics, " ") != test.topics || words != test.words || q.Tool != test.tool {
			t.Errorf("%q: got issuer %q, topics %q, words %q, tool %q", test.asked, issuer, topics, words, q.Tool)
		}
	}
}

// Words that are written like names are distinguished from others.
func TestNames(t *testing.T) {
	for asked, want := range map[string]string{
		"What has Navieras de Puertolirio announced?": "navieras puertolirio",
		"¿Qué ha publicado «Puertolirio» este mes?":   "puertolirio",
		"solar plant of puertolirio":                  "",
		"Puertolirio dividend":                        "", // the first word has a capital anyway
		"PLANTA SOLAR DE PUERTOLIRIO":                 "",
		"earnings for Q3 and 1T":                      "",
	} {
		if got := strings.Join(question.Parse(asked, directory, day(t, today)).Names, " "); got != want {
			t.Errorf("%q: got %q, want %q", asked, got, want)
		}
	}
}

// Every word of a question is read as something, or is named.
func FuzzParse(f *testing.F) {
	f.Add("Which companies announced buy-backs last week?")
	f.Add("del 3 al 9 de octubre de 2025, OPA de BVB")
	f.Add("from 29 February to 31 June 2025, entre 2025 y 2024, del lunes al viernes")
	f.Add("last 400 years since 31 February until 0000-00-00")
	f.Fuzz(func(t *testing.T, asked string) {
		q := question.Parse(asked, directory, 46345)
		if q.From != 0 && q.To != 0 && q.To < q.From || q.From < 0 || q.To < 0 {
			t.Errorf("%q is the period from %d to %d", asked, q.From, q.To)
		}
		for _, words := range [][]string{q.Words, q.Ignored} {
			if slices.Contains(words, "") {
				t.Errorf("%q has an empty word: %q", asked, words)
			}
		}
	})
}
