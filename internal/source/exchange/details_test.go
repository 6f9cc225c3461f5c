package exchange_test

import (
	"net/http"
	"testing"

	"pregon/internal/fault"
	"pregon/internal/source/exchange"
)

func TestTicker(t *testing.T) {
	for _, test := range []struct {
		body string
		want string
		kind fault.Kind // of the error, when nothing is wanted
	}{
		{details, "ALMZ", 0},
		{`{"isin":"es01sim00014","ticker":" almz "}`, "ALMZ", 0},
		{`{"ticker":"ALM.B-2"}`, "ALM.B-2", 0},
		{`{"isin":null,"ticker":480}`, "480", 0},
		{`{"isin":"ES01SIM00014","ticker":"ALMZ","otherShares":[{"isin":"ES01SIM00089","ticker":"ALMB"}]}`, "ALMZ", 0},
		{`{"isin":"ES01SIM00014","otherShares":[{"ticker":"ALMB"}]}`, "", fault.NotFound},
		{`{"isin":"ES01SIM00014","ticker":null}`, "", fault.NotFound},
		{`{"isin":"ES01SIM00014","ticker":"  "}`, "", fault.NotFound},
		{`{"isin":"ES01SIM00014","ticker":true}`, "", fault.NotFound},
		{`{"isin":"ES01SIM00089","ticker":"OTHR"}`, "", fault.Unavailable},
		{`{"ticker":"-"}`, "", fault.Unavailable},
		{`{"ticker":"A B"}`, "", fault.Unavailable},
		{`{"ticker":"ÑU"}`, "", fault.Unavailable},
		{`{"ticker":"<b>"}`, "", fault.Unavailable},
		{`{"ticker":"ABCDEFGHIJKLM"}`, "", fault.Unavailable},
		{`{"message":"try later"}`, "", fault.Unavailable},
		{`{}`, "", fault.Unavailable},
		{`null`, "", fault.Unavailable},
		{`[]`, "", fault.Unavailable},
		{``, "", fault.Unavailable},
		{`<html>`, "", fault.Unavailable},
	} {
		got, err := serve(t, say(test.body)).Ticker(t.Context(), isin)
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.body, got, test.want)
		}
		if test.want != "" && err != nil {
			t.Errorf("%s: %v", test.body, err)
		}
		if test.want == "" {
			wantKind(t, err, test.kind)
		}
	}
}

func TestNIF(t *testing.T) {
	for _, test := range []struct {
		body string
		want string
		kind fault.Kind // of the error, when nothing is wanted
	}{
		{`{"companyKey":"90001","nif":"A00000000"}`, "A00000000", 0},
		{`{"companyKey":"090001","NIF":" a-00.000.000\t"}`, "A00000000", 0},
		{`{"companyKey":90001,"Cif":"ESA00000000"}`, "A00000000", 0},
		{`{"data":{"company":[{"address":"Calle Falsa, 1","nif":"A00000000"}]}}`, "A00000000", 0},
		{`[{"nif":"A00000000"}]`, "A00000000", 0},
		{`{"auditor":{"nif":"B99999999"},"nif":"A00000000"}`, "A00000000", 0},
		{`{"nif":"A00000000","cif":"A-00000000"}`, "A00000000", 0},
		{`{"nif":"","cif":"A00000000"}`, "A00000000", 0},
		{`{"nif":null,"company":{"cif":"A00000000"}}`, "A00000000", 0},
		{`{"managers":[{"nif":"A00000000"},{"nif":"B99999999"}]}`, "", fault.NotFound},
		{`{"nif":"BRL-000356"}`, "", fault.NotFound},
		{`{"nif":12345678}`, "", fault.NotFound},
		{`{"specific":"A00000000"}`, "", fault.NotFound},
		{`{}`, "", fault.NotFound},
		{`[]`, "", fault.NotFound},
		{`{"companyKey":"90002","nif":"A00000000"}`, "", fault.Unavailable},
		{`null`, "", fault.Unavailable},
		{`"A00000000"`, "", fault.Unavailable},
		{``, "", fault.Unavailable},
		{`<html>`, "", fault.Unavailable},
	} {
		got, err := serve(t, say(test.body)).NIF(t.Context(), "90001")
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.body, got, test.want)
		}
		if test.want != "" && err != nil {
			t.Errorf("%s: %v", test.body, err)
		}
		if test.want == "" {
			wantKind(t, err, test.kind)
		}
	}
}

// Invalid arguments cause no request.
func TestNotAsked(t *testing.T) {
	c := client(t, exchange.Options{Origin: origin, Transport: transport(func(r *http.Request) (*http.Response, error) {
		t.Errorf("asked %s", r.URL)
		return nil, http.ErrNotSupported
	})})
	_, err := c.Ticker(t.Context(), "ES01SIM")
	wantKind(t, err, fault.Invalid)
	_, err = c.NIF(t.Context(), "  ")
	wantKind(t, err, fault.Invalid)
}
