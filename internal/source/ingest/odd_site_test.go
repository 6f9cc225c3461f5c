package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/source/health"
	"pregon/internal/source/regulator"
	"pregon/internal/source/throttle"
	"pregon/internal/test/longtest"
)

// oddSite is a proxy between ingest and the simulator that changes its answers.
type oddSite struct {
	hasty

	mu    sync.Mutex
	asked []string                                       // guarded by mu: path and query
	edit  func(request string, page []byte) (odd []byte) // guarded by mu; nil changes nothing
}

func (o *oddSite) RoundTrip(r *http.Request) (*http.Response, error) {
	o.mu.Lock()
	o.asked = append(o.asked, r.URL.RequestURI())
	edit := o.edit
	o.mu.Unlock()
	resp, err := o.hasty.RoundTrip(r)
	if err != nil || edit == nil {
		return resp, err
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	odd := edit(r.URL.RequestURI(), page)
	if odd == nil {
		resp.StatusCode, odd = http.StatusInternalServerError, []byte("oops")
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(odd)), int64(len(odd))
	resp.Header.Del("Content-Length")
	return resp, nil
}

func (o *oddSite) be(edit func(request string, page []byte) []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.edit = edit
}

// count returns the number of matching requests.
func (o *oddSite) count(part string) (n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, request := range o.asked {
		if strings.Contains(strings.ToLower(request), strings.ToLower(part)) {
			n++
		}
	}
	return n
}

// odd connects an ingest to an odd site.
func (w *world) odd(i *Ingest) *oddSite {
	w.Helper()
	o := &oddSite{hasty: w.transport()}
	source, err := regulator.New(regulator.Options{Origin: w.url, UserAgent: "test", Queue: throttle.New(0), Transport: o})
	if err != nil {
		w.Fatal(err)
	}
	i.Regulator = source
	return o
}

var (
	numberLabel = regexp.MustCompile(`(?i)N(ú|&#250;)mero de registro: ?\d+`)
	pagerLabel  = regexp.MustCompile(`(?s)<span id="[^"]*_lblInfoPaginacion".*?</span>|<ul class="pagination">.*?</ul>`)
)

// week is a list of several pages.
func week() reading {
	return reading{series: disclosure.OIR, from: today() - 9, to: today() - 2}
}

// lacking returns the number of reports of the week that are not stored.
func (w *world) lacking(r reading) (n int) {
	w.Helper()
	for _, f := range w.truth(r.from, r.to, r.series) {
		if w.report(f.ID) == nil {
			n++
		}
	}
	return n
}

// TestRowCannotBeRead: one unreadable row hides neither its page nor later pages,
// and the days are not covered.
func TestRowCannotBeRead(t *testing.T) {
	t.Parallel()
	w := newEmptyWorld(t)
	s := w.session()
	site := w.odd(s.Ingest)
	site.be(func(request string, page []byte) []byte {
		if at := numberLabel.FindIndex(page); strings.Contains(request, "page=0") && at != nil {
			return append(page[:at[0]:at[0]], page[at[1]:]...)
		}
		return page
	})
	_, err := s.lists.read(t.Context(), throttle.Reconcile, week())
	if _, markup := errors.AsType[*regulator.MarkupError](err); !markup {
		t.Errorf("read: got error %v", err)
	}
	if n := w.lacking(week()); n != 1 {
		t.Errorf("%d reports are missing, want 1", n)
	}
	if !w.coverage.Covered(disclosure.OIR, week().from).IsZero() || !s.monitor.Failing(health.List(disclosure.OIR)) {
		t.Error("the days are covered, or the list does not fail; want neither")
	}
	site.be(nil)
	if _, err := s.lists.read(t.Context(), throttle.Reconcile, week()); err != nil || w.lacking(week()) != 0 || w.coverage.Covered(disclosure.OIR, week().from).IsZero() {
		t.Errorf("after the fault: %v, %d missing, want none", err, w.lacking(week()))
	}
}

// TestPageIgnored: a site that answers every page with the first is not read.
func TestPageIgnored(t *testing.T) {
	t.Parallel()
	w := newEmptyWorld(t)
	s := w.session()
	site := w.odd(s.Ingest)
	var first []byte
	site.be(func(request string, page []byte) []byte {
		if strings.Contains(request, "page=0") {
			first = bytes.Clone(page)
		}
		return first
	})
	_, err := s.lists.read(t.Context(), throttle.Reconcile, week())
	if err == nil || !w.coverage.Covered(disclosure.OIR, week().from).IsZero() {
		t.Errorf("read: got %v with %d reports missing, want an error and no coverage", err, w.lacking(week()))
	}
}

// TestNoPager: all pages are read when the page has no pager.
func TestNoPager(t *testing.T) {
	t.Parallel()
	w := newEmptyWorld(t)
	s := w.session()
	w.odd(s.Ingest).be(func(_ string, page []byte) []byte { return pagerLabel.ReplaceAll(page, nil) })
	if _, err := s.lists.read(t.Context(), throttle.Reconcile, week()); err != nil || w.lacking(week()) != 0 {
		t.Errorf("%v, %d reports are missing", err, w.lacking(week()))
	}
}

// TestShortPage: a page in the middle that lacks rows is incomplete.
func TestShortPage(t *testing.T) {
	p := progress{seen: map[int64]bool{}, pages: 1}
	rows := func(from, n int) (out []regulator.Row) {
		for k := range n {
			out = append(out, regulator.Row{Number: int64(from + k)})
		}
		return out
	}
	p.turn(regulator.List{Rows: rows(1, 10), Pages: 3}, nil)
	if p.broken != nil || p.done() {
		t.Errorf("after the first page: %+v", p)
	}
	p.turn(regulator.List{Rows: rows(11, 4), Pages: 3}, nil)
	p.turn(regulator.List{Rows: rows(21, 2), Pages: 3}, nil)
	if p.broken == nil || !p.done() || len(p.seen) != 16 {
		t.Errorf("after all pages: %+v", p)
	}
}

// TestReachOfHR: the first day that the latest pages show completely.
func TestReachOfHR(t *testing.T) {
	day := func(d int) time.Time { return time.Date(2026, 11, d, 12, 0, 0, 0, disclosure.Madrid) }
	got := reachOf([]regulator.Row{{At: day(13)}, {At: day(10)}, {At: day(12)}})
	if want, _ := disclosure.ParseDay("2026-11-11"); got != want {
		t.Errorf("reach: got %s, want %s", got, want)
	}
	if reachOf(nil) != 0 {
		t.Error("reach of a page without rows: want none")
	}
}

// TestSweepCutShort: an entity of which the second page failed is read again
// to its end.
func TestSweepCutShort(t *testing.T) {
	t.Parallel()
	w := newEmptyWorld(t)
	s := w.session()
	site := w.odd(s.Ingest)
	entity, ids := busiestFund(t)
	site.be(func(request string, page []byte) []byte {
		if strings.Contains(request, "page=1") {
			return nil
		}
		return page
	})
	if err := s.funds.sweep(t.Context(), entity); err == nil {
		t.Fatal("the second page was to fail")
	}
	site.be(nil)
	if err := s.funds.sweep(t.Context(), entity); err != nil {
		t.Fatal(err)
	}
	kept := 0
	for _, id := range ids {
		if w.report(id) != nil {
			kept++
		}
	}
	if kept <= pageSize {
		t.Errorf("%d reports of %s are stored, want more than a page", kept, entity.Name)
	}
}

// busiestFund returns the fund with most HR of two years, and their ids.
func busiestFund(t *testing.T) (busiest disclosure.Issuer, ids []string) {
	t.Helper()
	filed := map[string][]string{}
	for _, r := range testMarket().History((today() - 700).Start(), (today() + 1).Start()) {
		if r.Type != disclosure.HR || r.NIF == "" {
			continue
		}
		filed[r.NIF] = append(filed[r.NIF], r.ID)
		if len(filed[r.NIF]) > len(filed[busiest.NIF]) {
			busiest = disclosure.Issuer{NIF: r.NIF, Name: r.CompanyName}
		}
	}
	if ids = filed[busiest.NIF]; len(ids) <= pageSize {
		t.Fatalf("the busiest fund has %d HR, want more than %d", len(ids), pageSize)
	}
	return busiest, ids
}

// TestGapThatCannotBeRead: later numbers are looked up all the same, and
// the unreadable one is retried less often.
func TestGapThatCannotBeRead(t *testing.T) {
	longtest.Skip(t, "it takes many seconds")
	t.Parallel()
	w := newWorld(t)
	i := w.newIngest("first")
	site := w.odd(i)
	w.run(i.Run)
	first := w.publish(`{"type":"oir"}`)
	_, n, _ := disclosure.ParseReportID(first)
	bad := fmt.Sprintf("nreg=%d", n+1)
	site.be(func(request string, page []byte) []byte {
		if strings.HasSuffix(request, bad) {
			return []byte("<html><body>Error</body></html>")
		}
		return page
	})
	w.publish(fmt.Sprintf(`{"type":"oir","number":"%d"}`, n+4))
	began := time.Now()
	w.eventually(func() error {
		if w.coverage.Absent(disclosure.OIR, n+2).IsZero() || w.coverage.Absent(disclosure.OIR, n+3).IsZero() {
			return errors.New("the numbers after the bad one are not looked up")
		}
		return nil
	})
	if !w.coverage.Absent(disclosure.OIR, n+1).IsZero() {
		t.Error("an unreadable number is stored as absent")
	}
	for last := n + 4; last < n+10; last += 2 { // so that there are more rounds
		w.publish(fmt.Sprintf(`{"type":"oir","number":"%d"}`, last+2))
		w.eventually(func() error {
			if w.coverage.Absent(disclosure.OIR, last+1).IsZero() {
				return fmt.Errorf("number %d is not looked up", last+1)
			}
			return nil
		})
	}
	// At first after a second, later every five.
	if asked, most := site.count(bad), 8+int(time.Since(began)/(5*time.Second)); asked > most {
		t.Errorf("got %d requests, want at most %d", asked, most)
	}
}

// TestOddItem: one item of the feed that cannot be read does not slow the
// others down.
func TestOddItem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	i := w.newIngest("first")
	site := w.odd(i)
	odd := w.publish(`{"type":"oir","title":"La rara"}`)
	number := odd[len("oir-"):]
	site.be(func(request string, page []byte) []byte {
		if strings.Contains(request, "RSS") {
			return bytes.ReplaceAll(page, []byte("nreg="+number+"]"), []byte("nreg=?]"))
		}
		return page
	})
	w.run(i.Run)
	w.state(health.Degraded)
	before := site.count("Otra-Informacion-Relevante/RSS")
	w.eventually(func() error {
		if site.count("Otra-Informacion-Relevante/RSS") < before+10 {
			return errors.New("the feed is asked for no more")
		}
		return nil
	})
	w.publish(`{"type":"oir"}`)
	w.whole() // the list has the unreadable item
}

// TestHRUnseen: an HR that neither the feed nor the latest pages show is found by its
// number, once a later one is stored.
func TestHRUnseen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	i := w.newIngest("first")
	site := w.odd(i)
	w.publish(`{"type":"hr"}`)
	unseen := w.publish(`{"type":"hr"}`)
	item := regexp.MustCompile(`(?s)<item>.{0,200}?nreg=` + unseen[len("hr-"):] + `&.*?</item>`)
	site.be(func(request string, page []byte) []byte {
		switch {
		case strings.Contains(request, "hechosrelevantes.asmx"):
			return item.ReplaceAll(page, nil)
		case strings.Contains(request, "utimos-hechos") || strings.Contains(request, "nif="):
			return nil
		}
		return page
	})
	w.run(i.Run)
	w.publish(`{"type":"hr"}`)
	w.eventually(func() error { return w.exact(today(), disclosure.HR) })
	if site.count("division=2&nreg="+unseen[len("hr-"):]) == 0 {
		t.Error("the report was not looked up by its number")
	}
}
