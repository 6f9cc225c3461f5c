package pgtest

import (
	"fmt"
	"net"
	"strconv"
	"syscall"
	"testing"

	"pregon/internal/test/processtest"
)

// Cluster is a PostgreSQL server that a test may stop, freeze and replicate. It
// listens on a port of 127.0.0.1.
type Cluster struct{ *server }

// NewCluster starts a PostgreSQL server for one test alone. The settings, as
// name=value, are added to those of all servers here.
func NewCluster(t testing.TB, settings ...string) *Cluster {
	t.Helper()
	c, err := startCluster(settings...)
	if err != nil {
		t.Fatalf("PostgreSQL for the test: %v", err)
	}
	t.Cleanup(c.Close)
	return c
}

func startCluster(settings ...string) (*Cluster, error) {
	port, err := processtest.FreePort()
	if err != nil {
		return nil, err
	}
	s, err := initdb(port, append([]string{"listen_addresses=127.0.0.1"}, settings...)...)
	if err != nil {
		return nil, err
	}
	c := &Cluster{s}
	if err := s.exec("CREATE DATABASE " + clusterDatabase); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

const clusterDatabase = "test"

// Close ends the server and removes its files.
func (c *Cluster) Close() { c.stop() }

// Address returns the host and port.
func (c *Cluster) Address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port)) }

// URL returns the address of a database that is empty at first.
func (c *Cluster) URL() string {
	return "postgres://postgres@" + c.Address() + "/" + clusterDatabase + "?sslmode=disable"
}

// Exec runs a statement in the database postgres, over the server's socket.
func (c *Cluster) Exec(sql string) error { return c.exec(sql) }

// Stop ends the server: with mode "fast" it disconnects all clients, sends everything
// to its standbys and ends in order, with "immediate" it ends as in a crash.
func (c *Cluster) Stop(mode string) error {
	switch mode {
	case "fast":
		c.process.End(syscall.SIGINT)
	case "immediate":
		c.process.End(syscall.SIGQUIT)
	default:
		return fmt.Errorf("the mode is %q, want fast or immediate", mode)
	}
	return nil
}

// Start starts a server that was stopped, with the same port and data.
func (c *Cluster) Start() error { return c.start() }

// Freeze makes the server hang: it still accepts connections, and does not answer.
func (c *Cluster) Freeze() { signalAll(c.data(), syscall.SIGSTOP) }

// Thaw ends Freeze.
func (c *Cluster) Thaw() { signalAll(c.data(), syscall.SIGCONT) }

// Standby starts a hot standby, which follows c by streaming replication.
func (c *Cluster) Standby(t testing.TB) *Cluster {
	t.Helper()
	s, err := c.startStandby()
	if err != nil {
		t.Fatalf("a standby of PostgreSQL for the test: %v", err)
	}
	t.Cleanup(s.Close)
	return s
}

func (c *Cluster) startStandby() (*Cluster, error) {
	port, err := processtest.FreePort()
	if err != nil {
		return nil, err
	}
	s, err := startServer(port, c.settings, "pg_basebackup", "-d", c.URL(), "-R", "-c", "fast")
	if err != nil {
		return nil, err
	}
	return &Cluster{s}, nil
}

// Promote makes a standby take writes. It returns when it does.
func (c *Cluster) Promote() error { return c.exec("SELECT pg_promote()") }
