package disclosure_test

import (
	"testing"

	"pregon/internal/disclosure"
	"pregon/internal/text"
)

func TestIsSecuritisationFund(t *testing.T) {
	for name, want := range map[string]bool{
		"ARDAZUL HIPOTECARIO 3, FONDO DE TITULIZACIÓN HIPOTECARIA":               true,
		"Valdebrisa Pymes 12, Fondo de Titulización de Activos":                  true,
		"FONDO DE TITULIZACION ARDAZUL AUTO 2024-1":                              true,
		"Cédulas Benicarza, Fondo de Titulización, en liquidación":               true,
		"ARDAZUL CONSUMO 1, FT":                                                  true,
		"ARDAZUL CONSUMO 1, F.T.":                                                true,
		"VALDEBRISA RMBS 2 F.T.A.":                                               true,
		"VALDEBRISA RMBS 2 F. T. A.":                                             true,
		"VALDEBRISA RMBS 2 F T A":                                                true,
		"VALDEBRISA RMBS 2 F/T/H":                                                true,
		"Benicarza Hipotecario II FTH":                                           true,
		"ARDAZUL DE TITULIZACIÓN, S.G.F.T., S.A.":                                false,
		"ARDAZUL DE TITULIZACION, S.A., S.G.F.T.":                                false,
		"ARDAZUL DE TITULIZACION S.A. S.G.F.T.":                                  false,
		"Ardazul Titulización, Sociedad Gestora de Fondos de Titulización, S.A.": false,
		"GESTORA DE FONDOS DE TITULIZACION ARDAZUL":                              false,
		"ARDAZUL TITULIZACIÓN, S.A.U.":                                           false,
		"VALDEBRISA TITULIZADORA, S.A.":                                          false,
		"ARDAZUL RENTA FIJA, FI":                                                 false,
		"BANCO DE BENICARZA, S.A.":                                               false,
		"FT VALDEBRISA, S.A.":                                                    false,
		"MINAS DE AZAFRAN SOFT":                                                  false,
		"FT":                                                                     true,
		"":                                                                       false,
		"***":                                                                    false,
	} {
		if got := disclosure.IsSecuritisationFund(name); got != want {
			t.Errorf("IsSecuritisationFund(%q) = %v, want %v", name, got, want)
		}
		if got := disclosure.IsSecuritisationFund(text.Fold(name)); got != want {
			t.Errorf("IsSecuritisationFund(%q) = %v after folding, want %v", name, got, want)
		}
	}
}
