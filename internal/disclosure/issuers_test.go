package disclosure_test

import (
	"slices"
	"testing"

	"pregon/internal/disclosure"
)

func TestIssuersOfFilter(t *testing.T) {
	for given, want := range map[string][]string{
		"":                        nil,
		"a-69000016":              {"A69000016"},
		"A69000016,fi-4720":       {"a69000016,fi-4720", "A69000016", "fi-4720"},
		"A69000016, ES0100000017": {"a69000016, es0100000017", "A69000016", "ES0100000017"},
	} {
		f := disclosure.Filter{Issuer: given}
		if got := f.IssuerKeys(); !slices.Equal(got, want) {
			t.Errorf("the keys of %q are %q, want %q", given, got, want)
		}
		if got := f.NamesOneIssuer(); got != (len(want) == 1) {
			t.Errorf("%q names one issuer: %v", given, got)
		}
	}
	if got := disclosure.JoinIssuers([]string{"a-69000016", "FI-4720", "A69000016"}); got != "A69000016,fi-4720" {
		t.Errorf("the issuers are joined as %q", got)
	}
}

// Nobody looks for a natural person across issuers.
func TestNaturalNamesAcrossIssuers(t *testing.T) {
	p := disclosure.Position{Kind: disclosure.Holding, Name: "Elena Inventada", Natural: true, Date: "2026-01-02"}
	for issuer, want := range map[string]bool{"": false, "A69000016": true, "A69000016,fi-4720": false} {
		f := disclosure.Filter{Issuer: issuer, HeldBy: "elena"}
		if got := f.MatchPosition(&p); got != want {
			t.Errorf("with the issuers %q the name matches: %v", issuer, got)
		}
	}
}
