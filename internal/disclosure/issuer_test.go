package disclosure_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/disclosure"
)

func TestReadIssuer(t *testing.T) {
	tests := []struct{ line, id, cif, err string }{
		{`{"name":"X, S.A.","cif":"A-69001238"}`, "A69001238", "A69001238", ""},
		{`{"name":"X, FI","id":"FI-4720"}`, "fi-4720", "", ""},
		{`{"name":"X","cif":"BRL-000356"}`, "brl-000356", "", ""},
		{`{"name":"X","id":"fi-4720","cif":"V87654321"}`, "fi-4720", "V87654321", ""},
		{`{"name":"X"}`, "", "", "id is missing"},
		{`{"id":"fi-1"}`, "", "", "name is missing"},
		{`{"name":"X","id":"fi-1","former_names":["Y"," "]}`, "", "", `former_names " " is missing`},
		{`{"name":"X","id":"` + strings.Repeat("x", 201) + `"}`, "", "", "too long"},
		{`{"name":"X","id":"fi-1","aliases":["` + strings.Repeat("x", 201) + `"]}`, "", "", "too long"},
		{`{"name":"X","id":"fi-1","kind":"bank"}`, "", "", "use company, fund, manager or other"},
		{`{"name":"X","id":"fi-1","isins":["ES1"]}`, "", "", "not an ISIN"},
		{`{"name":"X","id":"fi-1","isins":"ES01SIM00026"}`, "", "", "must be a list"},
		{`{"name":"X","id":"fi-1","lei":"SIM000000A6900123811"}`, "", "", "not an LEI"},
		{`{"name":"X","id":"fi-1","lei":" sim000000a6900123810 ","sector":"BANCOS","capital":"0.50","voting_rights":"12","voting_rights_on":"2024-05-13"}`, "fi-1", "", ""},
		{`{"name":"X","id":"fi-1","lei":null,"sector":null,"capital":null,"voting_rights":null,"voting_rights_on":null}`, "fi-1", "", ""},
		{`{"name":"X","id":"fi-1","sector":"` + strings.Repeat("x", 201) + `"}`, "", "", "too long"},
		{`{"name":"X","id":"fi-1","capital":"5.670.161.554,00"}`, "", "", "must be a decimal"},
		{`{"name":"X","id":"fi-1","voting_rights":"-1"}`, "", "", "must be a decimal"},
		{`{"name":"X","id":"fi-1","voting_rights":"` + strings.Repeat("1", 41) + `"}`, "", "", "must be a decimal"},
		{`{"name":"X","id":"fi-1","voting_rights_on":"13/05/2024"}`, "", "", "must be a date"},
	}
	for _, tt := range tests {
		i, err := disclosure.ReadIssuer([]byte(tt.line))
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s: %v, want %q", tt.line, err, tt.err)
			}
			continue
		}
		if err != nil || i.ID != tt.id || i.CIF() != tt.cif {
			t.Errorf("%s: id %q cif %q, %v; want %q %q", tt.line, i.ID, i.CIF(), err, tt.id, tt.cif)
		}
	}
}

func TestIssuerKeyNormalizes(t *testing.T) {
	i, err := disclosure.ReadIssuer([]byte(`{"name":"X","id":"FI-1","aliases":["V-69000107","SICAV-9"],"isins":["es01sim00026"]}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, typed := range []string{"fi-1", "v69000107", "V-69000107", "sicav-9", "ES01SIM00026"} {
		if key := disclosure.IssuerKey(typed); !slices.Contains(i.Keys(), key) {
			t.Errorf("IssuerKey(%q) = %q, want one of %v", typed, key, i.Keys())
		}
	}
}

func TestIssuerMergeOfFund(t *testing.T) {
	known := disclosure.Issuer{ID: "fi-1", Name: "FONDO, FI", Manager: "UNA, SGIIC", Depositary: "BANCO, S.A."}
	merged, changed := known.Merge(disclosure.Issuer{ID: "fi-1", Manager: "OTRA, SGIIC"})
	if diff := cmp.Diff([]string{"manager"}, changed); diff != "" || merged.Manager != "OTRA, SGIIC" || merged.Depositary != "BANCO, S.A." {
		t.Errorf("%+v: %s", merged, diff)
	}
	if slices.Contains(merged.Keys(), "OTRA, SGIIC") {
		t.Error("Keys of a fund include the name of its manager")
	}
}

func TestIssuerMerge(t *testing.T) {
	known := disclosure.Issuer{ID: "A69001238", Name: "VIEJA, S.A.", NIF: "A-69001238", ISINs: []string{"ES01SIM00026"}}
	merged, changed := known.Merge(disclosure.Issuer{ID: known.ID, Name: "NUEVA, S.A.", Ticker: "NUE", ISINs: []string{"ES01SIM00026", "ES01SIM00034"}})
	if diff := cmp.Diff([]string{"name", "ticker", "isins", "former_names"}, changed); diff != "" {
		t.Error(diff)
	}
	want := disclosure.Issuer{
		ID: "A69001238", Name: "NUEVA, S.A.", NIF: "A-69001238", Ticker: "NUE",
		ISINs: []string{"ES01SIM00026", "ES01SIM00034"}, FormerNames: []string{"VIEJA, S.A."},
	}
	if diff := cmp.Diff(want, merged); diff != "" {
		t.Error(diff)
	}
	if len(known.ISINs) != 1 {
		t.Error("merging changed the known record")
	}
	if _, changed = merged.Merge(want); len(changed) != 0 {
		t.Errorf("the same observation twice changes %v", changed)
	}
}

// An observation without identity, as those of all other surfaces, keeps what is known.
func TestIssuerMergeOfIdentity(t *testing.T) {
	known := disclosure.Issuer{ID: "A69001238", Name: "X"}
	whole := disclosure.Issuer{
		ID:             "A69001238",
		Name:           "X",
		LEI:            "SIM000000A6900123810",
		Sector:         "BANCOS",
		Capital:        "10.5",
		VotingRights:   "21",
		VotingRightsOn: "2024-05-13",
	}
	merged, changed := known.Merge(whole)
	if diff := cmp.Diff([]string{"lei", "sector", "capital", "voting_rights", "voting_rights_on"}, changed); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(whole, merged); diff != "" {
		t.Error(diff)
	}
	if kept, changed := merged.Merge(known); len(changed) > 0 || !cmp.Equal(kept, whole) {
		t.Errorf("an observation without identity changes %v", changed)
	}
	more, changed := merged.Merge(disclosure.Issuer{ID: "A69001238", Capital: "11"})
	if diff := cmp.Diff([]string{"capital"}, changed); diff != "" || more.Capital != "11" || more.Sector != "BANCOS" {
		t.Errorf("%+v: %s", more, diff)
	}
}

// A former name that is used again is removed from the former names.
func TestIssuerReusesFormerName(t *testing.T) {
	i := disclosure.Issuer{ID: "fi-1", Name: "A"}
	i, _ = i.Merge(disclosure.Issuer{ID: "fi-1", Name: "B"})
	i, changed := i.Merge(disclosure.Issuer{ID: "fi-1", Name: "A"})
	if diff := cmp.Diff([]string{"B"}, i.FormerNames); diff != "" || i.Name != "A" {
		t.Errorf("%+v\n%s", i, diff)
	}
	if diff := cmp.Diff([]string{"name", "former_names"}, changed); diff != "" {
		t.Error(diff)
	}
}

func TestIssuerKeys(t *testing.T) {
	i := disclosure.Issuer{ID: "fi-4720", NIF: "V-87654321", ISINs: []string{"ES01SIM00026"}, Aliases: []string{"sicav-12"}, LEI: "SIM000000A6900123810"}
	for _, typed := range []string{"FI-4720", "v87654321", "V-87654321", "es01sim00026", " sicav-12 ", "sim000000a6900123810"} {
		if key := disclosure.IssuerKey(typed); !slices.Contains(i.Keys(), key) {
			t.Errorf("IssuerKey(%q) = %q, want one of %v", typed, key, i.Keys())
		}
	}
}
