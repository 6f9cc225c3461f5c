package main_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/store"
	"pregon/internal/test/longtest"
)

// file appends new reports, one change each, and returns the newest seq.
func file(t *testing.T, db store.Store, n int) (seq int64) {
	t.Helper()
	newest, err := db.Newest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(n) {
		out, err := db.Append(t.Context(), store.Batch{Reports: []disclosure.Report{{
			Type: disclosure.OIR, Number: 90_001 + newest + i, ID: disclosure.ReportID(disclosure.OIR, 90_001+newest+i),
			CompanyName: "ACEROS DE NAVALBRUMA, S.A.", Title: "[Simulación] Otros", PublishedAt: time.Now().Truncate(time.Second),
		}}})
		if err != nil {
			t.Fatal(err)
		}
		seq = out.Seq
	}
	return seq
}

// checker is a running program of checkers/ with its output.
type checker struct {
	stdin io.WriteCloser
	lines chan checked
}

type checked struct {
	ID, Event, URL, Secret, Refused, Message string
	Data                                     struct {
		Seq    int64
		ID     string
		Reason string
	}
}

func startChecker(t *testing.T, env string, args ...string) *checker {
	t.Helper()
	cmd := exec.Command("node", append([]string{"../../checkers/push.mjs"}, args...)...)
	cmd.Env, cmd.Stderr = append(os.Environ(), env), os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	c := &checker{stdin, make(chan checked, 1000)}
	go func() {
		defer close(c.lines)
		for dec := json.NewDecoder(bufio.NewReader(stdout)); ; {
			var line checked
			if dec.Decode(&line) != nil {
				return
			}
			c.lines <- line
		}
	}()
	return c
}

func (c *checker) next(t *testing.T) checked {
	t.Helper()
	select {
	case line, ok := <-c.lines:
		if !ok {
			t.Fatal("the checker ended")
		}
		return line
	case <-time.After(patient):
		t.Fatal("the checker prints nothing")
	}
	panic("unreachable")
}

// events reads the events of the checker up to the change newest. They must begin
// after the change after, without gap or repeat.
func (c *checker) events(t *testing.T, after, newest int64) (others []string) {
	t.Helper()
	for after < newest {
		switch line := c.next(t); line.Event {
		case "hello", "goodbye":
			others = append(others, line.Event)
		case "report.published":
			after++
			if !(frame{id: line.ID}).at(after) || line.Data.Seq != after {
				t.Fatalf("got %+v, want change %d", line, after)
			}
		default:
			t.Fatalf("%+v", line)
		}
	}
	return others
}

// TestPushClients has third-party clients follow the stream through restarts and
// verify the signature of every webhook.
func TestPushClients(t *testing.T) {
	longtest.Skip(t, "it needs clients from npm")
	for name, newStore := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := newStore(t)
			s := startReplica(t, spec, "--webhook-allow-private")
			db := openStore(t, spec)
			key := pregon(t, spec, "keys", "create", "--plan", "enterprise")
			t.Run("stream", func(t *testing.T) { s = followThroughRestarts(t, spec, s, db, key) })
			t.Run("webhooks", func(t *testing.T) { receiveSigned(t, s, db, key) })
		})
	}
}

// door is a proxy whose address stays while the service behind it is replaced. A
// port that the service itself released could be taken by another program. While no
// service is ready, connections are closed: the client stops forever when it gets an
// error answer.
type door struct {
	net.Listener
	behind atomic.Pointer[service]
}

func newDoor(t *testing.T, s *service) *door {
	t.Helper()
	d := &door{}
	d.behind.Store(s)
	d.Listener = listenFor(t, d.behind.Load)
	return d
}

// listenFor passes connections on to the services that choose returns, if any.
func listenFor(t *testing.T, choose func() *service) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go pass(client, choose())
		}
	}()
	return l
}

// pass copies between a client and the service until either ends.
func pass(client net.Conn, s *service) {
	defer client.Close()
	if s == nil {
		return
	}
	server, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		return
	}
	go func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	}()
	_, _ = io.Copy(client, server)
}

func followThroughRestarts(t *testing.T, spec string, s *service, db store.Store, key string) *service {
	d := newDoor(t, s)
	c := startChecker(t, "PREGON_KEY="+key, "stream", "http://"+d.Addr().String()+"/api/v1/stream")
	if line := c.next(t); line.Event != "hello" {
		t.Fatalf("%+v", line)
	}
	seen := file(t, db, 5)
	c.events(t, 0, seen)
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		d.behind.Store(nil)
		_ = s.end(sig)
		newest := file(t, db, 5) // while no service runs
		next, err := startService([]string{"PREGON_STORE=" + spec}, t.TempDir(), "--webhook-allow-private")
		if err != nil {
			t.Fatal(err)
		}
		s = next
		d.behind.Store(s)
		newest = max(newest, file(t, db, 5))
		others := fmt.Sprint(c.events(t, seen, newest))
		if want := map[syscall.Signal]string{syscall.SIGTERM: "[goodbye hello]", syscall.SIGKILL: "[hello]"}[sig]; others != want {
			t.Errorf("after %v: got events %s, want %s", sig, others, want)
		}
		seen = newest
	}
	return s
}

func receiveSigned(t *testing.T, s *service, db store.Store, key string) {
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	c := startChecker(t, "", "receive")
	target := c.next(t).URL
	h := createHook(t, s.url, key, target)
	fmt.Fprintln(c.stdin, h.Secret)
	if line := c.next(t); line.Secret != "read" {
		t.Fatalf("%+v", line)
	}
	first := h.StartsAfter + 1
	newest := file(t, db, 20)
	for seq := first; seq <= newest; seq++ {
		line := c.next(t)
		for line.Refused == "" && seq > first && isMessage(line.ID, h.ID, seq-1) {
			line = c.next(t) // once more: a process that stalls loses its claim
		}
		if line.Refused != "" || !isMessage(line.ID, h.ID, seq) || line.Data.Seq != seq {
			t.Fatalf("got %+v, want change %d", line, seq)
		}
	}

	// The checker rejects a wrong signature.
	resp, err := http.Post(target, "application/json", strings.NewReader(`{"forged":true}`))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if line := c.next(t); line.Refused == "" || resp.StatusCode != http.StatusBadRequest {
		t.Errorf("an unsigned message was accepted: %+v", line)
	}

	// For a day after a rotation the old and the new secret are both valid.
	var rotated hook
	demand(t, s.url, key, http.MethodPost, "/api/v1/webhooks/"+h.ID+"/rotate", nil, &rotated, http.StatusOK)
	if rotated.Secret == h.Secret {
		t.Error("the secret is the same as before")
	}
	for _, secret := range []string{"", rotated.Secret} {
		if secret != "" {
			fmt.Fprintln(c.stdin, secret)
			c.next(t)
		}
		var attempt struct{ OK bool }
		demand(t, s.url, key, http.MethodPost, "/api/v1/webhooks/"+h.ID+"/test", nil, &attempt, http.StatusOK)
		if line := c.next(t); line.Refused != "" || !attempt.OK || !strings.HasPrefix(line.ID, h.ID+".test-") {
			t.Errorf("the test is refused: %+v, %+v", line, attempt)
		}
	}
}
