package main_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pregon/internal/sim/market"
	"pregon/internal/store"
	"pregon/internal/store/postgres"
	"pregon/internal/store/sqlite"
	"pregon/internal/store/storetest"
	"pregon/internal/test/longtest"
)

// TestImportSurvivesKill kills an import midway, without warning, and runs it
// again: every report is there once and the log has neither gap nor repeat.
func TestImportSurvivesKill(t *testing.T) {
	longtest.Skip(t, "it kills many times")
	const reports = 6_000 // some batches of an import
	file := filepath.Join(t.TempDir(), "reports.jsonl")
	writeReports(t, file, reports)
	for name, newStore := range engines {
		t.Run(name, func(t *testing.T) {
			spec := newStore(t)
			half, err := os.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer half.Close()
			info, err := half.Stat()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(program, "import", "reports", "-", "--store", spec)
			stdin, err := cmd.StdinPipe() // never closed, so that the import cannot finish before it is killed
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			fed := make(chan struct{})
			go func() {
				defer close(fed)
				_, _ = io.CopyN(stdin, half, info.Size()/2)
			}()
			db := openStore(t, spec)
			waitFor(t, db, reports/4)
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			<-fed
			partly, err := db.Newest(t.Context())
			if err != nil || partly >= reports {
				t.Fatalf("killed import: got %d of %d reports (%v), want fewer", partly, reports, err)
			}

			out, err := exec.Command(program, "import", "reports", file, "--store", spec).CombinedOutput()
			if err != nil {
				t.Fatalf("running it again: %v\n%s", err, out)
			}
			log := storetest.CheckLog(t, db)
			storetest.Verify(t, db)
			if len(log) != reports {
				t.Errorf("the log has %d changes, want %d", len(log), reports)
			}
			lines, err := exec.Command(program, "export", "reports", "--store", spec).Output()
			if n := bytes.Count(lines, []byte("\n")); err != nil || n != reports {
				t.Errorf("export gives %d reports, want %d (%v)", n, reports, err)
			}
		})
	}
}

func writeReports(t *testing.T, file string, n int) {
	t.Helper()
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	enc := json.NewEncoder(w)
	for r := range market.New(1).Bulk(n, time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)) {
		if err := enc.Encode(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
}

func openStore(t *testing.T, spec string) store.Store {
	t.Helper()
	var (
		db  store.Store
		err error
	)
	if path, ok := strings.CutPrefix(spec, "sqlite:"); ok {
		db, err = sqlite.Open(t.Context(), path, sqlite.Options{Create: true})
	} else {
		db, err = postgres.Open(t.Context(), spec)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func waitFor(t *testing.T, db store.Store, seq int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patient)
	defer cancel()
	if err := db.Wait(ctx, seq-1); err != nil {
		t.Fatal(err)
	}
}
