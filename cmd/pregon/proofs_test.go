package main_test

import (
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pregon/internal/proof"
	"pregon/internal/store/engine"
)

// logPart returns what the service answers below /log.
func (s *service) logPart(t *testing.T, path string) (int, string) {
	t.Helper()
	answer, err := http.Get(s.url + "/log/" + path)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

// published waits for a checkpoint with at least so many changes.
func (s *service) published(t *testing.T, least int64) (c proof.Checkpoint) {
	t.Helper()
	eventually(t, func() (err error) {
		status, text := s.logPart(t, "checkpoint")
		if status != http.StatusOK {
			return fmt.Errorf("status %d: %s", status, text)
		}
		if c, err = proof.ParseCheckpoint([]byte(text)); err == nil && c.Size < least {
			err = fmt.Errorf("the checkpoint has %d changes, want %d", c.Size, least)
		}
		return err
	})
	return c
}

// rewrite changes the content of a change and hashes the log anew, as one would who
// can write to the database.
func rewrite(t *testing.T, spec string, seq int64) {
	t.Helper()
	db, closeDB := openAlone(t, spec)
	defer closeDB()
	base := db.(engine.Store).Relational()
	body := `replace(body, 'NAVALBRUMA', 'NAVALBRUNA')`
	if !strings.HasPrefix(spec, "sqlite:") {
		body = `replace(CAST(body AS text), 'NAVALBRUMA', 'NAVALBRUNA')::json`
	}
	for _, statement := range []string{
		fmt.Sprintf(`UPDATE change SET body = %s WHERE seq = %d`, body, seq), `DELETE FROM leaf`, `UPDATE log_head SET leaves = 0`,
	} {
		if err := base.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	for {
		added, err := db.AddLeaves(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if added == 0 {
			return
		}
	}
}

// TestRewrittenStore: a service whose store was rewritten says so when it starts, and
// signs nothing, but serves its reports, until the operator accepts the new history.
func TestRewrittenStore(t *testing.T) {
	for name, newStore := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &backedUp{T: t, spec: newStore(t), cache: t.TempDir()}
			b.start()
			b.file(5)
			first := b.s.published(t, 5)
			if !strings.HasSuffix(first.Origin, "/log") {
				t.Errorf("the origin is %s", first.Origin)
			}
			kept := filepath.Join(t.TempDir(), "checkpoint")
			pregon(t, b.spec, "verify", "--log", b.s.url, "--since", kept)
			b.stop()
			b.start()
			if again := b.s.published(t, 5); again.Root != first.Root {
				t.Errorf("after a restart the root is %v, want %v", again.Root, first.Root)
			}
			b.stop()

			rewrite(t, b.spec, 3)
			pregon(t, b.spec, "verify") // the store is consistent by itself
			out, err := exec.Command(program, "verify", "--since", kept, "--store", b.spec).Output()
			if said := string(out); err == nil || !strings.Contains(said, "error log-hash, change 3 (oir-3): it is not what was published") || strings.Count(said, "log-hash") != 1 {
				t.Errorf("verify with the kept checkpoint says %q, %v", out, err)
			}
			b.start()
			eventually(t, func() error {
				if status, text := b.s.logPart(t, "checkpoint"); status != http.StatusServiceUnavailable || !strings.Contains(text, "rewritten") {
					return fmt.Errorf("the checkpoint is %d: %s", status, text)
				}
				return nil
			})
			if said := b.s.log.String(); !strings.Contains(said, "level=ERROR") || !strings.Contains(said, "the history of the store was rewritten") {
				t.Errorf("the service does not report it:\n%s", said)
			}
			if answer, err := http.Get(b.s.url + "/api/v1/reports/oir-3"); err != nil || answer.StatusCode != http.StatusOK {
				t.Errorf("the report: %v, %v", answer, err)
			}
			b.stop()

			pregon(t, b.spec, "restore")
			b.start()
			if now := b.s.published(t, 5); !strings.Contains(now.Origin, "/log/") || now.Root == first.Root {
				t.Errorf("after pregon restore the checkpoint is %+v", now)
			}
			b.stop()
		})
	}
}

// TestLogKeys: both keys sign while there are two.
func TestLogKeys(t *testing.T) {
	b := &backedUp{T: t, spec: engines["sqlite"](t), cache: t.TempDir()}
	b.start()
	b.file(1)
	b.s.published(t, 1)
	_, old := b.s.logPart(t, "vkey")
	listed := pregon(t, b.spec, "log-key", "list", "--base-url", b.s.url)
	if !strings.Contains(listed, strings.TrimSpace(old)) || strings.Count(listed, "\n") != 0 {
		t.Errorf("the keys are %q, want %q", listed, old)
	}
	added := pregon(t, b.spec, "log-key", "add", "--base-url", b.s.url)
	signatures := func(n int) func() error {
		return func() error {
			_, key := b.s.logPart(t, "vkey")
			_, text := b.s.logPart(t, "checkpoint")
			if !strings.Contains(added, strings.TrimSpace(key)) || strings.Count(text, "\n— ") != n {
				return fmt.Errorf("the key is %s, want %s; the checkpoint is %s", key, added, text)
			}
			return nil
		}
	}
	eventually(t, signatures(2))
	pregon(t, b.spec, "log-key", "remove", "1", "--base-url", b.s.url)
	eventually(t, signatures(1))
	b.stop()
}
