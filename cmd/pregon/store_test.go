package main_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"pregon/internal/store/postgres/pgtest"
	"pregon/internal/test/longtest"
)

// storeReasons returns the reasons of the status that concern the store.
func (s *service) storeReasons(t *testing.T) (reasons []string) {
	t.Helper()
	resp, err := http.Get(s.url + "/api/v1/status")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var status struct {
		Reasons []struct{ Surface, Reason string }
	}
	if err := json.NewDecoder(resp.Body).Decode(&status); err != nil {
		t.Fatal(err)
	}
	for _, r := range status.Reasons {
		if r.Surface == "store" {
			reasons = append(reasons, r.Reason)
		}
	}
	return reasons
}

// TestStoreFileTakenAway: when the file of the store is deleted while the service
// runs, the status names the store.
func TestStoreFileTakenAway(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pregon.db")
	s := startReplica(t, "sqlite:"+path)
	if !strings.Contains(s.log.String(), "a new, empty store was created") {
		t.Errorf("the log does not say that the store is new:\n%s", s.log)
	}
	if got := s.storeReasons(t); len(got) != 0 {
		t.Errorf("reasons of a working store: got %q, want none", got)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		if got := s.storeReasons(t); len(got) == 0 || !strings.Contains(got[0], "deleted") {
			return fmt.Errorf("reasons of the store: got %q", got)
		}
		return nil
	})
}

// TestStoreLocked: while the head of the log is locked, no report can be stored. The
// status says so, and recovers afterwards.
func TestStoreLocked(t *testing.T) {
	longtest.Skip(t, "it locks the store for a while")
	t.Parallel()
	url := pgtest.Database(t)
	args := slices.Concat([]string{"--source", "cnmv", "--poll", "100ms"}, sourceArgs(startSource(t).url))
	s := startReplica(t, url, args...)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), `SELECT seq FROM log_head FOR UPDATE`); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		if got := s.storeReasons(t); len(got) == 0 {
			return fmt.Errorf("the status has no reason about the store")
		}
		return nil
	})
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		if got := s.storeReasons(t); len(got) > 0 {
			return fmt.Errorf("reasons of the store: got %q", got)
		}
		return nil
	})
}

// TestBlindFromTheStart: a source that never answers is logged.
func TestBlindFromTheStart(t *testing.T) {
	t.Parallel()
	args := slices.Concat([]string{"serve", "--listen", "127.0.0.1:0", "--poll", "100ms"}, sourceArgs("http://127.0.0.1:1"))
	s, err := startProgram(nil, t.TempDir(), args...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.end(syscall.SIGKILL) }()
	eventually(t, func() error {
		if log := s.log.events(); !strings.Contains(log, `msg="the source is blind"`) {
			return fmt.Errorf("the log does not say that the source is blind:\n%s", log)
		}
		return nil
	})
}
