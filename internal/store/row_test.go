package store_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/disclosure"
	"pregon/internal/store"
)

func TestRowRoundTrip(t *testing.T) {
	report := kept("Línea una\n«dos» <b>&amp;</b> \u2028 🏛️", micro)
	issuer := disclosure.Issuer{
		ID: "A69001238", Name: "Añil, S.A.", NIF: "A-69001238", Kind: disclosure.Company,
		ISINs: []string{"ES0000000001"}, FormerNames: []string{"Antes"}, Aliases: []string{"fi-1"},
		LEI: "SIM000000A6900123810", Sector: "BANCOS", Capital: "10.5", VotingRights: "21", VotingRightsOn: "2024-05-13",
	}
	for name, c := range map[string]disclosure.Change{
		"new":     {Seq: 1, Event: disclosure.Published, OccurredAt: micro, Report: &report},
		"updated": {Seq: 2, Event: disclosure.Updated, OccurredAt: micro, Changed: []string{"title", "pdf_url"}, Report: &report},
		"issuer":  {Seq: 3, Event: disclosure.IssuerUpdated, OccurredAt: micro, Changed: []string{"name"}, Issuer: &issuer},
	} {
		t.Run(name, func(t *testing.T) {
			row, err := store.EncodeRow(c)
			if err != nil {
				t.Fatal(err)
			}
			if row.Subject != c.Subject() || row.Event != string(c.Event) || row.Seq != c.Seq {
				t.Errorf("the row is %+v", row)
			}
			row.OccurredAt = row.OccurredAt.In(time.FixedZone("", 7200)) // as a driver may return it
			got, err := row.Decode()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c, got); diff != "" {
				t.Errorf("change (-want +got):\n%s", diff)
			}
			if got.OccurredAt.Location() != time.UTC {
				t.Errorf("OccurredAt = %v, want UTC", got.OccurredAt)
			}
			again, err := store.EncodeRow(got)
			if err != nil || again.Body != row.Body {
				t.Errorf("encoded again = %s, %v; want %s", again.Body, err, row.Body)
			}
		})
	}
}

// A row of an issuer that an earlier version wrote is encoded again as it is: its leaf in
// the tree must not change.
func TestRowOfEarlierVersion(t *testing.T) {
	const body = `{"id":"A69001238","name":"Añil, S.A.","cif":"A-69001238","ticker":"ANI","market":"SIBE","kind":"company",` +
		`"isins":["ES0000000001"],"former_names":["Antes"],"aliases":["fi-1"],"manager":"M","depositary":"D"}`
	row := store.Row{Seq: 1, Event: string(disclosure.IssuerUpdated), Subject: "A69001238", OccurredAt: micro, Body: body}
	c, err := row.Decode()
	if err != nil {
		t.Fatal(err)
	}
	again, err := store.EncodeRow(c)
	if err != nil || again.Leaf().Hash() != row.Leaf().Hash() {
		t.Errorf("encoded again = %s, %v; want %s", again.Body, err, body)
	}
}

func TestDecodeNamesTheRow(t *testing.T) {
	_, err := store.Row{Seq: 42, Event: string(disclosure.Published), Body: `{`}.Decode()
	if err == nil || !strings.Contains(err.Error(), "42") {
		t.Errorf("Decode of a broken row = %v, want an error with seq 42", err)
	}
}
