package fact

import (
	"testing"

	"pregon/internal/document/value"
)

func TestRepair(t *testing.T) {
	for text, want := range map[string]string{
		"máxlmo":          "maximo",
		"prograrna":       "programa",
		"lmporte":         "importe",
		"acc1ones":        "acciones",
		"Adrninistración": "administracion",
		"importe":         "importe",
		"eterno":          "eterno",
		"1000":            "1000",
		"regis tro":       "registro",
		"septiem bre":     "septiembre",
		"la fecha":        "la",
	} {
		tokens := value.Tokenise(text)
		tokens, _ = phrases.repair(tokens, phrases.appendWords(nil, tokens))
		if tokens[0].Folded != want && tokens[0].Folded != "" {
			t.Errorf("%s: got %q, want %q", text, tokens[0].Folded, want)
		}
	}
}

func TestDigitsWithinFigures(t *testing.T) {
	for text, want := range map[string]string{
		"64.3O2 y 1.38O":            "64.302 y 1.380",
		"el 12 de mayo de 2O26":     "el 12 de mayo de 2026",
		"O,25 euros":                "0,25 euros",
		"l5/O6/2026":                "15/06/2026",
		"el 1O de mayo":             "el 1O de mayo", // may be the first
		"ISIN ES01O5O27O07":         "ISIN ES01O5O27O07",
		"Ibex 35, OHL y CO2":        "Ibex 35, OHL y CO2",
		"el Real Decreto 1066/2OO7": "el Real Decreto 1066/2007",
	} {
		if got := withDigits(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
