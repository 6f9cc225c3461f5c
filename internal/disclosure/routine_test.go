package disclosure_test

import (
	"slices"
	"testing"

	"pregon/internal/disclosure"
)

func TestIsRoutine(t *testing.T) {
	t.Parallel()
	const liquidity, votes = "Contratos de liquidez y contrapartida", "Total número de derechos de voto y de capital"
	of := func(kinds ...disclosure.FactKind) (facts []disclosure.Fact) {
		for _, kind := range kinds {
			facts = append(facts, disclosure.Fact{Kind: kind})
		}
		return facts
	}
	fund := disclosure.Report{Type: disclosure.OIR, CompanyName: "VALDEBRISA AUTO 3, FONDO DE TITULIZACIÓN"}
	inside := fund
	inside.Type = disclosure.IP
	for name, test := range map[string]struct {
		report disclosure.Report
		want   bool
	}{
		"nothing":           {disclosure.Report{}, false},
		"fund":              {fund, true},
		"inside":            {inside, false},
		"liquidity":         {disclosure.Report{Type: disclosure.OIR, Category: liquidity}, true},
		"votes, any case":   {disclosure.Report{Type: disclosure.HR, Category: "TOTAL NUMERO de derechos de voto y de capital"}, true},
		"second category":   {disclosure.Report{Type: disclosure.OIR, Category: "Otra información relevante - " + liquidity}, true},
		"other category":    {disclosure.Report{Type: disclosure.OIR, Category: "Sobre resultados"}, false},
		"routine fact":      {disclosure.Report{Type: disclosure.OIR, Category: "Otra", Facts: of(disclosure.VotingRights)}, true},
		"routine facts":     {disclosure.Report{Type: disclosure.OIR, Facts: of(disclosure.VotingRights, disclosure.LiquidityContract)}, true},
		"one that matters":  {disclosure.Report{Type: disclosure.OIR, Category: votes, Facts: of(disclosure.VotingRights, disclosure.Capital)}, false},
		"inside with facts": {disclosure.Report{Type: disclosure.IP, Facts: of(disclosure.VotingRights)}, false},
	} {
		if got := test.report.IsRoutine(); got != test.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
	for _, category := range []string{liquidity, votes} {
		if !slices.Contains(disclosure.Categories, category) {
			t.Errorf("the regulator does not have the category %q", category)
		}
	}
}
