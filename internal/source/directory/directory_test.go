package directory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/disclosure"
	"pregon/internal/source/coverage"
	"pregon/internal/source/exchange"
	"pregon/internal/source/health"
	"pregon/internal/source/regulator"
	"pregon/internal/store"
)

// tomorrow makes every part of the directory due.
func (w *world) tomorrow(s *Refresher) {
	w.Helper()
	for _, p := range slices.Concat(s.registers(), s.exchange()) {
		if !w.coverage.Time(p.name).IsZero() {
			w.setClock(s, p.name, time.Now().Add(-refreshEvery))
		}
	}
	w.later(s)
}

// TestDueAfterAStepOfTheClock: a part that was read before the clock was set back is
// read again, not an hour too late.
func TestDueAfterAStepOfTheClock(t *testing.T) {
	w := newWorld(t)
	r := w.refresher()
	p := part{name: health.Register + "/managers"}
	for ahead, want := range map[time.Duration]bool{time.Hour: true, 0: false, -refreshEvery: true} {
		w.setClock(r, p.name, time.Now().Add(ahead))
		if got := r.due(p); got != want {
			t.Errorf("read %v ahead of the clock: due %v, want %v", ahead, got, want)
		}
	}
}

func (w *world) setClock(s *Refresher, name string, at time.Time) {
	w.Helper()
	if err := w.coverage.SetTime(w.Context(), s.Lease, name, at); err != nil {
		w.Fatal(err)
	}
}

// later makes the parts due that failed.
func (w *world) later(s *Refresher) {
	w.Helper()
	for _, p := range slices.Concat(s.registers(), s.exchange()) {
		last := s.failure(p)
		if last.Tries == 0 {
			continue
		}
		last.At = last.At.Add(-last.wait())
		text, _ := json.Marshal(last)
		if err := w.coverage.SetValue(w.Context(), s.Lease, p.failureKey(), string(text)); err != nil {
			w.Fatal(err)
		}
	}
}

// TestDirectoryTwice: a refresh without changes appends nothing.
func TestDirectoryTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.refresher()
	s.Refresh(t.Context())
	before := w.log()
	for range 2 {
		w.tomorrow(s)
		s.Refresh(t.Context())
		for _, name := range []string{health.Register, health.Exchange} {
			if got := w.surface(name); !got.OK || got.SuccessAt.IsZero() {
				t.Errorf("got %+v", got)
			}
		}
		if after := w.log(); after != before {
			t.Errorf("length of the log: got %d, want %d as before", after, before)
		}
	}
}

// testExchange is a fictional exchange of a few shares.
type testExchange struct {
	mu     sync.Mutex
	shares []traded       // guarded by mu
	status map[string]int // guarded by mu: of the answer to an ISIN or company
	asked  []string       // guarded by mu: ISINs and companies, in order
}

type traded struct {
	ISIN    string `json:"isin"`
	Company string `json:"companyKey"`
	Name    string `json:"name"`
	System  string `json:"tradingSystem"`
	Segment string `json:"mtfSegment,omitempty"`
	ticker  string
	nif     string
}

func (b *testExchange) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.URL.Path == "/Market/v1/EQ/ListedCompanies" {
		rows := []traded{}
		for _, s := range b.shares {
			if strings.Contains(r.FormValue("tradingSystem"), s.System) {
				rows = append(rows, s)
			}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": rows})
		return
	}
	key := r.FormValue("isin") + r.FormValue("companyKey")
	b.asked = append(b.asked, key)
	if status := b.status[key]; status != 0 {
		w.WriteHeader(status)
		return
	}
	for _, s := range b.shares {
		switch key {
		case s.ISIN:
			_ = json.NewEncoder(w).Encode(map[string]string{"isin": s.ISIN, "ticker": s.ticker})
			return
		case s.Company:
			_ = json.NewEncoder(w).Encode(map[string]string{"companyKey": s.Company, "nif": s.nif})
			return
		}
	}
	w.WriteHeader(http.StatusNotFound)
}

// answer sets the status of answers, 0 for success, and clears asked.
func (b *testExchange) answer(status int, keys ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked, b.status = nil, map[string]int{}
	for _, key := range keys {
		b.status[key] = status
	}
}

func (b *testExchange) wasAsked() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.asked)
}

// listing gives a Refresher a fictional exchange.
func (w *world) listing(s *Refresher, shares ...traded) *testExchange {
	w.Helper()
	b := &testExchange{shares: append(shares, traded{"ES0SIM000MT9", "9999", "LA DEL CRECIMIENTO, S.A.", "MTF", "BMEGrowth", "CRE", "A69999999"})}
	site := httptest.NewServer(b)
	w.Cleanup(site.Close)
	var err error
	if s.Exchange, err = exchange.New(exchange.Options{Origin: site.URL, UserAgent: "test"}); err != nil {
		w.Fatal(err)
	}
	return b
}

// refreshExchange refreshes the exchange as if on another day.
func (w *world) refreshExchange(s *Refresher) {
	w.tomorrow(s)
	s.refresh(w.Context(), s.newJoiner(), health.Exchange, s.exchange())
}

// many returns n companies of one share each.
func many(n int) (out []traded) {
	for k := range n {
		out = append(out, traded{
			fmt.Sprintf("ES0SIM%06d", 100+k), fmt.Sprint(100 + k), fmt.Sprintf("FICTICIA %c, S.A.", 'A'+k), "SIBE", "",
			fmt.Sprintf("FI%c", 'A'+k), fmt.Sprintf("A69%05d0", 100+k),
		})
	}
	return out
}

// TestExchangeClasses: a company with several classes of shares is one issuer,
// with the ticker of the ordinary ones, and a second refresh changes nothing.
func TestExchangeClasses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.refresher()
	b := w.listing(
		s,
		traded{"ES0SIM00PRE1", "1001", "HEMO FICTICIA, S.A.", "SIBE", "", "HEM.P", "A69001001"},
		traded{"ES0SIM000OR1", "1001", "HEMO FICTICIA, S.A.", "SIBE", "", "HEM", "A69001001"},
		traded{"BR0SIM00PRE1", "2001", "RIO SUPUESTO", "Latibex", "", "XRIOP", ""}, // two keys, and no NIF
		traded{"BR0SIM00ORD1", "2002", "Rio Supuesto", "Latibex", "", "XRIO", ""},
	)
	w.refreshExchange(s)
	want := disclosure.Issuer{
		ID: "A69001001", Name: "HEMO FICTICIA, S.A.", NIF: "A69001001", Ticker: "HEM", Market: "SIBE",
		Kind: disclosure.Company, ISINs: []string{"ES0SIM00PRE1", "ES0SIM000OR1"},
	}
	if diff := cmp.Diff(want, w.issuer("A69001001")); diff != "" {
		t.Error(diff)
	}
	if got := w.issuer("BR0SIM00PRE1"); got.Ticker != "XRIO" || len(got.ISINs) != 2 {
		t.Errorf("got %+v", got)
	}
	before := w.log()
	if before != 3 {
		t.Errorf("changes: got %d, want 3, one for each issuer", before)
	}
	w.refreshExchange(s)
	if after := w.log(); after != before {
		t.Errorf("length of the log: got %d, want %d as before", after, before)
	}
	// The ticker of the issuer stays even if another would rank higher.
	b.mu.Lock()
	b.shares = append(b.shares, traded{"ES0SIM000NE2", "1001", "HEMO FICTICIA, S.A.", "SIBE", "", "HE", "A69001001"})
	b.mu.Unlock()
	w.refreshExchange(s)
	if got := w.issuer("A69001001"); got.Ticker != "HEM" || len(got.ISINs) != 3 {
		t.Errorf("got %+v", got)
	}
}

func TestMainShare(t *testing.T) {
	share := func(ticker, system, segment string) listed {
		return listed{
			Share:   exchange.Share{System: system, Segment: segment},
			details: details{Ticker: ticker, At: time.Now()},
		}
	}
	unknown := listed{Share: exchange.Share{System: "SIBE"}}
	for _, test := range []struct {
		name   string
		shares company
		ticker string // that the issuer has
		want   string
		sure   bool
	}{
		{"the issuer's own", company{share("GRF", "SIBE", ""), share("GRF.P", "SIBE", "")}, "GRF.P", "GRF.P", true},
		{"the better market", company{share("XA", "Latibex", ""), share("XABC", "Floor", ""), share("XABCD", "SIBE", "")}, "", "XABCD", true},
		{"Latibex before growth", company{share("G", "MTF", "BMEGrowth"), share("XGR", "Latibex", "")}, "OLD", "XGR", true},
		{"the shorter ticker", company{share("GRF.P", "SIBE", ""), share("GRF", "SIBE", "")}, "", "GRF", true},
		{"the first", company{share("GRB", "SIBE", ""), share("GRA", "SIBE", "")}, "", "GRB", true},
		{"one that has a ticker", company{share("", "SIBE", ""), share("GR", "Floor", "")}, "", "GR", true},
		{"not all is known", company{unknown, share("GRF.P", "SIBE", "")}, "", "GRF.P", false},
		{"not all need be known", company{unknown, share("GRF", "SIBE", "")}, "GRF", "GRF", true},
	} {
		if got, sure := test.shares.main(test.ticker); got.Ticker != test.want || sure != test.sure {
			t.Errorf("%s: got %q, %v, want %q, %v", test.name, got.Ticker, sure, test.want, test.sure)
		}
	}
}

// TestExchangeIsNoRegister: the exchange does not change the name and the kind
// that the regulator gave.
func TestExchangeIsNoRegister(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.refresher()
	manager := disclosure.Issuer{ID: "A69001001", Name: "GESTORA FICTICIA, SGIIC, S.A.", NIF: "A-69001001", Kind: disclosure.Manager}
	w.add(manager)
	w.add(disclosure.Issuer{ID: "A69001002", Name: "Otra Ficticia", NIF: "A69001002"})
	w.listing(
		s,
		traded{"ES0SIM000011", "1001", "GESTORA FICTICIA", "SIBE", "", "GES", "A69001001"},
		traded{"ES0SIM000022", "1002", "OTRA FICTICIA, S.A.", "Floor", "", "OTR", "A69001002"},
	)
	for range 2 {
		w.refreshExchange(s)
		want := manager
		want.Ticker, want.Market, want.ISINs = "GES", "SIBE", []string{"ES0SIM000011"}
		if diff := cmp.Diff(want, w.issuer("A69001001")); diff != "" {
			t.Error(diff)
		}
		if got := w.issuer("A69001002"); got.Kind != disclosure.Company || got.Name != "Otra Ficticia" || got.Market != "Floor" {
			t.Errorf("got %+v", got)
		}
		// The register shows the issuer once more, with its own id.
		r := s.newJoiner()
		if err := r.entities(t.Context(), []regulator.Entity{{Register: "sgiic", Number: 7, Name: manager.Name, NIF: manager.NIF, Kind: disclosure.Manager}}); err != nil {
			t.Fatal(err)
		}
		manager.Aliases = []string{"sgiic-7"}
	}
	if seq := w.log(); seq != 2+3+1 {
		t.Errorf("changes: got %d, want %d", seq, 2+3+1)
	}
}

// TestExchangeBadShare: a share or a company that cannot be read does not hide the
// others, and only it is read again.
func TestExchangeBadShare(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.refresher()
	shares := many(8)
	b := w.listing(s, shares...)
	b.answer(http.StatusInternalServerError, shares[0].ISIN, shares[3].Company)
	w.refreshExchange(s)
	if got := w.log(); got != 7 {
		t.Errorf("issuers: got %d, want 7, all but two", got)
	}
	got := w.surface(health.Exchange)
	if got.Failures != 1 || !strings.Contains(got.Error, "2 of 9 shares") {
		t.Errorf("got %+v", got)
	}
	if w.coverage.Time(health.Exchange).IsZero() {
		t.Error("time of the exchange: got none, want one in spite of two bad shares")
	}
	b.answer(0)
	w.refreshExchange(s)
	if diff := cmp.Diff([]string{shares[0].ISIN, shares[0].Company, shares[3].ISIN, shares[3].Company}, b.wasAsked()); diff != "" {
		t.Error(diff)
	}
	if got := w.surface(health.Exchange); w.log() != 9 || !got.OK || got.Failures != 0 {
		t.Errorf("got %d issuers and the surface %+v", w.log(), got)
	}
}

// TestExchangeForbids: when the exchange answers 403, the refresh stops, stores
// what it has read, and continues there the next time.
func TestExchangeForbids(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.refresher()
	shares := many(6)
	b := w.listing(s, shares...)
	b.answer(http.StatusForbidden, shares[3].ISIN)
	w.refreshExchange(s)
	if asked := b.wasAsked(); len(asked) != 7 || w.log() != 3 || !w.coverage.Time(health.Exchange).IsZero() {
		t.Errorf("got the requests %v and %d issuers", asked, w.log())
	}
	b.answer(0)
	s.refresh(t.Context(), s.newJoiner(), health.Exchange, s.exchange())
	if asked := b.wasAsked(); len(asked) != 0 {
		t.Errorf("requests before the retry is due: got %v, want none", asked)
	}
	w.refreshExchange(s)
	if asked := b.wasAsked(); len(asked) != 8 || asked[0] != shares[3].ISIN || w.log() != 7 {
		t.Errorf("got the requests %v and %d issuers", asked, w.log())
	}
}

// TestExchangeAway: when several shares in a row fail, the others are not tried;
// shares that always fail come last.
func TestExchangeAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.refresher()
	shares := many(12)
	b := w.listing(s, shares...)
	var bad []string
	for _, share := range shares[1 : 1+mostFailures] {
		bad = append(bad, share.ISIN)
	}
	b.answer(http.StatusBadGateway, bad...)
	w.refreshExchange(s)
	if asked := b.wasAsked(); len(asked) != 2+mostFailures || w.log() != 1 {
		t.Errorf("got the requests %v and %d issuers", asked, w.log())
	}
	b.answer(http.StatusBadGateway, bad...)
	w.refreshExchange(s)
	if asked := b.wasAsked(); asked[0] != shares[1+mostFailures].ISIN {
		t.Errorf("requests: got %v, want the shares that failed last", asked)
	}
	if got := w.surface(health.Exchange); w.log() != 13-mostFailures || got.OK || got.Failures != 2 {
		t.Errorf("got %d issuers and the surface %+v", w.log(), got)
	}
}

// TestExchangeUnsure: while the details of one class are not known, the issuer
// does not get the ticker of another.
func TestExchangeUnsure(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.refresher()
	b := w.listing(
		s,
		traded{"ES0SIM000011", "1001", "HEMO FICTICIA, S.A.", "SIBE", "", "HEM", "A69001001"},
		traded{"ES0SIM000022", "1001", "HEMO FICTICIA, S.A.", "SIBE", "", "HEM.P", "A69001001"},
	)
	b.answer(http.StatusInternalServerError, "ES0SIM000011")
	w.refreshExchange(s)
	if got := w.issuer("A69001001"); got.Ticker != "" || len(got.ISINs) != 2 {
		t.Errorf("got %+v", got)
	}
	b.answer(0)
	w.refreshExchange(s)
	if got := w.issuer("A69001001"); got.Ticker != "HEM" || got.Market != "SIBE" {
		t.Errorf("got %+v", got)
	}
	// The ticker stays when the details can no longer be read.
	b.mu.Lock()
	b.shares[0].Name += " (NUEVA)"
	b.mu.Unlock()
	b.answer(http.StatusInternalServerError, "ES0SIM000011")
	before := w.log()
	if w.refreshExchange(s); w.log() != before {
		t.Errorf("the issuer changed: got %+v, want it as before", w.issuer("A69001001"))
	}
}

// gateway is a proxy of the simulated source: it counts the requests for
// registers and spoils some answers.
type gateway struct {
	mu    sync.Mutex
	spoil func(list, page string, answer *httptest.ResponseRecorder) // guarded by mu
	asked map[string]int                                             // guarded by mu: pages, by list
}

func (w *world) gateway() *gateway {
	w.Helper()
	site, err := url.Parse(w.url)
	if err != nil {
		w.Fatal(err)
	}
	d := &gateway{asked: map[string]int{}}
	proxy := httputil.NewSingleHostReverseProxy(site)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		list := r.FormValue("id")
		switch {
		case strings.Contains(r.URL.Path, "descarga-informacion-individual"):
			list = "opendata"
		case !strings.Contains(r.URL.Path, "/consultas/"):
			list = ""
		}
		r.Header.Del("Accept-Encoding")
		answer := httptest.NewRecorder()
		proxy.ServeHTTP(answer, r)
		d.mu.Lock()
		defer d.mu.Unlock()
		if list != "" {
			d.asked[list]++
			if d.spoil != nil {
				d.spoil(list, r.FormValue("page"), answer)
			}
		}
		maps.Copy(w.Header(), answer.Header())
		w.Header().Del("Content-Length")
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	}))
	w.Cleanup(server.Close)
	w.url = server.URL
	return d
}

// now sets how answers are spoilt, and clears asked.
func (d *gateway) now(spoil func(list, page string, answer *httptest.ResponseRecorder)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.spoil, d.asked = spoil, map[string]int{}
}

func (d *gateway) lists() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Keys(d.asked))
}

// TestRegisterFails: only the register that failed is read again, when its retry
// is due, and the surface fails until then.
func TestRegisterFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.gateway()
	s := w.refresher()
	s.Exchange = nil
	d.now(func(list, _ string, answer *httptest.ResponseRecorder) {
		if list == "7" {
			answer.Code = http.StatusInternalServerError
		}
	})
	s.Refresh(t.Context())
	if lists := d.lists(); len(lists) != 2+len(regulator.FundRegisters) {
		t.Errorf("lists read: got %v, want all", lists)
	}
	if got := w.surface(health.Register); got.Failures != 1 || !strings.HasPrefix(got.Error, "sicav-7, page 1: ") || !w.coverage.Time(health.Register).IsZero() {
		t.Errorf("got %+v", got)
	}
	w.log()
	if funds := len(w.cat.Known().Issuers(disclosure.Fund)); funds < 100 {
		t.Errorf("funds: got %d, want 100 or more", funds)
	}
	d.now(d.spoil)
	s.Refresh(t.Context())
	if lists := d.lists(); len(lists) != 0 {
		t.Errorf("lists read again at once: got %v, want none", lists)
	}
	w.later(s)
	s.Refresh(t.Context())
	if lists := d.lists(); !slices.Equal(lists, []string{"7"}) {
		t.Errorf("lists read: got %v, want 7, which failed", lists)
	}
	if got := w.surface(health.Register); got.OK || got.Failures != 2 {
		t.Errorf("got %+v", got)
	}

	// The others are read the next day. The surface still fails.
	d.now(d.spoil)
	for _, p := range s.registers() {
		if s.failure(p).Tries == 0 {
			w.setClock(s, p.name, time.Now().Add(-refreshEvery))
		}
	}
	s.Refresh(t.Context())
	if lists := d.lists(); len(lists) != 1+len(regulator.FundRegisters) || slices.Contains(lists, "7") {
		t.Errorf("lists read: got %v, want all but 7", lists)
	}
	if got := w.surface(health.Register); got.OK || got.Failures != 2 {
		t.Errorf("got %+v", got)
	}

	d.now(nil)
	w.later(s)
	s.Refresh(t.Context())
	if got := w.surface(health.Register); !got.OK || w.coverage.Time(health.Register).IsZero() || !slices.Equal(d.lists(), []string{"7"}) {
		t.Errorf("got the surface %+v and the lists %v", got, d.lists())
	}
}

// TestRegisterGone: a register that answers 404 does not keep the registers
// incomplete.
func TestRegisterGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.gateway()
	s := w.refresher()
	s.Exchange = nil
	d.now(func(list, _ string, answer *httptest.ResponseRecorder) {
		if list == "3" {
			answer.Code = http.StatusNotFound
		}
	})
	s.Refresh(t.Context())
	if got := w.surface(health.Register); got.Failures != 1 || !strings.HasPrefix(got.Error, "the regulator does not have the register fi (list 3)") {
		t.Errorf("got %+v", got)
	}
	if w.coverage.Time(health.Register).IsZero() {
		t.Error("time of the registers: got none, want one in spite of a register that does not exist")
	}
	w.log()
	funds := w.cat.Known().Issuers(disclosure.Fund)
	if len(funds) < 50 {
		t.Errorf("funds of the other registers: got %d, want 50 or more", len(funds))
	}
	managers := map[string]string{}
	for _, i := range w.cat.Known().Issuers(disclosure.Manager) {
		managers[i.Name] = i.ID
	}
	for _, f := range funds {
		if f.Manager == "" || f.Depositary == "" || managers[f.Manager] == "" || slices.Contains(f.Aliases, managers[f.Manager]) {
			t.Errorf("fund: got %+v, want manager and depositary of the register", f)
		}
	}
	d.now(nil)
	w.later(s)
	s.Refresh(t.Context())
	if got := w.surface(health.Register); !got.OK {
		t.Errorf("surface after the recovery: got %+v, want OK", got)
	}
}

// TestExchangeWithoutNIF: shares without a NIF are joined by ISIN, and otherwise
// by a name that only one issuer has.
func TestExchangeWithoutNIF(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.refresher()
	w.add(disclosure.Issuer{ID: "A69001001", Name: "ALMAZARA FICTICIA, S.A.", NIF: "A-69001001", ISINs: []string{"ES0SIM000011"}})
	w.add(disclosure.Issuer{ID: "A69001002", Name: "TEJARES FICTICIOS, S.A.", NIF: "A69001002"})
	w.add(disclosure.Issuer{ID: "A69001003", Name: "MINAS FICTICIAS, S.A.", NIF: "A69001003"})
	w.add(disclosure.Issuer{ID: "A69001004", Name: "MINAS FICTICIAS, S.A.", NIF: "A69001004"})
	w.listing(
		s,
		traded{"ES0SIM000011", "1001", "OTRO NOMBRE, S.A.", "SIBE", "", "ALM", ""},
		traded{"ES0SIM000022", "1002", "Tejares Ficticios SA", "Floor", "", "TEJ", ""},
		traded{"ES0SIM000033", "1003", "MINAS FICTICIAS, S.A.", "SIBE", "", "MIN", ""},
	)
	w.refreshExchange(s)
	for isin, want := range map[string]string{"ES0SIM000011": "A69001001 ALM", "ES0SIM000022": "A69001002 TEJ", "ES0SIM000033": "exchange-1003 MIN"} {
		if got := w.issuer(isin); got.ID+" "+got.Ticker != want {
			t.Errorf("issuer of %s: got %s %s, want %s", isin, got.ID, got.Ticker, want)
		}
	}
}

// TestRegisterBadRow: a row that cannot be read hides neither its neighbours nor
// the pages after it, and the surface reports it.
func TestRegisterBadRow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.gateway()
	s := w.refresher()
	s.Exchange = nil
	d.now(func(list, page string, answer *httptest.ResponseRecorder) {
		if list == "2" || list == "3" && page == "0" {
			text := strings.Replace(answer.Body.String(), "Número y fecha de registro oficial: ", "Sin registro: ", 1)
			answer.Body.Reset()
			answer.Body.WriteString(text)
		}
	})
	s.Refresh(t.Context())
	if d.asked["3"] < 2 {
		t.Errorf("pages of the list: got %d, want 2 or more", d.asked["3"])
	}
	if got := w.surface(health.Register); got.OK || !strings.Contains(got.Error, "row 1 has no number") {
		t.Errorf("got %+v", got)
	}
	if w.coverage.Time(health.Register).IsZero() {
		t.Error("time of the registers: got none, want one in spite of two bad rows")
	}
	w.log()
	if got := len(w.cat.Known().Issuers(disclosure.Manager)); got != 39 {
		t.Errorf("managers: got %d, want 39, all but one", got)
	}
	d.now(nil)
	w.later(s)
	s.Refresh(t.Context())
	if got := w.surface(health.Register); !got.OK || !slices.Equal(d.lists(), []string{"2", "3"}) {
		t.Errorf("got the surface %+v and the lists %v", got, d.lists())
	}
	w.log()
	if got := len(w.cat.Known().Issuers(disclosure.Manager)); got != 40 {
		t.Errorf("managers: got %d, want 40", got)
	}
}

// TestRestoreFailures: a new term knows the failures of an earlier one.
func TestRestoreFailures(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.refresher()
	note, _ := json.Marshal(failure{Tries: 3, At: time.Now(), Reason: "it was away"})
	if err := w.coverage.SetValue(t.Context(), s.Lease, s.registers()[1].failureKey(), string(note)); err != nil {
		t.Fatal(err)
	}
	s.restoreFailures(health.Register, s.registers())
	s.restoreFailures(health.Exchange, s.exchange())
	if got := w.surface(health.Register); got.OK || got.Error != "it was away" {
		t.Errorf("got %+v", got)
	}
	if got := w.surface(health.Exchange); got.Failures != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestFailureWait(t *testing.T) {
	var got []time.Duration
	for _, tries := range []int{1, 2, 3, 4, 5, 6, 7, 1000} {
		got = append(got, failure{Tries: tries}.wait()/time.Minute)
	}
	if diff := cmp.Diff([]time.Duration{10, 20, 40, 60, 60, 60, 60, 60}, got); diff != "" {
		t.Error(diff)
	}
}

// errSecret is an error of the store that clients must not see.
var errSecret = errors.New("dial tcp db.internal:5432: password of pregon is wrong")

// brokenRecords cannot store the details of shares.
type brokenRecords struct{ store.Records }

func (b brokenRecords) PutRecords(ctx context.Context, lease *store.Lease, records ...store.Record) ([]store.Record, error) {
	if strings.HasPrefix(records[0].ID, "memo/exchange/ES") {
		return nil, errSecret
	}
	return b.Records.PutRecords(ctx, lease, records...)
}

// TestDirectoryDiscreet: clients do not see the text of a store error.
func TestDirectoryDiscreet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.refresher()
	w.failAppend(errSecret)
	s.Refresh(t.Context())
	for _, name := range []string{health.Register, health.Exchange, health.Store} {
		if got := w.surface(name); got.Failures == 0 || !strings.Contains(got.Error, "the store") {
			t.Errorf("got %+v", got)
		}
	}
	w.failAppend(nil)
	s.Coverage = coverage.New(brokenRecords{w.store}) // without the times of the first refresh
	s.Refresh(t.Context())
	if got := w.surface(health.Exchange); got.Failures != 2 || !strings.Contains(got.Error, "the store") {
		t.Errorf("got %+v", got)
	}
	if err := w.coverage.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	status, _ := w.monitor.Status()
	shown, _ := json.Marshal(status)
	for _, p := range slices.Concat(s.registers(), s.exchange()) {
		shown = append(shown, w.coverage.Value(p.failureKey())...)
	}
	if strings.Contains(string(shown), "internal:5432") {
		t.Errorf("status and failures: got %s, want no host name", shown)
	}
}
