package main_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"pregon/internal/test/longtest"
)

// A host whose clock is set cannot be had in a test: the clock belongs to the whole
// machine, and Go reads it without the C library, so that libfaketime has no effect.
// The product has no clock that could be set either, and needs none. Therefore these
// tests build the program with a changed copy of package time, by the flag -overlay
// of go build. It adds an offset to the wall clock, and leaves the monotonic one as
// it is, which is what happens when the clock of a host is set. A file that is added
// to the program reads the offset from a file, again and again.

// wallClock is the line of time.Now that reads the clocks.
const wallClock = "\tsec, nsec, mono := runtimeNow()\n"

const offsetOfTime = `package time

import "sync/atomic"

// WallOffset is added to the seconds of the wall clock.
var WallOffset atomic.Int64
`

const offsetOfProgram = `package main

import (
	"os"
	"strconv"
	"time"
)

func init() {
	path := os.Getenv("TEST_CLOCK")
	if path == "" {
		return
	}
	set := func() {
		text, _ := os.ReadFile(path)
		if seconds, err := strconv.ParseInt(string(text), 10, 64); err == nil {
			time.WallOffset.Store(seconds)
		}
	}
	set()
	go func() {
		for {
			time.Sleep(50 * time.Millisecond)
			set()
		}
	}()
}
`

// steppedProgram builds the program with a wall clock that can be stepped, once for
// all tests, and returns its path.
var steppedProgram = sync.OnceValues(func() (string, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("looking for the source of Go: %w", err)
	}
	timeDir := filepath.Join(strings.TrimSpace(string(root)), "src", "time")
	source, err := os.ReadFile(filepath.Join(timeDir, "time.go"))
	if err != nil {
		return "", err
	}
	if strings.Count(string(source), wallClock) != 1 {
		return "", fmt.Errorf("time.go of this version of Go does not have the line %q once: "+
			"look how time.Now reads the wall clock, and change wallClock in this test", wallClock)
	}
	stepped := strings.Replace(string(source), wallClock, wallClock+"\tsec += WallOffset.Load()\n", 1)
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(filepath.Dir(program), "stepped")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	replace := map[string]string{}
	for path, text := range map[string]string{
		filepath.Join(timeDir, "time.go"):       stepped,
		filepath.Join(timeDir, "walloffset.go"): offsetOfTime,
		filepath.Join(here, "walloffset.go"):    offsetOfProgram,
	} {
		changed := filepath.Join(dir, fmt.Sprintf("%d.go", len(replace)))
		if err := os.WriteFile(changed, []byte(text), 0o600); err != nil {
			return "", err
		}
		replace[path] = changed
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		return "", err
	}
	built := filepath.Join(dir, "pregon")
	build := exec.Command("go", "build", "-overlay", list, "-o", built, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the program with another clock: %w\n%s", err, out)
	}
	return built, nil
})

// clock is the wall clock of a process.
type clock struct {
	program string // the build of the program that has this clock
	path    string // of the file with its offset
}

func newClocks(t *testing.T, n int) (clocks []clock) {
	t.Helper()
	build, err := steppedProgram()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for i := range n {
		clocks = append(clocks, clock{build, filepath.Join(dir, strconv.Itoa(i))})
	}
	return clocks
}

// env returns the variable by which a process finds its clock.
func (c clock) env() string { return "TEST_CLOCK=" + c.path }

// set makes the clock differ from the true time, also in processes that start later.
func (c clock) set(t *testing.T, offset time.Duration) {
	t.Helper()
	must(t, os.WriteFile(c.path, strconv.AppendInt(nil, int64(offset/time.Second), 10), 0o600))
}

// waitOffset waits until the clock of a service differs from the true time by an offset.
func (s *service) waitOffset(t *testing.T, want time.Duration) {
	t.Helper()
	eventually(t, func() error {
		resp, err := http.Get(s.url + "/readyz")
		if err != nil {
			return err
		}
		resp.Body.Close()
		date, err := http.ParseTime(resp.Header.Get("Date"))
		if err != nil {
			return err
		}
		if got := time.Until(date).Round(30 * time.Minute); got != want {
			return fmt.Errorf("the clock of the service differs by %v, want %v", got, want)
		}
		return nil
	})
}

// TestClockSteps sets the clocks of hosts an hour ahead, right again, and an hour
// back, while the source publishes. With PostgreSQL, whose server has a clock of its
// own, that of one process is set before that of the other one.
func TestClockSteps(t *testing.T) {
	longtest.Skip(t, "it builds the program again, with another clock")
	replicas := map[string]int{"sqlite": 1, "postgres": 2}
	for name, newStore := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := newStore(t)
			clocks := newClocks(t, replicas[name])
			w := &steppedTrial{trial: startTrial(t, spec, slices.Repeat([]string{spec}, len(clocks)), clocks)}
			w.receiver.loose = true       // what was queued just before a step back may come after newer changes
			w.late = newReceiver(t, true) // what it refuses at first comes after other changes
			w.late.register(t, w.serve.url, w.key)
			c := newCaller(t, spec, clocks[0])

			w.step(t, time.Hour)
			c.exhaust(t, time.Hour)
			w.step(t, 0)
			w.step(t, -time.Hour)
			c.returns(t, -time.Hour)
			w.stepUnread(t, 0, -time.Hour, time.Hour)
			w.dieAhead(t)
			w.end(t)
		})
	}
}

// steppedTrial is a trial whose clocks are stepped.
type steppedTrial struct {
	*trial
	late *receiver // fails before each step
}

// setClock sets the clock of a replica and waits until it has effect.
func (w *steppedTrial) setClock(t *testing.T, i int, offset time.Duration) {
	t.Helper()
	w.clocks[i].set(t, offset)
	w.serves[i].waitOffset(t, offset)
}

// step sets the clock of one replica after the other, and publishes after each.
// Deliveries that failed before, whose next attempt is scheduled by the former clock,
// arrive without a wait for as long as the step.
func (w *steppedTrial) step(t *testing.T, offset time.Duration) {
	t.Helper()
	began := time.Now()
	w.late.mood.Store(failingMood)
	failing := w.burst(t, 1)
	eventually(t, func() error { return w.failed(t, failing) })
	w.late.mood.Store(calmMood)
	for i := range w.serves {
		w.setClock(t, i, offset)
		w.burst(t, 4)
		w.agree(t)
	}
	w.healthy(t)
	lasted := time.Since(began).Round(100 * time.Millisecond)
	t.Logf("with clocks that differ by %v everything is complete after %v", offset, lasted)
}

// failed returns an error unless the late receiver refused each of the reports, and
// this was stored.
func (w *steppedTrial) failed(t *testing.T, reports []string) error {
	t.Helper()
	events, err := w.streamed.all()
	announced := 0
	for _, e := range events {
		if !e.isNew() || !slices.Contains(reports, e.ID) {
			continue
		}
		announced++
		var list struct{ Data []delivery }
		path := fmt.Sprintf("/api/v1/webhooks/%s/deliveries?limit=1&before=%d", w.late.hook.ID, e.Seq+1)
		demand(t, w.serve.url, w.key, http.MethodGet, path, nil, &list, http.StatusOK)
		tried := len(list.Data) == 1 && list.Data[0].Seq == e.Seq && len(list.Data[0].History) > 0
		if !tried {
			return fmt.Errorf("change %d was not yet sent to the receiver that fails", e.Seq)
		}
	}
	if announced != len(reports) {
		return errors.Join(err, fmt.Errorf("%d of %d reports are announced", announced, len(reports)))
	}
	return err
}

// healthy waits until the late receiver has everything, one replica reads the source,
// and each says so.
func (w *steppedTrial) healthy(t *testing.T) {
	t.Helper()
	eventually(t, func() error {
		newest, err := w.store.Newest(t.Context())
		if err != nil {
			return err
		}
		return w.late.received(newest)
	})
	eventually(t, func() error {
		holders := 0
		for _, s := range w.serves {
			if holds(s) {
				holders++
			}
			if _, err := s.inState("live", "quiet"); err != nil {
				return err
			}
		}
		if holders != 1 {
			return fmt.Errorf("%d replicas hold the lease, want 1", holders)
		}
		return nil
	})
}

// stepUnread steps the clocks while the feeds cannot be read. No step makes the state
// better than it is.
func (w *steppedTrial) stepUnread(t *testing.T, offsets ...time.Duration) {
	t.Helper()
	w.arm(t, `{"kind":"markup","surface":"feed","for":"1h"}`)
	for _, s := range w.serves {
		eventually(t, func() error {
			_, err := s.inState("degraded", "blind")
			return err
		})
	}
	for _, offset := range offsets {
		for i := range w.serves {
			w.setClock(t, i, offset)
			for _, s := range w.serves {
				if _, err := s.inState("degraded", "blind", "starting"); err != nil {
					t.Errorf("while no feed can be read, after the clock of replica %d was set: %v", i, err)
				}
			}
		}
	}
	w.disarm(t)
	w.burst(t, 2)
	w.agree(t)
	w.healthy(t)
}

// dieAhead kills the replica that reads the source while its clock is an hour ahead.
// The clocks are right when it is started again: neither its lease nor its claims on
// webhooks last for an hour.
func (w *steppedTrial) dieAhead(t *testing.T) {
	t.Helper()
	for i := range w.serves {
		w.setClock(t, i, time.Hour)
	}
	w.burst(t, 4)
	holder := 0
	eventually(t, func() error {
		holder = slices.IndexFunc(w.serves, holds)
		if holder < 0 {
			return errors.New("no replica holds the lease")
		}
		return nil
	})
	_ = w.serves[holder].end(syscall.SIGKILL)
	for _, c := range w.clocks {
		c.set(t, 0)
	}
	w.burst(t, 4)
	must(t, w.fleet.start(holder))
	w.serve = w.serves[0]
	w.agree(t)
	w.healthy(t)
}

// caller is a client that uses an access token, or no credential, with few requests
// in a minute.
type caller struct {
	*service
	key *ecdsa.PrivateKey // signs its assertions
}

// newCaller starts a service with a limit that is quickly reached.
func newCaller(t *testing.T, spec string, of clock) *caller {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	s, err := startServiceOf(of.program, []string{"PREGON_STORE=" + spec, of.env()}, t.TempDir(),
		"--anonymous-limit", "10", "--webhook-allow-private", "--config", trustKey(t, &key.PublicKey))
	must(t, err)
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	return &caller{s, key}
}

const oneReport = "/api/v1/reports?limit=1"

// exhaust uses a token, and then sends requests without one until they are refused.
func (c *caller) exhaust(t *testing.T, offset time.Duration) {
	t.Helper()
	c.usesToken(t, offset)
	for n := 0; c.status(t, oneReport, "", "") != http.StatusTooManyRequests; n++ {
		if n == 10 {
			t.Fatal("the limit of 10 requests is not reached after 11 requests")
		}
	}
}

// usesToken gets a token at the time of the clock, and uses it.
func (c *caller) usesToken(t *testing.T, offset time.Duration) {
	t.Helper()
	token := tokenAt(t, c.service, c.key, time.Now().Add(offset))
	if got := c.status(t, oneReport, "Authorization", "Bearer "+token); got != http.StatusOK {
		t.Errorf("a token of a service whose clock differs by %v is answered with %d, want 200", offset, got)
	}
}

// returns waits until requests without a credential are answered again, after the
// minute of the limit and not after the hour of the step, and uses a new token.
func (c *caller) returns(t *testing.T, offset time.Duration) {
	t.Helper()
	eventually(t, func() error {
		if got := c.status(t, oneReport, "", ""); got != http.StatusOK {
			return fmt.Errorf("a request without a credential is answered with %d, want 200", got)
		}
		return nil
	})
	c.usesToken(t, offset)
}
