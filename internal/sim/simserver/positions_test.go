package simserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/sim/stake"
	"pregon/internal/source/regulator"
)

// today is a day on which all registers have a past.
var today = time.Date(2026, 11, 17, 11, 0, 0, 0, time.UTC)

// registers are the registers that the site of these tests shows.
var registers = sync.OnceValue(func() *stake.Register {
	return stake.New(stake.Options{Market: testMarket(), Seed: 1, Began: today})
})

// TestDealingsPages reads the dealings of a year page by page and compares each with the
// truth.
func TestDealingsPages(t *testing.T) {
	s := open(t, today, "")
	c := s.reader()
	from, to := disclosure.DayOf(today)-200, disclosure.DayOf(today)
	want := registers().Dealings(today, "", from, to)
	var got []regulator.Dealing
	for page, pages := 0, 1; page < pages; page++ {
		list, err := c.Dealings(t.Context(), from, to, page)
		if err != nil {
			t.Fatal(err)
		}
		if len(list.Unknown) > 0 {
			t.Errorf("unknown cells: %v", list.Unknown)
		}
		pages = list.Pages
		got = append(got, list.Rows...)
	}
	if len(got) != len(want) || len(got) < 200 {
		t.Fatalf("got %d dealings, want %d", len(got), len(want))
	}
	for n, d := range got {
		w := want[n]
		relation := disclosure.RelationManager
		if w.Associated {
			relation = disclosure.RelationAssociated
		}
		if d.Number != w.Number || d.RegisteredOn != w.On || d.Declarant != w.Declarant || d.Relation != relation ||
			disclosure.IssuerKey(d.NIF) != w.Issuer.ID || fmt.Sprint(d.Rectifies, d.RectifiedBy) != fmt.Sprint(w.Rectifies, w.RectifiedBy) {
			t.Errorf("got %+v, want %+v", d, w)
		}
		if n%40 != 0 {
			continue
		}
		file, err := c.Document(t.Context(), d.DocumentURL)
		if err != nil || !strings.HasPrefix(string(file.Body), "%PDF-") || file.ContentType != "application/pdf" {
			t.Errorf("document of %d: %.20q of type %q, %v", d.Number, file.Body, file.ContentType, err)
		}
	}
	if list, err := c.Dealings(t.Context(), from, to, 100_000); err != nil || len(list.Rows) != 0 {
		t.Errorf("past the end: %d rows, %v", len(list.Rows), err)
	}
}

func TestLostDocument(t *testing.T) {
	s := open(t, today, "")
	c := s.reader()
	for _, d := range registers().Dealings(today, "", 0, disclosure.DayOf(today)) {
		if !d.Lost {
			continue
		}
		list, err := c.Dealings(t.Context(), d.On, d.On, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range list.Rows {
			file, err := c.Document(t.Context(), row.DocumentURL)
			if err != nil || (len(file.Body) == 0) != (row.Number == d.Number) {
				t.Errorf("%d has a document of %d bytes, %v", row.Number, len(file.Body), err)
			}
		}
		return
	}
	t.Error("no document is lost")
}

// TestHoldingsPages walks every company and compares what it shows with the truth.
func TestHoldingsPages(t *testing.T) {
	s := open(t, today, "")
	c := s.reader()
	truth := registers()
	spellings, agreements, annulments := map[bool]int{}, 0, 0
	for n, i := range testMarket().Issuers() {
		want, ok := truth.Table(today, i.ID)
		if !ok || n%9 != 0 {
			continue
		}
		got, err := c.Holdings(t.Context(), i.ID, func(regulator.Holding) bool { return true })
		if err != nil {
			t.Fatalf("%s: %v", i.Name, err)
		}
		spellings[got.NIF == i.ID]++
		agreements += len(got.Agreements)
		annulments += len(got.Annulments)
		if got.Name != i.Name || disclosure.IssuerKey(got.NIF) != i.ID || len(got.Unknown) > 0 ||
			len(got.OwnShares) != len(want.Own) || got.Rights.Total != fmt.Sprint(want.Votes) || got.Rights.ModifiedOn != want.Changed {
			t.Errorf("%s: got %+v", i.Name, got)
		}
		for k, rows := range [][]stake.Row{want.Present, want.Others} {
			of := [][]regulator.Holding{got.Holdings, got.Former}[k]
			if len(of) != len(rows) {
				t.Fatalf("%s: got %d rows, want %d", i.Name, len(of), len(rows))
			}
			for n, row := range rows {
				compareHolding(t, of[n], row)
			}
		}
	}
	if spellings[true] == 0 || spellings[false] == 0 || agreements == 0 || annulments == 0 {
		t.Errorf("spellings %v, %d agreements, %d annulments", spellings, agreements, annulments)
	}
}

func compareHolding(t *testing.T, got regulator.Holding, want stake.Row) {
	t.Helper()
	point := func(thousandths int) string { return strings.ReplaceAll(stake.Percent(thousandths), ",", ".") }
	newest := want.Notices[0]
	if got.Name != want.Name || len(got.History) != len(want.Notices) || got.HasAnnulled != (len(want.Annulments) > 0) {
		t.Errorf("got %+v, want %+v", got, want)
		return
	}
	if !got.Former && (got.Total != point(newest.Total()) || got.Direct != point(newest.Direct) ||
		got.RegisteredOn != newest.On || got.DocumentURL != got.History[0].DocumentURL) {
		t.Errorf("got %+v, want %+v", got, newest)
	}
	for n, h := range got.History {
		if w := want.Notices[n]; h.Number != w.Number || h.Total != point(w.Total()) || h.RegisteredOn != w.On || h.DocumentURL == "" {
			t.Errorf("%s: got the notice %+v, want %+v", got.Name, h, w)
		}
	}
}

func TestIdentityPages(t *testing.T) {
	s := open(t, today, "")
	c := s.reader()
	truth := registers()
	spellings := map[bool]int{}
	for n, i := range testMarket().Issuers() {
		want, ok := truth.Identity(today, i.ID)
		if n%10 != 0 {
			continue
		}
		got, err := c.Identity(t.Context(), i.NIF)
		if !ok {
			if fault.KindOf(err) != fault.NotFound {
				t.Errorf("%s: %v, want NotFound", i.Name, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		spellings[got.NIF == i.ID]++
		if got.Name != i.Name || got.LEI != want.LEI || got.Sector != want.Sector || got.ShortName != want.ShortName ||
			!strings.HasSuffix(got.Capital, ".00") {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	if len(spellings) != 2 {
		t.Errorf("the site knows one spelling only: %v", spellings)
	}
}

// enter enters something into a register over HTTP.
func (s *site) enter(body string) (number string, status int) {
	s.Helper()
	r := s.do(http.MethodPost, "/_sim/register", body)
	var out struct{ Number string }
	if err := json.Unmarshal([]byte(r.body), &out); err != nil {
		s.Fatal(err)
	}
	return out.Number, r.StatusCode
}

// TestRegister: what is entered is on the pages at once.
func TestRegister(t *testing.T) {
	s := open(t, today, "")
	c := s.reader()
	day := disclosure.DayOf(today)
	table := stake.Table{}
	for _, i := range testMarket().Issuers() {
		if table, _ = registers().Table(today, i.ID); len(table.Present) > 2 {
			break
		}
	}
	id := table.Issuer.ID
	read := func() regulator.Holdings {
		got, err := c.Holdings(t.Context(), id, func(regulator.Holding) bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	own := len(read().OwnShares)
	number, status := s.enter(`{"kind":"dealing","issuer":"` + id + `"}`)
	list, err := c.Dealings(t.Context(), day, day, 0)
	if err != nil || status != 200 || fmt.Sprint(list.Rows[0].Number) != number {
		t.Errorf("got %+v, %v, want %s first", list.Rows, err, number)
	}
	if number, _ = s.enter(`{"kind":"own_shares","issuer":"` + id + `"}`); len(read().OwnShares) != own+1 ||
		fmt.Sprint(read().OwnShares[0].Number) != number {
		t.Errorf("%s is not the newest notice of own shares", number)
	}
	number, _ = s.enter(`{"kind":"holding","issuer":"` + id + `"}`)
	found := false
	got := read()
	for _, h := range append(got.Holdings, got.Former...) {
		found = found || fmt.Sprint(h.History[0].Number) == number
	}
	if !found {
		t.Errorf("%s is not the newest notice of a holding", number)
	}
	days, err := c.LastDays(t.Context())
	if err != nil || len(days.Issuers) == 0 || disclosure.IssuerKey(days.Issuers[0].NIF) != id || days.Since != day-5 || days.Issuers[0].Day != day {
		t.Errorf("the last days are %+v, %v", days, err)
	}
	for _, bad := range []string{`{"kind":"short"}`, `{"kind":"dealing","issuer":"x"}`, `{"kind":1}`, `{"other":1}`} {
		if _, status := s.enter(bad); status != 400 {
			t.Errorf("%s: status %d, want 400", bad, status)
		}
	}
}

var sessionForm = regexp.MustCompile(`qS=(\{[^"]+\})`)

// TestSessions: each visit has new tokens, which lead to one page and end after a while.
func TestSessions(t *testing.T) {
	s := open(t, today, "")
	c := s.reader()
	id := ""
	for _, i := range testMarket().Issuers() {
		if table, _ := registers().Table(today, i.ID); len(table.Present) > 0 {
			id = i.ID
			break
		}
	}
	got, err := c.Holdings(t.Context(), id, func(regulator.Holding) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	const dir = "/portal/consultas/derechosvoto/"
	visit := func() string {
		return sessionForm.FindStringSubmatch(s.get(dir + "ps_ac_ini?nif=" + got.NIF))[1]
	}
	first, second := visit(), visit()
	if first == second {
		t.Error("two visits have the same token")
	}
	page := func(name, token string) bool {
		return strings.Contains(s.get(dir+name+"?qS="+strings.NewReplacer("{", "%7B", "}", "%7D").Replace(token)), "data-th")
	}
	if !page("notificaciones-participaciones", first) || page("notificacionesanteriores", first) ||
		page("notificaciones-participaciones", "{0}") {
		t.Error("a token leads to another page than its own")
	}
	s.clock.set(today.Add(21 * time.Minute))
	if page("notificaciones-participaciones", second) {
		t.Error("a token does not end")
	}
	if body := s.get(dir + "ps_ac_ini?nif=" + strings.ToLower(got.NIF)); strings.Contains(body, "listaEnlaces") || strings.Contains(body, got.Name) {
		t.Error("the site knows a spelling in lower case")
	}
}

// TestPositionFaults: every fault of the site makes an error, never an empty register.
func TestPositionFaults(t *testing.T) {
	for _, kind := range []string{"error500", "error403", "errorpage", "redirectloop", "reset", "truncate", "markup"} {
		s := open(t, today, "")
		c := s.reader()
		if r := s.do(http.MethodPost, "/_sim/fault", `{"kind":"`+kind+`","surface":"positions"}`); r.StatusCode != 200 {
			t.Fatal(r.body)
		}
		var table stake.Table
		for _, i := range testMarket().Issuers() {
			if table, _ = registers().Table(today, i.ID); len(table.Present) > 0 {
				break
			}
		}
		if _, err := c.Dealings(t.Context(), 0, disclosure.DayOf(today), 0); err == nil {
			t.Errorf("%s: the dealings have no error", kind)
		}
		if _, err := c.Holdings(t.Context(), table.Issuer.ID, func(regulator.Holding) bool { return true }); err == nil {
			t.Errorf("%s: the holdings have no error", kind)
		}
		if _, err := c.Identity(t.Context(), table.Issuer.ID); err == nil {
			t.Errorf("%s: the general data have no error", kind)
		}
		if _, err := c.LastDays(t.Context()); err == nil && kind != "markup" {
			t.Errorf("%s: the last days have no error", kind)
		}
	}
}
