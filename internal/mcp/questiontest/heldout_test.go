package questiontest_test

import (
	"testing"

	"pregon/internal/disclosure"
)

// The number of questions, and of those that are answered rightly at present. Raise the
// bound with each improvement, and never lower it.
const (
	heldOutQuestions = 60
	leastRight       = 54
)

// askHeldOut asks the questions that were written by an author who sees only the list of
// tools. A model that makes their calls must get the right answers.
func (s *service) askHeldOut(t *testing.T, w *world) {
	all := readQuestions(t, "testdata/heldout.json")
	if len(all) != heldOutQuestions || len(heldOut) != heldOutQuestions {
		t.Errorf("there are %d questions and %d truths, want %d", len(all), len(heldOut), heldOutQuestions)
	}
	s.check(t, w, all, func(q *asked) []truth { return heldOut[q.ID] }, leastRight)
}

// mortgages is a securitisation fund.
const mortgages = "ALDEALCOTAN HIPOTECARIO 3, FONDO DE TITULIZACION HIPOTECARIA"

// Words of the titles by which the market files reports on a subject. A report counts
// whether or not it has a document that says more.
var (
	warnings     = []string{"revisa a la baja su previsión"}
	starts       = []string{"inicio de un programa de recompra de acciones por", "ha acordado un programa de recompra"}
	boardChanges = []string{"nombramiento", "dimisión", "cese"}
	increases    = []string{"aumento de capital", "ampliación de capital"}
	suspensions  = []string{"se suspende cautelarmente", "se levanta"}
	payments     = []string{"información relativa a la fecha de pago"}
	bids         = []string{"oferta", "manifestación de interés"}
	trades       = []string{
		"operaciones efectuadas al amparo de su programa de recompra",
		"operaciones de recompra realizadas",
		"en el marco del programa de recompra",
		"acciones propias entre",
		"transacciones efectuadas",
	}
	results = []string{
		"informe de resultados",
		"presentación de los resultados",
		"presentación de resultados",
		"nota de prensa sobre los resultados",
		"información sobre los resultados",
	}
)

// Categories that are the subject of questions.
var (
	takeovers = truth{Category: "ofertas públicas de adquisición"}
	ratings   = truth{Category: "calificaciones crediticias"}
)

// heldOut are the right answers to the questions in testdata/heldout.json. A question with
// several truths is answered rightly if all of them are.
var heldOut = map[string][]truth{
	"q01": {{Kind: "reports", Call: 1, Issuer: "BAL", From: "{today}", N: all, Only: true}},
	"q02": {{Kind: "reports", Issuer: "BOTO", N: 5, Want: "first", Only: true}},
	"q03": {{Kind: "reports", Issuer: "CANA", From: "{last_monday}", To: "{last_sunday}", N: all, Only: true}},
	"q04": {{Kind: "reports", Issuer: "BITA", Fact: "dividend", Want: "values", Field: "gross_per_share ex_date"}},
	"q05": {{Kind: "calendar", Field: "payment", Sector: "bancos", From: "{today}", N: all, Want: "gross_per_share ex_date"}},
	"q06": {{Kind: "reports", Title: starts, From: "{last_monday}", To: "{last_sunday}", N: all, Want: "companies"}},
	"q07": {{
		Kind:    "reports",
		Fact:    "buyback_programme",
		From:    "{month_start}",
		Largest: true,
		Want:    "values",
		Field:   "max_amount",
	}},
	"q08": {{Kind: "reports", Title: warnings, From: "{today-30}", N: all, Want: "companies", Only: true}},
	"q09": {{Kind: "reports", Or: []truth{takeovers}, Title: bids, From: "{year_start}", N: all, Want: "companies"}},
	"q10": {{Kind: "reports", Issuer: "CEEN", Title: suspensions, N: all, Want: "companies"}},
	"q11": {{Kind: "shorts", Issuer: "CEUR", N: all}},
	"q12": {{Kind: "short_totals", N: 5}},
	"q13": {{Kind: "dealings", Issuer: "BAVA", Side: "buy", From: "{today-90}", N: all}},
	"q14": {{Kind: "holdings", Issuer: "CUTA", N: all}},
	"q15": {{Kind: "counts", By: "category", Type: "IP", From: "{month_start}", N: all, Total: true}},
	"q16": {{Kind: "counts", By: "issuer", From: "{year_start}"}},
	"q17": {{Kind: "values", By: "sector"}},
	"q18": {{Kind: "issuer", Issuer: "ALJA", Field: "lei isin"}},
	"q19": {{Kind: "reports", InDocument: "ciberataque", From: "{today-140}", N: all, Want: "companies", Only: true}},
	"q20": {
		{Kind: "reports", Call: 1, Issuer: "BACA", Title: results, Want: "first"},
		{Kind: "reports", Call: 2, Issuer: "BASO", Title: results, Want: "first"},
		{Kind: "reports", Call: 2, Issuer: "BASO", Fact: "results", Want: "values", Field: "period revenue ebitda net_profit"},
	},
	"q21": {{Kind: "none"}},
	"q22": {{Kind: "says", Says: []string{"share prices are not known"}, Only: true}},
	"q23": {{
		Kind:     "reports",
		Category: "gobierno corporativo",
		Title:    boardChanges,
		Market:   "BME Growth",
		From:     "{last_month_start}",
		To:       "{last_month_end}",
		N:        all,
	}},
	"q24": {{Kind: "reports", Or: []truth{ratings}, From: "{year_start}", N: 5, Want: "companies", Only: true, More: true}},
	"q25": {
		{
			Kind:    "reports",
			Fact:    "capital",
			Fields:  map[string]string{"action": "increase", "currency": "EUR"},
			From:    "{today-182}",
			Largest: true,
			Field:   "amount",
			Least:   "50000000",
			N:       all,
			Want:    "values",
		},
		{Kind: "reports", Title: increases, Millions: 50, From: "{today-182}", N: all, Want: "companies"},
	},
	"q26": {{Kind: "calendar", Field: "meeting", Issuer: "CORE", From: "{today}"}},
	"q27": {{Kind: "reports", Issuer: "BIHO", From: "{today-1}", To: "{today-1}", N: all, Only: true}},
	"q28": {{Kind: "counts", By: "day", From: "{month_start}", To: "{today}"}},
	"q29": {
		{Kind: "reports", Call: 1, Issuer: "CIPI", Type: "IP", Only: true},
		{Kind: "report", Issuer: "CIPI", Type: "IP"},
	},
	"q30": {{Kind: "reports", Or: []truth{takeovers}, Issuer: "CATE", N: all, Want: "companies", Only: true}},
	"q31": {{Kind: "reports", Issuer: "CRES", From: "{today}", N: all, Only: true}},
	"q32": {{Kind: "reports", Issuer: "ALDE", From: "{monday}", N: all, Only: true}},
	"q33": {{Kind: "reports", Issuer: "CRQU", N: 5, Want: "first", Only: true}},
	"q34": {{Kind: "reports", Issuer: "BESE", Title: []string{"dividendo"}, Want: "titles"}},
	"q35": {{Kind: "calendar", Field: "ex_date", Issuer: "CRIS", From: "{today}", Want: "gross_per_share"}},
	"q36": {{Kind: "reports", Issuer: "BADE", Title: trades, From: "{last_monday}", To: "{last_sunday}", N: all}},
	"q37": {{
		Kind:  "counts",
		By:    "issuer",
		Title: trades,
		From:  "{last_month_start}",
		To:    "{last_month_end}",
		N:     10,
	}},
	"q38": {{Kind: "calendar", Field: "meeting", Sector: "construccion", From: "{today}", N: all}},
	"q39": {{Kind: "reports", Issuer: "CENA", Title: results, From: "{today-80}", N: all}},
	"q40": {{Kind: "reports", Title: increases, Market: "BME Growth", From: "{month_start}", N: all, Only: true}},
	"q41": {
		{Kind: "reports", Or: []truth{takeovers, {Fact: "takeover"}}, N: 5, Want: "first", Only: true},
		{Kind: "reports", Fact: "takeover", From: "{today-60}", N: all, Want: "values", Field: "target bidder"},
	},
	"q42": {{Kind: "reports", Title: suspensions, From: "{today-7}", N: all, Want: "companies"}},
	"q43": {
		{Kind: "reports", Issuer: "COVA", Title: boardChanges, From: "{year_start}", N: all, Want: "companies"},
		{Kind: "reports", Issuer: "COVA", Fact: "board", From: "{year_start}", N: all, Want: "values", Field: "person effective"},
	},
	"q44": {{Kind: "reports", Issuer: "BMI", Or: []truth{ratings}, Want: "first", Only: true}},
	"q45": {{Kind: "shorts", Issuer: "CRNO", N: all}},
	"q46": {{Kind: "short_totals", Sector: "bancos", N: 10}},
	"q47": {{
		Kind:  "dealings",
		Side:  string(disclosure.Sell),
		From:  "{last_month_start}",
		To:    "{last_month_end}",
		Least: "100000",
		N:     all,
	}},
	"q48": {
		{Kind: "holdings", Issuer: "BASI", N: all},
		{Kind: "own_shares", Issuer: "BASI"},
	},
	"q49": {{Kind: "reports", Issuer: "CERI", From: "{year_start}", Want: "count"}},
	"q50": {{Kind: "counts", By: "sector", Type: "IP", From: "{last_monday}", To: "{last_sunday}"}},
	"q51": {
		{Kind: "values", Call: 1, By: "category"},
		{Kind: "values", Call: 2, By: "market"},
	},
	"q52": {{Kind: "issuer", Issuer: "GALDABEZA GESTIÓN DE ACTIVOS, S.G.I.I.C., S.A.", Field: "nif"}},
	"q53": {{Kind: "issuer", Issuer: "CUBR", Field: "former"}},
	"q54": {
		{Kind: "reports", Call: 1, Issuer: "COEN", Only: true},
		{Kind: "document", Issuer: "COEN"},
	},
	"q55": {
		{Kind: "short_totals", Call: 1, Issuer: "BACE"},
		{Kind: "short_totals", Call: 2, Issuer: "BAAL"},
	},
	"q56": {
		{Kind: "none", Call: 1},
		{Kind: "none", Call: 2},
	},
	"q57": {{Kind: "says", Says: []string{"share prices are not known", "P/E"}, Only: true}},
	"q58": {
		{Kind: "reports", Issuer: mortgages, Title: payments, N: 5, Want: "first", Only: true},
		{Kind: "reports", Issuer: mortgages, Fact: "securitisation_payment", N: all, Want: "values", Field: "payment_date"},
	},
	"q59": {{Kind: "reports", Sector: "farmacia", NotRoutine: true, From: "{month_start}", N: all, Only: true}},
	"q60": {{Kind: "counts", By: "market", From: "{last_month_start}", To: "{last_month_end}", N: all}},
}
