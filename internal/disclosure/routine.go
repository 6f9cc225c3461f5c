package disclosure

import (
	"slices"

	"pregon/internal/text"
)

// routineFacts are what a report states that is routine: without=routine leaves it out if it
// states nothing else.
var routineFacts = []FactKind{LiquidityContract, VotingRights, Securitisation}

// routineCategories are the categories of routine reports, folded.
var routineCategories = []string{
	text.Fold("Contratos de liquidez y contrapartida"),
	text.Fold("Total número de derechos de voto y de capital"),
}

// IsRoutine reports whether a report is one of those that issuers file regularly and that say
// little: about liquidity contracts, about the number of voting rights, and by securitisation
// funds. Inside information is never routine.
//
// The facts of a report decide if it states any, and its category otherwise. So the answer
// depends on the report alone, and may change once its document was read.
func (r *Report) IsRoutine() bool {
	switch {
	case r.Type == IP:
		return false
	case IsSecuritisationFund(r.CompanyName):
		return true
	case len(r.Facts) > 0:
		return !slices.ContainsFunc(r.Facts, func(f Fact) bool { return !slices.Contains(routineFacts, f.Kind) })
	}
	return slices.ContainsFunc(r.Categories(), func(name string) bool {
		return slices.Contains(routineCategories, text.Fold(name))
	})
}
