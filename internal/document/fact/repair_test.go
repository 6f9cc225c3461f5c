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
	} {
		tokens := value.Tokenise(text)
		phrases.repair(tokens)
		if tokens[0].Folded != want && tokens[0].Folded != "" {
			t.Errorf("%s: got %q, want %q", text, tokens[0].Folded, want)
		}
	}
}
