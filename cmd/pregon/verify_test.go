package main_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"pregon/internal/disclosure"
	"pregon/internal/store"
	"pregon/internal/store/storetest"
	"pregon/internal/test/longtest"
)

// behind runs a statement on the database of a store.
func behind(t *testing.T, spec, statement string) {
	t.Helper()
	if path, ok := strings.CutPrefix(spec, "sqlite:"); ok {
		db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(60000)")
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
		return
	}
	conn, err := pgx.Connect(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// verifyStore runs pregon verify.
func verifyStore(spec string, args ...string) (out string, err error) {
	b, err := exec.Command(program, append([]string{"verify", "--store", spec}, args...)...).CombinedOutput()
	return string(b), err
}

// TestVerify: damage is printed and makes the command fail; it is repaired unless a
// process reads the source; a service on the repaired store answers right.
func TestVerify(t *testing.T) {
	longtest.Skip(t, "it takes many seconds")
	t.Parallel()
	for name, newStore := range engines {
		t.Run(name, func(t *testing.T) {
			spec := newStore(t)
			source := startSource(t)
			serve := startReplica(t, spec, slices.Concat([]string{"--source", "cnmv", "--poll", "100ms"}, sourceArgs(source.url))...)
			db := openStore(t, spec)
			var lost string
			if _, err := db.Current(t.Context(), func(c disclosure.Change) error {
				if c.Report != nil && lost == "" {
					lost = c.Subject()
				}
				return nil
			}); err != nil || lost == "" {
				t.Fatalf("no report to damage: %v", err)
			}
			if out, err := verifyStore(spec); err != nil || !strings.Contains(out, "no findings") {
				t.Errorf("beside a running serve: %v\n%s", err, out)
			}
			if out, err := exec.Command(program, "restore", "--store", spec).CombinedOutput(); err == nil || !strings.Contains(string(out), "stop every serve") {
				t.Errorf("a restore beside a running serve: got %v, want a refusal\n%s", err, out)
			}
			_ = source.cmd.Process.Kill() // so that serve adds nothing to a report that has lost its pointer
			behind(t, spec, `DELETE FROM report WHERE id = '`+lost+`'`)
			out, err := verifyStore(spec, "--repair")
			if err == nil || !strings.Contains(out, "error pointer, report "+lost) || !strings.Contains(out, "a process reads the source: stop every serve") {
				t.Errorf("a repair beside a running serve: got %v, want a refusal\n%s", err, out)
			}
			if err := serve.end(syscall.SIGTERM); err != nil {
				t.Error(err)
			}
			if out, err = verifyStore(spec, "--json"); err == nil || !strings.Contains(out, "1 findings: 1 pointer") {
				t.Errorf("got %v, want a summary\n%s", err, out)
			}
			var finding struct {
				Kind, Level, Where string
				Repairable         bool
			}
			line, _, _ := strings.Cut(out, "\n")
			if err := json.Unmarshal([]byte(line), &finding); err != nil || finding.Where != "report "+lost || !finding.Repairable {
				t.Errorf("got the line %s, %v", line, err)
			}
			if out, err := verifyStore(spec, "--repair"); err != nil || !strings.Contains(out, "no findings") {
				t.Errorf("the repair: %v\n%s", err, out)
			}
			again := startReplica(t, spec, "--source", "none")
			if code := again.status(t, "/api/v1/reports/"+lost, "", ""); code != http.StatusOK {
				t.Errorf("the repaired report: status %d, want 200", code)
			}
		})
	}
}

// TestRepairSurvivesKill: a repair that is killed has repaired a part, and the next
// one repairs the rest.
func TestRepairSurvivesKill(t *testing.T) {
	longtest.Skip(t, "it kills many times")
	t.Parallel()
	const reports = 6_000
	file := filepath.Join(t.TempDir(), "reports.jsonl")
	writeReports(t, file, reports)
	for name, newStore := range engines {
		t.Run(name, func(t *testing.T) {
			spec := newStore(t)
			if out, err := exec.Command(program, "import", "reports", file, "--store", spec).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			behind(t, spec, `DELETE FROM report`)
			cmd := exec.Command(program, "verify", "--repair", "--store", spec)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			db := openStore(t, spec)
			eventually(t, func() error {
				if _, found := firstReport(t, db); !found {
					return fmt.Errorf("nothing is repaired yet")
				}
				return nil
			})
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			eventually(t, func() error { // the lease of the killed process has to expire
				out, err := verifyStore(spec, "--repair")
				if err != nil {
					return fmt.Errorf("the next repair: %w\n%s", err, out)
				}
				return nil
			})
			if log := storetest.CheckLog(t, db); len(log) != reports {
				t.Errorf("the log has %d changes, want %d", len(log), reports)
			}
			storetest.Verify(t, db)
		})
	}
}

// firstReport returns the first report that Current finds.
func firstReport(t *testing.T, db store.Store) (id string, found bool) {
	t.Helper()
	stop := fmt.Errorf("found")
	_, _ = db.Current(t.Context(), func(c disclosure.Change) error {
		id, found = c.Subject(), c.Report != nil
		return stop
	})
	return id, found
}

// TestCompact: compact prints what it would remove and the sizes, and a store that
// it was killed on is complete.
func TestCompact(t *testing.T) {
	longtest.Skip(t, "it kills many times")
	t.Parallel()
	file := filepath.Join(t.TempDir(), "reports.jsonl")
	writeReports(t, file, 1000)
	for name, newStore := range engines {
		t.Run(name, func(t *testing.T) {
			spec := newStore(t)
			if out, err := exec.Command(program, "import", "reports", file, "--store", spec).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			db := openStore(t, spec)
			large := strings.Repeat("x", 5<<20)
			for i := range 4 {
				if err := db.PutOriginal(t.Context(), fmt.Sprintf("%064x", i), []byte(large)); err != nil {
					t.Fatal(err)
				}
			}
			out, err := exec.Command(program, "compact", "--dry-run", "--unused-originals", "--store", spec).CombinedOutput()
			if err != nil || !strings.Contains(string(out), "would remove bytes of documents that no report has: 4 rows, about 21.0 MB") {
				t.Errorf("the plan: %v\n%s", err, out)
			}
			for range 5 { // most of them are killed in the middle
				cmd := exec.Command(program, "compact", "--unused-originals", "--store", spec)
				stdout, err := cmd.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				eventually(t, func() error {
					if _, err := db.Original(t.Context(), fmt.Sprintf("%064x", 3)); err == nil {
						return fmt.Errorf("nothing is removed yet")
					}
					return nil
				})
				_ = cmd.Process.Kill()
				_ = stdout.Close()
				_ = cmd.Wait()
			}
			eventually(t, func() error {
				out, err := exec.Command(program, "compact", "--unused-originals", "--store", spec).CombinedOutput()
				if err != nil || !strings.Contains(string(out), "removed bytes of documents that no report has: 0 rows") {
					return fmt.Errorf("after the kills: %v\n%s", err, out)
				}
				return nil
			})
			if log := storetest.CheckLog(t, db); len(log) != 1000 {
				t.Errorf("the log has %d changes, want 1000", len(log))
			}
			storetest.Verify(t, db)
		})
	}
}
