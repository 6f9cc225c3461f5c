package main_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/disclosure"
	"pregon/internal/test/longtest"
	"pregon/internal/test/waittest"
)

// withRegisters is the environment of services that read them.
var withRegisters = []string{"PREGON_REGISTERS=shorts,dealings,holdings"}

// startSite starts the simulated sites, which publish nothing by themselves.
func startSite(t *testing.T) *service {
	t.Helper()
	s, err := startProgram(nil, t.TempDir(), "sim", "--listen", "127.0.0.1:0", "--rate", "0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.end(syscall.SIGKILL) })
	return s
}

// startReading starts a service that reads a site and its registers.
func startReading(t *testing.T, spec, site string) *service {
	t.Helper()
	env := append(slices.Clone(withRegisters), "PREGON_STORE="+spec)
	args := append(sourceArgs(site), "--source", "cnmv", "--poll", "200ms")
	s, err := startService(env, t.TempDir(), args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	return s
}

// fetchJSON reads an answer of a service.
func fetchJSON(url string, into any) error {
	resp, err := http.Get(url)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, resp.Status)
	}
	return json.NewDecoder(resp.Body).Decode(into)
}

// total returns how many positions a service lists.
func (s *service) total(list string) (n int, err error) {
	var page struct{ Total int }
	err = fetchJSON(s.url+"/api/v1/"+list+"?limit=1", &page)
	return page.Total, err
}

// wholeRegisters returns an error that names a register that is not loaded.
func (s *service) wholeRegisters(site string) error {
	if n, err := s.total("dealings"); err != nil || n < 3000 {
		return fmt.Errorf("%d dealings, %w", n, errors.Join(err))
	}
	var c struct {
		Registers []struct {
			Register   string
			WholeUntil *time.Time `json:"whole_until"`
		}
	}
	if err := fetchJSON(s.url+"/api/v1/completeness", &c); err != nil {
		return err
	}
	if len(c.Registers) < 4 {
		return fmt.Errorf("%d registers", len(c.Registers))
	}
	for _, r := range c.Registers {
		if r.WholeUntil == nil || r.WholeUntil.IsZero() {
			return fmt.Errorf("%s is not whole", r.Register)
		}
	}
	return nil
}

// exportPositions returns the positions of a store, without the times of this process and
// what documents state.
func exportPositions(t *testing.T, spec string) map[string]disclosure.Position {
	t.Helper()
	cmd := exec.Command(program, "export", "positions", "--store", spec)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	all := map[string]disclosure.Position{}
	for line := range strings.Lines(string(out)) {
		var p disclosure.Position
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			t.Fatalf("%v: %.200s", err, line)
		}
		p.FirstSeenAt = time.Time{}
		p.AvailableAt = time.Time{}
		p.Sealed = ""
		p.Trades = nil
		p.Aggregates = ""
		p.DocumentStatus = ""
		p.DocumentReason = ""
		p.DocumentSHA256 = ""
		if _, twice := all[p.ID]; twice {
			t.Errorf("the position %s is exported twice", p.ID)
		}
		all[p.ID] = p
	}
	return all
}

// comparePositions compares the positions of two stores that read the same registers. The
// second was read earlier: what was entered since is not compared, and short positions go on
// by themselves.
func comparePositions(t *testing.T, got, want map[string]disclosure.Position) {
	t.Helper()
	wrong := 0
	for id, p := range want {
		q, ok := got[id]
		if p.Kind == disclosure.Short && ok {
			q.State = p.State
			if today := disclosure.DayOf(time.Now()).String(); strings.Contains(id, today) {
				q.Backfilled = p.Backfilled // it may have been entered after the first read, in the evening
			}
		}
		if p.Issuer == "" || q.Issuer == "" { // which the directory may learn at any time
			p.Issuer = q.Issuer
		}
		if diff := cmp.Diff(p, q); diff != "" {
			if wrong++; wrong <= 5 {
				t.Errorf("%s (-want +got):\n%s", id, diff)
			}
		}
	}
	if wrong > 5 {
		t.Errorf("%d positions differ", wrong)
	}
	for id, p := range got {
		if _, known := want[id]; !known && p.Kind != disclosure.Short && p.RegisteredOn != disclosure.DayOf(time.Now()).String() {
			t.Errorf("%s is too much: %+v", id, p)
		}
	}
}

// newestDealing returns the id of the newest dealing.
func (s *service) newestDealing() (string, error) {
	var page struct{ Data []struct{ ID string } }
	if err := fetchJSON(s.url+"/api/v1/dealings?limit=1", &page); err != nil {
		return "", err
	}
	if len(page.Data) == 0 {
		return "", errors.New("there is no dealing")
	}
	return page.Data[0].ID, nil
}

// firstEvent returns the event of the oldest change of a position.
func (s *service) firstEvent(id string) (string, error) {
	var history struct{ Data []struct{ Event string } }
	if err := fetchJSON(s.url+"/api/v1/positions/"+id+"/history", &history); err != nil {
		return "", err
	}
	if len(history.Data) == 0 {
		return "", errors.New("it has no history")
	}
	return history.Data[len(history.Data)-1].Event, nil
}

// A service that is killed again and again while it loads the registers has the same
// positions as one that is not, in both stores. What is entered later is news.
func TestRegisters(t *testing.T) {
	longtest.Skip(t, "it loads five years of registers")
	site := startSite(t)
	undisturbed := engines["sqlite"](t)
	calm := startReading(t, undisturbed, site.url)
	waittest.ForNil(t, func() error { return calm.wholeRegisters(site.url) })
	want := exportPositions(t, undisturbed)
	for name, newStore := range engines {
		t.Run(name, func(t *testing.T) {
			spec := newStore(t)
			for _, enough := range []int{1, 200, 900, 2000} {
				s := startReading(t, spec, site.url)
				waittest.ForNil(t, func() error {
					n, err := s.total("dealings")
					if err == nil && n < enough {
						err = fmt.Errorf("%d dealings, want %d", n, enough)
					}
					return err
				})
				_ = s.end(syscall.SIGKILL)
			}
			s := startReading(t, spec, site.url)
			waittest.ForNil(t, func() error { return s.wholeRegisters(site.url) })
			comparePositions(t, exportPositions(t, spec), want)
			before, err := s.newestDealing()
			if err != nil {
				t.Fatal(err)
			}
			if event, err := s.firstEvent(before); err != nil || event != "position.backfilled" {
				t.Errorf("%s was loaded with the event %q, %v", before, event, err)
			}
			answer, err := http.Post(site.url+"/_sim/register", "application/json", strings.NewReader(`{"kind":"dealing"}`))
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			waittest.ForNil(t, func() error {
				id, err := s.newestDealing()
				if err == nil && id == before {
					err = errors.New("the new dealing is not listed")
				}
				if err != nil {
					return err
				}
				event, err := s.firstEvent(id)
				if event != "position.published" {
					err = fmt.Errorf("%s has the event %q: %w", id, event, err)
				}
				return err
			})
			if err := s.end(syscall.SIGTERM); err != nil {
				t.Error(err)
			}
			verify := exec.Command(program, "verify", "--store", spec)
			if out, err := verify.CombinedOutput(); err != nil {
				t.Errorf("verify: %v: %s", err, out)
			}
		})
	}
}
