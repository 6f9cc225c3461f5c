package exchange_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/fault"
	"pregon/internal/source/exchange"
)

// pages answers the main list with pages, repeating the last one, and the other list
// with a company.
func pages(bodies ...string) http.HandlerFunc {
	asked := 0
	return func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("tradingSystem") == "MTF" {
			fmt.Fprint(w, list(noria))
			return
		}
		if got := r.FormValue("page"); got != fmt.Sprint(asked) {
			http.Error(w, "page "+got, http.StatusTeapot)
			return
		}
		fmt.Fprint(w, bodies[min(asked, len(bodies)-1)])
		asked++
	}
}

func part(total, more string, rows ...string) string {
	return fmt.Sprintf(`{"totalResults":%s,"hasMoreResults":%s,"data":[%s]}`, total, more, strings.Join(rows, ","))
}

func TestListed(t *testing.T) {
	var asked []string
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.String())
		if r.FormValue("tradingSystem") == "MTF" {
			fmt.Fprint(w, list(fundRow, noria, strings.Replace(almazara, "SIBE", "MTF\",\"mtfSegment\":\"BMEGrowth", 1)))
			return
		}
		fmt.Fprint(w, list(
			almazara,
			`{"name":" RÍO\u00a0 SUPUESTO,\u0000S.A. ","companyKey":90004,"isin":" es01sim00048","shareName":null,"tradingSystem":"latibex","country":"Brazil"}`,
			`{"name":"SIN CÓDIGO, S.A.","isin":"ES01SIM","tradingSystem":"SIBE"}`,
			`{"name":"OTRO SISTEMA, S.A.","isin":"ES01SIM00055","tradingSystem":"Otro"}`,
			`null`, `"row"`, `[]`, `{"isin":{"a":1},"tradingSystem":true}`,
		))
	})
	got, err := c.Listed(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []exchange.Share{
		{ISIN: "ES01SIM00014", CompanyKey: "90001", Name: "ALMAZARA FICTICIA, S.A.", ShareName: "ALMAZARA", System: "SIBE"},
		{ISIN: "ES01SIM00048", CompanyKey: "90004", Name: "RÍO SUPUESTO, S.A.", System: "latibex", Country: "Brazil"},
		{ISIN: "ES01SIM00022", CompanyKey: "90002", Name: "NORIA INVENTADA, S.A.", ShareName: "NORIA", System: "MTF", Segment: "BMEGrowth"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	const path = "/Market/v1/EQ/ListedCompanies?ISIN=&mtfSegment=&page=0&pageSize=0&sectorKey=&subsectorKey=&tradingSystem="
	if diff := cmp.Diff([]string{path + "SIBE%2CFloor%2CLatibex", path + "MTF"}, asked); diff != "" {
		t.Error(diff)
	}
}

func TestPages(t *testing.T) {
	for _, test := range []struct {
		name  string
		pages []string
		ok    bool
	}{
		{"one, no length", []string{`{"data":[` + almazara + `,` + telar + `]}`}, true},
		{"one, length as a string", []string{part(`"2"`, `"false"`, almazara, telar)}, true},
		{"one, the same row twice", []string{part("3", "false", almazara, telar, telar)}, true},
		{"two", []string{part("2", "true", almazara), part("2", "false", telar)}, true},
		{"two, more as a string", []string{part("null", `"True"`, almazara), part("null", "null", telar)}, true},
		{"two, more forgotten", []string{part("2", "false", almazara), part("2", "false", telar)}, true},
		{"two that overlap", []string{part("2", "true", almazara), part("2", "false", almazara, telar)}, true},
		{"more, and nothing comes", []string{part("2", "true", almazara, telar), part("2", "false")}, true},
		{"the same for ever", []string{part("2", "true", almazara)}, false},
		{"the same, then no more", []string{part("null", "true", almazara), part("null", "false", almazara)}, false},
		{"too short", []string{part("3", "false", almazara, telar), part("3", "false")}, false},
		{"empty for ever", []string{part("null", "true")}, false},
		{"longer than its total", []string{part("0", "false", almazara, telar)}, true},
		{"length changes", []string{part("2", "true", almazara), part("3", "false", telar)}, false},
		{"length not a number", []string{part(`"many"`, "false", almazara, telar)}, false},
		{"length below zero", []string{part("-1", "false", almazara, telar)}, false},
		{"second page not JSON", []string{part("2", "true", almazara), "<html>"}, false},
		{"second page without data", []string{part("2", "true", almazara), "{}"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := serve(t, pages(test.pages...)).Listed(t.Context())
			if !test.ok {
				wantKind(t, err, fault.Unavailable)
			} else if err != nil || len(got) != 3 {
				t.Errorf("%d shares, %v", len(got), err)
			}
			if err != nil && got != nil {
				t.Errorf("an error and %d shares", len(got))
			}
		})
	}
}

func TestEndlessList(t *testing.T) {
	asked := 0
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		asked++
		fmt.Fprint(w, part("null", "true", fmt.Sprintf(`{"isin":"ES01SIM%05d","tradingSystem":"SIBE"}`, asked)))
	})
	_, err := c.Listed(t.Context())
	wantKind(t, err, fault.Unavailable)
	if asked != 50 {
		t.Errorf("asked %d times", asked)
	}
}

// Any other answer than a list of companies is an error, in either list.
func TestNotAList(t *testing.T) {
	for _, body := range []string{
		"", "null", "[]", `"data"`, "<!DOCTYPE html><title>Mantenimiento</title>", "{}", `{"data":null}`, `{"data":{}}`,
		`{"data":"x"}`, `{"totalResults":0,"data":[]}`, list(), list(fundRow), list(`{"isin":null}`), list(almazara)[:60],
		list(almazara, noria) + "<!-- -->",
	} {
		for _, broken := range []string{"SIBE,Floor,Latibex", "MTF"} {
			c := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.FormValue("tradingSystem") == broken {
					fmt.Fprint(w, body)
				} else {
					fmt.Fprint(w, list(almazara, noria))
				}
			})
			got, err := c.Listed(t.Context())
			if wantKind(t, err, fault.Unavailable); got != nil {
				t.Errorf("%s: %d shares", body, len(got))
			}
		}
	}
}

// A list that is not found is not an empty list.
func TestListNotFound(t *testing.T) {
	_, err := serve(t, http.NotFound).Listed(t.Context())
	wantKind(t, err, fault.Unavailable)
}
