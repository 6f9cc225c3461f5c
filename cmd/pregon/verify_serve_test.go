package main_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pregon/internal/disclosure"
	"pregon/internal/store"
	"pregon/internal/test/longtest"
)

// follower runs pregon verify against a service whose log has a fixed name.
type follower struct {
	*backedUp
	dir string
}

const logAddress = "https://pregon.example"

func (f *follower) start() {
	f.Helper()
	s, err := startService([]string{"PREGON_STORE=" + f.spec, "PREGON_BASE_URL=" + logAddress}, f.TempDir(), "--cache-dir", f.cache)
	if err != nil {
		f.Fatal(err)
	}
	f.s = s
}

// run runs pregon verify.
func (f *follower) run(args ...string) (string, error) {
	cmd := exec.Command(program, append([]string{"verify"}, args...)...)
	cmd.Dir, cmd.Env = f.dir, []string{"PREGON_KEY=" + f.key}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// verify runs pregon verify and checks whether it succeeds and what it prints.
func (f *follower) verify(ok bool, want string, args ...string) {
	f.Helper()
	out, err := f.run(args...)
	if (err == nil) != ok || !strings.Contains(out, want) {
		f.Errorf("pregon verify %q: %v, want success %t and %q\n%s", args, err, ok, want, out)
	}
}

// save writes an answer of the service to a file.
func (f *follower) save(name, path string) {
	f.Helper()
	answer, err := http.Get(f.s.url + path)
	if err != nil {
		f.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		f.Fatalf("%s: %s, %v\n%s", path, answer.Status, err, text)
	}
	if err := os.WriteFile(filepath.Join(f.dir, name), text, 0o600); err != nil {
		f.Fatal(err)
	}
}

// TestVerifyService: a stranger follows a service, verifies a report offline, and is
// told when an older copy of its store was restored.
func TestVerifyService(t *testing.T) {
	longtest.Skip(t, "it takes many seconds")
	t.Parallel()
	for name, newStore := range engines {
		t.Run(name, func(t *testing.T) {
			f := &follower{backedUp: &backedUp{T: t, spec: newStore(t), cache: t.TempDir()}, dir: t.TempDir()}
			backup := newStore(t)
			f.start()
			f.key = pregon(t, f.spec, "keys", "create", "--plan", "pro")
			f.file(300)
			f.s.published(t, 300)
			f.save("checkpoint", "/log/checkpoint")
			f.save("vkey", "/log/vkey")
			f.verify(true, "it continues the 300 changes", "--log", f.s.url, "--since", "checkpoint", "--vkey", "vkey", "--entries")

			f.save("report.json", "/api/v1/reports/oir-7")
			f.save("proof.json", "/api/v1/reports/oir-7/proof")
			f.verify(true, "verified: seq 7 of pregon.example/log", "report.json", "proof.json", "--vkey", "vkey")
			f.verify(true, "verified: seq 7 of pregon.example/log", "report.json", "proof.json", "--since", "checkpoint")
			f.verify(false, "NOT VERIFIED", "report.json", "proof.json")
			f.save("other.json", "/api/v1/reports/oir-8")
			f.verify(false, "is the report oir-8", "other.json", "proof.json", "--vkey", "vkey")
			f.stop()

			copyStore(t, f.spec, backup)
			f.start()
			f.file(100)
			f.s.published(t, 400)
			f.verify(true, "100 are new", "--log", f.s.url, "--since", "checkpoint")
			f.stop()

			copyStore(t, backup, f.spec)
			f.start()   // it detects that an older backup was restored
			f.file(200) // other reports than those that were lost
			f.s.published(t, 500)
			f.verify(false, "another history: the log was restored", "--log", f.s.url, "--since", "checkpoint")
			f.verify(false, "The first wrong seq is 301", "--log", f.s.url, "--since", "checkpoint")
			f.stop()
		})
	}
}

// TestVerifySimulatedReports: every field of reports that were read, enriched and
// summarized is that of the record in the log, though the service shows other links.
func TestVerifySimulatedReports(t *testing.T) {
	longtest.Skip(t, "it takes many seconds")
	t.Parallel()
	f := &follower{backedUp: &backedUp{T: t, spec: engines["sqlite"](t)}, dir: t.TempDir()}
	f.s = startReplica(t, f.spec, "--source", "demo", "--rate", "600")
	f.key = pregon(t, f.spec, "keys", "create", "--plan", "pro")
	f.s.published(t, 1)
	f.save("vkey", "/log/vkey")
	var list struct{ Data []struct{ ID string } }
	eventually(t, func() error {
		demand(t, f.s.url, f.key, http.MethodGet, "/api/v1/reports?limit=5", nil, &list, http.StatusOK)
		if len(list.Data) < 5 {
			return fmt.Errorf("there are %d reports", len(list.Data))
		}
		return nil
	})
	for _, r := range list.Data {
		eventually(t, func() error { // the report may change between the two answers
			f.save("report.json", "/api/v1/reports/"+r.ID)
			f.save("proof.json", "/api/v1/reports/"+r.ID+"/proof")
			if out, err := f.run("report.json", "proof.json", "--vkey", "vkey"); err != nil {
				return fmt.Errorf("%s: %w\n%s", r.ID, err, out)
			}
			return nil
		})
	}
}

// TestVerifyPositions: a stranger verifies a position with its name offline, as the commands
// of docs/proofs.md do. When the name is erased the proof stays valid, and so does the log.
func TestVerifyPositions(t *testing.T) {
	longtest.Skip(t, "it needs jq")
	if _, err := exec.LookPath("jq"); err != nil {
		t.Skip(err)
	}
	t.Parallel()
	docs, err := os.ReadFile("../../docs/proofs.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := regexp.MustCompile("(?s)```sh\n(.*?)```").FindStringSubmatch(string(docs))
	if commands == nil {
		t.Fatal("docs/proofs.md does not show how to open a seal")
	}
	for name, newStore := range engines {
		t.Run(name, func(t *testing.T) {
			f := &follower{backedUp: &backedUp{T: t, spec: newStore(t), cache: t.TempDir()}, dir: t.TempDir()}
			f.start()
			f.key = pregon(t, f.spec, "keys", "create", "--plan", "pro")
			db := openStore(t, f.spec)
			first := dealing(1)
			batch := store.Batch{Positions: []disclosure.Position{first, dealing(2)}}
			if _, err := db.Append(t.Context(), batch); err != nil {
				t.Fatal(err)
			}
			f.await(2)
			f.save("vkey", "/log/vkey")
			f.verify(true, "2 changes", "--log", f.s.url, "--since", "checkpoint", "--vkey", "vkey", "--entries")
			f.save("position.json", "/api/v1/positions/"+first.ID)
			f.save("proof.json", "/api/v1/positions/"+first.ID+"/proof")
			f.verify(true, "NOT checked: attribution, issuer_id\n", "position.json", "proof.json", "--vkey", "vkey")
			f.save("other.json", "/api/v1/positions/"+dealing(2).ID)
			f.verify(false, "is the position", "other.json", "proof.json", "--vkey", "vkey")
			cmd := exec.Command("sh", "-ec", commands[1])
			cmd.Dir = f.dir
			out, err := cmd.CombinedOutput()
			if lines := strings.Fields(string(out)); err != nil || len(lines) != 2 || lines[0] != lines[1] || len(lines[0]) != 64 {
				t.Errorf("the commands of docs/proofs.md: %v\n%s", err, out)
			}

			pregon(t, f.spec, "positions", "erase-names", first.ID)
			f.await(3)
			f.verify(true, "verified: seq 1", "position.json", "proof.json", "--vkey", "vkey")
			f.verify(true, "1 are new", "--log", f.s.url, "--since", "checkpoint", "--vkey", "vkey", "--entries")
			f.save("erased.json", "/api/v1/positions/"+first.ID)
			f.save("proof.json", "/api/v1/positions/"+first.ID+"/proof")
			f.verify(true, "verified: seq 3", "erased.json", "proof.json", "--vkey", "vkey")
			f.verify(false, "differs from seq 3 of the log in person, person_erased", "position.json", "proof.json", "--vkey", "vkey")
			f.stop()
			pregon(t, f.spec, "verify")
		})
	}
}

// await waits until the service has a change and has signed it.
func (f *follower) await(seq int) {
	f.Helper()
	eventually(f.T, func() error {
		answer, err := http.Get(f.s.url + "/log/checkpoint")
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		lines := strings.Split(string(text), "\n")
		if err != nil || len(lines) < 2 || lines[1] != strconv.Itoa(seq) {
			return fmt.Errorf("the checkpoint is %q, %w, want one of %d changes", text, err, seq)
		}
		return nil
	})
}
