package durable_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"pregon/internal/store/durable"
)

// crashEnv has the path of the file that the test program replaces until it ends itself.
const crashEnv = "PREGON_TEST_CRASH"

func TestMain(m *testing.M) {
	if path := os.Getenv(crashEnv); path != "" {
		_ = durable.Replace(path, 0o600, func(w io.Writer) error {
			_, _ = io.WriteString(w, "half of the n")
			os.Exit(3) // without any deferred function
			return nil
		})
	}
	os.Exit(m.Run())
}

// wantFile reports an error unless a file has a text.
func wantFile(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("%s has %q, %v; want %q", filepath.Base(path), got, err, want)
	}
}

// wantAlone reports an error unless a directory has only the files with these names.
func wantAlone(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if len(got) != len(names) {
		t.Errorf("the directory has %q, want %q", got, names)
	}
}

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for _, text := range []string{"first", "second and longer", ""} {
		before, _ := os.ReadFile(path)
		err := durable.Replace(path, 0o640, func(w io.Writer) error {
			if _, err := io.WriteString(w, text); err != nil {
				return err
			}
			if during, _ := os.ReadFile(path); string(during) != string(before) {
				t.Errorf("before the end the file has %q, want %q", during, before)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		wantFile(t, path, text)
	}
	wantAlone(t, dir, "file")
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
}

// A writer that fails, or panics, leaves the old file and nothing else.
func TestReplaceFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	full := errors.New("the disk is full")
	fails := func(w io.Writer) error {
		_, _ = io.WriteString(w, "a part")
		return full
	}
	if err := durable.Replace(path, 0o600, fails); !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
	wantAlone(t, dir)
	if err := durable.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := durable.Replace(path, 0o600, fails); !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
	func() {
		defer func() { _ = recover() }()
		_ = durable.Replace(path, 0o600, func(io.Writer) error { panic("a bug") })
	}()
	wantFile(t, path, "old")
	wantAlone(t, dir, "file")

	// A directory has the name.
	taken := filepath.Join(dir, "taken")
	if err := os.MkdirAll(filepath.Join(taken, "below"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := durable.WriteFile(taken, []byte("new"), 0o600); err == nil {
		t.Error("it replaced a directory")
	}
	wantAlone(t, dir, "file", "taken")
	if err := durable.WriteFile(filepath.Join(dir, "none", "file"), nil, 0o600); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without its directory: %v", err)
	}
}

// A process that ends while it writes leaves the old file.
func TestReplaceCrashes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := durable.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	crash := exec.CommandContext(t.Context(), program)
	crash.Env = append(os.Environ(), crashEnv+"="+path)
	err = crash.Run()
	if ended, is := errors.AsType[*exec.ExitError](err); !is || ended.ExitCode() != 3 {
		t.Fatalf("the process ended with %v", err)
	}
	wantFile(t, path, "old")
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".file.*"+durable.PartialSuffix))
	if err != nil || len(left) != 1 {
		t.Fatalf("left over: %q, %v", left, err)
	}
	wantFile(t, left[0], "half of the n")
	if err := durable.WriteFile(path, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	wantFile(t, path, "new")
}

func TestRename(t *testing.T) {
	dir := t.TempDir()
	making, made := filepath.Join(dir, "making"), filepath.Join(dir, "made")
	if err := os.MkdirAll(filepath.Join(making, "below"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(durable.SyncDir(making), durable.Rename(making, made)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(made, "below")); err != nil {
		t.Error(err)
	}
	if err := durable.Rename(making, made); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a name that does not exist: %v", err)
	}
}
