package search_test

import (
	"strings"
	"testing"

	"pregon/internal/disclosure"
	"pregon/internal/search"
)

func directoryOf(issuers ...disclosure.Issuer) *search.Directory {
	var all []*search.Issuer
	for i := range issuers {
		all = append(all, search.NewIssuer(&issuers[i]))
	}
	return search.NewDirectory(all)
}

// In speech names have no particles, and funds no legal form. A name that is spelled in full
// is not mistaken for another that differs only in particles.
func TestLookupWithoutParticles(t *testing.T) {
	d := directoryOf(
		disclosure.Issuer{ID: "B1", Name: "CRÉDITO Y AHORRO DE NORABUENA, S.A."},
		disclosure.Issuer{ID: "B2", Name: "BANCO DE LA SIERRA ALBINA, S.A."},
		disclosure.Issuer{ID: "B3", Name: "BANCO DE SIERRALBINA, S.A."},
		disclosure.Issuer{ID: "B4", Name: "BANCO SIERRA ALBINA, S.A."},
		disclosure.Issuer{ID: "B5", Name: "FICTICIO HIPOTECARIO 3, FONDO DE TITULIZACION HIPOTECARIA"},
		disclosure.Issuer{ID: "B6", Name: "FICTICIO CÉDULAS 2, FONDO DE TITULIZACIÓN DE ACTIVOS"},
		disclosure.Issuer{ID: "B7", Name: "DE LA Y, S.A."},
	)
	for name, want := range map[string]string{
		"credito y ahorro norabuena": "B1",
		"Crédito Ahorro Norabuena":   "B1",
		"credito y ahorro":           "",
		"Banco de la Sierra Albina":  "B2",
		"banco sierra albina":        "B4",
		"banco de sierra albina":     "B2 B4", // neither is spelled so
		"Banco Sierralbina":          "B3",
		"Ficticio Hipotecario 3":     "B5",
		"ficticio hipotecario 3, fondo de titulización hipotecaria": "B5",
		"ficticio hipotecario 3, fondo de titulización de activos":  "", // another fund
		"ficticio cedulas 2": "B6",
		"de":                 "",
		"de la":              "",
	} {
		var ids []string
		for _, e := range d.Lookup(name) {
			ids = append(ids, e.Issuer.ID)
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%q: found %q, want %q", name, got, want)
		}
	}
}

// An issuer is named by its full name in any spelling, with or without its legal form,
// if no other has the same.
func TestLookupByName(t *testing.T) {
	d := directoryOf(
		disclosure.Issuer{ID: "A1", Name: "ALMAZARA FICTICIA, S.A.", Ticker: "ALM", FormerNames: []string{"ACEITES FICTICIOS, S.L."}},
		disclosure.Issuer{ID: "A2", Name: "Bodegas Ñandú, Sociedad Anónima"},
		disclosure.Issuer{ID: "A3", Name: "DOBLE, S.A."},
		disclosure.Issuer{ID: "A4", Name: "DOBLE, S.L."},
		disclosure.Issuer{ID: "A5", Name: "CORREO FICTICIO, S.A., S.M.E."},
		disclosure.Issuer{ID: "A6", Name: "ALM, S.A."},
		disclosure.Issuer{ID: "A7", Name: "ACEITES FICTICIOS, S.A."},
		disclosure.Issuer{ID: "A8", Name: "S.A."},
		disclosure.Issuer{ID: "A9", Name: "IGUAL, F.I."},
		disclosure.Issuer{ID: "A10", Name: "Igual F.I."},
	)
	for name, want := range map[string]string{
		"ALMAZARA FICTICIA, S.A.":         "A1",
		"almazara ficticia sa":            "A1",
		"Almazara Ficticia S. A.":         "A1",
		"ALMAZARA FICTICIA S A":           "A1",
		" almazára   fictícia ":           "A1",
		"ALMAZARA FICTICIA, S.L.":         "", // another legal form is another company
		"ALMAZARA":                        "",
		"FICTICIA ALMAZARA":               "",
		"aceites ficticios, s.l.":         "A1", // a former name
		"aceites ficticios":               "A7", // a present one takes precedence
		"bodegas nandu":                   "A2",
		"BODEGAS ÑANDÚ, SOCIEDAD ANÓNIMA": "A2",
		"DOBLE SA":                        "A3",
		"DOBLE, S.L.":                     "A4",
		"doble":                           "A3 A4",
		"Correo Ficticio":                 "A5",
		"alm":                             "A1", // a ticker takes precedence
		"ALM, S.A.":                       "A6",
		"s.a.":                            "A8",
		"igual fi":                        "A10 A9",
		"":                                "",
		"***":                             "",
	} {
		var ids []string
		for _, e := range d.Lookup(name) {
			ids = append(ids, e.Issuer.ID)
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%q names %q, want %q", name, got, want)
		}
	}
}

// A legal form that is written out is the same as its abbreviation.
func TestLookupByLongForm(t *testing.T) {
	d := directoryOf(
		disclosure.Issuer{ID: "A1", Name: "AZUCARERA FICTICIA, S.A."},
		disclosure.Issuer{ID: "A2", Name: "AZUCARERA FICTICIA, S.L."},
		disclosure.Issuer{ID: "A3", Name: "AZUCARERA FICTICIA, S.A.U."},
		disclosure.Issuer{ID: "A4", Name: "Azucarera Ficticia, Sociedad Limitada Unipersonal"},
		disclosure.Issuer{ID: "A5", Name: "CORREO FICTICIO, S.A., S.M.E.", FormerNames: []string{"CARTAS FICTICIAS, SOCIEDAD ANÓNIMA"}},
		disclosure.Issuer{ID: "A6", Name: "CARTAS FICTICIAS, S.L."},
		disclosure.Issuer{ID: "A7", Name: "CAJA FICTICIA, S. COOP."},
		disclosure.Issuer{ID: "A8", Name: "CLUB FICTICIO, S.A.D."},
		disclosure.Issuer{ID: "A9", Name: "SOCIEDAD ANÓNIMA"},
		disclosure.Issuer{ID: "A10", Name: "UNION FICTICIA, S.E."},
	)
	for name, want := range map[string]string{
		"AZUCARERA FICTICIA, SOCIEDAD ANONIMA":                                 "A1",
		"Azucarera Ficticia Sociedad Anónima":                                  "A1",
		"AZUCARERA FICTICIA, SOCIEDAD LIMITADA":                                "A2",
		"AZUCARERA FICTICIA, SOCIEDAD DE RESPONSABILIDAD LIMITADA":             "A2",
		"AZUCARERA FICTICIA, SOCIEDAD ANÓNIMA UNIPERSONAL":                     "A3",
		"AZUCARERA FICTICIA, SOCIEDAD ANÓNIMA (UNIPERSONAL)":                   "A3",
		"AZUCARERA FICTICIA, S.A. UNIPERSONAL":                                 "A3",
		"AZUCARERA FICTICIA, S.L.U.":                                           "A4",
		"AZUCARERA FICTICIA, SOCIEDAD DE RESPONSABILIDAD LIMITADA UNIPERSONAL": "A4",
		"AZUCARERA FICTICIA, SOCIEDAD EUROPEA":                                 "",
		"azucarera ficticia":                                                   "A1 A3 A2 A4",
		"CORREO FICTICIO, SOCIEDAD ANÓNIMA, S.M.E.":                            "A5",
		"CORREO FICTICIO, SOCIEDAD ANÓNIMA, SOCIEDAD MERCANTIL ESTATAL":        "A5",
		"CORREO FICTICIO, SOCIEDAD ANÓNIMA":                                    "",
		"cartas ficticias, s.a.":                                               "A5",
		"cartas ficticias, sociedad limitada":                                  "A6",
		"CAJA FICTICIA, SOCIEDAD COOPERATIVA":                                  "A7",
		"CAJA FICTICIA":                                                        "A7",
		"CLUB FICTICIO, SOCIEDAD ANÓNIMA DEPORTIVA":                            "A8",
		"sociedad anonima":                                                     "A9",
		"UNIÓN FICTICIA, SOCIEDAD ANÓNIMA EUROPEA":                             "A10",
	} {
		var ids []string
		for _, e := range d.Lookup(name) {
			ids = append(ids, e.Issuer.ID)
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%q names %q, want %q", name, got, want)
		}
	}
}

func TestUnresolvedIssuers(t *testing.T) {
	d := directoryOf(
		disclosure.Issuer{ID: "A1", Name: "ALMAZARA FICTICIA, S.A."},
		disclosure.Issuer{ID: "A2", Name: "ALMAZARA DEL\u202e SUR\n, S.A."},
		disclosure.Issuer{ID: "A3", Name: "TRES, S.A."},
		disclosure.Issuer{ID: "A4", Name: "TRES, S.L."},
		disclosure.Issuer{ID: "A5", Name: "TRES, N.V."},
		disclosure.Issuer{ID: "A6", Name: "TRES, PLC"},
	)
	for name, want := range map[string]string{
		"almazara":           `Unknown issuer "almazara". Did you mean ALMAZARA DEL SUR , S.A. (A2) or ALMAZARA FICTICIA, S.A. (A1)?`,
		"almazarra ficticia": `Unknown issuer "almazarra ficticia". Did you mean ALMAZARA FICTICIA, S.A. (A1)?`,
		"Almazara -Inexistente, S.A.": `Unknown issuer "Almazara -Inexistente, S.A.". ` +
			`Did you mean ALMAZARA DEL SUR , S.A. (A2) or ALMAZARA FICTICIA, S.A. (A1)?`,
		"zzz\n": `Unknown issuer "zzz\n". Give its ticker, NIF, ISIN, LEI, id or full name.`,
		"tres":  `Several issuers are called "tres": TRES, N.V. (A5), TRES, PLC (A6), TRES, S.A. (A3) and 1 more. Use an id.`,
	} {
		e, unresolved := d.Resolve(name)
		if e != nil || unresolved == nil || unresolved.Sentence != want {
			t.Errorf("%q: %+v, %+v\nwant %s", name, e, unresolved, want)
		}
	}
	if e, unresolved := d.Resolve("almazara ficticia"); unresolved != nil || e.Issuer.ID != "A1" {
		t.Errorf("a full name: %+v, %+v", e, unresolved)
	}
	if _, unresolved := d.Resolve(strings.Repeat("ñ", 1000)); len(unresolved.Sentence) > 400 {
		t.Errorf("a sentence of %d bytes", len(unresolved.Sentence))
	}
}

func TestLikeness(t *testing.T) {
	const name = "Programas de recompra de acciones, estabilización y autocartera"
	for _, pair := range [][2]string{ // the first is more similar than the second
		{"recompras", "recompar"},
		{"recom", "rec"},
		{"recompra", "recompra dividendo"},
		{"acción autocartera", "acción cartera"},
		{"autocatrera", "dividendo"},
		{"estab", ""},
	} {
		if a, b := search.Likeness(pair[0], name), search.Likeness(pair[1], name); a <= b {
			t.Errorf("%q has %.2f, %q has %.2f", pair[0], a, pair[1], b)
		}
	}
	if got := search.Likeness("dividendos", name); got != 0 {
		t.Errorf("a word that has nothing to do with it has %.2f", got)
	}
}
