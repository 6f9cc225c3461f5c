package main_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"pregon/internal/store"
	"pregon/internal/test/longtest"
)

// buildPrevious builds the program of the previous release from the commit that
// docs/release.md names. All of it comes from the build cache after the first time.
func buildPrevious(t *testing.T) string {
	t.Helper()
	doc, err := os.ReadFile("../../docs/release.md")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("previous release is commit `([0-9a-f]{40})`, with schema version ([0-9]+)").FindSubmatch(doc)
	if named == nil {
		t.Fatal("docs/release.md does not name the commit and the schema version of the previous release")
	}
	if got := string(named[2]); got != strconv.Itoa(store.PreviousSchema) {
		t.Errorf("docs/release.md: got schema version %s, want store.PreviousSchema, %d", got, store.PreviousSchema)
	}
	commit := string(named[1])
	if err := findCommit("../..", commit); errors.Is(err, errNoHistory) {
		t.Skipf("no commit %s of the previous release: %v; clone the whole repository", commit, err)
	} else if err != nil {
		t.Fatalf("no commit %s of the previous release, which docs/release.md names: %v", commit, err)
	}
	dir := t.TempDir()
	archive := filepath.Join(dir, "source.tar")
	source, built := filepath.Join(dir, "source"), filepath.Join(dir, "pregon")
	if err := os.Mkdir(source, 0o700); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", built, "./cmd/pregon")
	build.Dir = source
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	for _, step := range []*exec.Cmd{
		exec.Command("git", "-C", "../..", "archive", "--output", archive, commit),
		exec.Command("tar", "-xf", archive, "-C", source),
		build,
	} {
		if out, err := step.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", step.Args, err, out)
		}
	}
	return built
}

// findCommit returns an error if a copy of the repository does not have a commit. The
// error is errNoHistory where that must be expected; in other cases the test must fail,
// or nobody would notice that it is left out.
func findCommit(root, commit string) error {
	if _, err := os.Lstat(filepath.Join(root, ".git")); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: this tree was exported", errNoHistory)
	}
	out, err := exec.Command("git", "-C", root, "cat-file", "-e", commit+"^{commit}").CombinedOutput()
	if err == nil {
		return nil
	}
	shallow, shallowErr := exec.Command("git", "-C", root, "rev-parse", "--is-shallow-repository").Output()
	if shallowErr == nil && strings.TrimSpace(string(shallow)) == "true" {
		return fmt.Errorf("%w: this copy is shallow", errNoHistory)
	}
	return fmt.Errorf("%w: %s", err, out)
}

var errNoHistory = errors.New("there is no history")

// TestFindCommit: only an exported tree and a shallow copy may lack a commit.
func TestFindCommit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		author := []string{"-c", "user.name=a", "-c", "user.email=a@example.com"}
		out, err := exec.Command("git", append(author, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	whole, shallow, exported := filepath.Join(dir, "whole"), filepath.Join(dir, "shallow"), filepath.Join(dir, "exported")
	git("init", "--quiet", whole)
	git("-C", whole, "commit", "--quiet", "--allow-empty", "--message", "one")
	first := git("-C", whole, "rev-parse", "HEAD")
	git("-C", whole, "commit", "--quiet", "--allow-empty", "--message", "two")
	git("clone", "--quiet", "--depth", "1", "file://"+whole, shallow)
	if err := os.Mkdir(exported, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := findCommit(whole, first); err != nil {
		t.Errorf("a commit of the repository: got %v, want none", err)
	}
	if err := findCommit(whole, strings.Repeat("0", 39)+"1"); err == nil || errors.Is(err, errNoHistory) {
		t.Errorf("an unknown commit: got %v, want another error", err)
	}
	for _, root := range []string{shallow, exported} {
		if err := findCommit(root, first); !errors.Is(err, errNoHistory) {
			t.Errorf("%s: got %v, want %v", filepath.Base(root), err, errNoHistory)
		}
	}
}

// release is one version of the program on a store.
type release struct {
	*testing.T
	program, spec string
}

// run runs a command and returns its output.
func (r release) run(args ...string) string {
	r.Helper()
	var stderr bytes.Buffer
	cmd := exec.Command(r.program, append(args, "--store", r.spec)...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		r.Fatalf("%v: %v\n%s%s", args, err, out, &stderr)
	}
	return strings.TrimSpace(string(out))
}

// serve starts the service, calls a function with it, and stops it.
func (r release) serve(use func(s *service)) {
	r.Helper()
	cmd := exec.Command(r.program, "serve", "--listen", "127.0.0.1:0", "--source", "none", "--webhook-allow-private")
	s, err := startCommand(cmd, []string{"PREGON_STORE=" + r.spec}, r.TempDir())
	if err == nil {
		err = s.waitReady()
	}
	if err != nil {
		r.Fatal(err)
	}
	use(s)
	if err := s.end(syscall.SIGTERM); err != nil {
		r.Error(err)
	}
}

// ids returns the ids of all reports.
func (r release) ids() (ids []string) {
	r.Helper()
	for line := range strings.Lines(r.run("export", "reports")) {
		var report struct{ ID string }
		if json.Unmarshal([]byte(line), &report) == nil && report.ID != "" {
			ids = append(ids, report.ID)
		}
	}
	slices.Sort(ids)
	return ids
}

// check checks that a service has all reports, keys and webhooks. Its answers may
// differ from the present OpenAPI document.
func (r release) check(s *service, reports int, hook string, keys ...string) {
	r.Helper()
	resp, err := http.Get(s.url + "/api/v1/reports?limit=1")
	if err != nil {
		r.Fatal(err)
	}
	defer resp.Body.Close()
	var list struct{ Total int }
	if err := json.NewDecoder(resp.Body).Decode(&list); err != nil || list.Total != reports {
		r.Errorf("got %d reports, %v, want %d", list.Total, err, reports)
	}
	for _, key := range keys {
		if got := s.status(r.T, "/api/v1/changes?limit=1", "X-API-Key", key); got != http.StatusOK {
			r.Errorf("a key: got status %d, want 200", got)
		}
	}
	if hook == "" {
		return
	}
	if got := s.status(r.T, "/api/v1/webhooks/"+hook, "X-API-Key", keys[len(keys)-1]); got != http.StatusOK {
		r.Errorf("the webhook: got status %d, want 200", got)
	}
}

// TestPreviousRelease upgrades a store of the previous release, goes back as
// docs/operations.md describes it, and upgrades again. What each version wrote is
// there in all of them.
func TestPreviousRelease(t *testing.T) {
	longtest.Skip(t, "it builds the previous release")
	t.Parallel()
	previous := buildPrevious(t)
	file := filepath.Join(t.TempDir(), "reports.jsonl")
	writeReports(t, file, 90)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	parts := make([]string, 3)
	for i := range parts {
		parts[i] = filepath.Join(t.TempDir(), fmt.Sprintf("part%d.jsonl", i))
		if err := os.WriteFile(parts[i], bytes.Join(lines[i*30:(i+1)*30], nil), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, newStore := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := newStore(t)
			older := release{t, previous, spec}
			newer := release{t, program, spec}

			older.run("import", "reports", parts[0])
			oldKey := older.run("keys", "create", "--plan", "pro")
			older.serve(func(s *service) { older.check(s, 30, "", oldKey) })

			newer.run("import", "reports", parts[1])
			newKey := newer.run("keys", "create", "--plan", "pro")
			var hook struct{ ID string }
			newer.serve(func(s *service) {
				demand(t, s.url, newKey, http.MethodPost, "/api/v1/webhooks", map[string]any{"url": "http://127.0.0.1:1/", "events": everyEvent}, &hook, http.StatusCreated)
				newer.check(s, 60, hook.ID, oldKey, newKey)
			})
			ids := newer.ids()
			out, err := exec.Command(older.program, "export", "reports", "--store", spec).CombinedOutput()
			if err == nil || !strings.Contains(string(out), fmt.Sprintf("this program knows %d", store.PreviousSchema)) {
				t.Errorf("the older program on the newer schema: got %v, %s, want a refusal", err, out)
			}

			newer.run("migrate", "--to", "previous")
			newer.run("migrate", "--to", "previous") // changes nothing
			if got := older.ids(); !slices.Equal(got, ids) {
				t.Errorf("the older program has the reports %v, want %v", got, ids)
			}
			older.serve(func(s *service) { older.check(s, 60, hook.ID, oldKey, newKey) })
			older.run("import", "reports", parts[2])

			newer.serve(func(s *service) { newer.check(s, 90, hook.ID, oldKey, newKey) })
			newer.run("verify")
		})
	}
}
