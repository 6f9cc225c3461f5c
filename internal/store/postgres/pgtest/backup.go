package pgtest

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"pregon/internal/test/processtest"
)

// Run runs a program of PostgreSQL, such as pg_dump, as the server's user. For
// those that connect to the server, the flags -h and -p are added.
func (c *Cluster) Run(t testing.TB, program string, args ...string) {
	t.Helper()
	args = append([]string{"-h", c.dir, "-p", strconv.Itoa(c.port), "-U", "postgres"}, args...)
	if err := c.command(program, args...).Run(); err != nil {
		t.Fatalf("%s: %v", program, c.explain(err))
	}
}

// Dir returns a directory that the server may write.
func (c *Cluster) Dir() string { return c.dir }

// BackUp makes a base backup of the running server, as a server that is not
// started yet: see RecoverTo.
func (c *Cluster) BackUp(t testing.TB) *Cluster {
	t.Helper()
	port, err := processtest.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	s, err := newServer(port, []string{"listen_addresses=127.0.0.1"}, "pg_basebackup",
		"-h", c.dir, "-p", strconv.Itoa(c.port), "-U", "postgres", "--checkpoint=fast", "--wal-method=none")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.stop)
	return &Cluster{s}
}

// RecoverTo starts a server that BackUp made, with the archived log up to a named
// restore point, and returns when it takes writes.
func (c *Cluster) RecoverTo(t testing.TB, archive, point string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(c.data(), "recovery.signal"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	c.settings = append(c.settings, "restore_command=cp "+archive+"/%f %p", "recovery_target_name="+point,
		"recovery_target_action=promote")
	if err := c.start(); err != nil {
		t.Fatal(err)
	}
	if err := c.process.Await(func() error { return c.exec("CREATE TABLE recovered ()") }); err != nil {
		t.Fatal(c.explain(err))
	}
}
