package extract_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"pregon/internal/document/extract"
	"pregon/internal/document/extract/extracttest"
	"pregon/internal/document/extract/sandbox"
	"pregon/internal/waittest"
)

// good is a document that can be read.
func good() []byte {
	return extracttest.PDF([]extracttest.Line{{X: 70, Y: 700, Size: 10, Text: "Hola"}})
}

func readsGood(t *testing.T, r *sandbox.Reader) {
	t.Helper()
	text, err := r.Read(t.Context(), good())
	if err != nil || text.Pages[0].Text != "Hola" {
		t.Errorf("a good document is not read: %v", err)
	}
}

// children are the processes that this one has started.
func children(t *testing.T) map[int]bool {
	t.Helper()
	return childrenOf(t, os.Getpid())
}

// childrenOf are the processes that a process has started.
func childrenOf(t *testing.T, pid int) map[int]bool {
	t.Helper()
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		t.Fatal(err)
	}
	found := map[int]bool{}
	for _, list := range lists {
		numbers, _ := os.ReadFile(list)
		for _, number := range strings.Fields(string(numbers)) {
			pid, _ := strconv.Atoi(number)
			found[pid] = true
		}
	}
	return found
}

// childOf is the process that a reader starts.
func childOf(t *testing.T, r *sandbox.Reader) int {
	t.Helper()
	before := children(t)
	if err := r.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	for pid := range children(t) {
		if !before[pid] {
			return pid
		}
	}
	t.Fatal("there is no child")
	return 0
}

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

// reading gives a reader a document that takes forever, and waits until it is
// at it.
func reading(t *testing.T, ctx context.Context, r *sandbox.Reader, pid int) <-chan error {
	t.Helper()
	done := make(chan error, 1)
	before := processorTime(t, pid)
	go func() {
		_, err := r.Read(ctx, extracttest.Endless())
		done <- err
	}()
	for processorTime(t, pid) < before+20 { // hundredths of a second
		select {
		case err := <-done:
			t.Fatalf("it ended: %v", err)
		case <-time.After(5 * time.Millisecond):
		}
	}
	return done
}

// processorTime is how long a process has computed, in hundredths of a second.
func processorTime(t *testing.T, pid int) int {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	ticks, _ := strconv.Atoi(strings.Fields(rest)[11])
	return ticks
}

func TestKilledChild(t *testing.T) {
	r := own(t, nil)
	pid := childOf(t, r)
	done := reading(t, t.Context(), r, pid)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, extract.ErrKilled) || extract.IsUnreadable(err) {
		t.Errorf("a document whose child was killed by another: %v", err)
	}
	readsGood(t, r)

	// As a service that is stopped has it.
	r = own(t, nil)
	pid = childOf(t, r)
	done = reading(t, t.Context(), r, pid)
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, extract.ErrKilled) || extract.IsUnreadable(err) {
		t.Errorf("a document whose child was told to end by another: %v", err)
	}

	// And one that dies while it waits.
	r = own(t, nil)
	pid = childOf(t, r)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	waittest.For(t, "the child has ended", func() bool { return !alive(pid) })
	if _, err := r.Read(t.Context(), good()); err != nil && !errors.Is(err, extract.ErrKilled) { // the reader may not have noticed yet
		t.Errorf("a document whose child was killed before: %v", err)
	}
	readsGood(t, r)
}

func TestCrashedChild(t *testing.T) {
	r := own(t, nil)
	pid := childOf(t, r)
	done := reading(t, t.Context(), r, pid)
	if err := syscall.Kill(pid, syscall.SIGABRT); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !extract.IsUnreadable(err) || !strings.Contains(err.Error(), "it crashes the program that reads it") {
		t.Errorf("a document whose child crashed: %v", err)
	}
	readsGood(t, r)
}

func TestContextEnds(t *testing.T) {
	r := own(t, nil)
	pid := childOf(t, r)
	ctx, cancel := context.WithCancel(t.Context())
	done := reading(t, ctx, r, pid)

	waiting, enough := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer enough()
	if _, err := r.Read(waiting, good()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a document that waits for its turn: %v", err)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("a document whose context ends: %v", err)
	}
	if alive(pid) {
		t.Error("the child lives on")
	}
	readsGood(t, r)
}

func TestClose(t *testing.T) {
	r := own(t, nil)
	pid := childOf(t, r)
	done := reading(t, t.Context(), r, pid)
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; !errors.Is(err, sandbox.ErrClosed) {
		t.Errorf("a document while its reader is closed: %v", err)
	}
	if alive(pid) {
		t.Error("the child lives on")
	}
	if _, err := r.Read(t.Context(), good()); !errors.Is(err, sandbox.ErrClosed) {
		t.Errorf("a document after its reader was closed: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Errorf("the second Close: %v", err)
	}
}

func TestManyAtOnce(t *testing.T) {
	r := shared(t)
	var all sync.WaitGroup
	for n := range 20 {
		all.Go(func() {
			want := fmt.Sprintf("Documento %d", n)
			text, err := r.Read(t.Context(), extracttest.PDF([]extracttest.Line{{X: 70, Y: 700, Size: 10, Text: want}}))
			if err != nil || text.Pages[0].Text != want {
				t.Errorf("read %v, %v, want %q", text, err, want)
			}
		})
	}
	all.Wait()
}

func TestChildKnowsNoSecrets(t *testing.T) {
	t.Setenv("PREGON_SECRET", "do not tell")
	pid := childOf(t, own(t, nil))
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, variable := range strings.Split(strings.Trim(string(env), "\x00"), "\x00") {
		name, _, _ := strings.Cut(variable, "=")
		switch name {
		case "PATH", "TMPDIR", "OMP_THREAD_LIMIT", "TESSDATA_PREFIX", "EXTRACT_SETTINGS":
		default:
			t.Errorf("the child knows %s", name)
		}
	}
	group, err := syscall.Getpgid(pid)
	if err != nil || group != pid {
		t.Errorf("the child is in group %d, %v, want one of its own", group, err)
	}
}

func TestCommandThatIsNone(t *testing.T) {
	for _, command := range [][]string{nil, {"/nonexistent"}, {"/bin/false"}, {"/bin/true"}} {
		r := own(t, func(o *sandbox.Options) { o.Command = command })
		if _, err := r.Read(t.Context(), good()); err == nil || extract.IsUnreadable(err) {
			t.Errorf("with %q as the child: %v", command, err)
		}
	}
}

// TestMadChild has children that begin well and then say anything. Frames begin
// with a letter, four bytes for the document's number, four for the length.
func TestMadChild(t *testing.T) {
	// A script sleeps longer than a test may take, so that to wait for it fails.
	const ready = `printf 'R\0\0\0\0\0\0\0\0'; head -c 2000 >/dev/null; `
	for _, test := range []struct{ name, script string }{
		{"garbage", `printf 'what is this'; sleep 6000`},
		{"a huge frame", `printf 'T\0\0\0\1\377\377\377\377'; sleep 6000`},
		{"half a frame", `printf 'T\0\0\0\1\0\0\1\0{'`},
		{"no text", `printf 'T\0\0\0\1\0\0\0\2{}'; sleep 6000`},
		{"the answer to another", `printf 'U\0\0\0\7\0\0\0\2no'; sleep 6000`},
		{"more and more time", `while true; do printf 'O\0\0\0\1\0\0\0\4\0\0\0\1'; done`},
		{"nothing", `sleep 6000`},
		{"everything", `yes`},
		{"an end", `exit 0`},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := own(t, func(o *sandbox.Options) {
				o.Command = []string{"/bin/sh", "-c", ready + test.script}
				o.Limits.Time, o.Limits.OCRTime = time.Second, time.Millisecond
			})
			if _, err := r.Read(t.Context(), bytes.Repeat([]byte("%PDF-"), 1000)); !extract.IsUnreadable(err) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

func TestColdStart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "cache")
	readsGood(t, own(t, func(o *sandbox.Options) { o.CacheDir = dir }))
	if s, err := os.Stat(dir); err != nil || s.Mode().Perm() != 0o700 {
		t.Errorf("the directory of compiled code: %v, %v", s, err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*", "*"))
	compiled := times(t, files)
	readsGood(t, own(t, func(o *sandbox.Options) { o.CacheDir = dir }))
	if len(files) == 0 || !slices.Equal(times(t, files), compiled) {
		t.Error("the second start compiled again")
	}
	for _, file := range files {
		if err := os.Truncate(file, 1000); err != nil {
			t.Fatal(err)
		}
	}
	readsGood(t, own(t, func(o *sandbox.Options) { o.CacheDir = dir }))
}

// times returns when files were written.
func times(t *testing.T, files []string) (out []time.Time) {
	t.Helper()
	for _, file := range files {
		s, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, s.ModTime())
	}
	return out
}

// TestUselessCache has directories in which compiled code cannot be kept, or is
// not to be trusted. Documents are read without, and somebody is told, once.
func TestUselessCache(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, dir, reason string
		deaths            int
	}{
		{"within a file", filepath.Join(file, "cache"), "not a directory", 1},
		{"that nobody may write to", "/proc", "wazero-", 0},
	} {
		t.Run(test.name, func(t *testing.T) { uncached(t, test.dir, test.reason, test.deaths) })
	}
}

// uncached reads a document with a directory that is of no use for a reason,
// after so many deaths of the child.
func uncached(t *testing.T, dir, reason string, deaths int) {
	t.Helper()
	var log bytes.Buffer
	r := own(t, func(o *sandbox.Options) {
		o.CacheDir, o.Logger = dir, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	})
	for range deaths {
		pid := childOf(t, r)
		readsGood(t, r)
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		waittest.For(t, "the child has ended", func() bool { return !alive(pid) })
		r.Read(t.Context(), good()) // the reader may not have noticed yet
	}
	readsGood(t, r)
	if said := log.String(); strings.Count(said, "is not cached") != 1 || !strings.Contains(said, "level=WARN") || !strings.Contains(said, reason) {
		t.Errorf("the log is %q, want one warning with %q", said, reason)
	}
}

// TestTroubleAtStart has a child that does not get ready within its limits,
// which is no document's fault.
func TestTroubleAtStart(t *testing.T) {
	for _, test := range []struct {
		name, reason string
		change       func(*sandbox.Options)
	}{
		{"slow", "getting ready took more than 0.001 s", func(o *sandbox.Options) { o.Limits.StartTime = time.Millisecond }},
		{"fat", "getting ready needed more than 40 MB", func(o *sandbox.Options) { o.Limits.StartMemory, o.CacheDir = 40<<20, "" }},
		{"killed", "signal: killed", func(o *sandbox.Options) { o.Command = []string{"/bin/sh", "-c", "kill -9 $$"} }},
		{"silent", "exit status 3", func(o *sandbox.Options) { o.Command = []string{"/bin/sh", "-c", "exit 3"} }},
		{"speaking", "it said: no such thing", func(o *sandbox.Options) { o.Command = []string{"/bin/sh", "-c", "echo no such thing >&2; exit 3"} }},
		{"crashed", "start the child", func(o *sandbox.Options) { o.Command = []string{"/bin/sh", "-c", "kill -SEGV $$"} }},
		{"mad", "start the child", func(o *sandbox.Options) { o.Command = []string{"/bin/sh", "-c", "yes"} }},
	} {
		t.Run(test.name, func(t *testing.T) {
			var log bytes.Buffer
			r := own(t, func(o *sandbox.Options) {
				o.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
				test.change(o)
			})
			if _, err := r.Read(t.Context(), good()); err == nil || extract.IsUnreadable(err) || errors.Is(err, extract.ErrKilled) || !strings.Contains(err.Error(), test.reason) {
				t.Errorf("the error is %v", err)
			}
			if said := log.String(); strings.Count(said, "did not start") != 1 || !strings.Contains(said, test.reason) && test.reason != "start the child" {
				t.Errorf("the log is %q, want one line with the reason", said)
			}
		})
	}
}

// TestStartHasItsOwnMemory compiles in a child that may hold less for a document
// than compiling takes.
func TestStartHasItsOwnMemory(t *testing.T) {
	readsGood(t, own(t, func(o *sandbox.Options) { o.Limits.Memory, o.CacheDir = 90<<20, "" }))
}

// TestOneCompiles has the lock of an empty directory held by a process that
// compiles: a child waits for it, and then takes what is there.
func TestOneCompiles(t *testing.T) {
	own(t, nil) // has code compiled
	dir := filepath.Join(t.TempDir(), "cache")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	held, err := os.Create(filepath.Join(dir, "lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if err := syscall.Flock(int(held.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	r := own(t, func(o *sandbox.Options) { o.CacheDir = dir })
	done := make(chan error, 1)
	go func() { done <- r.Warm(t.Context()) }()
	for !waitedFor(t, held) {
		select {
		case err := <-done:
			t.Fatalf("it did not wait for the lock: %v", err)
		case <-time.After(5 * time.Millisecond):
		}
	}
	var files []string
	compiled, err := filepath.Glob(filepath.Join(cacheDir, "wazero-*/*"))
	if err != nil || len(compiled) == 0 {
		t.Fatalf("got no compiled code in %s: %v", cacheDir, err)
	}
	for _, from := range compiled {
		name, _ := filepath.Rel(cacheDir, from)
		to := filepath.Join(dir, name)
		body, err := os.ReadFile(from)
		if err := errors.Join(err, os.MkdirAll(filepath.Dir(to), 0o700), os.WriteFile(to, body, 0o600)); err != nil {
			t.Fatal(err)
		}
		files = append(files, to)
	}
	before := times(t, files)
	held.Close()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(times(t, files), before) {
		t.Error("the child compiled again")
	}
}

// waitedFor reports whether a process waits for the lock of a file.
func waitedFor(t *testing.T, f *os.File) bool {
	t.Helper()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	locks, err := os.ReadFile("/proc/locks")
	if err != nil {
		t.Fatal(err)
	}
	inode := fmt.Sprintf(":%d ", info.Sys().(*syscall.Stat_t).Ino)
	for line := range strings.Lines(string(locks)) {
		if strings.Contains(line, "-> FLOCK") && strings.Contains(line, inode) {
			return true
		}
	}
	return false
}
