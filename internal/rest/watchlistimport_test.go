package rest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"pregon/internal/auth/access"
)

type importDoc struct {
	Added, Present int
	NotFound       []struct {
		Line         int
		Text, Reason string
		Near         []struct{ ID, Name string }
	} `json:"not_found"`
	Watchlist watchlistDoc
}

// upload imports a file into a list that is empty.
func (s *service) upload(who http.Header, file string, status int) (got importDoc) {
	s.t.Helper()
	_, path := s.listOf(who, `{"name":"Imported"}`)
	var into any
	if status == http.StatusOK {
		into = &got
	}
	s.call("POST", path+"/import", who, file, status, into)
	s.call("DELETE", path, who, "", 204, nil)
	return got
}

// Lines and tables of other programs name issuers in many ways.
func TestImportWatchlist(t *testing.T) {
	s := start(t, "demo", market())
	mine := s.credentials(access.ReadReports)[0]
	name := s.nameOf("A69000016")
	for _, file := range []string{
		"BVB",
		"\ufeffbvb\r\n\r\n",
		"A-69000016\n",
		name,
		strings.ToUpper(name) + "\n",
		"BME:BVB",
		"BVB.MC",
		"Name;Shares;Price\n" + name + ";100;1,5\n",
		"Symbol,Quantity\nBVB,100\n",
		"Ticker\tName\nBVB\tSomething else\n",
		"ISIN,Ticker\n,BVB\n",
		"100,2026-01-01,BVB\n",
		"BVB\nbvb\nA69000016\n",
	} {
		got := s.upload(mine, file, 200)
		if got.Added != 1 || got.Watchlist.ids() != "A69000016" || len(got.NotFound) != 0 {
			t.Errorf("%q: %+v", file, got)
		}
	}
	if got := s.upload(mine, "BVB\nbvb\nA69000016\n", 200); got.Present != 2 {
		t.Errorf("%+v", got)
	}
}

// What is not found is named with its line, and with issuers that may be meant.
func TestImportNotFound(t *testing.T) {
	s := start(t, "demo", market())
	mine := s.credentials(access.ReadReports)[0]
	word, _, _ := strings.Cut(s.nameOf("A69000016"), " ")
	got := s.upload(mine, "BVB\n\nNadie Inexistente\n12345\n"+word+" Inexistente\n", 200)
	if got.Added != 1 || len(got.NotFound) != 3 {
		t.Fatalf("%+v", got)
	}
	for i, want := range []struct {
		line int
		text string
	}{{3, "Nadie Inexistente"}, {4, "12345"}, {5, word + " Inexistente"}} {
		missed := got.NotFound[i]
		if missed.Line != want.line || missed.Text != want.text || missed.Reason == "" {
			t.Errorf("%+v, want %+v", missed, want)
		}
	}
	if near := got.NotFound[2].Near; len(near) == 0 || near[0].Name == "" {
		t.Errorf("%+v", got.NotFound[2])
	}
	long := s.upload(mine, strings.Repeat("ñ", 5000), 200)
	if len(long.NotFound) != 1 || len(long.NotFound[0].Text) > 210 {
		t.Errorf("%+v", long)
	}
}

// Files in the encoding of Spanish spreadsheets are read.
func TestImportWindows1252(t *testing.T) {
	s := start(t, "demo", market())
	mine := s.credentials(access.ReadReports)[0]
	got := s.upload(mine, "Compa\xf1\xeda inexistente\n", 200)
	if len(got.NotFound) != 1 || got.NotFound[0].Text != "Compañía inexistente" {
		t.Errorf("%+v", got)
	}
}

// A file has bounds, and a list takes all of a file or nothing.
func TestImportBounds(t *testing.T) {
	s := start(t, "demo", market())
	mine := s.credentials(access.ReadReports)[0]
	s.upload(mine, "", 400)
	s.upload(mine, " \n\n", 400)
	s.upload(mine, strings.Repeat("BVB\n", 2000), 200)
	s.upload(mine, strings.Repeat("BVB\n", 2001), 400)
	s.upload(mine, strings.Repeat(",", 50), 400)
	var filters strings.Builder
	filters.WriteString("name,filter\n")
	for i := range 51 {
		fmt.Fprintf(&filters, "search %d,search=word%d\n", i, i)
	}
	s.upload(mine, filters.String(), 400)
}

// A list as CSV can be imported again, in both dialects.
func TestWatchlistCSV(t *testing.T) {
	s := start(t, "demo", market())
	mine, others := s.credentials(access.ReadReports)[0], s.credentials(access.ReadReports)[0]
	_, path := s.listOf(mine, `{"name":"Mine","issuers":["BVB"],"filters":[
		{"name":"=SUM(1)","filter":{"search":"dividendo, pago; \"a\"","type":"OIR"}},
		{"name":"","filter":{"position":"short","min_percent":"0.5"}}]}`)
	for _, target := range []string{path + ".csv", path + ".csv?dialect=es"} {
		a := s.call("GET", target, mine, "", 200, nil)
		if got := a.header.Get("Content-Type"); !strings.HasPrefix(got, "text/csv") {
			t.Errorf("Content-Type %q", got)
		}
		if strings.Contains(string(a.body), "wls_") || !strings.Contains(string(a.body), "'=SUM(1)") {
			t.Errorf("%s", a.body)
		}
		got := s.upload(mine, string(a.body), 200)
		if got.Added != 3 || len(got.NotFound) != 0 || got.Watchlist.ids() != "A69000016" {
			t.Fatalf("%s\n%+v", a.body, got)
		}
		f := got.Watchlist.Filters
		if f[0].Name != "=SUM(1)" || f[0].Filter["search"] != `dividendo, pago; "a"` || f[1].Filter["min_percent"] != "0.5" {
			t.Errorf("%+v", f)
		}
	}
	a := s.call("GET", path, http.Header{"X-Api-Key": mine["X-Api-Key"], "Accept": {"text/csv"}}, "", 200, nil)
	if got := a.header.Get("Content-Disposition"); !strings.HasSuffix(got, `.csv"`) {
		t.Errorf("%v", a.header)
	}
	s.call("GET", path+".csv", others, "", 404, nil)
	s.call("GET", path+".csv?dialect=fr", mine, "", 400, nil)
}

// nameOf returns the name of an issuer.
func (s *service) nameOf(id string) string {
	s.t.Helper()
	var one struct{ Name string }
	s.call("GET", "/api/v1/issuers/"+id, nil, "", 200, &one)
	return one.Name
}
