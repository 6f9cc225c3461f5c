package search_test

import (
	"slices"
	"testing"

	"pregon/internal/disclosure"
	"pregon/internal/search"
)

// Names have commas, and so have lists of them.
func TestSplitIssuers(t *testing.T) {
	d := directoryOf(
		disclosure.Issuer{ID: "A1", Name: "ALMAZARA FICTICIA, S.A.", Ticker: "ALM"},
		disclosure.Issuer{ID: "A2", Name: "CORREO FICTICIO, S.A., S.M.E.", Ticker: "COR"},
		disclosure.Issuer{ID: "A3", Name: "DOBLE, S.A."},
		disclosure.Issuer{ID: "A4", Name: "DOBLE, S.L."},
		disclosure.Issuer{ID: "A5", Name: "UNO, DOS Y TRES, S.L.", Ticker: "UDT"},
	)
	known := func(name string) bool { return len(d.Lookup(name)) == 1 }
	for list, want := range map[string][]string{
		"ALM":                                   {"ALM"},
		" ALM ":                                 {"ALM"},
		"ALM,COR":                               {"ALM", "COR"},
		"ALM , COR ,":                           {"ALM", "COR"},
		",, ALM,,COR":                           {"ALM", "COR"},
		"ALM,ALM":                               {"ALM", "ALM"},
		"ALMAZARA FICTICIA, S.A.":               {"ALMAZARA FICTICIA, S.A."},
		"Almazara Ficticia, S.A.,COR":           {"Almazara Ficticia, S.A.", "COR"},
		"Almazara Ficticia,COR":                 {"Almazara Ficticia", "COR"},
		"Correo Ficticio, S.A., S.M.E.":         {"Correo Ficticio, S.A., S.M.E."},
		"ALM,Correo Ficticio, S.A., S.M.E.,UDT": {"ALM", "Correo Ficticio, S.A., S.M.E.", "UDT"},
		"uno, dos y tres, S.L.,ALM":             {"uno, dos y tres, S.L.", "ALM"},
		"uno, dos y tres, ALM":                  {"uno, dos y tres", "ALM"},
		"doble, s.l., doble, s.a.":              {"doble, s.l.", "doble, s.a."},
		"doble,ALM":                             {"doble", "ALM"}, // several are called so, which is for the caller to say
		"ALM,nobody,COR":                        {"ALM", "nobody", "COR"},
		"nobody":                                {"nobody"},
		",":                                     {","},
		", ,":                                   {", ,"},
	} {
		if got := search.SplitIssuers(list, known); !slices.Equal(got, want) {
			t.Errorf("%q is split into %q, want %q", list, got, want)
		}
	}
}
