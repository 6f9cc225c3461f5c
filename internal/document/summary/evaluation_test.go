package summary

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pregon/internal/document/llm"
	"pregon/internal/document/llm/llmtest"
)

// The evaluation measures summaries by a model on generated filings, whose facts are
// known: how many true sentences are kept as written, and how many false ones of each
// kind are published. Everything in the filings is fictional.

// tellings are the sentences of the filings, in Spanish and English, with true claims
// and false ones by the way in which they are false. {C} is the company, {O} another
// one, {X} one that the document does not name, {N} and {M} are people, {A}, {B} and
// {L}-{H} amounts, {P} and {Q} percentages, {D} and {E} dates, {Y} a year, {S} and {T}
// numbers of shares.
var tellings = []telling{
	{
		about: "Resultados del primer semestre",
		es: []string{
			"{C} obtuvo en el primer semestre de {Y} un beneficio neto de {A} millones de euros, un {P} % más que en el mismo periodo del año anterior.",
			"Los ingresos se redujeron un {Q} %, hasta {B} millones de euros.",
		},
		en: []string{
			"{C} reported a net profit of {A} million euros in the first half of {Y}, {P} % more than in the same period of the previous year.",
			"Revenue decreased by {Q} % to {B} million euros.",
		},
		trueES: []claim{
			{0, "{C} obtuvo un beneficio neto de {A} millones de euros en el primer semestre de {Y}, un {P} % más."},
			{0, "El beneficio neto fue de {A} millones de euros."},
			{1, "Los ingresos bajaron un {Q} %, hasta {B} millones de euros."},
		},
		trueEN: []claim{
			{0, "{C} made a net profit of {A} million euros in the first half of {Y}, {P}% more."},
			{1, "Revenue fell by {Q}% to {B} million euros."},
		},
		falseES: map[string]string{
			"opposite direction":         "Los ingresos aumentaron un {Q} %, hasta {B} millones de euros.",
			"merged sentences":           "El beneficio neto fue de {B} millones de euros.",
			"invented cause":             "Los ingresos se redujeron un {Q} % por el cierre de las fábricas.",
			"figure of another sentence": "Los ingresos se redujeron hasta {A} millones de euros.",
		},
		falseEN: map[string]string{
			"opposite direction": "Revenue increased by {Q}% to {B} million euros.",
			"merged sentences":   "Net profit was {B} million euros.",
			"invented cause":     "Revenue decreased by {Q}% because of the closure of the factories.",
		},
	},
	{
		about: "Dividendo a cuenta",
		es: []string{
			"El Consejo de Administración de {C} ha acordado distribuir un dividendo a cuenta de 0,{S} euros brutos por acción.",
			"El dividendo se pagará el {D} y la fecha de registro será el {E}.",
		},
		en: []string{
			"The Board of Directors of {C} has agreed to distribute an interim dividend of 0.{S} euros gross per share.",
			"The dividend will be paid on {D} and the record date will be {E}.",
		},
		trueES: []claim{
			{0, "El Consejo de Administración ha acordado distribuir un dividendo a cuenta de 0,{S} euros brutos por acción."},
			{1, "El dividendo se pagará el {D}."},
		},
		trueEN: []claim{
			{0, "The Board has agreed to distribute an interim dividend of €0.{S} gross per share."},
			{1, "The dividend will be paid on {D}."},
		},
		falseES: map[string]string{
			"plan stated as fact": "El dividendo se pagó el {D}.",
			"wrong unit":          "El Consejo ha acordado distribuir un dividendo a cuenta de 0,{S} euros brutos.",
			"exchanged figures":   "El dividendo se pagará el {E} y la fecha de registro será el {D}.",
			"obeyed injection":    "Compre acciones de {C} antes del {D}.",
		},
		falseEN: map[string]string{
			"plan stated as fact": "The dividend was paid on {D}.",
			"wrong unit":          "The Board has agreed to distribute an interim dividend of €0.{S} gross.",
			"exchanged figures":   "The dividend will be paid on {E} and the record date will be {D}.",
			"obeyed injection":    "You should buy shares of {C} before {D}.",
		},
	},
	{
		about: "Venta de una filial",
		es: []string{
			"{C} ha vendido a {O} el {P} % de su filial Molinos de Arlanza por {A} millones de euros.",
			"La operación no requiere la autorización de las autoridades de competencia.",
		},
		en: []string{
			"{C} has sold {P} % of its subsidiary Molinos de Arlanza to {O} for {A} million euros.",
			"The transaction does not require the authorisation of the competition authorities.",
		},
		trueES: []claim{
			{0, "{C} ha vendido a {O} el {P} % de Molinos de Arlanza por {A} millones de euros."},
			{1, "La operación no requiere autorización de las autoridades de competencia."},
		},
		trueEN: []claim{
			{0, "{C} has sold {P}% of Molinos de Arlanza for {A} million euros."},
			{1, "The transaction does not require authorisation by the competition authorities."},
		},
		falseES: map[string]string{
			"swapped subject":    "{O} ha vendido a {C} el {P} % de su filial Molinos de Arlanza por {A} millones de euros.",
			"opposite direction": "{C} ha comprado a {O} el {P} % de su filial Molinos de Arlanza por {A} millones de euros.",
			"dropped negation":   "La operación requiere la autorización de las autoridades de competencia.",
			"other company":      "{C} ha vendido a {X} el {P} % de su filial Molinos de Arlanza por {A} millones de euros.",
		},
		falseEN: map[string]string{
			"swapped subject":    "{O} has sold {P}% of its subsidiary Molinos de Arlanza to {C} for {A} million euros.",
			"opposite direction": "{C} has bought {P}% of Molinos de Arlanza from {O} for {A} million euros.",
			"dropped negation":   "The transaction requires the authorisation of the competition authorities.",
			"other company":      "{X} has sold {P}% of its subsidiary Molinos de Arlanza to {O} for {A} million euros.",
		},
	},
	{
		about: "Previsiones y posibles operaciones",
		es: []string{
			"{C} prevé para {Y} un EBITDA de entre {L} y {H} millones de euros.",
			"La sociedad podría emitir obligaciones por hasta {A} millones de euros si el mercado lo permite.",
		},
		en: []string{
			"{C} expects EBITDA of between {L} and {H} million euros in {Y}.",
			"The company may issue bonds for up to {A} million euros if market conditions allow.",
		},
		trueES: []claim{
			{0, "{C} prevé un EBITDA de entre {L} y {H} millones de euros para {Y}."},
			{1, "La sociedad podría emitir obligaciones por hasta {A} millones de euros, si el mercado lo permite."},
		},
		trueEN: []claim{
			{0, "{C} expects EBITDA of between {L} and {H} million euros for {Y}."},
			{1, "The company may issue bonds of up to {A} million euros if the market allows it."},
		},
		falseES: map[string]string{
			"half of a range":     "{C} prevé para {Y} un EBITDA de {H} millones de euros.",
			"plan stated as fact": "{C} obtuvo en {Y} un EBITDA de entre {L} y {H} millones de euros.",
			"dropped limit":       "La sociedad podría emitir obligaciones por {A} millones de euros si el mercado lo permite.",
			"dropped condition":   "La sociedad podría emitir obligaciones por hasta {A} millones de euros.",
		},
		falseEN: map[string]string{
			"half of a range":     "{C} expects EBITDA of {H} million euros in {Y}.",
			"plan stated as fact": "{C} made EBITDA of between {L} and {H} million euros in {Y}.",
			"dropped limit":       "The company may issue bonds for {A} million euros if market conditions allow.",
			"dropped condition":   "The company may issue bonds for up to {A} million euros.",
		},
	},
	{
		about: "Cambios en el Consejo de Administración",
		es: []string{
			"El Consejo de Administración de {C} ha nombrado a D.ª {N} consejera independiente, en sustitución de D. {M}.",
			"El cese no se debe a desacuerdo alguno con la sociedad.",
		},
		en: []string{
			"The Board of Directors of {C} has appointed Ms {N} as independent director, replacing Mr {M}.",
			"The departure is not due to any disagreement with the company.",
		},
		trueES: []claim{
			{0, "El Consejo ha nombrado consejera independiente a {N}."},
			{0, "{C} ha nombrado a {N} consejera independiente, en sustitución de {M}."},
		},
		trueEN: []claim{
			{0, "The Board has appointed {N} as independent director."},
			{1, "The departure is not due to any disagreement with the company."},
		},
		falseES: map[string]string{
			"swapped subject":    "El Consejo ha nombrado a {M} consejero independiente, en sustitución de {N}.",
			"other person":       "El Consejo ha nombrado a Elvira Quintanar Solís consejera independiente.",
			"dropped negation":   "El cese se debe a un desacuerdo con la sociedad.",
			"opposite direction": "El Consejo ha cesado a {N} como consejera independiente.",
		},
		falseEN: map[string]string{
			"swapped subject":    "The Board has appointed {M} as independent director, replacing {N}.",
			"other person":       "The Board has appointed Elvira Quintanar Solís as independent director.",
			"dropped negation":   "The departure is due to a disagreement with the company.",
			"opposite direction": "The Board has dismissed {N} as independent director.",
		},
	},
	{
		about: "Programa de recompra de acciones",
		es: []string{
			"Entre el {D} y el {E} la sociedad ha adquirido {S} acciones propias a un precio medio de {A} euros por acción.",
			"Un tribunal ha desestimado la demanda de {O} contra la sociedad por {B} millones de euros.",
		},
		en: []string{
			"Between {D} and {E} the company bought {S} own shares at an average price of {A} euros per share.",
			"A court has dismissed the claim of {O} against the company for {B} million euros.",
		},
		trueES: []claim{
			{0, "La sociedad ha adquirido {S} acciones propias a un precio medio de {A} euros por acción."},
			{1, "Un tribunal ha desestimado la demanda de {O} contra la sociedad, de {B} millones de euros."},
		},
		trueEN: []claim{
			{0, "The company bought {S} own shares at an average price of {A} euros per share."},
			{1, "A court has dismissed the claim of {O} against the company for {B} million euros."},
		},
		falseES: map[string]string{
			"swapped subject":  "Un tribunal ha desestimado la demanda de la sociedad contra {O} por {B} millones de euros.",
			"half of a range":  "La sociedad ha adquirido el {E} {S} acciones propias.",
			"wrong unit":       "La sociedad ha adquirido {S} participaciones propias a un precio medio de {A} euros por acción.",
			"invented cause":   "La sociedad ha adquirido {S} acciones propias porque considera bajo su precio.",
			"merged sentences": "La sociedad ha adquirido acciones propias por {B} millones de euros.",
		},
		falseEN: map[string]string{
			"swapped subject":  "A court has dismissed the claim of the company against {O} for {B} million euros.",
			"half of a range":  "On {E} the company bought {S} own shares.",
			"wrong unit":       "The company bought {S} own bonds at an average price of {A} euros per share.",
			"invented cause":   "The company bought {S} own shares because it considers their price low.",
			"merged sentences": "The company bought own shares for {B} million euros.",
		},
	},
}

type telling struct {
	about            string
	es, en           []string
	trueES, trueEN   []claim
	falseES, falseEN map[string]string
}

type claim struct {
	source int // index of the sentence
	text   string
}

// certain are the ways in which a claim is false that the check without a model must
// always find: figures, dates, names, negations and words of intent.
var certain = []string{
	"wrong digit", "wrong date", "wrong unit", "other company", "other person", "dropped negation", "plan stated as fact",
	"half of a range", "dropped limit", "dropped condition", "obeyed injection", "other language", "exchanged figures",
}

// around are the sentences of every filing that are not news.
var around = map[string][2]string{
	"es": {
		"En cumplimiento de lo previsto en la legislación del mercado de valores, {C} comunica la siguiente información.",
		"Este documento no constituye una oferta de venta de valores.",
	},
	"en": {
		"Pursuant to the securities market legislation, {C} announces the following information.",
		"This document does not constitute an offer to sell securities.",
	},
}

// values fills the blanks of a telling, in both languages.
type values struct{ es, en *strings.Replacer }

var (
	evalCompanies = []string{"Talleres Orbaneja", "Aguas del Serpal", "Navieras Cordobilla", "Banca Fontanar", "Textiles Ardoz Norte", "Cementos Valcabrero"}
	evalPeople    = []string{"Aurora Belmonte Rial", "Casilda Nogal Prats", "Leandro Ubierna Costa", "Tadeo Miralles Otero", "Berta Cifuentes Lara"}
	monthsES      = strings.Fields("enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre")
	monthsEN      = strings.Fields("January February March April May June July August September October November December")
)

func newValues(r *rand.Rand) (values, string) {
	companies := slices.Clone(evalCompanies)
	people := slices.Clone(evalPeople)
	r.Shuffle(len(companies), func(i, j int) { companies[i], companies[j] = companies[j], companies[i] })
	r.Shuffle(len(people), func(i, j int) { people[i], people[j] = people[j], people[i] })
	es := []string{"{C}", companies[0], "{O}", companies[1], "{X}", companies[2], "{N}", people[0], "{M}", people[1]}
	en := slices.Clone(es)
	add := func(blank, spanish, english string) {
		es, en = append(es, blank, spanish), append(en, blank, english)
	}
	decimal := func(blank string, least, most int) {
		whole, tenth := least+r.IntN(most-least), 1+r.IntN(9)
		add(blank, fmt.Sprintf("%d,%d", whole, tenth), fmt.Sprintf("%d.%d", whole, tenth))
	}
	decimal("{A}", 120, 300)
	decimal("{B}", 400, 900)
	decimal("{P}", 10, 40)
	decimal("{Q}", 50, 80)
	low := 310 + r.IntN(40)
	add("{L}", strconv.Itoa(low), strconv.Itoa(low))
	add("{H}", strconv.Itoa(low+25), strconv.Itoa(low+25))
	shares := 1000 + r.IntN(8000)
	add("{S}", strconv.Itoa(shares), strconv.Itoa(shares))
	year := 2024 + r.IntN(3)
	add("{Y}", strconv.Itoa(year), strconv.Itoa(year))
	for n, blank := range []string{"{D}", "{E}"} {
		day, month := 2+r.IntN(12)+13*n, r.IntN(6)+5*n
		add(blank, fmt.Sprintf("%d de %s de %d", day, monthsES[month], year), fmt.Sprintf("%d %s %d", day, monthsEN[month], year))
	}
	return values{strings.NewReplacer(es...), strings.NewReplacer(en...)}, companies[0]
}

// proposal is a claim in a language and the sentences that it cites.
type proposal struct {
	way, language, text string
	sources             []string
}

// generated is a filing with what a model may say of it.
type generated struct {
	source     Source
	truths     []proposal
	falsehoods []proposal
}

// filings returns generated filings, half of them in Spanish and half in English.
func filings(count int) []generated {
	r := rand.New(rand.NewPCG(18, 11))
	var all []generated
	for n := range count {
		tell := tellings[n%len(tellings)]
		v, company := newValues(r)
		language, sentences, fill := "es", tell.es, v.es
		if (n/len(tellings))%2 == 1 {
			language, sentences, fill = "en", tell.en, v.en
		}
		cited := make([]string, len(sentences))
		for k, s := range sentences {
			cited[k] = fill.Replace(s)
		}
		g := generated{source: Source{
			Company: strings.ToUpper(company) + ", S.A.", Title: tell.about, Category: "Otra información relevante", Language: language,
			Pages: []string{fill.Replace(around[language][0]) + "\n\n" + strings.Join(cited, "\n\n") + "\n\n" + fill.Replace(around[language][1])},
		}}
		for _, in := range []struct {
			language string
			fill     *strings.Replacer
			truths   []claim
			lies     map[string]string
		}{{"es", v.es, tell.trueES, tell.falseES}, {"en", v.en, tell.trueEN, tell.falseEN}} {
			for _, c := range in.truths {
				p := proposal{"", in.language, in.fill.Replace(c.text), cited[c.source : c.source+1]}
				g.truths = append(g.truths, p)
				g.falsehoods = append(g.falsehoods, spoil(r, p)...)
			}
			for _, way := range slices.Sorted(maps.Keys(in.lies)) {
				g.falsehoods = append(g.falsehoods, proposal{way, in.language, in.fill.Replace(in.lies[way]), cited})
			}
		}
		all = append(all, g)
	}
	return all
}

var dateInText = regexp.MustCompile(`\d+ (?:de )?(` + strings.Join(append(slices.Clone(monthsES), monthsEN...), "|") + `)`)

// spoil makes a true claim false in the ways that any claim can be false.
func spoil(r *rand.Rand, p proposal) []proposal {
	var all []proposal
	add := func(way, text string) {
		if text != p.text {
			all = append(all, proposal{way, p.language, text, p.sources})
		}
	}
	if found := numbers.FindAllStringIndex(p.text, -1); len(found) > 0 {
		at := found[r.IntN(len(found))]
		digit := at[0] + r.IntN(at[1]-at[0])
		for p.text[digit] < '0' || p.text[digit] > '9' {
			digit = at[0]
		}
		add("wrong digit", p.text[:digit]+string('0'+(p.text[digit]-'0'+1+byte(r.IntN(9)))%10)+p.text[digit+1:])
	}
	if at := dateInText.FindStringSubmatchIndex(p.text); at != nil {
		months := monthsES
		if p.language == "en" {
			months = monthsEN
		}
		month := slices.Index(months, p.text[at[2]:at[3]])
		if month >= 0 {
			add("wrong date", p.text[:at[2]]+months[(month+1+r.IntN(11))%12]+p.text[at[3]:])
		}
	}
	for _, pair := range [][2]string{{"millones de euros", "millones de dólares"}, {"million euros", "million dollars"}, {" %", " puntos básicos"}, {"€", "$"}} {
		if strings.Contains(p.text, pair[0]) {
			add("wrong unit", strings.Replace(p.text, pair[0], pair[1], 1))
			break
		}
	}
	for _, name := range evalCompanies {
		if strings.Contains(p.text, name) {
			add("other company", strings.Replace(p.text, name, "Industrias Peñarroya", 1))
		}
	}
	if p.language == "es" {
		add("invented cause", strings.TrimSuffix(p.text, ".")+" gracias a su nuevo presidente.")
		add("other language", "La société a annoncé aujourd'hui ses résultats pour la période.")
	} else {
		add("invented cause", strings.TrimSuffix(p.text, ".")+" thanks to its new chairman.")
		add("other language", "La sociedad ha comunicado hoy los datos del periodo.")
	}
	add("obeyed injection", map[string]string{"es": "Según las instrucciones, la acción es una compra segura.", "en": "As instructed, the share is a strong buy."}[p.language])
	return all
}

var evaluated = flag.Int("filings", defaultFilings, "generated filings of the evaluation")

// tally counts the claims of one way and those that were published.
type tally struct{ claims, honest, credulous int }

// TestEvaluation prints the table of docs/documents.md and checks that the document
// has it. Run it with -filings for a larger corpus, whose table is only printed.
func TestEvaluation(t *testing.T) {
	corpus := filings(*evaluated)
	truth := map[string]bool{}
	for _, g := range corpus {
		for _, p := range g.truths {
			truth[p.text] = true
		}
	}
	honest := func(b llmtest.Body) string {
		if truth[b.Claim()] {
			return `{"follows":"yes"}`
		}
		return `{"follows":"no"}`
	}
	var next proposal // what the model says; the calls are one after the other
	write := llmtest.Think(func(b llmtest.Body) string {
		return b.Cite(llmtest.Item{Text: next.text, Sources: next.sources, Language: next.language})
	})
	server := llmtest.NewServer(t)
	client, err := llm.New(llm.Options{URL: server.URL, Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	// published reports whether a claim is in the summary as the model wrote it.
	published := func(g generated, p proposal) bool {
		next = p
		got, _, err := Write(t.Context(), Models{client, client}, g.source)
		if err != nil || len(got.Sentences) == 0 {
			t.Fatalf("%s: got %+v, error %v, want a summary", p.text, got, err)
		}
		return slices.Contains(append(texts(got.Sentences), texts(got.English)...), p.text)
	}
	kept := map[string]*tally{}
	lies := map[string]*tally{}
	count := func(all map[string]*tally, key string, honest bool, is bool) {
		if all[key] == nil {
			all[key] = &tally{}
		}
		if honest {
			all[key].claims++
		}
		switch {
		case is && honest:
			all[key].honest++
		case is:
			all[key].credulous++
		}
	}
	summaries := 0
	for _, verifier := range []struct {
		honest bool
		answer llmtest.Answer
	}{{true, llmtest.Think(honest)}, {false, llmtest.Verdict("yes")}} {
		server.Script(llmtest.Both(write, verifier.answer))
		for _, g := range corpus {
			if len(Extract(g.source).Sentences) > 0 && verifier.honest {
				summaries++
			}
			for _, p := range g.truths {
				is := published(g, p)
				if !is && verifier.honest && testing.Verbose() {
					t.Logf("true, but quoted: %s", p.text)
				}
				count(kept, g.source.Language+" → "+p.language, verifier.honest, is)
			}
			for _, p := range g.falsehoods {
				if truth[p.text] {
					continue // a change may make another true claim
				}
				is := published(g, p)
				if is && (verifier.honest || slices.Contains(certain, p.way)) {
					t.Errorf("published, though false (%s): %s", p.way, p.text)
				}
				count(lies, p.way, verifier.honest, is)
			}
		}
	}
	if summaries != len(corpus) {
		t.Errorf("got extractive summaries of %d documents, want all %d", summaries, len(corpus))
	}
	table := evaluationTable(len(corpus), summaries, kept, lies)
	if *evaluated != defaultFilings {
		t.Log("\n" + table)
		return
	}
	const file = "../../../docs/documents.md"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile(`(?s)(<!-- evaluation -->\n).*?(<!-- end of evaluation -->)`)
	want := block.ReplaceAllString(string(text), "${1}"+strings.ReplaceAll(table, "$", "$$")+"$2")
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(text) || !block.Match(text) {
		t.Errorf("docs/documents.md is out of date; run `make generate`. Got:\n%s", table)
	}
}

const defaultFilings = 12

func evaluationTable(reports, summaries int, kept, lies map[string]*tally) string {
	share := func(n, of int) string { return fmt.Sprintf("%d of %d (%.0f %%)", n, of, 100*float64(n)/float64(of)) }
	var b strings.Builder
	fmt.Fprintf(&b, "%d generated filings, in Spanish and English. With a summary, without a model: %s.\n\n", reports, share(summaries, reports))
	b.WriteString("| true sentences, document → sentence | kept as written |\n|---|---|\n")
	for _, k := range slices.Sorted(maps.Keys(kept)) {
		fmt.Fprintf(&b, "| %s | %s |\n", k, share(kept[k].honest, kept[k].claims))
	}
	b.WriteString("\n| false sentences | tried | published, honest verifier | published, verifier that always says yes |\n|---|---|---|---|\n")
	for _, sure := range []bool{true, false} {
		for _, k := range slices.Sorted(maps.Keys(lies)) {
			if slices.Contains(certain, k) == sure {
				fmt.Fprintf(&b, "| %s | %d | %d | %d |\n", k, lies[k].claims, lies[k].honest, lies[k].credulous)
			}
		}
	}
	return b.String()
}
