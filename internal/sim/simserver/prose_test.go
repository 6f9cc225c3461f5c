package simserver_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"pregon/internal/sim/market"
	"pregon/internal/sim/simserver"
)

var (
	figureForm = regexp.MustCompile(`\d[\d.,/]*\d|\d`)
	personForm = regexp.MustCompile(`D\.ª? \p{Lu}\p{L}+ \p{Lu}\p{L}+ \p{Lu}\p{L}+`)
	houseForm  = regexp.MustCompile(`\p{L}[\p{L} ]+, (?:S\.G\.[^ ]+ )?(?:S\.[AL]\.|FI)`)
)

// Every figure, person and company that a subject names is named by the text
// of the document too, not only by its heading.
func TestDocumentsAgreeWithTheirSubjects(t *testing.T) {
	for _, r := range testMarket().History(time.Date(2025, 2, 1, 0, 0, 0, 0, time.UTC), time.Date(2025, 7, 1, 0, 0, 0, 0, time.UTC)) {
		body, foreseen := simserver.Body(&r)
		subject := strings.TrimPrefix(r.Title, market.Mark)
		if !foreseen {
			t.Errorf("nothing is written about %q", subject)
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
			t.Errorf("%s: little is written: %s", subject, body)
		}
		if strings.ContainsAny(body, "{}") || strings.Contains(body, "..") || strings.Contains(body, "  ") {
			t.Errorf("%s: badly filled: %s", subject, body)
		}
		if t.Failed() {
			break
		}
	}
}

// What a subject tells is used by its text.
func TestScriptsUseTheirBlanks(t *testing.T) {
	for _, s := range simserver.Scripts() {
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
	s := open(t, early, "")
	for title, want := range map[string]string{
		"Dividendo extraordinario de 0,25 euros": "agente de pagos",
		"Un asunto del que nadie sabía nada":     "Consejo de Administración",
		"Emisión de 300 millones en pagarés":     "entidad directora",
		"Comunicación de Nadie, S.A.":            "difusión al mercado",
	} {
		text := strings.Join(readPDF(t, s.published(`{"type":"oir","category":"Otra información relevante","document":"pdf","title":"`+title+`"}`).body), "")
		if flat := strings.Join(strings.Fields(text), " "); !strings.Contains(flat, want) {
			t.Errorf("%s: %s", title, flat)
		}
	}
}
