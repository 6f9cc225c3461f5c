package main_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/source/coverage"
	"pregon/internal/store/storetest"
	"pregon/internal/test/longtest"
)

// tap is a proxy between the program and a simulator. It records the requests and
// can delay them.
type tap struct {
	*httptest.Server

	mu    sync.Mutex
	asked []string                               // guarded by mu
	hold  func(ctx context.Context, path string) // guarded by mu: called before an answer
}

func newTap(t *testing.T, s source) *tap {
	t.Helper()
	origin, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	p := &tap{}
	proxy := httputil.NewSingleHostReverseProxy(origin)
	proxy.ErrorLog = log.New(io.Discard, "", 0) // of a program that was killed
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.asked = append(p.asked, r.URL.RequestURI())
		hold := p.hold
		p.mu.Unlock()
		if hold != nil {
			hold(r.Context(), r.URL.RequestURI())
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		p.CloseClientConnections()
		p.Close()
	})
	return p
}

// take returns the requests since the last call, and sets the hook that runs
// before each later answer.
func (p *tap) take(hold func(ctx context.Context, path string)) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	asked := p.asked
	p.asked, p.hold = nil, hold
	return asked
}

// hanging returns a hook that lets some list requests pass and then blocks, so that
// another process can take over, however long it takes to start.
func hanging() func(ctx context.Context, path string) {
	var passed atomic.Int64
	return func(ctx context.Context, path string) {
		if strings.Contains(path, "fechaDesde=") && passed.Add(1) > 20 {
			<-ctx.Done()
		}
	}
}

// backfill is a run of the command.
type backfill struct {
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
}

func startBackfill(t *testing.T, origin, spec string, args ...string) *backfill {
	t.Helper()
	b := &backfill{cmd: exec.CommandContext(t.Context(), program, slices.Concat([]string{"backfill", "--store", spec}, sourceArgs(origin), args)...)}
	b.cmd.Stdout, b.cmd.Stderr, b.cmd.Env = &b.stdout, &b.stderr, []string{}
	b.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := b.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return b
}

// counts are the totals that the command prints when it ends.
type counts struct{ fresh, updated, unchanged int }

// finish waits until the command succeeds.
func (b *backfill) finish(t *testing.T) (c counts) {
	t.Helper()
	if err := b.cmd.Wait(); err != nil {
		t.Fatalf("back-fill ends with %v\n%s%s", err, &b.stdout, &b.stderr)
	}
	if n, err := fmt.Sscanf(b.stdout.String(), "%d new, %d updated, %d unchanged\n", &c.fresh, &c.updated, &c.unchanged); n != 3 || err != nil {
		t.Fatalf("back-fill prints %q", &b.stdout)
	}
	return c
}

const (
	byItself  = "by this process: no service reads the source"
	byService = "by the service that reads the source"
)

// TestBackfill loads some weeks alone, is killed midway and run again, and
// leaves the work to a serve that runs already.
func TestBackfill(t *testing.T) {
	longtest.Skip(t, "it reads seven weeks of lists at the pace of the service")
	today := disclosure.DayOf(time.Now())
	from, to := today-90, today-40
	days := []string{"--from", from.String(), "--to", to.String()}
	for name, newStore := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startSource(t)
			p := newTap(t, s)
			r := newReader(t, s, newStore(t))

			// Kill it in the middle of the OIR lists.
			reached := make(chan struct{})
			middle := regexp.MustCompile(`(?i)resultado-oir\?fechaDesde=[^&]*&fechaHasta=` + slashed(to-21))
			p.take(func(ctx context.Context, path string) {
				if middle.MatchString(path) {
					select {
					case reached <- struct{}{}:
					case <-ctx.Done():
					}
					<-ctx.Done()
				}
			})
			killed := startBackfill(t, p.URL, r.spec, days...)
			late := time.AfterFunc(patient, func() { close(reached) })
			<-reached
			_ = killed.cmd.Process.Kill()
			_ = killed.cmd.Wait()
			if !late.Stop() {
				t.Fatalf("back-fill does not reach the middle\n%s", &killed.stderr)
			}
			done := lists(p.take(nil))
			done = done[:len(done)-1] // without the list it was reading
			job := r.jobs(t)
			if len(done) < 5 || len(job) != 1 || job[0].Done || job[0].Steps != len(done) || job[0].New == 0 {
				t.Fatalf("killed after %v: got job %+v, want an unfinished job with as many steps", done, job)
			}

			// The second run continues where the first stopped.
			again := startBackfill(t, p.URL, r.spec, days...)
			got := again.finish(t)
			for _, list := range lists(p.take(nil)) {
				if slices.Contains(done, list) {
					t.Errorf("%s was read already, and is read again", list)
				}
			}
			want := len(r.findable(t, from, to, disclosure.Types...))
			if got.fresh != want || got.unchanged > 0 {
				t.Errorf("back-fill prints %+v, want %d new", got, want)
			}
			if text := again.stderr.String(); !strings.Contains(text, byItself) {
				t.Errorf("back-fill, alone, says %q", text)
			}
			r.exact(t, from, to, disclosure.Types...)
			storetest.CheckLog(t, r.store)
			storetest.Verify(t, r.store)
			r.related(t, from, to)

			// The third run finds everything stored.
			whole := startBackfill(t, p.URL, r.spec, days...)
			got = whole.finish(t)
			if want := (counts{unchanged: want}); got != want {
				t.Errorf("back-fill prints %+v, want %+v", got, want)
			}
			if text := whole.stderr.String(); !strings.Contains(text, byItself) || strings.Contains(text, byService) {
				t.Errorf("back-fill, alone, says %q", text)
			}
			if len(lists(p.take(nil))) < len(done) {
				t.Error("a repeated back-fill did not read the lists again")
			}

			// A running serve does the work.
			r.start(t)
			earlier := []string{"--from", (from - 30).String(), "--to", (from - 1).String(), "--type", "ip,oir"}
			beside := startBackfill(t, p.URL, r.spec, earlier...)
			got = beside.finish(t)
			if want := len(r.truth(t, from-30, from-1, disclosure.IP, disclosure.OIR)); got.fresh != want {
				t.Errorf("back-fill beside serve prints %+v, want %d new", got, want)
			}
			// On a busy machine serve may lose its lease for a moment; then the command does the work.
			if asked := p.take(nil); !strings.Contains(r.serve.log.events(), "no longer reading the source") {
				if text := beside.stderr.String(); !strings.Contains(text, byService) || strings.Contains(text, byItself) {
					t.Errorf("back-fill beside serve says %q", text)
				}
				if len(asked) > 0 {
					t.Errorf("back-fill beside serve asked for %v itself", asked)
				}
			}
			r.exact(t, from-30, to, disclosure.IP, disclosure.OIR)
			r.stop(t)
		})
	}
}

// jobs returns the back-fill jobs in the store.
func (r *reader) jobs(t *testing.T) []coverage.Job {
	t.Helper()
	l := coverage.New(r.store)
	if err := l.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	return l.Jobs()
}

// related compares the relations between the stored reports of a range of days.
func (r *reader) related(t *testing.T, from, to disclosure.Day) {
	t.Helper()
	wrong, all := 0, 0
	for id, f := range r.truth(t, from, to, disclosure.IP, disclosure.OIR) {
		found, err := r.store.Reports(t.Context(), id)
		if err != nil || len(found) != 1 {
			t.Fatalf("%s: %v, %v", id, found, err)
		}
		for _, other := range f.Related {
			if !r.has(t, other.ID) {
				continue
			}
			all++
			if !slices.ContainsFunc(found[0].Related, func(got disclosure.Relation) bool { return got.ID == other.ID }) {
				if wrong++; wrong == 1 {
					t.Logf("%s is related to %s, got relations %+v", id, other.ID, found[0].Related)
				}
			}
		}
	}
	if wrong > 0 || all == 0 {
		t.Errorf("%d of %d relations are missing, want 0", wrong, all)
	}
}

// lists returns the list addresses among the requests, without pages, each once.
func lists(asked []string) (out []string) {
	for _, path := range asked {
		if !strings.Contains(path, "fechaDesde=") {
			continue
		}
		days, _, _ := strings.Cut(path, "&page=")
		if !slices.Contains(out, days) {
			out = append(out, days)
		}
	}
	return out
}

// slashed formats a day as in the addresses of lists.
func slashed(d disclosure.Day) string {
	return d.Start().In(disclosure.Madrid).Format("02/01/2006")
}

// TestBackfillGivesWay starts serve while a back-fill works alone: serve reads
// the feeds at once and continues the job, and the command succeeds. A category that
// is not known is refused only from then on.
func TestBackfillGivesWay(t *testing.T) {
	longtest.Skip(t, "a back-fill takes long")
	today := disclosure.DayOf(time.Now())
	from := today - 200
	for name, newStore := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startSource(t)
			p := newTap(t, s)
			p.take(hanging())
			r := newReader(t, s, newStore(t))
			alone := startBackfill(t, p.URL, r.spec, "--from", from.String(), "--type", "ip,oir")
			eventually(t, func() error {
				if jobs := r.jobs(t); len(jobs) == 0 || jobs[0].Steps < 2 {
					return fmt.Errorf("back-fill does not begin: %v", jobs)
				}
				return nil
			})
			r.serve = r.startServe(t, "--debug-listen", "127.0.0.1:0")
			eventually(t, func() error {
				if !holds(r.serve) {
					return fmt.Errorf("serve does not get to read the source")
				}
				return nil
			})
			if jobs := r.jobs(t); jobs[0].Done {
				t.Error("serve had to wait for the end of the back-fill")
			}
			eventually(t, func() error { return r.unknownCategory(http.StatusOK) })
			p.take(nil)
			id := r.publish(t, `{"type":"oir"}`)
			alone.finish(t)
			if text := alone.stderr.String(); !strings.Contains(text, byItself) || !strings.Contains(text, byService) {
				t.Errorf("back-fill says %q", text)
			}
			eventually(t, func() error { return r.unknownCategory(http.StatusBadRequest) })
			r.waitListed(t, id)
			r.exact(t, from, today, disclosure.IP, disclosure.OIR)
			r.stop(t)
		})
	}
}

// unknownCategory fails unless a list by an unknown category has a status. If it is
// accepted, it must have a warning.
func (r *reader) unknownCategory(status int) error {
	resp, err := http.Get(r.serve.url + "/api/v1/reports?category=inexistente")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if warned := resp.Header.Get("Pregon-Warning") != ""; resp.StatusCode != status || warned != (status == http.StatusOK) {
		return fmt.Errorf("an unknown category is answered with %s, %v", resp.Status, resp.Header)
	}
	return nil
}

// TestClockChange back-fills the night in October that has one hour twice. The
// lists give local time only; the registration numbers decide which hour it is.
func TestClockChange(t *testing.T) {
	longtest.Skip(t, "a back-fill takes long")
	night := clockChange(time.Now())
	s := startSource(t)
	var ids []string
	want := map[string]time.Time{}
	// In Madrid 02:10 and 02:50 of summer, then 02:20 and 03:10 of winter.
	for _, minutes := range []int{10, 50, 80, 130} {
		at := night.Add(time.Duration(minutes) * time.Minute)
		id := s.publish(t, `{"type":"oir","published_at":%q}`, at.Format(time.RFC3339))
		ids = append(ids, id)
		want[id] = at
	}
	day := disclosure.DayOf(night)
	for name, newStore := range engines {
		t.Run(name, func(t *testing.T) {
			r := newReader(t, s, newStore(t))
			startBackfill(t, s.url, r.spec, "--from", (day - 1).String(), "--to", (day + 1).String(), "--type", "oir").finish(t)
			reports, err := r.store.Reports(t.Context(), ids...)
			if err != nil || len(reports) != len(ids) {
				t.Fatalf("there are %d of %d reports (%v)", len(reports), len(ids), err)
			}
			for _, f := range reports {
				if !f.PublishedAt.Equal(want[f.ID]) {
					t.Errorf("%s was published at %v, want %v", f.ID, f.PublishedAt.In(disclosure.Madrid), want[f.ID].In(disclosure.Madrid))
				}
			}
			r.exact(t, day-1, day+1, disclosure.OIR)
		})
	}
}

// clockChange returns when the hour began that came twice, at the end of the
// last summer: 02:00 in Madrid on the last Sunday of October.
func clockChange(now time.Time) time.Time {
	for year := now.Year(); ; year-- {
		last := time.Date(year, time.October, 31, 0, 0, 0, 0, time.UTC)
		sunday := last.AddDate(0, 0, -int(last.Weekday()))
		if sunday.AddDate(0, 0, 3).Before(now) {
			return sunday // midnight UTC is two o'clock in Madrid
		}
	}
}
