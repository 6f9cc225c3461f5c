package rest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/proof/remote"
	"pregon/internal/query/querytest"
	"pregon/internal/store"
)

// startRegisters serves the market with the registers of positions.
func startRegisters(t *testing.T) *service {
	t.Helper()
	s := start(t, "demo", market())
	s.append(querytest.Positions())
	s.updateProofs()
	return s
}

// Lists select positions as their parameters say, the newest first.
func TestPositions(t *testing.T) {
	s := startRegisters(t)
	const (
		alfaOld = "short-es0sim000010-2026-02-02-1"
		alfa    = "short-es0sim000010-2026-03-04-1"
		beta    = "short-es0sim000010-2026-03-04-2"
		unknown = "short-es0sim000028-2026-03-05-1"
		old     = "holding-2026000101"
		company = "holding-2026000102"
		woman   = "holding-2026000103"
	)
	for _, test := range []struct{ target, want string }{
		{"/api/v1/shorts", unknown + " " + beta + " " + alfa + " " + alfaOld},
		{"/api/v1/shorts?issuer=BVB&current=true", beta + " " + alfa},
		{"/api/v1/shorts?issuer=" + querytest.LEI, beta + " " + alfa + " " + alfaOld},
		{"/api/v1/shorts?issuer=" + querytest.UnknownISIN, unknown},
		{"/api/v1/shorts?issuer=ANB", ""},
		{"/api/v1/shorts?holder=ALFA&to=2026-02-28", alfaOld},
		{"/api/v1/shorts?market=sibe&from=2026-03-01", beta + " " + alfa},
		{"/api/v1/shorts?limit=1&page=2", beta},
		{"/api/v1/shorts?page=9", ""},
		{"/api/v1/holdings", woman + " " + company + " " + old},
		{"/api/v1/holdings?current=true&issuer=a-69000016", woman + " " + company},
		{"/api/v1/holdings?holder=elena", ""}, // a natural person across issuers
		{"/api/v1/holdings?holder=elena&issuer=BVB", woman},
		{"/api/v1/own-shares", "own-shares-2026000110"},
		{"/api/v1/dealings", "dealing-2026000124 dealing-2026000123 dealing-2026000122 dealing-2026000121"},
		{"/api/v1/dealings?issuer=BVB&person=ruiz&side=buy", "dealing-2026000122 dealing-2026000121"},
		{"/api/v1/dealings?min_amount=2600.01", "dealing-2026000123"},
		{"/api/v1/dealings?min_amount=1&currency=USD", ""},
	} {
		if got := s.get(http.StatusOK, test.target).ids(); got != test.want {
			t.Errorf("%s: got %q, want %q", test.target, got, test.want)
		}
	}
	for target, want := range map[string]string{
		"/api/v1/dealings?person=ruiz":                         "person needs issuer",
		"/api/v1/dealings?side=Compra":                         "side must be buy, sell or other",
		"/api/v1/dealings?currency=USD":                        "which is missing",
		"/api/v1/dealings?min_amount=1,5":                      "min_amount must be",
		"/api/v1/shorts?current=1":                             "current must be true or false",
		"/api/v1/shorts?issuer=nobody-of-that-name":            "issuer",
		"/api/v1/shorts?from=2026-03-02&to=2026-03-01":         "must not be later",
		"/api/v1/holdings?market=nowhere":                      "market",
		"/api/v1/own-shares?limit=51":                          "limit",
		"/api/v1/shorts/series":                                "issuer is needed",
		"/api/v1/shorts/series?issuer=BVB&issuer=ANB":          "may be given once only",
		"/api/v1/shorts/totals?page=0":                         "page",
		"/api/v1/shorts?as_of=9999":                            "as_of must not be above",
		"/api/v1/shorts?holder=" + strings.Repeat("x", 201):    "200 bytes",
		"/api/v1/holdings?issuer=" + strings.Repeat("x", 1000): "issuer",
	} {
		if doc := s.get(http.StatusBadRequest, target).problem(); !strings.Contains(doc.Detail, want) {
			t.Errorf("%s: %q, want %q in it", target, doc.Detail, want)
		}
	}
	if got := s.get(http.StatusOK, "/api/v1/own-shares?holder=x").header.Get("Pregon-Ignored"); got != "holder" {
		t.Errorf("the ignored parameters are %q, want holder", got)
	}
	for _, path := range []string{"/api/v1/shorts", "/api/v1/dealings", "/api/v1/holdings", "/api/v1/own-shares", "/api/v1/shorts/totals"} {
		empty := start(t, "demo", store.Batch{})
		if got, want := string(empty.get(http.StatusOK, path).body), `{"data":[],"total":0,"page":1,"limit":10}`; got != want {
			t.Errorf("%s of no registers: %s, want %s", path, got, want)
		}
	}
}

// Pages of eleven and of many positions.
func TestPositionPages(t *testing.T) {
	s := start(t, "demo", market())
	var b store.Batch
	for n := range 11 {
		b.Positions = append(b.Positions, querytest.Short(querytest.ISIN, fmt.Sprintf("Fondo Imaginario %d LLP", n),
			"2026-03-04", "0.5", disclosure.StateCurrent, n+1))
	}
	s.append(b)
	var list reports
	s.get(http.StatusOK, "/api/v1/shorts?issuer=BVB&page=2").decode(&list)
	if list.Total != 11 || len(list.Data) != 1 || list.Page != 2 || list.Limit != 10 {
		t.Errorf("the second page of eleven is %+v", list)
	}
	var totals struct{ Data []struct{ Percent string } }
	s.get(http.StatusOK, "/api/v1/shorts/totals").decode(&totals)
	if len(totals.Data) != 1 || totals.Data[0].Percent != "5.5" {
		t.Errorf("the totals are %+v, want one of 5.5", totals)
	}
	b.Positions = nil
	for n := range 700 {
		b.Positions = append(b.Positions, querytest.Dealing(fmt.Sprintf("2025%06d", n+1), "Inversiones Imaginarias, S.L.",
			"2025-06-01", disclosure.StateCurrent, querytest.Trade("Venta", disclosure.Sell, "1.5", "2.25", "EUR")))
	}
	s.append(b)
	a := s.get(http.StatusOK, "/api/v1/dealings.csv")
	rows := a.csv()
	if len(rows) != 501 || a.header.Get("Pregon-Total") != "700" || !strings.Contains(a.header.Get("Link"), "page=2") {
		t.Errorf("%d rows, headers %v", len(rows), a.header)
	}
	key := s.credentials(access.ReadIssuers)[0]
	if rows := s.getWith(http.StatusOK, "/api/v1/dealings.csv?limit=10000", key).csv(); len(rows) != 701 {
		t.Errorf("%d rows with a key, want 700 and the header", len(rows))
	}
	spanish := string(s.get(http.StatusOK, "/api/v1/dealings.csv?limit=1&dialect=es").body)
	if !strings.Contains(spanish, ";3,375;EUR;") || !strings.Contains(spanish, ";1,5;2,25;EUR;") {
		t.Errorf("decimals in Spanish: %s", spanish)
	}
}

// The sums of net short positions, and how they changed.
func TestShortTotals(t *testing.T) {
	s := startRegisters(t)
	for query, want := range map[string]string{
		"":                        "1.5 1 2026-03-05, 1.2 2 2026-03-04 of 2",
		"?issuer=BVB":             "1.2 2 2026-03-04 of 1",
		"?issuer=ANB":             " of 0",
		"?market=sibe":            "1.2 2 2026-03-04 of 1",
		"?limit=1&page=2":         "1.2 2 2026-03-04 of 2",
		"?issuer=BVB&market=sibe": "1.2 2 2026-03-04 of 1",
	} {
		var got struct {
			Data []struct {
				Percent string
				Holders int
				Date    string
			}
			Total int
		}
		s.get(http.StatusOK, "/api/v1/shorts/totals"+query).decode(&got)
		var all []string
		for _, d := range got.Data {
			all = append(all, fmt.Sprintf("%s %d %s", d.Percent, d.Holders, d.Date))
		}
		if text := fmt.Sprintf("%s of %d", strings.Join(all, ", "), got.Total); text != want {
			t.Errorf("%s: got %s, want %s", query, text, want)
		}
	}
	series := string(s.get(http.StatusOK, "/api/v1/shorts/series?issuer=bvb").body)
	want := `{"issuer_id":"A69000016","issuer_name":"BODEGAS DE VALDEBRISA, S.A.","data":[` +
		`{"date":"2026-02-02","percent":"0.62","holders":1},{"date":"2026-03-04","percent":"1.2","holders":2}]}`
	if series != want {
		t.Errorf("the series is %s, want %s", series, want)
	}
	table := string(s.get(http.StatusOK, "/api/v1/shorts/series.csv?issuer=bvb").body)
	if want := "date,percent,holders\r\n2026-02-02,0.62,1\r\n2026-03-04,1.2,2\r\n"; table != want {
		t.Errorf("the series as CSV is %q, want %q", table, want)
	}
	if got, want := string(s.get(http.StatusOK, "/api/v1/shorts/series?issuer=ANB").body), `"data":[]}`; !strings.HasSuffix(got, want) {
		t.Errorf("the series of an issuer without short positions is %s", got)
	}
}

func TestOwnership(t *testing.T) {
	s := startRegisters(t)
	var got struct {
		IssuerID  *string `json:"issuer_id"`
		Holdings  []any
		OwnShares []any `json:"own_shares"`
		Shorts    struct {
			Totals  struct{ Percent string }
			Current []any
			Series  []any
		}
		Dealings struct {
			Total  int
			Latest []any
			Months []any
		}
	}
	s.get(http.StatusOK, "/api/v1/issuers/bvb/ownership").decode(&got)
	if got.IssuerID == nil || len(got.Holdings) != 2 || len(got.OwnShares) != 1 || got.Shorts.Totals.Percent != "1.2" ||
		len(got.Shorts.Current) != 2 || len(got.Shorts.Series) != 2 || got.Dealings.Total != 4 || len(got.Dealings.Months) != 1 {
		t.Errorf("the ownership is %+v", got)
	}
	s.get(http.StatusOK, "/api/v1/issuers/ANB/ownership")
	s.get(http.StatusOK, "/api/v1/issuers/"+querytest.UnknownLEI+"/ownership")
	doc := s.get(http.StatusNotFound, "/api/v1/issuers/nobody-of-that-name/ownership").problem()
	if !strings.Contains(doc.Detail, "/api/v1/issuers?search=") {
		t.Errorf("an unknown issuer: %s", doc.Detail)
	}
}

// The past of positions: lists, details, sums and everything of an issuer.
func TestPositionsAsOf(t *testing.T) {
	s := startRegisters(t)
	before := s.catalog.Snapshot().Seq()
	ended := querytest.Short(querytest.ISIN, "Fondo Imaginario Beta, Ltd.", "2026-03-04", "0.49", disclosure.StateEnded, 2)
	s.append(store.Batch{Positions: []disclosure.Position{ended}})
	now := s.catalog.Snapshot().Seq()
	for target, want := range map[string]string{
		"/api/v1/shorts?issuer=bvb&current=true":                       `"total":1`,
		"/api/v1/shorts?issuer=bvb&current=true&as_of=%d":              `"total":2,"page":1,"limit":10,"as_of_seq":%d}`,
		"/api/v1/shorts/totals?issuer=bvb":                             `"percent":"0.71"`,
		"/api/v1/shorts/totals?issuer=bvb&as_of=%d":                    `"percent":"1.2"`,
		"/api/v1/shorts/series?issuer=bvb&as_of=%d":                    `"as_of_seq":%d}`,
		"/api/v1/issuers/bvb/ownership":                                `"percent":"0.71","holders":1`,
		"/api/v1/issuers/bvb/ownership?as_of=%d":                       `"percent":"1.2","holders":2`,
		"/api/v1/positions/" + ended.ID:                                `"state":"ended"`,
		"/api/v1/positions/" + strings.ToUpper(ended.ID) + "?as_of=%d": `"state":"current"`,
	} {
		want = strings.Replace(want, "%d", fmt.Sprint(before), 1)
		a := s.get(http.StatusOK, strings.Replace(target, "%d", fmt.Sprint(before), 1))
		if !strings.Contains(string(a.body), want) {
			t.Errorf("%s: %s, want %s in it", target, a.body, want)
		}
		past := strings.Contains(target, "as_of")
		if got := a.header.Get("Pregon-Seq"); past != (got == fmt.Sprint(before)) {
			t.Errorf("%s: Pregon-Seq is %q", target, got)
		}
		if a.header.Get("Cache-Control") != "public, max-age=1" { // a name may be erased
			t.Errorf("%s: Cache-Control is %s", target, a.header.Get("Cache-Control"))
		}
	}
	table := s.get(http.StatusOK, fmt.Sprintf("/api/v1/shorts.csv?current=true&issuer=bvb&as_of=%d", before))
	if len(table.csv()) != 3 || table.header.Get("Pregon-Seq") != fmt.Sprint(before) {
		t.Errorf("the past as CSV: %v %s", table.header, table.body)
	}
	s.get(http.StatusOK, fmt.Sprintf("/api/v1/positions/%s?as_of=%d", ended.ID, now))
	s.get(http.StatusNotFound, "/api/v1/positions/"+ended.ID+"?as_of=1")
	s.get(http.StatusNotFound, "/api/v1/positions/dealing-1")
	if doc := s.get(http.StatusNotFound, "/api/v1/positions/oir-40374").problem(); !strings.Contains(doc.Detail, "begin with short-") {
		t.Errorf("a report is no position: %s", doc.Detail)
	}
}

// A name that was erased is in no answer, now or of the past, and the position can still
// be proved.
func TestErasedPosition(t *testing.T) {
	s := startRegisters(t)
	const id = "dealing-2026000122"
	before := s.catalog.Snapshot().Seq()
	targets := []string{
		"/api/v1/dealings?issuer=bvb",
		fmt.Sprintf("/api/v1/dealings?issuer=bvb&as_of=%d", before),
		"/api/v1/dealings.csv?issuer=bvb",
		"/api/v1/positions/" + id,
		fmt.Sprintf("/api/v1/positions/%s?as_of=%d", id, before),
		"/api/v1/positions/" + id + "/history",
		"/api/v1/issuers/bvb/ownership",
		fmt.Sprintf("/api/v1/issuers/bvb/ownership?as_of=%d", before),
	}
	named := func() (n int) {
		for _, target := range targets {
			a := s.get(http.StatusOK, target)
			if got := a.header.Get("X-Robots-Tag"); got != "noindex" {
				t.Errorf("%s: X-Robots-Tag is %q", target, got)
			}
			if strings.Contains(string(a.body), "Elena Ruiz") {
				n++
			}
		}
		return n
	}
	if n := named(); n != len(targets) {
		t.Fatalf("%d answers have the name before, want %d", n, len(targets))
	}
	proof := func() string {
		var p struct{ Leaf []byte }
		s.get(http.StatusOK, "/api/v1/positions/"+strings.ToUpper(id)+"/proof").decode(&p)
		return string(p.Leaf)
	}
	sealed := proof()
	if strings.Contains(sealed, "Elena") || !strings.Contains(sealed, `"holder_sealed"`) {
		t.Errorf("the leaf is %s", sealed)
	}
	var all []string
	for _, p := range querytest.Positions().Positions {
		if p.Kind == disclosure.Dealing {
			all = append(all, p.ID)
		}
	}
	if _, err := s.store.EraseNames(t.Context(), nil, all...); err != nil {
		t.Fatal(err)
	}
	s.append(store.Batch{})
	s.updateProofs()
	if n := named(); n != 0 {
		t.Errorf("%d answers have the name that was erased", n)
	}
	if leaf := proof(); !strings.Contains(leaf, `"holder_sealed"`) && !strings.Contains(leaf, `"holder_erased"`) {
		t.Errorf("the leaf after that is %s", leaf)
	}
	var history struct {
		Data []struct {
			Event   string
			Changed []struct {
				Field string
				New   json.RawMessage
			}
		}
	}
	s.get(http.StatusOK, "/api/v1/positions/"+id+"/history?limit=50").decode(&history)
	if n := len(history.Data); n == 0 || history.Data[n-1].Event != "position.published" {
		t.Errorf("the history is %+v", history)
	}
	s.get(http.StatusBadRequest, "/api/v1/positions/"+id+"/history?limit=0")
	s.get(http.StatusNotFound, "/api/v1/positions/dealing-1/history")
	s.get(http.StatusNotFound, "/api/v1/positions/dealing-1/proof")
}

// Holdings are percentages of the voting rights of their issuer, which are beside them.
func TestVotingRights(t *testing.T) {
	s := startRegisters(t)
	before := s.catalog.Snapshot().Seq()
	s.append(store.Batch{Issuers: []disclosure.Issuer{{
		NIF:            "A69000016",
		Name:           "BODEGAS DE VALDEBRISA, S.A.",
		Kind:           disclosure.Company,
		VotingRights:   "5670161599",
		VotingRightsOn: "2026-05-13",
	}}})
	const now = `"voting_rights":"5670161599","voting_rights_on":"2026-05-13"`
	asOf := fmt.Sprintf("as_of=%d", before)
	for target, want := range map[string]string{
		"/api/v1/holdings?issuer=BVB":                     `"limit":10,` + now + `}`,
		"/api/v1/holdings?issuer=BVB&current=true":        `"limit":10,` + now + `}`,
		"/api/v1/own-shares?issuer=BVB":                   `"limit":10,` + now + `}`,
		"/api/v1/holdings?issuer=" + querytest.UnknownLEI: `"limit":10,"voting_rights":null,"voting_rights_on":null}`,
		"/api/v1/holdings":                                `"limit":10}`,
		"/api/v1/shorts?issuer=BVB":                       `"limit":10}`,
		"/api/v1/issuers/BVB/ownership":                   now,
	} {
		if body := string(s.get(http.StatusOK, target).body); !strings.Contains(body, want) {
			t.Errorf("%s: %s, want %s in it", target, body, want)
		}
	}
	for _, target := range []string{"/api/v1/holdings?issuer=BVB&" + asOf, "/api/v1/issuers/BVB/ownership?" + asOf} {
		if body := string(s.get(http.StatusOK, target).body); strings.Contains(body, now) || !strings.Contains(body, `"voting_rights":`) {
			t.Errorf("%s: %s, want the voting rights of that time", target, body)
		}
	}
}

// The detail of every position agrees with its proof, apart from what the log does not have.
func TestVerifyPositions(t *testing.T) {
	s := startRegisters(t)
	keys, err := remote.ParseKeys(string(s.get(http.StatusOK, "/log/vkey").body))
	s.must(err)
	dir := t.TempDir()
	check := remote.ReportCheck{
		Report:   filepath.Join(dir, "position.json"),
		Proof:    filepath.Join(dir, "proof.json"),
		Keys:     keys,
		Compared: func([]string) {},
	}
	for _, p := range querytest.Positions().Positions {
		detail := s.get(http.StatusOK, "/api/v1/positions/"+p.ID)
		s.must(os.WriteFile(check.Report, detail.body, 0o600))
		s.must(os.WriteFile(check.Proof, s.get(http.StatusOK, "/api/v1/positions/"+p.ID+"/proof").body, 0o600))
		place, err := check.Run()
		if err != nil || !strings.HasSuffix(place, "NOT checked: attribution, issuer_id") {
			t.Errorf("%s: %q, %v", p.ID, place, err)
		}
	}
}
