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
	"testing"
	"time"

	"pregon/internal/test/longtest"
	"pregon/internal/test/processtest"
)

// Server is a Redis server without persistence. It listens on a socket in its own
// directory, which unlike a port another process cannot take.
type Server struct {
	*processtest.Process
	t   testing.TB
	dir string
}

// Start starts a server that ends with the test, or with the test's process
// when that is killed.
func Start(t testing.TB) *Server {
	t.Helper()
	longtest.Skip(t, "it needs Redis")
	// Right below the temporary directory: the address of a socket has room
	// for a hundred bytes.
	dir, err := os.MkdirTemp("", "pregon-redis-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := &Server{t: t, dir: dir}
	s.start()
	t.Cleanup(func() { s.Kill() }) // the process of that time
	return s
}

// URL returns the address of the server.
func (s *Server) URL() string { return "unix://" + s.socket() }

func (s *Server) socket() string { return filepath.Join(s.dir, "socket") }

// Restart kills the server and starts it again, empty, at the same address.
func (s *Server) Restart() {
	s.t.Helper()
	s.Kill()
	s.start()
}

// start returns when the server answers.
func (s *Server) start() {
	s.t.Helper()
	logFile := filepath.Join(s.dir, "log")
	var err error
	s.Process, err = processtest.Start(exec.Command("redis-server", "--port", "0", "--unixsocket", s.socket(),
		"--save", "", "--appendonly", "no", "--dir", s.dir, "--logfile", logFile))
	if err != nil {
		s.t.Fatalf("Redis does not start: %v: scripts/install-test-needs installs it", err)
	}
	if err := s.Await(s.ping); err != nil {
		log, _ := os.ReadFile(logFile)
		s.t.Fatalf("Redis does not answer: %v\n%s", err, log)
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
