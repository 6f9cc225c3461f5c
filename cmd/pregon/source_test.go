package main_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"pregon/internal/disclosure"
	"pregon/internal/store"
	"pregon/internal/store/storetest"
	"pregon/internal/waittest"
)

// patient is how long a test waits for a condition. It only ends a hang, and does
// not measure speed.
const patient = 5 * time.Minute

// eventually waits until the check passes.
func eventually(t *testing.T, check func() error) {
	t.Helper()
	waittest.ForNil(t, check)
}

// source is a running `pregon sim` that publishes nothing of its own accord.
type source struct{ *service }

func startSource(t *testing.T) source {
	t.Helper()
	s, err := startProgram([]string{}, t.TempDir(), "sim", "--listen", "127.0.0.1:0", "--rate", "0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.end(syscall.SIGKILL) })
	return source{s}
}

// ask sends a request to the control API of the simulator.
func (s source) ask(t *testing.T, method, path, body string) []byte {
	t.Helper()
	answer, err := s.control(t.Context(), method, path, body)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// control is like ask but returns an error.
func (s source) control(ctx context.Context, method, path, body string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.url+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s is answered with %s: %s", method, path, resp.Status, answer)
	}
	return answer, err
}

// publish publishes a report and returns its id.
func (s source) publish(t *testing.T, body string, args ...any) string {
	t.Helper()
	var out struct{ ID string }
	if err := json.Unmarshal(s.ask(t, http.MethodPost, "/_sim/publish", fmt.Sprintf(body, args...)), &out); err != nil {
		t.Fatal(err)
	}
	return out.ID
}

func (s source) arm(t *testing.T, body string) {
	t.Helper()
	s.ask(t, http.MethodPost, "/_sim/fault", body)
}

func (s source) disarm(t *testing.T) {
	t.Helper()
	s.ask(t, http.MethodDelete, "/_sim/fault", "")
}

// apiReport is a report, either as the simulator published it or as the API returns it.
type apiReport struct {
	ID          string
	Type        string
	Number      string
	CompanyName string `json:"company_name"`
	NIF         string
	Title       string
	PublishedAt time.Time `json:"published_at"`
	PDFURL      string    `json:"pdf_url"`
	SourceURL   string    `json:"source_url"`
	Categories  []string
	Related     []relation
	CorrectedBy string `json:"corrected_by"`

	// Only the simulator has these.
	Category string
	Corrects string
	// Only the API has these.
	Registration string `json:"cnmv_registration_number"`
	Precision    string `json:"time_precision"`
}

type relation struct {
	ID           string
	Number       string
	Registration string    `json:"cnmv_registration_number"`
	PublishedAt  time.Time `json:"published_at"`
	Text         string
}

// truth returns the reports that the simulator published in a range of days, by id.
func (s source) truth(t *testing.T, from, to disclosure.Day, types ...disclosure.Type) map[string]apiReport {
	t.Helper()
	out := map[string]apiReport{}
	for _, series := range types {
		query := url.Values{"type": {strings.ToLower(string(series))}, "from": {from.String()}, "to": {to.String()}}
		lines := bufio.NewScanner(bytes.NewReader(s.ask(t, http.MethodGet, "/_sim/filings?"+query.Encode(), "")))
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var f apiReport
			if err := json.Unmarshal(lines.Bytes(), &f); err != nil {
				t.Fatal(err)
			}
			f.Categories = disclosure.SplitCategories(f.Category)
			out[f.ID] = f
		}
	}
	for id, f := range maps.Clone(out) { // relations are shown on both reports
		for _, other := range f.Related {
			if first, ok := out[other.ID]; ok {
				first.Related = append(slices.Clip(first.Related), relation{ID: id, Number: f.Number, PublishedAt: f.PublishedAt.Truncate(time.Minute)})
				out[other.ID] = first
			}
		}
		if first, ok := out[f.Corrects]; ok {
			first.CorrectedBy = id
			out[f.Corrects] = first
		}
	}
	return out
}

// findable returns truth without the reports that the site does not show: HR is
// listed by the NIF of the issuer, and some rows have none.
func (s source) findable(t *testing.T, from, to disclosure.Day, types ...disclosure.Type) map[string]apiReport {
	t.Helper()
	truth := s.truth(t, from, to, types...)
	maps.DeleteFunc(truth, func(_ string, f apiReport) bool { return f.Type == "HR" && f.NIF == "" })
	return truth
}

// plain returns a report in the normal form for comparison.
func (f apiReport) plain() apiReport {
	f.Number = cmp.Or(f.Number, f.Registration)
	f.PublishedAt = f.PublishedAt.UTC()
	f.Category, f.Corrects, f.Registration, f.Precision = "", "", "", ""
	f.Related = slices.Clone(f.Related)
	for n := range f.Related {
		r := &f.Related[n]
		r.Number, r.Registration, r.PublishedAt = cmp.Or(r.Number, r.Registration), "", r.PublishedAt.UTC()
	}
	slices.SortFunc(f.Related, func(a, b relation) int {
		return cmp.Or(strings.Compare(a.Number, b.Number), strings.Compare(a.ID, b.ID))
	})
	if len(f.Related) == 0 {
		f.Related = nil
	}
	if len(f.Categories) == 0 {
		f.Categories = nil
	}
	return f
}

// differs compares a report of the API with the published one. known reports
// whether the store has a report: of an unknown related report the API gives only
// the number.
func (f apiReport) differs(returned apiReport, known func(id string) bool) error {
	want, got := f.plain(), returned.plain()
	for n := range want.Related {
		if r := &want.Related[n]; !known(r.ID) {
			r.ID = ""
		}
	}
	if returned.Precision == "minute" {
		want.PublishedAt = want.PublishedAt.Truncate(time.Minute)
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		return fmt.Errorf("%s (-want +got):\n%s", f.ID, diff)
	}
	return nil
}

// reader is a store, and the serves that fill it from a source.
type reader struct {
	source
	spec  string
	dir   string
	env   []string // more of the environment of a serve
	store store.Store
	began time.Time      // older reports are history, with a precision of minutes
	serve *service       // the one that tests call
	ends  func(*service) // registers the end of a serve
}

func newReader(t *testing.T, s source, spec string) *reader {
	t.Helper()
	return &reader{source: s, spec: spec, dir: t.TempDir(), store: openStore(t, spec), began: time.Now(), ends: func(s *service) {
		t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	}}
}

// sourceArgs returns flags to read a simulator without a rate limit.
func sourceArgs(origin string) []string {
	return []string{"--regulator-url", origin, "--exchange-url", origin, "--pace", "0"}
}

// startServe starts one more serve.
func (r *reader) startServe(t *testing.T, args ...string) *service {
	t.Helper()
	args = slices.Concat([]string{"--source", "cnmv", "--poll", "100ms"}, sourceArgs(r.source.url), args)
	s, err := startService(append([]string{"PREGON_STORE=" + r.spec}, r.env...), r.dir, args...)
	if err != nil {
		t.Fatal(err)
	}
	r.ends(s)
	return s
}

// start starts the serve that tests call, and waits until the first month is loaded.
func (r *reader) start(t *testing.T) {
	t.Helper()
	r.serve = r.startServe(t)
	r.started(t)
}

func (r *reader) started(t *testing.T) {
	t.Helper()
	r.state(t, "live", "quiet")
	today := disclosure.DayOf(time.Now())
	r.exact(t, today-30, today, disclosure.IP, disclosure.OIR)
}

// fetch gets a JSON document from a serve. It validates the answer against the
// OpenAPI document.
func fetch(base, path string, into any) (http.Header, error) {
	dump, err := get(base, []string{path})
	if err != nil {
		return nil, err
	}
	resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(dump)), nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s is answered with %s", path, resp.Status)
	}
	return resp.Header, json.NewDecoder(resp.Body).Decode(into)
}

type status struct {
	State   string
	Source  string
	Reasons []struct{ Surface, Reason string }
	Latest  []struct{ Type, ID string }
}

// state waits until the status of the source is one of the states.
func (r *reader) state(t *testing.T, want ...string) (s status) {
	t.Helper()
	eventually(t, func() error {
		s = status{}
		if _, err := fetch(r.serve.url, "/api/v1/status", &s); err != nil {
			return err
		}
		if !slices.Contains(want, s.State) {
			return fmt.Errorf("the source is %s because of %v, want %v", s.State, s.Reasons, want)
		}
		return nil
	})
	return s
}

// has reports whether the store has a report.
func (r *reader) has(t *testing.T, id string) bool {
	t.Helper()
	found, err := r.store.Reports(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return len(found) > 0
}

// errMoved means that a list changed while its pages were read.
var errMoved = errors.New("the list has another number of reports than it says")

// listed returns how often each report since yesterday is in the list.
func listed(base string) (map[string]int, error) {
	out := map[string]int{}
	yesterday := disclosure.DayOf(time.Now()) - 1
	for page := 1; ; page++ {
		var list struct {
			Data  []struct{ ID string }
			Total int
		}
		if _, err := fetch(base, fmt.Sprintf("/api/v1/reports?from=%s&limit=50&page=%d", yesterday, page), &list); err != nil {
			return nil, err
		}
		for _, f := range list.Data {
			out[f.ID]++
		}
		if len(list.Data) < 50 {
			if list.Total != len(out) {
				return out, fmt.Errorf("%w: %d, %d", errMoved, len(out), list.Total)
			}
			return out, nil
		}
	}
}

// waitListed waits until a serve lists each of the reports once, and returns it
// exactly as published, with the second.
func (r *reader) waitListed(t *testing.T, ids ...string) {
	t.Helper()
	today := disclosure.DayOf(time.Now())
	truth := r.truth(t, today-1, today, disclosure.Types...)
	known := func(id string) bool { return r.has(t, id) }
	eventually(t, func() error {
		list, err := listed(r.serve.url)
		if err != nil {
			return err
		}
		for _, id := range ids {
			var f apiReport
			if list[id] != 1 {
				return fmt.Errorf("%s is listed %d times, want 1", id, list[id])
			}
			if _, err := fetch(r.serve.url, "/api/v1/reports/"+id, &f); err != nil {
				return err
			}
			if f.Precision != "second" && f.PublishedAt.After(r.began) {
				return fmt.Errorf("%s: got time precision %s, want second", id, f.Precision)
			}
			if err := truth[id].differs(f, known); err != nil {
				return err
			}
		}
		return nil
	})
}

// exact waits until the store has exactly the reports published on a range of days.
func (r *reader) exact(t *testing.T, from, to disclosure.Day, types ...disclosure.Type) {
	t.Helper()
	eventually(t, func() error { return r.inexact(t, from, to, types...) })
}

func (r *reader) inexact(t *testing.T, from, to disclosure.Day, types ...disclosure.Type) error {
	t.Helper()
	truth := r.findable(t, from, to, types...)
	have := map[string]*disclosure.Report{}
	if _, err := r.store.Current(t.Context(), func(c disclosure.Change) error {
		if c.Report != nil && slices.Contains(types, c.Report.Type) && (c.Report.Type != disclosure.HR || c.Report.NIF != "") {
			if day := disclosure.DayOf(c.Report.PublishedAt); day >= from && day <= to {
				have[c.Report.ID] = c.Report
			}
		}
		return nil
	}); err != nil {
		return err
	}
	for id, f := range truth {
		if have[id] == nil {
			return fmt.Errorf("%s of %v is missing", id, f.PublishedAt)
		}
	}
	for id, kept := range have {
		f, ok := truth[id]
		if !ok {
			return fmt.Errorf("%s of %v was never published", id, kept.PublishedAt)
		}
		got := apiReport{
			ID: id, Type: string(kept.Type), Number: fmt.Sprint(kept.Number), CompanyName: kept.CompanyName, NIF: kept.NIF, Title: kept.Title,
			PublishedAt: kept.PublishedAt, PDFURL: kept.PDFURL, SourceURL: kept.SourceURL, Categories: kept.Categories(),
		}
		if kept.TimeFrom == disclosure.FromList {
			got.Precision = "minute"
		}
		f.Related, f.CorrectedBy = nil, "" // relations of history may come later
		if err := f.differs(got, nil); err != nil {
			return err
		}
	}
	return nil
}

// stop ends the serve and verifies the log: no gap, no repeat, and every
// report announced once.
func (r *reader) stop(t *testing.T) {
	t.Helper()
	if err := r.serve.end(syscall.SIGTERM); err != nil {
		t.Errorf("serve did not end cleanly: %v\n%s", err, r.serve.log)
	}
	storetest.CheckLog(t, r.store)
	storetest.Verify(t, r.store)
}

// TestSource is a day with the regulator: reports of every kind, a crash, odd
// reports, and a bad hour of the site. In the end all of it is exact.
func TestSource(t *testing.T) {
	for name, newStore := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newReader(t, startSource(t), newStore(t))
			r.start(t)
			for _, part := range []struct {
				name string
				play func(*reader, *testing.T)
			}{{"live", (*reader).playLive}, {"killed", (*reader).playKilled}, {"odd", (*reader).playOdd}, {"late", (*reader).playLate}, {"faults", (*reader).playFaults}} {
				if !t.Run(part.name, func(t *testing.T) { part.play(r, t) }) {
					t.Logf("the log of serve:\n%s", r.serve.log.events())
				}
			}
			r.stop(t)
		})
	}
}

func (r *reader) playLive(t *testing.T) {
	bodies := []string{
		`{"type":"ip"}`, `{"type":"oir"}`, `{"type":"oir","title":"Añadido: «cita» & <b>marcado</b> &amp; 5 €"}`,
		`{"type":"oir","document":false}`, `{"type":"oir","document":true}`, `{"type":"ip","title":"Oferta pública – anuncio previo"}`,
		`{"type":"oir","category":"Sobre resultados - Sobre dividendos"}`,
	}
	var ids []string
	for n := range 30 {
		ids = append(ids, r.publish(t, "%s", bodies[n%len(bodies)]))
	}
	ids = append(ids, r.publish(t, `{"type":"hr"}`))
	r.waitListed(t, ids...)
	s := r.state(t, "live")
	if s.Source != "demo" || len(s.Reasons) > 0 {
		t.Errorf("the status is %+v", s)
	}
	for _, l := range s.Latest {
		if !slices.Contains(ids, l.ID) {
			t.Errorf("the latest %s is %s", l.Type, l.ID)
		}
	}
}

// playKilled kills serve in the middle of a burst. Reports published
// meanwhile are listed after the next start, each once.
func (r *reader) playKilled(t *testing.T) {
	var ids []string
	burst := func(n int) {
		for k := range n {
			ids = append(ids, r.publish(t, `{"type":%q}`, []string{"oir", "ip", "oir"}[k%3]))
		}
	}
	burst(10)
	eventually(t, func() error {
		if !slices.ContainsFunc(ids, func(id string) bool { return r.has(t, id) }) {
			return errors.New("no report of the burst is stored")
		}
		return nil
	})
	_ = r.serve.end(syscall.SIGKILL)
	burst(25)
	for range 5 {
		ids = append(ids, r.publish(t, `{"type":"hr"}`))
	}
	r.start(t)
	r.waitListed(t, ids...)
	today := disclosure.DayOf(time.Now())
	r.exact(t, today-7, today, disclosure.IP, disclosure.OIR)
}

// playOdd publishes unusual reports: without document, related, correcting, with a
// shared link.
func (r *reader) playOdd(t *testing.T) {
	first := r.publish(t, `{"type":"oir","title":"La primera"}`)
	number := first[len("oir-"):]
	ids := []string{
		first,
		r.publish(t, `{"type":"oir","document":false}`),
		r.publish(t, `{"type":"oir","related":%q}`, number),
		r.publish(t, `{"type":"oir","corrects":%q}`, number),
	}
	const shared = "../aldia/detalleifialdia.aspx?nReg=2026028165"
	for range 2 {
		ids = append(ids, r.publish(t, `{"type":"oir","link":%q}`, shared))
	}
	r.waitListed(t, ids...)
}

// playLate publishes reports that no feed shows, and one number twice.
func (r *reader) playLate(t *testing.T) {
	again := r.publish(t, `{"type":"oir","title":"Una"}`)
	r.waitListed(t, again)
	r.publish(t, `{"type":"oir","title":"Otra","number":%q}`, again[len("oir-"):])

	// At the close the feed drops the reports of the day, and may never have shown
	// the last ones. The lists have them, and those that were registered late.
	yesterday := (disclosure.DayOf(time.Now()) - 1).Start().Add(12*time.Hour + 34*time.Minute + 56*time.Second)
	late := r.publish(t, `{"type":"oir","published_at":%q}`, yesterday.Format(time.RFC3339))
	r.arm(t, `{"kind":"feedcut","surface":"feed","by":"1ms","for":"1h"}`)
	unseen := r.publish(t, `{"type":"oir"}`)
	r.waitListed(t, late, unseen)
	r.disarm(t)
	// A number that is used twice is one report, either of the two.
	eventually(t, func() error {
		list, err := listed(r.serve.url)
		if err == nil && list[again] != 1 {
			err = fmt.Errorf("%s is listed %d times, want 1", again, list[again])
		}
		return err
	})
}

// playFaults mixes faults while reports are published. The status becomes degraded or
// blind, and names the surface that fails.
func (r *reader) playFaults(t *testing.T) {
	for _, fault := range []string{
		`{"kind":"markup","surface":"feed","type":"ip","for":"1h"}`,
		`{"kind":"reset","surface":"feed","type":"oir","share":0.5,"for":"1h"}`,
		`{"kind":"stall","surface":"feed","type":"oir","share":0.3,"by":"700ms","for":"1h"}`,
		`{"kind":"error500","surface":"list","share":0.5,"for":"1h"}`,
		`{"kind":"truncate","surface":"permalink","share":0.5,"for":"1h"}`,
		`{"kind":"errorpage","surface":"permalink","share":0.3,"for":"1h"}`,
		`{"kind":"error403","surface":"all","share":0.1,"for":"1h"}`,
		`{"kind":"bomb","surface":"hr","share":0.5,"for":"1h"}`,
	} {
		r.arm(t, fault)
	}
	var ids []string
	for range 30 {
		ids = append(ids, r.publish(t, `{"type":%q}`, []string{"oir", "ip"}[len(ids)%2]))
		waittest.Pace(t.Context(), 100*time.Millisecond)
	}
	eventually(t, func() error { // other surfaces may be named before
		s := r.state(t, "degraded", "blind")
		if !slices.ContainsFunc(s.Reasons, func(r struct{ Surface, Reason string }) bool { return r.Surface == "feed-ip" && r.Reason != "" }) {
			return fmt.Errorf("the source is %s because of %v, want feed-ip among the reasons", s.State, s.Reasons)
		}
		return nil
	})
	r.disarm(t)
	ids = append(ids, r.publish(t, `{"type":"ip"}`), r.publish(t, `{"type":"oir"}`))
	r.waitListed(t, ids...)
	r.state(t, "live")
}

var holdingMetric = regexp.MustCompile(`(?m)^pregon_ingest_lease_held(?:\{[^}]*\})? 1$`)

// holds reports whether a serve reads the source, by its metrics.
func holds(t *testing.T, s *service) bool {
	t.Helper()
	m := regexp.MustCompile(`msg="listening for debug" address=(\S+)`).FindStringSubmatch(s.log.String())
	if m == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // of a process that hangs
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, m[1]+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return err == nil && holdingMetric.Match(body)
}

// TestTakeOver has two serves on one store, of which one reads the source.
// When that one dies, or is stopped, the other does.
func TestTakeOver(t *testing.T) {
	for name, newStore := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newReader(t, startSource(t), newStore(t))
			debug := []string{"--debug-listen", "127.0.0.1:0"}
			holder, other := r.startServe(t, debug...), r.startServe(t, debug...)
			eventually(t, func() error {
				a, b := holds(t, holder), holds(t, other)
				if a == b {
					return fmt.Errorf("the serves hold the lease: %v and %v, want one", a, b)
				}
				if b {
					holder, other = other, holder
				}
				return nil
			})
			r.serve = other
			r.started(t)
			ids := []string{r.publish(t, `{"type":"oir"}`)}
			r.waitListed(t, ids...)

			// The holder dies while reports are published.
			publish := func() {
				for n := range 12 {
					ids = append(ids, r.publish(t, `{"type":%q}`, []string{"oir", "ip", "oir"}[n%3]))
				}
			}
			publish()
			_ = holder.end(syscall.SIGKILL)
			publish()
			r.waitListed(t, ids...)
			eventually(t, func() error { // on a busy machine it may lose the lease for a moment
				if !holds(t, other) {
					return errors.New("the other serve has all reports, but does not hold the lease")
				}
				return nil
			})

			// A clean stop releases the lease: the next holder does not wait for it to expire.
			third := r.startServe(t, debug...)
			if err := other.end(syscall.SIGTERM); err != nil {
				t.Errorf("serve did not end cleanly: %v\n%s", err, other.log)
			}
			publish()
			r.serve = third
			r.waitListed(t, ids...)
			today := disclosure.DayOf(time.Now())
			r.exact(t, today-7, today, disclosure.IP, disclosure.OIR)
			r.stop(t)
		})
	}
}

// simulated returns the ids of the reports in the file of the simulated market.
func simulated(t *testing.T, file string, types ...disclosure.Type) (ids []string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	whole := data[:bytes.LastIndexByte(data, '\n')+1] // the last line may be incomplete
	for line := range bytes.Lines(whole) {
		var f struct{ ID string }
		if err := json.Unmarshal(line, &f); err != nil {
			t.Fatal(err)
		}
		if series, _, ok := disclosure.ParseReportID(f.ID); ok && slices.Contains(types, series) {
			ids = append(ids, f.ID)
		}
	}
	return ids
}

// TestDemo is what `make run` does, in an empty directory.
func TestDemo(t *testing.T) {
	// Requests to other machines go through this proxy.
	var outside atomic.Int64
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		outside.Add(1)
		w.WriteHeader(http.StatusBadGateway)
	}))
	defer proxy.Close()
	for name, newStore := range engines {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			spec := "sqlite:data/pregon.db"
			atRest := "sqlite:" + filepath.Join(dir, "data", "pregon.db")
			if name == "postgres" {
				spec = newStore(t)
				atRest = spec
			}
			d := &demoRun{dir: dir, file: filepath.Join(dir, "data", "sim.jsonl"), env: []string{
				"PREGON_STORE=" + spec, "HTTP_PROXY=" + proxy.URL, "HTTPS_PROXY=" + proxy.URL,
			}}
			d.play(t, atRest)
		})
	}
	if n := outside.Load(); n > 0 {
		t.Errorf("the simulated market was read with %d requests to other machines", n)
	}
}

// demoRun is `serve --source demo` in a directory.
type demoRun struct {
	dir, file string
	env       []string
	serve     *service
}

func (d *demoRun) start(t *testing.T, rate string) {
	t.Helper()
	s, err := startService(d.env, d.dir, "--source", "demo", "--rate", rate)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	d.serve = s
}

// total returns the number of reports. The answer must name the demo source.
func (d *demoRun) total(t *testing.T) int {
	t.Helper()
	var list struct{ Total int }
	header, err := fetch(d.serve.url, "/api/v1/reports?limit=1", &list)
	if err != nil {
		t.Fatal(err)
	}
	if header.Get("Pregon-Source") != "demo" {
		t.Errorf("Pregon-Source: got %q, want demo", header.Get("Pregon-Source"))
	}
	return list.Total
}

// shows waits until all reports are listed, each once; while the market moves
// a report may be found on two pages.
func (d *demoRun) shows(t *testing.T, ids []string, moves bool) {
	t.Helper()
	eventually(t, func() error {
		list, err := listed(d.serve.url)
		if err != nil && !(moves && errors.Is(err, errMoved)) {
			return err
		}
		for _, id := range ids {
			if list[id] != 1 && !(moves && list[id] > 1) {
				return fmt.Errorf("%s is listed %d times, want 1", id, list[id])
			}
		}
		return nil
	})
}

// refused checks that another start fails with a sentence.
func (d *demoRun) refused(t *testing.T, sentence string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, "serve", "--listen", "127.0.0.1:0", "--source", "demo")
	cmd.Dir, cmd.Env = d.dir, d.env
	out, err := cmd.CombinedOutput()
	if err == nil || !regexp.MustCompile(`^pregon: `+sentence+`.*\n$`).Match(out) {
		t.Errorf("another start: got %v and %q, want an error and %q", err, out, sentence)
	}
}

// announces checks that the address is the last line, but for warnings and the
// requests of the test.
func (d *demoRun) announces(t *testing.T) {
	t.Helper()
	line := "Pregón is ready: " + d.serve.url + "/\n"
	eventually(t, func() error {
		if !strings.Contains(d.serve.log.String(), line) {
			return fmt.Errorf("no line is %q", line)
		}
		return nil
	})
	if _, after, _ := strings.Cut(d.serve.log.events(), line); strings.Contains(after, "level=INFO") || strings.Contains(after, line) {
		t.Errorf("more follows the address:\n%s", after)
	}
}

func (d *demoRun) play(t *testing.T, spec string) {
	d.start(t, "600/min")
	before := d.total(t)
	if before == 0 {
		t.Error("the market is ready but has no reports")
	}
	eventually(t, func() error {
		if len(simulated(t, d.file, disclosure.IP, disclosure.OIR)) < 10 {
			return errors.New("the market does not publish")
		}
		return nil
	})
	ids := simulated(t, d.file, disclosure.IP, disclosure.OIR)
	d.shows(t, ids, true)
	eventually(t, func() error {
		if after := d.total(t); after <= before {
			return fmt.Errorf("reports: got %[2]d, want more than %[1]d", before, after)
		}
		return nil
	})
	d.announces(t)
	d.refused(t, "another process serves the simulated market of data/sim.jsonl")

	// After a crash the same market continues, with the reports not yet read.
	_ = d.serve.end(syscall.SIGKILL)
	ids = simulated(t, d.file, disclosure.IP, disclosure.OIR)
	d.start(t, "0")
	d.shows(t, ids, false)
	d.announces(t)
	if now := simulated(t, d.file, disclosure.IP, disclosure.OIR); !slices.Equal(now, ids) {
		t.Errorf("reports in the market: got %[2]d, want %[1]d", len(ids), len(now))
	}
	if err := d.serve.end(syscall.SIGTERM); err != nil {
		t.Errorf("serve did not end cleanly: %v\n%s", err, d.serve.log)
	}
	db := openStore(t, spec)
	storetest.CheckLog(t, db)
	storetest.Verify(t, db)

	// A store whose market file is missing is refused.
	if err := os.Rename(d.file, d.file+".away"); err != nil {
		t.Fatal(err)
	}
	d.refused(t, "the store holds another simulated market than data/sim.jsonl: ")
	if err := os.Rename(d.file+".away", d.file); err != nil {
		t.Fatal(err)
	}
	d.start(t, "0")
	d.shows(t, ids, false)
}
