package pgtest_test

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"pregon/internal/store/postgres/pgtest"
	"pregon/internal/test/longtest"
	"pregon/internal/test/waittest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Main(m)) }

func connect(t *testing.T, url string) error {
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		return err
	}
	return conn.Close(t.Context())
}

func TestDatabaseIsDropped(t *testing.T) {
	longtest.Skip(t, "it starts and breaks servers")
	var first string
	t.Run("first", func(t *testing.T) {
		first = pgtest.Database(t)
		if err := connect(t, first); err != nil {
			t.Error(err)
		}
	})
	if second := pgtest.Database(t); second == first {
		t.Errorf("two tests have the same database %s", second)
	}
	if err := connect(t, first); err == nil {
		t.Error("the database outlived its test")
	}
}

// TestKilled kills a test process that has a server, and expects the server to end
// and its files to be removed.
func TestKilled(t *testing.T) {
	longtest.Skip(t, "it starts and breaks servers")
	url, kill := startVictim(t, "database")
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(config.Host) })
	if err := connect(t, url); err != nil {
		t.Fatalf("the server of the process does not answer: %v", err)
	}
	makeOld(t, config.Host)
	pgtest.Sweep()
	if err := connect(t, url); err != nil {
		t.Fatalf("the files of a living process were swept up: %v", err)
	}
	kill()
	waittest.For(t, "the server ends with its process", func() bool { return connect(t, url) != nil })
	waitSwept(t, config.Host)
}

// TestKilledFrozen kills a process whose server is frozen and cannot end by itself.
func TestKilledFrozen(t *testing.T) {
	longtest.Skip(t, "it starts and breaks servers")
	printed, kill := startVictim(t, "frozen")
	kill()
	dir, address, _ := strings.Cut(printed, " ")
	listens := func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}
	if !listens() {
		t.Error("no process of the server is left to sweep up")
	}
	waitSwept(t, dir)
	waittest.For(t, "the server ends", func() bool { return !listens() })
}

// waitSwept waits until the files of a server are gone. Its processes end one after
// another, and may write until then.
func waitSwept(t *testing.T, dir string) {
	t.Helper()
	waittest.For(t, "its files are gone", func() bool {
		old := time.Now().Add(-time.Hour)
		_ = os.Chtimes(dir, old, old) // it may be gone
		pgtest.Sweep()
		_, err := os.Stat(dir)
		return errors.Is(err, fs.ErrNotExist)
	})
}

func makeOld(t *testing.T, path string) {
	t.Helper()
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
}

// startVictim runs TestVictim in a process of its own, and returns what it prints.
func startVictim(t *testing.T, kind string) (printed string, kill func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestVictim$", "-test.v")
	cmd.Env = append(os.Environ(), "PGTEST_VICTIM="+kind)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	t.Cleanup(kill)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if printed, ok := strings.CutPrefix(lines.Text(), kind+" "); ok {
			return printed, kill
		}
	}
	t.Fatal("the process has no database")
	return "", nil
}

// TestVictim is not a test: others run it in a process that they kill.
func TestVictim(t *testing.T) {
	switch kind := os.Getenv("PGTEST_VICTIM"); kind {
	case "":
		return
	case "frozen":
		c := pgtest.NewCluster(t)
		c.Freeze()
		fmt.Printf("%s %s %s\n", kind, pgtest.Dir(c), c.Address())
	default:
		fmt.Printf("%s %s\n", kind, pgtest.Database(t))
	}
	waittest.Pace(t.Context(), 10*time.Minute) // until it is killed
}
