package pgtest_test

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"pregon/internal/store/postgres/pgtest"
	"pregon/internal/waittest"
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
	url, kill := startVictim(t)
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
	// The server's processes end one after another, and may write until then.
	waittest.For(t, "its files are gone", func() bool {
		old := time.Now().Add(-time.Hour)
		_ = os.Chtimes(config.Host, old, old) // it may be gone
		pgtest.Sweep()
		_, err := os.Stat(config.Host)
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

// startVictim runs TestVictim in a process of its own.
func startVictim(t *testing.T) (url string, kill func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestVictim$", "-test.v")
	cmd.Env = append(os.Environ(), "PGTEST_VICTIM=1")
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
		if url, ok := strings.CutPrefix(lines.Text(), "database "); ok {
			return url, kill
		}
	}
	t.Fatal("the process has no database")
	return "", nil
}

// TestVictim is not a test: TestKilled runs it in a process that it kills.
func TestVictim(t *testing.T) {
	if os.Getenv("PGTEST_VICTIM") == "" {
		return
	}
	fmt.Printf("database %s\n", pgtest.Database(t))
	waittest.Pace(t.Context(), 10*time.Minute) // until it is killed
}
