package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

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
		_, lines, _ := strings.Cut(out.String(), "\n") // after who does it
		want := "loading: 5 of 40 steps (12%)\nloading: 10 of 40 steps (25%)\nloading: 15 of 40 steps (37%)\nloading: 20 of 40 steps (50%)\n"
		if lines != want {
			t.Errorf("%q, want %q", lines, want)
		}
		out.Reset()
		b := newBar(&out, "importing", "bytes", -1)
		for range 7 {
			b.add(100)
			time.Sleep(time.Second)
		}
		if want := "importing: 600 bytes\n"; out.String() != want {
			t.Errorf("%q, want %q", out.String(), want)
		}
	})
}

// An interrupted back-fill says how far it came, and who continues.
func TestInterruptedBackfill(t *testing.T) {
	job := coverage.Job{Steps: 12, Total: 40}
	for name, test := range map[string]struct {
		view progress
		job  coverage.Job
		want string
	}{
		"early":      {progress{}, coverage.Job{}, "interrupted before the first step; the same command continues"},
		"alone":      {progress{bar: &bar{}, ours: true}, job, "interrupted after 12 of 40 steps; no service reads the source: the same command continues"},
		"by service": {progress{bar: &bar{}}, job, "interrupted after 12 of 40 steps; the service that reads the source continues"},
	} {
		if err := test.view.interrupted(test.job); !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

func TestTailLines(t *testing.T) {
	const report = `{"id":"ip-3401","type":"IP","company_name":"OTRA","title":"Uno\u001b[2Jdos","published_at":"2026-04-22T12:00:00+02:00","event":"report.updated","changed":["title"]}`
	for name, test := range map[string]struct {
		tail tailCmd
		want string
	}{
		"plain":  {tailCmd{}, "2026-04-22 12:00:00  IP   ip-3401     OTRA                              Uno\ufffd[2Jdos (report.updated title)\n"},
		"colour": {tailCmd{colors: true}, "\x1b[2m2026-04-22 12:00:00\x1b[0m  \x1b[1;31mIP \x1b[0m  ip-3401     OTRA                              Uno\ufffd[2Jdos\x1b[2m (report.updated title)\x1b[0m\n"},
		"json":   {tailCmd{JSON: true, colors: true}, report + "\n"},
		"format": {tailCmd{Format: "json"}, report + "\n"},
	} {
		var out bytes.Buffer
		if err := test.tail.print(&out, []byte(report)); err != nil || out.String() != test.want {
			t.Errorf("%s: %v\n%q, want\n%q", name, err, out.String(), test.want)
		}
	}
}

// What is no terminal gets no colours, and NO_COLOR wins over one.
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
