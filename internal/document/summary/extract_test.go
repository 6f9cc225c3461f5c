package summary

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write the golden files anew")

// readSource reads a report: its headers, then its pages.
func readSource(archive *txtar.Archive) Source {
	var s Source
	for _, f := range archive.Files {
		switch f.Name {
		case "source":
			for line := range strings.Lines(string(f.Data)) {
				name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
				switch name {
				case "Company":
					s.Company = value
				case "Title":
					s.Title = value
				case "Category":
					s.Category = value
				case "Language":
					s.Language = value
				}
			}
		case "page":
			s.Pages = append(s.Pages, string(f.Data))
		}
	}
	return s
}

// TestExtract compares the summary of each report with its reviewed golden summary.
func TestExtract(t *testing.T) {
	files, err := filepath.Glob("testdata/extract/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no reports: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := readSource(archive)
			var got strings.Builder
			found := Extract(s)
			if found.Language != "" && found.Language != "es" {
				fmt.Fprintf(&got, "in %s\n", found.Language)
			}
			for _, sentence := range found.Sentences {
				fmt.Fprintf(&got, "%d: %s\n", sentence.Page, sentence.Text)
				if page := strings.Join(strings.Fields(s.Pages[sentence.Page-1]), " "); !strings.Contains(page, sentence.Quote) || sentence.Quote != sentence.Text {
					t.Errorf("not verbatim: %q", sentence.Text)
				}
			}
			last := len(archive.Files) - 1
			if *update {
				if archive.Files[last].Name == "want" {
					archive.Files = archive.Files[:last]
				}
				archive.Files = append(archive.Files, txtar.File{Name: "want", Data: []byte(got.String())})
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if want := archive.Files[last]; want.Name != "want" || string(want.Data) != got.String() {
				t.Error(cmp.Diff(string(want.Data), got.String()))
			}
		})
	}
}

// TestExtractBeside checks that the text before a sentence decides whether the
// sentence is complete.
func TestExtractBeside(t *testing.T) {
	const payout = "El Consejo de Administración ha acordado repartir un dividendo de 0,25 euros brutos por acción el 5 de mayo de 2026."
	for page, want := range map[string]string{
		"TELEFÉRICOS DE MONTECÁRDENO, S. A.\n\n" + payout:       payout,
		"Teleféricos de Montecárdeno, S.A.\n\n" + payout:        payout,
		"Acciones de la Serie A\n\n" + payout:                   payout,
		"Dividendo A\n\n" + payout:                              payout,
		"Bonos de la clase E\n\n" + payout:                      payout,
		"Tramo Y\n\n" + payout:                                  payout,
		"El Consejo se ha reunido para acordar la\n\n" + payout: "",
		"La sociedad sigue con su programa de recompra de acciones. Hasta la fecha se han comprado\n\n30.066 acciones, el 83 % del número máximo de acciones del programa.": "",
		"La sociedad sigue con su programa de recompra de acciones, del que hasta la fecha se han comprado\n\n30.066 acciones, el 83 % del número máximo de acciones.":      "",
	} {
		var got []string
		for _, sentence := range Extract(Source{Company: "TELEFÉRICOS DE MONTECÁRDENO, S. A.", Title: "Dividendo", Language: "es", Pages: []string{page}}).Sentences {
			got = append(got, sentence.Text)
		}
		if fragment := strings.Contains(strings.Join(got, " "), "30.066"); fragment || want != "" && (len(got) == 0 || got[0] != want) || want == "" && strings.Contains(strings.Join(got, " "), payout) {
			t.Errorf("%q: %q", page, got)
		}
	}
}

func TestWellFormed(t *testing.T) {
	for text, want := range map[string]bool{
		"La sociedad ha vendido su filial de cementos.":                    true,
		"«La sociedad ha vendido su filial de cementos».":                  true,
		"La sociedad ha vendido su filial de cementos":                     false,
		"sociedad ha vendido su filial de cementos.":                       false,
		"LA SOCIEDAD HA VENDIDO SU FILIAL DE CEMENTOS.":                    false,
		"Ventas 1.234 1.100 12,2 EBITDA 300 280 7,1 Neto 100 90 11,1 (1).": false,
		"Informe de gestión ........................ 12.":                  false,
		"La sociedad ha vendido\u202e su filial de cementos.":              false,
		"La sociedad ha vendido su filial (de cementos.":                   false,
		"Vende.": false,
		"La " + strings.Repeat("larga ", 300) + "historia.": false,
	} {
		if got := wellFormed(text); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}

// The sentences of a summary are in the order of the document, also if the best comes
// later.
func TestExtractKeepsOrder(t *testing.T) {
	found := Extract(Source{
		Title:    "Pago de dividendo a cuenta",
		Category: "Otra información relevante",
		Language: "es",
		Pages: []string{"La sociedad ha vendido su filial de cementos por 30 millones de euros.\n\n" +
			"El Consejo de Administración ha acordado el pago de un dividendo a cuenta de 0,25 euros brutos por acción."},
	})
	if len(found.Sentences) != 2 || !strings.HasPrefix(found.Sentences[0].Text, "La sociedad ha vendido") {
		t.Errorf("got %+v", found.Sentences)
	}
}

// A sentence with the values of a fact belongs into the summary.
func TestExtractPrefersFacts(t *testing.T) {
	source := Source{
		Title:    "Acuerdos del Consejo de Administración",
		Language: "es",
		Pages: []string{"El Consejo de Administración ha aprobado el plan estratégico de la compañía.\n\n" +
			"El Consejo de Administración ha nombrado director financiero a Julián Arce.\n\n" +
			"El Consejo de Administración ha acordado vender la filial de cementos.\n\n" +
			"La fecha de abono será el día 17 de diciembre de 2026, a razón de 0,25 euros brutos por acción."},
	}
	has := func(s Source) bool {
		return strings.Contains(Join(Extract(s).Sentences), "17 de diciembre")
	}
	if has(source) {
		t.Fatal("the sentence is chosen anyway, so that the test shows nothing")
	}
	source.Stated = []Stated{{1, "17 de diciembre de 2026"}, {1, "0,25 euros"}}
	if !has(source) {
		t.Errorf("got %+v", Extract(source).Sentences)
	}
}
