package main_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"pregon/internal/test/longtest"
)

// manager does for a service what systemd does: it holds the socket, and receives
// the state.
type manager struct {
	listener net.Listener
	file     *os.File // of the listener
	states   *net.UnixConn
	env      []string
	dir      string
}

func newManager(t *testing.T) *manager {
	t.Helper()
	m := &manager{dir: t.TempDir()}
	var err error
	if m.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	if m.file, err = m.listener.(*net.TCPListener).File(); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(m.dir, "notify")
	if m.states, err = net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.listener.Close(); m.file.Close(); m.states.Close() })
	m.env = []string{
		"PREGON_STORE=" + engines["sqlite"](t), "PREGON_SOURCE=none", "PREGON_ANONYMOUS_LIMIT=0", "PREGON_DRAIN=300ms",
		"NOTIFY_SOCKET=" + socket, "WATCHDOG_USEC=1000000",
	}
	return m
}

// start starts the service, whose process id must be in its environment.
func (m *manager) start(t *testing.T) *service {
	t.Helper()
	cmd := exec.Command("sh", "-c", "LISTEN_PID=$$ LISTEN_FDS=1 exec "+program+" serve --listen 127.0.0.1:1")
	cmd.ExtraFiles = []*os.File{m.file}
	s, err := startCommand(cmd, m.env, m.dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	return s
}

// await reads states up to one. Reports of the watchdog may come in between.
func (m *manager) await(t *testing.T, want string) {
	t.Helper()
	message := make([]byte, 100)
	for {
		if err := m.states.SetReadDeadline(time.Now().Add(patient)); err != nil {
			t.Fatal(err)
		}
		n, err := m.states.Read(message)
		if err != nil {
			t.Fatalf("waiting for %s: %v", want, err)
		}
		switch got := string(message[:n]); got {
		case want:
			return
		case "WATCHDOG=1":
		default:
			t.Fatalf("got %q, want %q", got, want)
		}
	}
}

// request sends a request on a connection of its own.
func request(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("got %s", resp.Status)
	}
	return nil
}

// With the socket of systemd a restart loses no request, and after a kill, which
// ends open connections, none is refused.
func TestSocketActivation(t *testing.T) {
	longtest.Skip(t, "it takes many seconds")
	t.Parallel()
	m := newManager(t)
	s := m.start(t)
	m.await(t, "READY=1")
	m.await(t, "WATCHDOG=1")
	if want := "http://" + m.listener.Addr().String(); s.url != want {
		t.Errorf("listens on %s, want %s", s.url, want)
	}

	address := s.url       // of all processes
	var killed atomic.Bool // connections may end
	var answered atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			for ctx.Err() == nil {
				switch err := request(t.Context(), address+"/api/v1/status"); {
				case err == nil:
					answered.Add(1)
				case errors.Is(err, syscall.ECONNREFUSED) || !killed.Load():
					t.Errorf("after %d answers: %v", answered.Load(), err)
					return
				}
			}
		})
	}
	more := func(n int64) {
		t.Helper()
		reached := answered.Load() + n
		eventually(t, func() error {
			if got := answered.Load(); got < reached && !t.Failed() {
				return fmt.Errorf("%d answers, want %d", got, reached)
			}
			return nil
		})
	}
	for range 3 {
		more(20)
		if err := s.end(syscall.SIGTERM); err != nil {
			t.Errorf("got %v, want a clean end\n%s", err, s.log)
		}
		m.await(t, "STOPPING=1")
		s = m.start(t)
		m.await(t, "READY=1")
	}
	more(20)
	killed.Store(true)
	_ = s.end(syscall.SIGKILL)
	m.start(t)
	m.await(t, "READY=1")
	more(20)
	stop()
	clients.Wait()
	t.Logf("%d answers", answered.Load())
}

// systemd-socket-activate starts the service for the first connection, which is
// answered.
func TestSystemdSocketActivate(t *testing.T) {
	longtest.Skip(t, "it needs systemd")
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	args := []string{"--listen=" + address}
	for _, pair := range []string{"PREGON_STORE=" + engines["sqlite"](t), "PREGON_SOURCE=none", cacheEnv()} {
		args = append(args, "--setenv="+pair)
	}
	cmd := exec.Command("systemd-socket-activate", append(args, program, "serve")...)
	var out bytes.Buffer
	cmd.Stderr = &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error { return request(t.Context(), "http://"+address+"/readyz") })
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, &out)
	}
}

// exposure is the most that systemd-analyze may find, from 0 to 10 (unsafe). Most of
// it is the network, which the service needs.
const exposure = 1.5

// TestSystemdUnits has systemd check the units, with the program at the place that
// they name.
func TestSystemdUnits(t *testing.T) {
	longtest.Skip(t, "it needs systemd")
	t.Parallel()
	dir := t.TempDir()
	units, err := filepath.Glob("../../deploy/systemd/pregon.*")
	if err != nil || len(units) < 2 {
		t.Fatalf("got units %q, %v", units, err)
	}
	var copies []string
	for _, unit := range units {
		if !strings.HasSuffix(unit, ".service") && !strings.HasSuffix(unit, ".socket") {
			continue
		}
		text, err := os.ReadFile(unit)
		if err != nil {
			t.Fatal(err)
		}
		text = bytes.ReplaceAll(text, []byte("/usr/local/bin/pregon"), []byte(program))
		text = bytes.ReplaceAll(text, []byte("User=pregon"), []byte("User=daemon")) // which sysusers would create
		copies = append(copies, filepath.Join(dir, filepath.Base(unit)))
		if err := os.WriteFile(copies[len(copies)-1], text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command("systemd-analyze", append([]string{"verify", "--man=no", "--recursive-errors=no"}, copies...)...).CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}

	out, err = exec.Command("systemd-analyze", "security", "--offline=true", fmt.Sprintf("--threshold=%d", int(exposure*10)), filepath.Join(dir, "pregon.service")).CombinedOutput()
	if err != nil {
		t.Errorf("systemd-analyze security: %v\n%s", err, out)
	}
	t.Log(regexp.MustCompile(`Overall exposure.*`).FindString(string(out)))
}
