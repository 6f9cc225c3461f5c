package search_test

import (
	"testing"

	"pregon/internal/disclosure"
	"pregon/internal/search"
	"pregon/internal/sim/market"
)

// Sectors as the regulator writes them are found by what an English reader calls them.
func TestSectorsInEnglish(t *testing.T) {
	for asked, sector := range map[string]string{
		"banks":              "FINANCIACIÓN Y SEGUROS/BANCOS",
		"Bank":               "BANCOS Y CAJAS DE AHORROS",
		"real estate":        "INMOBILIARIAS",
		"media":              "MEDIOS DE COMUNICACIÓN",
		"telecommunications": "TRANSPORTES Y COMUNICACIONES/COMUNICACIONES",
		"insurers":           "SEGUROS",
		"construcción":       "CONSTRUCCION",
	} {
		f := search.NewNameFilter(asked, true)
		if !f.MatchSector(sector) {
			t.Errorf("%q does not select %s", asked, sector)
		}
		if f.MatchSector("PAPEL Y ARTES GRAFICAS") {
			t.Errorf("%q selects another sector", asked)
		}
	}
	telecoms := search.NewNameFilter("telecoms", true)
	if telecoms.MatchSector("MEDIOS DE COMUNICACIÓN") {
		t.Error("telecoms are media")
	}
	whole := search.NewNameFilter("banks", false)
	if whole.MatchSector("BANCOS") {
		t.Error("a whole name may be English")
	}
}

// Every sector of the simulated market and every known one has an English word.
func TestSectorsHaveEnglishWords(t *testing.T) {
	sectors := disclosure.Sectors
	m := market.New(1)
	for _, i := range m.Issuers() {
		if s := m.Sector(i.ID); s != "" {
			sectors = append(sectors, s)
		}
	}
	for _, s := range sectors {
		if len(search.InEnglish(s)) == 0 {
			t.Errorf("%s has no English word", s)
		}
	}
}
