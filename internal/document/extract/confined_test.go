package extract_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"pregon/internal/document/extract/extracttest"
	"pregon/internal/document/extract/sandbox"
	"pregon/internal/test/longtest"
)

// TestChildIsConfined runs a tesseract that attempts forbidden operations and
// returns the results as recognized words.
func TestChildIsConfined(t *testing.T) {
	longtest.Skip(t, "it starts many processes")
	if runtime.GOOS != "linux" {
		t.Skip("processes are confined only on Linux")
	}
	dir := t.TempDir()
	store, script := filepath.Join(dir, "pregon.db"), filepath.Join(dir, "tesseract")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	source := fmt.Sprintf(`#!/usr/bin/env bash
[ "$1" = --list-langs ] && echo spa && exit
cat >/dev/null
try() { if "${@:2}" >/dev/null 2>&1; then echo -n "$1:done "; else echo -n "$1:denied "; fi; }
net() { exec 9<>/dev/tcp/127.0.0.1/%[3]s; }
results=$(try self cat "$0"; try store cat %[1]s; try write touch %[1]s.new; try mode chmod 777 %[1]s; try environ cat /proc/%[2]d/environ; try signal kill -0 %[2]d; (try net net))
for word in $results; do printf '5\t1\t1\t1\t1\t1\t0\t0\t0\t0\t95\t%%s\n' "$word"; done
`, store, os.Getpid(), port)
	for path, body := range map[string]string{store: "secret", script: source} {
		if err := os.WriteFile(path, []byte(body), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	var log bytes.Buffer
	r := newReader(t, func(o *sandbox.Options) {
		o.Tesseract, o.Logger = script, slog.New(slog.NewTextHandler(&log, nil))
	})
	text, err := r.Read(t.Context(), extracttest.Picture(1, 1, []byte{0}))
	if err != nil {
		t.Fatal(err)
	}
	results := text.Pages[0].Text
	t.Logf("fully confined: %v; results: %s", log.Len() == 0, results)
	landlock, seccomp := !r.Lacks(sandbox.Landlock), !r.Lacks(sandbox.Seccomp)
	for what, denied := range map[string]bool{
		"self": false, "store": landlock, "write": landlock, "mode": seccomp, "environ": landlock, "net": landlock || seccomp,
	} {
		if denied && !strings.Contains(results, what+":denied") || !denied && what == "self" && !strings.Contains(results, "self:done") {
			t.Errorf("got %q, want %s denied: %v", results, what, denied)
		}
	}
	if missing := !landlock || !seccomp; missing != strings.Contains(log.String(), "not fully confined") {
		t.Errorf("got log %q, want a warning about missing layers: %v", log.String(), missing)
	}
}
