package main_test

import (
	"database/sql"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/store"
	"pregon/internal/test/longtest"
)

// TestCompactBesideServe runs pregon compact while a service reads the source and has
// clients: none of them notices, and the store is smaller and whole.
func TestCompactBesideServe(t *testing.T) {
	longtest.Skip(t, "it compacts while others write")
	for name, newStore := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := newStore(t)
			path, isFile := strings.CutPrefix(spec, "sqlite:")
			pregon(t, spec, "migrate")
			if isFile { // as after the first compact: see docs/data.md
				behind(t, spec, "PRAGMA auto_vacuum = 2; VACUUM")
			}
			w := newTrial(t, spec, 1)
			for batch := range 20 {
				var counts []store.Count
				for n := range 1000 {
					counts = append(counts, store.Count{Account: fmt.Sprintf("%0200d-%d", batch, n), Day: disclosure.DayOf(time.Now()) - 500, Operation: "list", N: 1})
				}
				if err := w.store.AddCounts(t.Context(), fmt.Sprint("batch ", batch), counts...); err != nil {
					t.Fatal(err)
				}
			}
			size := func() (bytes int64) { // PostgreSQL keeps its files
				if isFile {
					raw, err := sql.Open("sqlite", path)
					if err != nil {
						t.Fatal(err)
					}
					defer raw.Close()
					if err := raw.QueryRowContext(t.Context(), "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").Scan(&bytes); err != nil {
						t.Fatal(err)
					}
				}
				return bytes
			}
			before := size()
			ended := make(chan string)
			go func() {
				out, err := exec.Command(program, "compact", "--store", spec).CombinedOutput()
				ended <- fmt.Sprint(string(out), err)
			}()
			out := ""
			for out == "" {
				select {
				case out = <-ended:
				default:
					w.burst(t, 1)
					w.reads(t, w.serve, false)
				}
			}
			if !strings.Contains(out, "removed counts of usage: 20000 rows") || !strings.HasSuffix(out, "<nil>") {
				t.Errorf("compact says %s", out)
			}
			w.agree(t)
			after := size()
			t.Logf("the file has %d bytes, before %d", after, before)
			if isFile && after > before-4<<20 {
				t.Errorf("the file has %d bytes after compact, and %d before", after, before)
			}
			if out, err := verifyStore(spec); err != nil {
				t.Errorf("the compacted store: %v\n%s", err, out)
			}
			if log := w.serve.log.events(); strings.Contains(log, "the store fails") {
				t.Errorf("the service noticed:\n%s", log)
			}
			w.end(t)
		})
	}
}
