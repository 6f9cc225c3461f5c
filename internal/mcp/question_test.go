package mcp_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/store"
)

// asked is the result of search.
type asked struct {
	Results    []struct{ ID string }
	Understood map[string]string
	Note       string
}

// inquire searches for a question.
func (s *service) inquire(question string) (out asked, ids []string) {
	s.t.Helper()
	raw, err := json.Marshal(map[string]string{"query": question})
	if err != nil {
		s.t.Fatal(err)
	}
	s.research("search", string(raw), &out)
	for _, r := range out.Results {
		ids = append(ids, r.ID)
	}
	return out, ids
}

// lastWeek returns the Wednesday of the week before a time.
func lastWeek(now time.Time) time.Time {
	return now.AddDate(0, 0, -int(now.Weekday()+6)%7-5)
}

// startWithQuestions serves reports of last week and before, and an insurer whose name
// has a word of questions.
func startWithQuestions(t *testing.T) *service {
	t.Helper()
	now := time.Now()
	buyback := stating(901, lastWeek(now), disclosure.BuybackProgramme, "event", "start", "max_amount", "90000000")
	buyback.Title = "[Simulación] Programa de recompra"
	old := stating(902, now.AddDate(0, 0, -40), disclosure.BuybackProgramme, "event", "start", "max_amount", "80000000")
	old.Title = "[Simulación] Programa de recompra"
	insurer := newReport(disclosure.OIR, 903, lastWeek(now).UTC().Format(time.RFC3339))
	insurer.CompanyName = "COMPAÑÍA IMAGINARIA DE SEGUROS, S.A."
	insurer.NIF = "A69000040"
	s := start(t, market())
	s.append(store.Batch{
		Issuers: []disclosure.Issuer{
			{NIF: "A69000040", Name: "COMPAÑÍA IMAGINARIA DE SEGUROS, S.A.", Kind: disclosure.Company},
		},
		Reports: []disclosure.Report{buyback, old, insurer},
	})
	return s
}

// A question needs its topic and its days, and not the words around them.
func TestSearchQuestion(t *testing.T) {
	t.Parallel()
	s := startWithQuestions(t)
	for _, question := range []string{
		"Which companies announced buy-backs last week?",
		"¿Qué compañías anunciaron recompras la semana pasada?",
	} {
		out, ids := s.inquire(question)
		if !slices.Equal(ids, []string{"oir-901"}) {
			t.Errorf("%s: found %v, want the buy-back of last week alone", question, ids)
		}
		if out.Understood["fact"] != "buyback_programme" || out.Understood["from"] == "" || out.Understood["to"] == "" {
			t.Errorf("%s: understood %v", question, out.Understood)
		}
		if !strings.Contains(out.Note, "Ignored: ") || !strings.Contains(out.Note, "list_facts with kind buyback_programme") {
			t.Errorf("%s: the note is %q", question, out.Note)
		}
	}
	if _, ids := s.inquire("buy-backs since January 2020"); !slices.Contains(ids, "oir-902") {
		t.Errorf("without last week: found %v", ids)
	}
	// Without a subject, the newest reports of the days.
	if _, ids := s.inquire("What was announced last week?"); !slices.Contains(ids, "oir-903") || slices.Contains(ids, "oir-902") {
		t.Errorf("without a subject: found %v", ids)
	}
}

// A question that no report answers gets no report, and the note names the tool to ask instead.
func TestSearchPrices(t *testing.T) {
	t.Parallel()
	s := startWithQuestions(t)
	for _, question := range []string{
		"share price of Compañía Imaginaria de Seguros",
		"¿A cuánto cotiza Compañía Imaginaria de Seguros y qué PER tiene?",
	} {
		out, ids := s.inquire(question)
		if !slices.Equal(ids, []string{"A69000040"}) || !strings.Contains(out.Note, "Share prices are not known here") {
			t.Errorf("%s: found %v, noted %q", question, ids, out.Note)
		}
	}
}

// A subject with words that no report has is found without them, and the note names them.
func TestSearchWithoutWords(t *testing.T) {
	t.Parallel()
	s := startWithQuestions(t)
	for question, unknown := range map[string]string{
		"largest buy-back programmes Q3 last week":      "largest q3",
		"recompras de más de 10 fábricas last week":     "10 fabricas",
		"buy-back programmes of the fat cows last week": "fat cows",
	} {
		out, ids := s.inquire(question)
		if !slices.Equal(ids, []string{"oir-901"}) || !strings.Contains(out.Note, "beside the rest: "+unknown+".") {
			t.Errorf("%s: found %v, noted %q", question, ids, out.Note)
		}
	}
}

// Reports that spell the same number are not an answer about an amount.
func TestSearchAmount(t *testing.T) {
	t.Parallel()
	s := startWithQuestions(t)
	other := newReport(disclosure.OIR, 916, time.Now().AddDate(0, 0, -50).UTC().Format(time.RFC3339))
	other.Title = "[Simulación] Recompra por 10 millones de euros"
	s.append(store.Batch{Reports: []disclosure.Report{other}})
	out, ids := s.inquire("recompras de más de 10 millones de euros")
	if !slices.Contains(ids, "oir-901") || !strings.Contains(out.Note, "list_facts with min_amount") {
		t.Errorf("found %v, noted %q", ids, out.Note)
	}
}

// A short word of a question is not the beginning of another one.
func TestSearchShortWords(t *testing.T) {
	t.Parallel()
	s := startWithQuestions(t)
	other := newReport(disclosure.OIR, 915, lastWeek(time.Now()).UTC().Format(time.RFC3339))
	other.Title = "[Simulación] Cutres e hijos en agosto"
	s.append(store.Batch{Reports: []disclosure.Report{other}})
	for _, question := range []string{"Did anyone cut last week?", "ago last week"} {
		if out, ids := s.inquire(question); len(ids) > 0 {
			t.Errorf("%s: found %v, noted %q", question, ids, out.Note)
		}
	}
}

// A report that only mentions the subject comes after those about it, although it is newer.
func TestSearchMentionsLast(t *testing.T) {
	t.Parallel()
	s := startWithQuestions(t)
	about := newReport(disclosure.OIR, 910, time.Now().Add(-48*time.Hour).UTC().Format(time.RFC3339))
	about.Title = "[Simulación] Una agencia confirma la calificación de la sociedad"
	mention := newReport(disclosure.OIR, 911, time.Now().Add(-24*time.Hour).UTC().Format(time.RFC3339))
	mention.Title = "[Simulación] Designación de un administrador de respaldo"
	mention.Summary = "Asume sus funciones si la entidad pierde la calificación exigida."
	mention.SummaryMethod = "extractive"
	s.append(store.Batch{Reports: []disclosure.Report{about, mention}})
	out, ids := s.inquire("Any credit rating changes in the last 7 days?")
	if !slices.Equal(ids, []string{"oir-910", "oir-911"}) || !strings.Contains(out.Note, "only mention it come last") {
		t.Errorf("found %v, noted %q", ids, out.Note)
	}
}

// The result for a report has what its document states.
func TestSearchHeadline(t *testing.T) {
	t.Parallel()
	s := startWithQuestions(t)
	var out struct {
		Results []struct{ ID, Headline string }
	}
	s.research("search", `{"query": "buy-backs last week"}`, &out)
	if len(out.Results) != 1 || !strings.Contains(out.Results[0].Headline, "Start of a share buy-back programme") {
		t.Errorf("got %+v", out.Results)
	}
}

// A search for the name of an issuer finds its reports, not those that mention it.
func TestSearchReportsByName(t *testing.T) {
	t.Parallel()
	s := startWithQuestions(t)
	mention := newReport(disclosure.OIR, 904, time.Now().UTC().Format(time.RFC3339))
	mention.Title = "[Simulación] Acuerdo con Compañía Imaginaria de Seguros"
	s.append(store.Batch{Reports: []disclosure.Report{mention}})
	for search, want := range map[string]string{
		`Compañía Imaginaria de Seguros`:         "oir-903",
		`\"Compañía Imaginaria de Seguros\"`:     "oir-904 oir-903",
		`Compañía Imaginaria de Seguros Acuerdo`: "oir-904",
	} {
		var out struct{ Data []struct{ ID string } }
		result := s.call("search_reports", `{"search": "`+search+`"}`)
		if err := json.Unmarshal(result.StructuredContent, &out); err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, r := range out.Data {
			ids = append(ids, r.ID)
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%s: found %q, want %q", search, got, want)
		}
	}
}

// An empty answer says why, and which tool answers instead.
func TestSearchNote(t *testing.T) {
	t.Parallel()
	s := startWithQuestions(t)
	for question, want := range map[string]string{
		"dividends of Aceros de Zzzz last week":            "No report has these words beside the rest: aceros zzzz.",
		"mergers last week":                                "No report was found.",
		"Which companies have short positions?":            "use list_shorts",
		"¿Qué compras de directivos hay?":                  "use list_dealings",
		"¿Quiénes son los principales accionistas de BVB?": "use get_ownership",
	} {
		if out, _ := s.inquire(question); !strings.Contains(out.Note, want) {
			t.Errorf("%s: the note does not have %q: %s", question, want, out.Note)
		}
	}
	// An empty answer says what each word and the rest of the question match.
	for question, want := range map[string]string{
		"zzzz last week":                "zzzz 0. The other conditions alone match 2.",
		"buy-backs of Zzzz last week":   "zzzz 0. The other conditions alone match 2.",
		"What about cyberattacks?":      "cyberattacks (also ciberataque) 0.",
		"What was announced last week?": "These are",
	} {
		out, ids := s.inquire(question)
		if empty := want != "These are"; empty != (len(ids) == 0) || empty != strings.Contains(out.Note, want) {
			t.Errorf("%s: found %v, the note does not have %q: %s", question, ids, want, out.Note)
		}
	}
	// What is not known is not replaced by something else.
	for _, question := range []string{"zzzz last week", "What about zzzz?", "Which buy-backs did Aceros de Zzzz announce?"} {
		if out, ids := s.inquire(question); len(ids) > 0 || !strings.Contains(out.Note, "zzzz") {
			t.Errorf("%s: found %v, noted %q", question, ids, out.Note)
		}
	}
}
