// Package pgtest gives tests a PostgreSQL of their own: a private cluster for
// the test process, started when the first test asks for it, and an empty
// database for each test. A test that stops or breaks a server has one for itself:
// see Cluster.
//
// Nothing outlives the process. A test binary that ends in order stops the
// server and removes its files: see Main. When it is killed, the kernel ends
// the server (see becomePostgres), and the next process that starts a cluster
// removes the files (see sweep).
package pgtest

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

var (
	shared = sync.OnceValues(func() (*server, error) {
		s, err := initdb(5432)
		running.Store(s)
		return s, err
	})
	// running is what Main must stop, nil while no test has asked for it.
	running  atomic.Pointer[server]
	database atomic.Int64
)

// Database makes an empty database and returns its address. It is dropped when
// the test ends, even if there are still connections to it.
func Database(t testing.TB) string {
	t.Helper()
	s, err := shared()
	if err != nil {
		t.Fatalf("PostgreSQL for the tests: %v", err)
	}
	name := fmt.Sprintf("test%d", database.Add(1))
	if err := s.exec("CREATE DATABASE " + name); err != nil {
		t.Fatalf("creating a database: %v", err)
	}
	t.Cleanup(func() {
		if err := s.exec("DROP DATABASE " + name + " WITH (FORCE)"); err != nil {
			t.Errorf("dropping the database: %v", err)
		}
	})
	return s.url(name)
}

// Tests is a testing.M that stops the cluster after its tests.
type Tests struct{ m *testing.M }

// Main is for the TestMain of a package whose tests use Database, alone or
// with goleak:
//
//	func TestMain(m *testing.M) { os.Exit(pgtest.Main(m).Run()) }
//	func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Main(m)) }
func Main(m *testing.M) Tests { return Tests{m} }

// Run runs the tests and returns the code to exit with.
func (t Tests) Run() int {
	defer func() {
		if s := running.Load(); s != nil {
			s.stop()
		}
	}()
	return t.m.Run()
}

func (s *server) url(database string) string {
	u := url.URL{Scheme: "postgres", User: url.User("postgres"), Path: "/" + database}
	u.RawQuery = url.Values{"host": {s.dir}, "port": {strconv.Itoa(s.port)}}.Encode()
	return u.String()
}

func (s *server) exec(sql string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.url("postgres"))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, sql)
	return err
}
