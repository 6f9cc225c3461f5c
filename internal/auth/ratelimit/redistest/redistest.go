// Package redistest starts a Redis server for a test, which the test can kill, pause and
// restart.
package redistest

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// Server is a Redis server without persistence. It listens on a socket in its own
// directory, which unlike a port another process cannot take.
type Server struct {
	t       testing.TB
	dir     string
	process *os.Process
	ended   chan struct{} // closed when the process has ended
}

// Start starts a server that ends with the test, or with the test's process
// when that is killed.
func Start(t testing.TB) *Server {
	t.Helper()
	// Right below the temporary directory: the address of a socket has room
	// for a hundred bytes.
	dir, err := os.MkdirTemp("", "pregon-redis-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := &Server{t: t, dir: dir}
	s.start()
	t.Cleanup(s.Kill)
	return s
}

// URL returns the address of the server.
func (s *Server) URL() string { return "unix://" + s.socket() }

func (s *Server) socket() string { return filepath.Join(s.dir, "socket") }

// Kill kills the server if it runs.
func (s *Server) Kill() {
	s.signal(syscall.SIGKILL)
	<-s.ended
}

// Restart kills the server and starts it again, empty, at the same address.
func (s *Server) Restart() {
	s.t.Helper()
	s.Kill()
	s.start()
}

// Pause stops the server: it accepts connections and does not answer.
func (s *Server) Pause() { s.signal(syscall.SIGSTOP) }

// Resume ends a pause.
func (s *Server) Resume() { s.signal(syscall.SIGCONT) }

// signal does nothing to a process that has ended.
func (s *Server) signal(sig syscall.Signal) { _ = s.process.Signal(sig) }

// start returns when the server answers.
func (s *Server) start() {
	s.t.Helper()
	started := make(chan error)
	s.ended = make(chan struct{})
	go s.run(started)
	err := <-started
	if err != nil {
		s.t.Fatalf("Redis does not start: %v: scripts/install-test-needs installs it", err)
	}
	deadline := time.After(5 * time.Minute)
	for err = s.ping(); err != nil; err = s.ping() {
		select {
		case <-s.ended:
		case <-deadline:
		case <-time.After(5 * time.Millisecond):
			continue
		}
		s.Kill()
		log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
		s.t.Fatalf("Redis does not answer: %v\n%s", err, log)
	}
}

// run is the server's parent until it ends. The kernel kills the server when the
// thread that started it dies, so run keeps to one thread.
func (s *Server) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(s.ended)
	cmd := exec.Command("redis-server", "--port", "0", "--unixsocket", s.socket(),
		"--save", "", "--appendonly", "no", "--dir", s.dir, "--logfile", filepath.Join(s.dir, "log"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	err := cmd.Start()
	s.process = cmd.Process
	started <- err
	if err == nil {
		_ = cmd.Wait()
	}
}

func (s *Server) ping() error {
	conn, err := net.Dial("unix", s.socket())
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return err
	}
	if _, err := fmt.Fprint(conn, "PING\r\n"); err != nil {
		return err
	}
	answer := make([]byte, 7)
	if _, err := io.ReadFull(conn, answer); err != nil {
		return err
	}
	if string(answer) != "+PONG\r\n" {
		return fmt.Errorf("it answers %q", answer)
	}
	return nil
}
