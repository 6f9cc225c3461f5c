package pgtest

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"pregon/internal/test/processtest"
)

// Pooler starts a PgBouncer in transaction mode in front of the server, and returns
// the address of a new database through it. Few connections serve all clients, so
// that each transaction may have another one.
func (c *Cluster) Pooler(t testing.TB) string {
	t.Helper()
	port, err := processtest.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	path, err := exec.LookPath("/usr/sbin/pgbouncer")
	if err != nil {
		t.Fatalf("PgBouncer is not installed: make test-all installs it: %v", err)
	}
	file := filepath.Join(c.dir, fmt.Sprintf("pgbouncer-%d.ini", port))
	config := fmt.Sprintf("[databases]\n* = host=127.0.0.1 port=%d user=postgres\n[pgbouncer]\nlisten_addr = "+
		"127.0.0.1\nlisten_port = %d\nunix_socket_dir =\n"+
		"auth_type = any\npool_mode = transaction\nmax_client_conn = 500\ndefault_pool_size = 10\n", c.port, port)
	if err := os.WriteFile(file, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := c.command("pgbouncer", file)
	cmd.Path = path
	process, err := processtest.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { process.End(syscall.SIGTERM) })
	u := url.URL{
		Scheme: "postgres",
		User:   url.User("postgres"),
		Host:   net.JoinHostPort("127.0.0.1", strconv.Itoa(port)),
		Path:   "/postgres",
	}
	u.RawQuery = url.Values{"sslmode": {"disable"}, "default_query_exec_mode": {"cache_describe"}}.Encode()
	err = process.Await(func() error {
		conn, err := pgx.Connect(t.Context(), u.String())
		if err != nil {
			return err
		}
		return conn.Close(t.Context())
	})
	if err != nil {
		t.Fatal(c.explain(err))
	}
	name := fmt.Sprintf("pooled%d", database.Add(1))
	if err := c.exec("CREATE DATABASE " + name); err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	return u.String()
}
