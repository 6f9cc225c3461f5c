package main_test

import (
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/auth/account"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/store"
	"pregon/internal/store/storetest"
	"pregon/internal/test/longtest"
)

// TestBackup backs up a store while reports are published, kills the service, and
// restores the backup as docs/data.md describes it. No report is missing afterwards,
// and clients learn that the log went back.
func TestBackup(t *testing.T) {
	longtest.Skip(t, "it takes many seconds")
	t.Parallel()
	r := newReader(t, startSource(t), engines["sqlite"](t))
	path, dir := strings.TrimPrefix(r.spec, "sqlite:"), t.TempDir()
	r.start(t)
	key := pregon(t, r.spec, "keys", "create", "--plan", "pro")
	revoked := pregon(t, r.spec, "keys", "create", "--plan", "pro", "--name", "revoked later")
	accounts := accountsOf(r.store)
	ana := account.Account{ID: "https://idp.example#ana", Provider: "corp", Scopes: access.AllScopes}
	session, secret, err := accounts.SignIn(t.Context(), ana, account.Session{})
	if err != nil {
		t.Fatal(err)
	}
	refresh, err := accounts.AddGrant(t.Context(), ana.ID, account.Grant{ID: account.NewGrantID(), ClientID: "app", Scopes: access.ReadReports})
	if err != nil {
		t.Fatal(err)
	}
	ids := make(chan []string)
	go func() {
		var published []string
		for range 30 {
			published = append(published, r.publish(t, `{"type":"oir"}`))
		}
		ids <- published
	}()
	said := pregon(t, r.spec, "backup", "--to", dir)
	backup, _, _ := strings.Cut(said, ": ")
	published := <-ids
	r.waitListed(t, published...)
	for _, line := range strings.Split(pregon(t, r.spec, "keys", "list"), "\n") {
		if id, _, _ := strings.Cut(line, " "); strings.Contains(line, "revoked later") {
			pregon(t, r.spec, "keys", "revoke", id)
		}
	}
	if _, _, _, err := accounts.RotateGrant(t.Context(), refresh, "app"); err != nil {
		t.Fatal(err)
	}
	lost := pregon(t, r.spec, "keys", "create", "--plan", "pro")
	cursor := lastCursor(t, r.serve.url, key)
	_ = r.serve.end(syscall.SIGKILL)
	if err := r.store.Close(); err != nil {
		t.Fatal(err)
	}

	for _, beside := range []string{"-wal", "-shm"} {
		if err := os.RemoveAll(path + beside); err != nil {
			t.Fatal(err)
		}
	}
	body, err := os.ReadFile(backup)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, body, 0o600); err != nil {
		t.Fatal(err)
	}
	if said := pregon(t, r.spec, "restore"); !strings.Contains(said, "the epoch of") || !strings.Contains(said, "revoke again") {
		t.Errorf("restore says %q", said)
	}
	r.store = openStore(t, r.spec)
	r.start(t)
	r.waitListed(t, published...)
	today := disclosure.DayOf(time.Now())
	r.exact(t, today-7, today, disclosure.IP, disclosure.OIR)
	r.expectReset(t, key, cursor)
	// What happened to keys since the backup is undone.
	for key, want := range map[string]int{revoked: http.StatusOK, lost: http.StatusUnauthorized} {
		if got := r.serve.status(t, "/api/v1/reports", "X-API-Key", key); got != want {
			t.Errorf("a key that was changed since the backup: got status %d, want %d", got, want)
		}
	}
	// A session and a refresh token that were used or ended since are not valid again.
	accounts = accountsOf(r.store)
	if err := accounts.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, _, open := accounts.FindSession(t.Context(), ana.ID, session.ID, secret); open {
		t.Error("a session of the backup is valid")
	}
	if _, _, _, err := accounts.RotateGrant(t.Context(), refresh, "app"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("the refresh token of the backup, which was used since: got %v, want that it is not valid", err)
	}
	r.stop(t)
}

// accountsOf returns the accounts of a store.
func accountsOf(db store.Store) *account.Accounts {
	return account.New(account.Options{Store: db, Configured: func(string, string) bool { return true }, Logger: slog.New(slog.DiscardHandler)})
}

// lastCursor returns the cursor after the last change.
func lastCursor(t *testing.T, base, key string) string {
	t.Helper()
	for cursor := "0"; ; {
		var list changeList
		demand(t, base, key, http.MethodGet, "/api/v1/changes?limit=1000&after="+cursor, nil, &list, http.StatusOK)
		if len(list.Data) == 0 {
			return cursor
		}
		cursor = list.Next
	}
}

// TestBackupFiles: names, modes, what is kept and what is refused.
func TestBackupFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := "sqlite:" + filepath.Join(t.TempDir(), "pregon.db")
	pregon(t, store, "migrate")
	others := []string{"other-20200101T000000Z.db", "pregon-20200101T000000Z.db.bak", "pregon.db", "pregon-2020.db"}
	old := []string{"pregon-20200101T000000Z.db", "pregon-20200102T000000Z.db", "pregon-20200103T000000Z.db.123.partial"}
	for _, name := range append(slices.Clone(others), old...) {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Unix(0, 0), time.Unix(0, 0)); err != nil {
			t.Fatal(err)
		}
	}
	said := pregon(t, store, "backup", "--to", dir, "--keep", "2")
	made, _, _ := strings.Cut(said, ": ")
	if !regexp.MustCompile(`^pregon-\d{8}T\d{6}Z\.db$`).MatchString(filepath.Base(made)) {
		t.Errorf("the backup is %q", said)
	}
	info, err := os.Stat(made)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the mode of the backup: got %v, %v, want 0600", info.Mode(), err)
	}
	checkFiles(t, dir, append(others, filepath.Base(made), "pregon-20200102T000000Z.db")...)
	storetest.CheckLog(t, openStore(t, "sqlite:"+made))

	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"PostgreSQL":           {[]string{"--store", "postgres://x@localhost/x", "--to", dir}, "pg_dump"},
		"a file that exists":   {[]string{"--store", store, "--to", made}, "exists already"},
		"no directory":         {[]string{"--store", store, "--to", filepath.Join(dir, "none")}, "create it"},
		"no directory to keep": {[]string{"--store", store, "--to", filepath.Join(dir, "none"), "--keep", "2"}, "create it"},
		"keep without one":     {[]string{"--store", store, "--to", filepath.Join(dir, "x.db"), "--keep", "1"}, "needs a directory"},
		"no store":             {[]string{"--store", "sqlite:" + filepath.Join(dir, "no.db"), "--to", dir}, "there is no store"},
		"not a store":          {[]string{"--store", "sqlite:" + filepath.Join(dir, "pregon-2020.db"), "--to", dir}, "there is no store"},
		"a directory in a way": {[]string{"--store", store, "--to", filepath.Join(dir, "none", "x.db")}, "create it"},
	} {
		out, err := exec.Command(program, append([]string{"backup"}, test.args...)...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), test.want) {
			t.Errorf("%s: got %v, %s, want a refusal with %q", name, err, out, test.want)
		}
	}
}

func checkFiles(t *testing.T, dir string, want ...string) {
	t.Helper()
	var got []string
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), "-wal") && !strings.HasSuffix(e.Name(), "-shm") {
			got = append(got, e.Name())
		}
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the directory has %q, want %q", got, want)
	}
}

// TestBackupDiskFull: a backup, and a copy, that do not fit leave no file that could
// be taken for a complete one.
func TestBackupDiskFull(t *testing.T) {
	longtest.Skip(t, "it fills a disk")
	t.Parallel()
	file, store := filepath.Join(t.TempDir(), "reports.jsonl"), "sqlite:"+filepath.Join(t.TempDir(), "pregon.db")
	writeReports(t, file, 6_000)
	pregon(t, store, "import", "reports", file)
	dir := t.TempDir()
	limited := func(args ...string) (string, error) { // no file may exceed a megabyte
		out, err := exec.Command("bash", append([]string{"-c", `ulimit -f 1024; trap '' XFSZ; exec "$@"`, "bash", program}, args...)...).CombinedOutput()
		return string(out), err
	}
	if out, err := limited("backup", "--store", store, "--to", dir); err == nil {
		t.Errorf("a backup without room succeeded: %s", out)
	}
	checkFiles(t, dir)
	target := "sqlite:" + filepath.Join(dir, "copy.db")
	if out, err := limited("copy", "--from", store, "--to", target); err == nil {
		t.Errorf("a copy without room succeeded: %s", out)
	}
	if out, err := exec.Command(program, "export", "reports", "--store", target).CombinedOutput(); err == nil || !strings.Contains(string(out), "not complete") {
		t.Errorf("using the rest of a copy: %v\n%s", err, out)
	}
	copyTo(t, store, target)
	if _, err := os.Stat(filepath.Join(dir, "copy.db")); errors.Is(err, fs.ErrNotExist) {
		t.Error("there is no copy")
	}
	want, _ := logOf(t, store)
	if got, _ := logOf(t, target); len(got) != len(want) {
		t.Errorf("the copy has %d changes, want %d", len(got), len(want))
	}
}
