package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/cli"
	"pregon/internal/source/coverage"
)

// Without a terminal progress is a line every few seconds.
func TestProgressInLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		v := &progress{w: &out}
		for step := range 24 {
			v.show(coverage.Job{Total: 40, Steps: step}, true)
			time.Sleep(time.Second)
		}
		v.end()
		_, lines, _ := strings.Cut(out.String(), "\n") // after the line that names the process
		want := "loading: 5 of 40 steps (12%)\nloading: 10 of 40 steps (25%)\nloading: 15 of 40 steps (37%)\nloading: 20 of 40 steps (50%)\n"
		if lines != want {
			t.Errorf("%q, want %q", lines, want)
		}
		out.Reset()
		b := cli.NewBar(&out, "importing", "bytes", -1)
		for range 7 {
			b.Add(100)
			time.Sleep(time.Second)
		}
		if want := "importing: 600 bytes\n"; out.String() != want {
			t.Errorf("%q, want %q", out.String(), want)
		}
	})
}

// An interrupted back-fill prints its progress, and which process continues.
func TestInterruptedBackfill(t *testing.T) {
	job := coverage.Job{Steps: 12, Total: 40}
	for name, test := range map[string]struct {
		view progress
		job  coverage.Job
		want string
	}{
		"early":      {progress{}, coverage.Job{}, "interrupted before the first step; the same command continues"},
		"alone":      {progress{bar: &cli.Bar{}, ours: true}, job, "interrupted after 12 of 40 steps; no service reads the source: the same command continues"},
		"by service": {progress{bar: &cli.Bar{}}, job, "interrupted after 12 of 40 steps; the service that reads the source continues"},
	} {
		if err := test.view.interrupted(test.job); !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

// Only a terminal gets colours, and NO_COLOR disables them.
func TestColors(t *testing.T) {
	if (&process{}).colors(&bytes.Buffer{}) {
		t.Error("a buffer is coloured")
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if (&process{}).colors(f) {
		t.Error("a file is coloured")
	}
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no terminals here: ", err)
	}
	defer terminal.Close()
	for environ, want := range map[string]bool{"TERM=xterm": true, "NO_COLOR=1": false, "TERM=dumb": false} {
		if got := (&process{environ: []string{environ}}).colors(terminal); got != want {
			t.Errorf("a terminal with %s is coloured: %v", environ, got)
		}
	}
}
