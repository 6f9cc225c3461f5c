package rest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/disclosure"
	"pregon/internal/store"
)

// memberNames returns the names of the members of an object in their order.
func memberNames(t *testing.T, object json.RawMessage) (names []string) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(object))
	if _, err := decoder.Token(); err != nil {
		t.Fatal(err)
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			t.Fatal(err)
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			t.Fatal(err)
		}
		names = append(names, name.(string))
	}
	return names
}

// A list has exactly the fields that were named, in one order, with the values of the list
// and of the report.
func TestFieldsOfReports(t *testing.T) {
	s, before := pastService(t)
	contract := "id,company_name,ticker,type,title,summary,published_at,cnmv_registration_number,pdf_url"
	whole := s.get(http.StatusOK, "/api/v1/reports")
	chosen := s.get(http.StatusOK, "/api/v1/reports?fields="+contract)
	if !bytes.Equal(whole.body, chosen.body) {
		t.Errorf("the fields of the contract are\n%s, want\n%s", chosen.body, whole.body)
	}
	for _, target := range []string{"/api/v1/reports?", fmt.Sprintf("/api/v1/reports?as_of=%d&", before)} {
		for _, test := range []struct{ asked, want string }{
			{"id", "id"},
			{"facts,url,title,id", "id,title,url,facts"},
			{"categories,issuer_id", "issuer_id,categories"},
			{"issuer_id,categories,url,facts," + contract, contract + ",issuer_id,categories,url,facts"},
		} {
			var list struct{ Data []json.RawMessage }
			s.get(http.StatusOK, target+"fields="+test.asked).decode(&list)
			if len(list.Data) < 4 {
				t.Errorf("%s: %d reports, want those of the list", target, len(list.Data))
			}
			for _, row := range list.Data {
				if got := strings.Join(memberNames(t, row), ","); got != test.want {
					t.Errorf("%s fields=%s: %s, want %s", target, test.asked, got, test.want)
				}
			}
		}
	}
}

func TestValuesOfChosenFields(t *testing.T) {
	s := startRegisters(t)
	r := withAllFacts()
	r.Category = "Sobre resultados - Otros"
	s.append(store.Batch{Reports: []disclosure.Report{r}})
	id := disclosure.ReportID(r.Type, r.Number)
	var list struct{ Data []map[string]any }
	s.get(http.StatusOK, "/api/v1/reports?fields=id,issuer_id,categories,url,facts&limit=50").decode(&list)
	i := slices.IndexFunc(list.Data, func(row map[string]any) bool { return row["id"] == id })
	if i < 0 {
		t.Fatalf("%s is not in the list", id)
	}
	row := list.Data[i]
	var detail map[string]any
	s.get(http.StatusOK, "/api/v1/reports/"+id).decode(&detail)
	for _, name := range []string{"issuer_id", "categories", "facts"} {
		if diff := cmp.Diff(detail[name], row[name]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	page := row["url"].(string)
	if want := "/reports/" + id; !strings.HasSuffix(page, want) || !strings.HasPrefix(page, "http") {
		t.Errorf("the page is %s, want an address that ends with %s", page, want)
	}
}

// As CSV the fields are the columns, and a choice has a tag of its own.
func TestFieldsAsCSV(t *testing.T) {
	s := start(t, "demo", market())
	all := s.get(http.StatusOK, "/api/v1/reports.csv")
	few := s.get(http.StatusOK, "/api/v1/reports.csv?fields=facts,categories,id")
	lines := strings.Split(strings.TrimSpace(string(few.body)), "\r\n")
	if lines[0] != "id,categories,facts.kind" || len(lines) != strings.Count(string(all.body), "\r\n") {
		t.Errorf("%s", few.body)
	}
	other := s.get(http.StatusOK, "/api/v1/reports.csv?fields=id,categories")
	if few.header.Get("ETag") == other.header.Get("ETag") || few.header.Get("ETag") == all.header.Get("ETag") {
		t.Errorf("two choices have the tag %s", few.header.Get("ETag"))
	}
}

func TestFieldsAreRefused(t *testing.T) {
	s := start(t, "demo", market())
	long := strings.Repeat("id,", 200)
	for _, list := range []string{"nif", "id,nif", "id,id", "id,", ",id", ",", "id, title", "Id", long} {
		doc := s.get(http.StatusBadRequest, "/api/v1/reports"+encode("fields", list)).problem()
		if len(doc.Errors) != 1 || doc.Errors[0].Parameter != "fields" {
			t.Errorf("%q: %+v", list, doc)
		}
		if len(list) < 300 && !strings.Contains(doc.Detail, "use id, company_name,") {
			t.Errorf("%q: %s, want the fields that are allowed", list, doc.Detail)
		}
	}
	s.get(http.StatusBadRequest, "/api/v1/reports?fields=id&fields=title")
	s.get(http.StatusOK, "/api/v1/reports?fields=")
}
