package search

import (
	"slices"
	"strings"

	"pregon/internal/disclosure"
	"pregon/internal/search/segment"
	"pregon/internal/text"
)

// The groups of issuers that a filter can select.
func kindGroup(k disclosure.Kind) segment.Group { return segment.Group("kind " + string(k)) }

func marketGroup(folded string) segment.Group { return segment.Group("market " + folded) }

func sectorGroup(folded string) segment.Group { return segment.Group("sector " + folded) }

const otherThanSecuritisation segment.Group = "other than securitisation funds"

// groupsOf returns the groups of an issuer.
func groupsOf(i *disclosure.Issuer) (groups []segment.Group) {
	if i.Kind != "" {
		groups = append(groups, kindGroup(i.Kind))
	}
	if market := text.Fold(i.Market); market != "" {
		groups = append(groups, marketGroup(market))
	}
	if sector := text.Fold(i.Sector); sector != "" {
		groups = append(groups, sectorGroup(sector))
	}
	if !disclosure.IsSecuritisationFund(i.Name) {
		groups = append(groups, otherThanSecuritisation)
	}
	return groups
}

// groupsAt returns the groups of an issuer or, if it is nil, of a reference to one
// that is not in the directory.
func groupsAt(e *Issuer, ref string) []segment.Group {
	if e != nil {
		return e.groups
	}
	if name, ok := strings.CutPrefix(ref, byNamePrefix); ok && disclosure.IsSecuritisationFund(name) {
		return nil
	}
	return []segment.Group{otherThanSecuritisation}
}

// wantedGroups returns the groups that a filter selects, apart from those of markets and
// sectors:// an issuer must be in all.
func wantedGroups(f disclosure.Filter) (groups []segment.Group) {
	if f.Kind != "" {
		groups = append(groups, kindGroup(f.Kind))
	}
	if f.NoSecuritisation {
		groups = append(groups, otherThanSecuritisation)
	}
	return groups
}

func containsAll(have, want []segment.Group) bool {
	return !slices.ContainsFunc(want, func(g segment.Group) bool { return !slices.Contains(have, g) })
}
