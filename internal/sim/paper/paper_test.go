package paper_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/sim/market"
	"pregon/internal/sim/paper"
	"pregon/internal/sim/paper/pdf/pdftest"
)

var (
	figureForm = regexp.MustCompile(`\d[\d.,/]*\d|\d`)
	personForm = regexp.MustCompile(`D\.ª? \p{Lu}\p{L}+ \p{Lu}\p{L}+ \p{Lu}\p{L}+`)
	houseForm  = regexp.MustCompile(`\p{L}[\p{L} ]+, (?:S\.G\.[^ ]+ )?(?:S\.[AL]\.|FI)`)
)

// TestDocumentsAgreeWithTheirSubjects checks that the text of a document, not only
// its title, has every figure, person and company of the subject.
func TestDocumentsAgreeWithTheirSubjects(t *testing.T) {
	for _, r := range market.New(1).History(time.Date(2025, 2, 1, 0, 0, 0, 0, time.UTC), time.Date(2025, 7, 1, 0, 0, 0, 0, time.UTC)) {
		body, foreseen := paper.Body(&r)
		subject := strings.TrimPrefix(r.Title, market.Mark)
		if !foreseen {
			t.Errorf("no script matches %q", subject)
		}
		for _, form := range []*regexp.Regexp{figureForm, personForm} {
			for _, what := range form.FindAllString(subject, -1) {
				if !strings.Contains(body, what) {
					t.Errorf("%s: %q is not in its document: %s", subject, what, body)
				}
			}
		}
		for _, what := range houseForm.FindAllString(subject, -1) {
			if name := what[max(0, len(what)-20):]; !strings.Contains(body, name) {
				t.Errorf("%s: %q is not in its document: %s", subject, name, body)
			}
		}
		if sentences := strings.Count(body, ". ") + strings.Count(body, ".\n"); sentences < 3 {
			t.Errorf("%s: document is too short: %s", subject, body)
		}
		if strings.ContainsAny(body, "{}") || strings.Contains(body, "..") || strings.Contains(body, "  ") {
			t.Errorf("%s: text with a brace, a double dot or a double space: %s", subject, body)
		}
		if t.Failed() {
			break
		}
	}
}

// TestScriptsUseTheirBlanks checks that the text uses every blank of the subject.
func TestScriptsUseTheirBlanks(t *testing.T) {
	for _, s := range paper.Scripts() {
		text := strings.Join(s.Lines, "\n")
		for _, parts := range s.Subjects {
			for n := 1; n < len(parts); n += 2 {
				if name := parts[n]; !strings.Contains(text, "{"+name+"}") {
					t.Errorf("%v: {%s} is not used", parts, name)
				}
			}
		}
	}
}

func TestUnforeseenSubjects(t *testing.T) {
	r := market.New(1).NewReport(disclosure.OIR, 1, time.Date(2020, 11, 10, 11, 0, 0, 0, time.UTC), "")
	r.Category = "Otra información relevante"
	for title, want := range map[string]string{
		"Dividendo extraordinario de 0,25 euros": "agente de pagos",
		"Un asunto del que nadie sabía nada":     "Consejo de Administración",
		"Emisión de 300 millones en pagarés":     "entidad directora",
		"Comunicación de Nadie, S.A.":            "difusión al mercado",
	} {
		r.Title = market.Mark + title
		file := paper.Make(paper.Source{Report: &r, Form: "pdf"}, 1)
		text := strings.Join(pdftest.Text(t, string(file.Body)), "")
		if got := strings.Join(strings.Fields(text), " "); !strings.Contains(got, want) {
			t.Errorf("document about %q: got %q, want %q in it", title, got, want)
		}
	}
}

// TestDeterministic checks that the same report and seed give the same bytes, and
// another seed gives others.
func TestDeterministic(t *testing.T) {
	reports := market.New(1).History(time.Date(2025, 2, 20, 0, 0, 0, 0, time.UTC), time.Date(2025, 2, 24, 0, 0, 0, 0, time.UTC))
	for _, form := range paper.Forms() {
		s := paper.Source{Report: &reports[0], Form: form}
		if first := paper.Make(s, 1); !bytes.Equal(first.Body, paper.Make(s, 1).Body) {
			t.Errorf("%s: got other bytes for the same seed", form)
		} else if !paper.IsHostile(form) && bytes.Equal(first.Body, paper.Make(s, 2).Body) {
			t.Errorf("%s: got the same bytes for another seed", form)
		}
	}
}
