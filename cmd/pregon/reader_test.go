package main_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"syscall"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/store"
	"pregon/internal/store/storetest"
	"pregon/internal/test/waittest"
)

// patient is how long a test waits for a condition. It only ends a hang, and does
// not measure speed.
const patient = 5 * time.Minute

// eventually waits until the check passes.
func eventually(t *testing.T, check func() error) {
	t.Helper()
	waittest.ForNil(t, check)
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
	eventually(t, func() (err error) {
		s, err = r.serve.inState(want...)
		return err
	})
	return s
}

// inState returns the status of the source, and an error unless its state is one of
// the states.
func (s *service) inState(want ...string) (got status, err error) {
	if _, err := fetch(s.url, "/api/v1/status", &got); err != nil {
		return got, err
	}
	if !slices.Contains(want, got.State) {
		return got, fmt.Errorf("the source is %s because of %v, want %v", got.State, got.Reasons, want)
	}
	return got, nil
}

// has reports whether the store has a report.
func (r *reader) has(t *testing.T, id string) bool {
	t.Helper()
	known := false
	eventually(t, func() error { // the connections of this test end with the database too
		found, err := r.store.Reports(t.Context(), id)
		known = len(found) > 0
		return err
	})
	return known
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

// expectReset reads changes after a cursor of a log that was replaced by an older one.
func (r *reader) expectReset(t *testing.T, key, cursor string) {
	t.Helper()
	var list changeList
	demand(t, r.serve.url, key, http.MethodGet, "/api/v1/changes?limit=1000&after="+cursor, nil, &list, http.StatusOK)
	if list.Reset == nil {
		t.Errorf("changes after %s, a cursor of the former log: got no reset", cursor)
	}
}
