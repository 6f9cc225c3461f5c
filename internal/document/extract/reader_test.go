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
	"pregon/internal/test/longtest"
	"pregon/internal/test/waittest"
)

// good returns a document that can be read.
func good() []byte {
	return extracttest.PDF([]extracttest.Line{{X: 70, Y: 700, Size: 10, Text: "Hola"}})
}

func readsGood(t *testing.T, r *sandbox.Reader) {
	t.Helper()
	text, err := r.Read(t.Context(), good())
	if err != nil || text.Pages[0].Text != "Hola" {
		t.Errorf("got error %v for a good document, want Hola", err)
	}
}

// children returns the processes that this one has started.
func children(t *testing.T) map[int]bool {
	t.Helper()
	return childrenOf(t, os.Getpid())
}

// childrenOf returns the processes that a process has started.
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

// childOf starts the child of a reader and returns its process.
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
	t.Fatal("got no child, want one")
	return 0
}

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

// reading starts to read a document that takes forever, and waits until the child
// works on it. The page is drawn for OCR only, so this needs tesseract.
func reading(t *testing.T, ctx context.Context, r *sandbox.Reader, pid int) <-chan error {
	t.Helper()
	done := make(chan error, 1)
	before := processorTime(t, pid)
	go func() {
		_, err := r.Read(ctx, extracttest.Endless())
		done <- err
	}()
	for processorTime(t, pid) < before+busy {
		select {
		case err := <-done:
			t.Fatalf("got %v, want the reading to continue", err)
		case <-time.After(5 * time.Millisecond):
		}
	}
	return done
}

// busy is the processor time after which a child works on an endless page, in
// hundredths of a second.
const busy = 20

// processorTime returns the processor time of a process in hundredths of a second.
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
	longtest.Skip(t, "it takes many seconds")
	r := newReader(t, nil)
	pid := childOf(t, r)
	done := reading(t, t.Context(), r, pid)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, extract.ErrKilled) || extract.IsUnreadable(err) {
		t.Errorf("got error %v after SIGKILL, want ErrKilled", err)
	}
	readsGood(t, r)

	// A service that is stopped sends SIGTERM.
	r = newReader(t, nil)
	pid = childOf(t, r)
	done = reading(t, t.Context(), r, pid)
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, extract.ErrKilled) || extract.IsUnreadable(err) {
		t.Errorf("got error %v after SIGTERM, want ErrKilled", err)
	}

	// A child may die while it is idle.
	r = newReader(t, nil)
	pid = childOf(t, r)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	waittest.For(t, "the child has ended", func() bool { return !alive(pid) })
	if _, err := r.Read(t.Context(), good()); err != nil && !errors.Is(err, extract.ErrKilled) { // the reader may not have noticed yet
		t.Errorf("got error %v after an idle child was killed, want none or ErrKilled", err)
	}
	readsGood(t, r)
}

func TestCrashedChild(t *testing.T) {
	longtest.Skip(t, "it needs tesseract")
	r := newReader(t, nil)
	pid := childOf(t, r)
	done := reading(t, t.Context(), r, pid)
	if err := syscall.Kill(pid, syscall.SIGABRT); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !extract.IsUnreadable(err) || !strings.Contains(err.Error(), "it crashes the program that reads it") {
		t.Errorf("got error %v after SIGABRT, want an Unreadable", err)
	}
	readsGood(t, r)
}

func TestCanceledContext(t *testing.T) {
	longtest.Skip(t, "it needs tesseract")
	r := newReader(t, nil)
	pid := childOf(t, r)
	ctx, cancel := context.WithCancel(t.Context())
	done := reading(t, ctx, r, pid)

	waiting, enough := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer enough()
	if _, err := r.Read(waiting, good()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got error %v while waiting, want %v", err, context.DeadlineExceeded)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v while reading, want %v", err, context.Canceled)
	}
	if alive(pid) {
		t.Error("got a running child, want it killed")
	}
	readsGood(t, r)
}

func TestClose(t *testing.T) {
	longtest.Skip(t, "it needs tesseract")
	r := newReader(t, nil)
	pid := childOf(t, r)
	done := reading(t, t.Context(), r, pid)
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; !errors.Is(err, sandbox.ErrClosed) {
		t.Errorf("got error %v during Close, want ErrClosed", err)
	}
	if alive(pid) {
		t.Error("got a running child, want it killed")
	}
	if _, err := r.Read(t.Context(), good()); !errors.Is(err, sandbox.ErrClosed) {
		t.Errorf("got error %v after Close, want ErrClosed", err)
	}
	if err := r.Close(); err != nil {
		t.Errorf("got error %v of the second Close, want none", err)
	}
}

func TestConcurrentReads(t *testing.T) {
	r := shared(t)
	var all sync.WaitGroup
	for n := range 20 {
		all.Go(func() {
			want := fmt.Sprintf("Documento %d", n)
			text, err := r.Read(t.Context(), extracttest.PDF([]extracttest.Line{{X: 70, Y: 700, Size: 10, Text: want}}))
			if err != nil || text.Pages[0].Text != want {
				t.Errorf("got %v, %v, want %q", text, err, want)
			}
		})
	}
	all.Wait()
}

func TestChildEnvironment(t *testing.T) {
	t.Setenv("PREGON_SECRET", "secret")
	pid := childOf(t, newReader(t, nil))
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, variable := range strings.Split(strings.Trim(string(env), "\x00"), "\x00") {
		name, _, _ := strings.Cut(variable, "=")
		switch name {
		case "PATH", "TMPDIR", "OMP_THREAD_LIMIT", "TESSDATA_PREFIX", "EXTRACT_SETTINGS":
		default:
			t.Errorf("got variable %s in the child, want none of ours", name)
		}
	}
	group, err := syscall.Getpgid(pid)
	if err != nil || group != pid {
		t.Errorf("got process group %d, %v, want %d", group, err, pid)
	}
}

func TestInvalidCommand(t *testing.T) {
	for _, command := range [][]string{nil, {"/nonexistent"}, {"/bin/false"}, {"/bin/true"}} {
		r := newReader(t, func(o *sandbox.Options) { o.Command = command })
		if _, err := r.Read(t.Context(), good()); err == nil || extract.IsUnreadable(err) {
			t.Errorf("got error %v for the command %q, want one that is no Unreadable", err, command)
		}
	}
}

// TestInvalidAnswers has children that start correctly and then break the
// protocol.
func TestInvalidAnswers(t *testing.T) {
	// A script sleeps longer than a test may take, so that waiting for it fails.
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
			r := newReader(t, func(o *sandbox.Options) {
				o.Command = []string{"/bin/sh", "-c", ready + test.script}
				o.Limits.Time, o.Limits.OCRTime = time.Second, time.Millisecond
			})
			if _, err := r.Read(t.Context(), bytes.Repeat([]byte("%PDF-"), 1000)); !extract.IsUnreadable(err) {
				t.Errorf("got error %v, want an Unreadable", err)
			}
		})
	}
}

func TestSitePage(t *testing.T) {
	if _, err := shared(t).Read(t.Context(), extracttest.SitePage()); !errors.Is(err, extract.ErrSitePage) {
		t.Errorf("got error %v, want %v", err, extract.ErrSitePage)
	}
}

func TestColdStart(t *testing.T) {
	longtest.Skip(t, "it compiles the reader of PDF files")
	dir := filepath.Join(t.TempDir(), "a", "cache")
	readsGood(t, newReader(t, func(o *sandbox.Options) { o.CacheDir = dir }))
	if s, err := os.Stat(dir); err != nil || s.Mode().Perm() != 0o700 {
		t.Errorf("got cache directory %v, %v, want mode 0700", s, err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*", "*"))
	compiled := times(t, files)
	readsGood(t, newReader(t, func(o *sandbox.Options) { o.CacheDir = dir }))
	if len(files) == 0 || !slices.Equal(times(t, files), compiled) {
		t.Error("got new files after the second start, want the cached ones")
	}
	for _, file := range files {
		if err := os.Truncate(file, 1000); err != nil {
			t.Fatal(err)
		}
	}
	readsGood(t, newReader(t, func(o *sandbox.Options) { o.CacheDir = dir }))
}

// times returns the modification times of files.
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

// TestUnusableCache has directories in which compiled code cannot be stored.
// Documents are read without a cache, and one warning is logged.
func TestUnusableCache(t *testing.T) {
	longtest.Skip(t, "it compiles the reader of PDF files")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, dir, reason string
		deaths            int
	}{
		{"within a file", filepath.Join(file, "cache"), "not a directory", 1},
		{"read-only", "/proc", "wazero-", 0},
	} {
		t.Run(test.name, func(t *testing.T) { uncached(t, test.dir, test.reason, test.deaths) })
	}
}

// uncached reads a document with an unusable cache directory after a number of
// deaths of the child.
func uncached(t *testing.T, dir, reason string, deaths int) {
	t.Helper()
	var log bytes.Buffer
	r := newReader(t, func(o *sandbox.Options) {
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
	if logged := log.String(); strings.Count(logged, "is not cached") != 1 || !strings.Contains(logged, "level=WARN") || !strings.Contains(logged, reason) {
		t.Errorf("got log %q, want one warning with %q", logged, reason)
	}
}

// TestFailedStart has children that do not start within their limits. The error is
// no Unreadable, since no document caused it.
func TestFailedStart(t *testing.T) {
	for _, test := range []struct {
		name, reason string
		change       func(*sandbox.Options)
	}{
		{"slow", "getting ready took more than 0.001 s", func(o *sandbox.Options) { o.Limits.StartTime = time.Millisecond }},
		{"large", "getting ready needed more than 40 MB", func(o *sandbox.Options) { o.Limits.StartMemory, o.CacheDir = 40<<20, "" }},
		{"killed", "signal: killed", func(o *sandbox.Options) { o.Command = []string{"/bin/sh", "-c", "kill -9 $$"} }},
		{"silent", "exit status 3", func(o *sandbox.Options) { o.Command = []string{"/bin/sh", "-c", "exit 3"} }},
		{"message", "it said: no such thing", func(o *sandbox.Options) { o.Command = []string{"/bin/sh", "-c", "echo no such thing >&2; exit 3"} }},
		{"crashed", "start the child", func(o *sandbox.Options) { o.Command = []string{"/bin/sh", "-c", "kill -SEGV $$"} }},
		{"invalid", "start the child", func(o *sandbox.Options) { o.Command = []string{"/bin/sh", "-c", "yes"} }},
	} {
		t.Run(test.name, func(t *testing.T) {
			var log bytes.Buffer
			r := newReader(t, func(o *sandbox.Options) {
				o.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
				test.change(o)
			})
			if _, err := r.Read(t.Context(), good()); err == nil || extract.IsUnreadable(err) || errors.Is(err, extract.ErrKilled) || !strings.Contains(err.Error(), test.reason) {
				t.Errorf("got error %v, want %q", err, test.reason)
			}
			if logged := log.String(); strings.Count(logged, "did not start") != 1 || !strings.Contains(logged, test.reason) && test.reason != "start the child" {
				t.Errorf("got log %q, want one line with the reason", logged)
			}
		})
	}
}

// TestStartMemory compiles PDFium in a child whose memory limit for documents is
// lower than compiling needs.
func TestStartMemory(t *testing.T) {
	longtest.Skip(t, "it compiles the reader of PDF files")
	readsGood(t, newReader(t, func(o *sandbox.Options) { o.Limits.Memory, o.CacheDir = 90<<20, "" }))
}

// TestOneCompiles holds the lock of an empty cache, as a process that compiles
// does. A child must wait for it and then load the compiled code.
func TestOneCompiles(t *testing.T) {
	longtest.Skip(t, "it compiles the reader of PDF files")
	newReader(t, nil) // compiles the code
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
	r := newReader(t, func(o *sandbox.Options) { o.CacheDir = dir })
	done := make(chan error, 1)
	go func() { done <- r.Warm(t.Context()) }()
	for !waitedFor(t, held) {
		select {
		case err := <-done:
			t.Fatalf("got %v, want the child to wait for the lock", err)
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
		t.Error("got new files, want the child to load the compiled code")
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
