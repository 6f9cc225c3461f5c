package fact

import (
	"slices"
	"testing"
)

// onePart returns the first part of a text.
func onePart(text string) *part { return &readDocument(Document{Pages: []string{text}}).parts[0] }

func textsOf(names []name) (texts []string) {
	for _, n := range names {
		texts = append(texts, n.text)
	}
	return texts
}

func TestPeople(t *testing.T) {
	for text, want := range map[string][]string{
		"Asiste D. Juan Ortiz Lara.":                         {"Juan Ortiz Lara"},
		"Asisten D.ª Inés de la Roca y don Luis Pi i Font.":  {"Inés de la Roca", "Luis Pi i Font"},
		"Asiste Mr. John O'Neill-Smith with Ms J. K. Clark.": {"John O'Neill-Smith", "J. K. Clark"},
		"Asiste Banco del Ebro, S.A. y Juan.":                nil,
		"El Consejo de Administración y la Junta General.":   nil,
		"ASISTE DON JUAN ORTIZ Y NADIE DE OTRO CONSEJO.":     {"JUAN ORTIZ"},
	} {
		p := onePart(text)
		if got := textsOf(p.people(0, len(p.tokens))); !slices.Equal(got, want) {
			t.Errorf("people in %q = %q, want %q", text, got, want)
		}
	}
}

func TestCompanies(t *testing.T) {
	for text, want := range map[string][]string{
		"La oferta de Banco del Ebro, S.A. sobre Soto & Roca S.L.U.":         {"Banco del Ebro, S.A.", "Soto & Roca S.L.U."},
		"El Consejo de Administración de Molinos del Ebro, S.A. ha acordado": {"Molinos del Ebro, S.A."},
		"Lumbre Holdco S.à r.l. and Lumbre plc":                              {"Lumbre Holdco S.à r.l.", "Lumbre plc"},
		"Lumbre Properties, SOCIMI, S.A. compra":                             {"Lumbre Properties, SOCIMI, S.A."},
		"la sociedad anónima y el SA":                                        nil,
	} {
		if got := textsOf(onePart(text).companies()); !slices.Equal(got, want) {
			t.Errorf("companies in %q = %q, want %q", text, got, want)
		}
	}
}

func TestIsCompany(t *testing.T) {
	r := reading{Document: Document{Company: "MOLINOS DEL EBRO, SOCIEDAD ANÓNIMA"}}
	for text, want := range map[string]bool{
		"Molinos del Ebro, S.A.":         true,
		"Molinos del Ebro SA":            true,
		"Molinos del Ebro Francia, S.A.": false,
		"Molinos, S.A.":                  false,
	} {
		if got := r.isCompany(text); got != want {
			t.Errorf("isCompany(%q) = %v", text, got)
		}
	}
}
