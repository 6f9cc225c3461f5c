package main_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"pregon/internal/disclosure"
	"pregon/internal/store/storetest"
)

// simulated returns the ids of the reports in the file of the simulated market.
func simulated(t *testing.T, file string, types ...disclosure.Type) (ids []string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	whole := data[:bytes.LastIndexByte(data, '\n')+1] // the last line may be incomplete
	for line := range bytes.Lines(whole) {
		var f struct{ ID string }
		if err := json.Unmarshal(line, &f); err != nil {
			t.Fatal(err)
		}
		if series, _, ok := disclosure.ParseReportID(f.ID); ok && slices.Contains(types, series) {
			ids = append(ids, f.ID)
		}
	}
	return ids
}

// TestDemo is what `make run` does, in an empty directory.
func TestDemo(t *testing.T) {
	// Requests to other machines go through this proxy.
	var outside atomic.Int64
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		outside.Add(1)
		w.WriteHeader(http.StatusBadGateway)
	}))
	defer proxy.Close()
	for name, newStore := range engines {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			spec := "sqlite:data/pregon.db"
			atRest := "sqlite:" + filepath.Join(dir, "data", "pregon.db")
			if name == "postgres" {
				spec = newStore(t)
				atRest = spec
			}
			d := &demoRun{dir: dir, file: filepath.Join(dir, "data", "sim.jsonl"), env: []string{
				"PREGON_STORE=" + spec, "HTTP_PROXY=" + proxy.URL, "HTTPS_PROXY=" + proxy.URL,
			}}
			d.play(t, atRest)
		})
	}
	if n := outside.Load(); n > 0 {
		t.Errorf("the simulated market was read with %d requests to other machines", n)
	}
}

// demoRun is `serve --source demo` in a directory.
type demoRun struct {
	dir, file string
	env       []string
	serve     *service
}

func (d *demoRun) start(t *testing.T, rate string) {
	t.Helper()
	s, err := startService(d.env, d.dir, "--source", "demo", "--rate", rate)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	d.serve = s
}

// total returns the number of reports. The answer must name the demo source.
func (d *demoRun) total(t *testing.T) int {
	t.Helper()
	var list struct{ Total int }
	header, err := fetch(d.serve.url, "/api/v1/reports?limit=1", &list)
	if err != nil {
		t.Fatal(err)
	}
	if header.Get("Pregon-Source") != "demo" {
		t.Errorf("Pregon-Source: got %q, want demo", header.Get("Pregon-Source"))
	}
	return list.Total
}

// shows waits until all reports are listed, each once; while the market moves
// a report may be found on two pages.
func (d *demoRun) shows(t *testing.T, ids []string, moves bool) {
	t.Helper()
	eventually(t, func() error {
		list, err := listed(d.serve.url)
		if err != nil && !(moves && errors.Is(err, errMoved)) {
			return err
		}
		for _, id := range ids {
			if list[id] != 1 && !(moves && list[id] > 1) {
				return fmt.Errorf("%s is listed %d times, want 1", id, list[id])
			}
		}
		return nil
	})
}

// refused checks that another start fails with a sentence.
func (d *demoRun) refused(t *testing.T, sentence string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, "serve", "--listen", "127.0.0.1:0", "--source", "demo")
	cmd.Dir, cmd.Env = d.dir, d.env
	out, err := cmd.CombinedOutput()
	if err == nil || !regexp.MustCompile(`^pregon: `+sentence+`.*\n$`).Match(out) {
		t.Errorf("another start: got %v and %q, want an error and %q", err, out, sentence)
	}
}

// announces checks that the address is the last line, but for warnings and the
// requests of the test.
func (d *demoRun) announces(t *testing.T) {
	t.Helper()
	line := "Pregón is ready: " + d.serve.url + "/\n"
	eventually(t, func() error {
		if !strings.Contains(d.serve.log.String(), line) {
			return fmt.Errorf("no line is %q", line)
		}
		return nil
	})
	if _, after, _ := strings.Cut(d.serve.log.events(), line); strings.Contains(after, "level=INFO") || strings.Contains(after, line) {
		t.Errorf("more follows the address:\n%s", after)
	}
}

func (d *demoRun) play(t *testing.T, spec string) {
	d.start(t, "600/min")
	before := d.total(t)
	if before == 0 {
		t.Error("the market is ready but has no reports")
	}
	eventually(t, func() error {
		if len(simulated(t, d.file, disclosure.IP, disclosure.OIR)) < 10 {
			return errors.New("the market does not publish")
		}
		return nil
	})
	ids := simulated(t, d.file, disclosure.IP, disclosure.OIR)
	d.shows(t, ids, true)
	eventually(t, func() error {
		if after := d.total(t); after <= before {
			return fmt.Errorf("reports: got %[2]d, want more than %[1]d", before, after)
		}
		return nil
	})
	d.announces(t)
	d.refused(t, "another process serves the simulated market of data/sim.jsonl")

	// After a crash the same market continues, with the reports not yet read.
	_ = d.serve.end(syscall.SIGKILL)
	ids = simulated(t, d.file, disclosure.IP, disclosure.OIR)
	d.start(t, "0")
	d.shows(t, ids, false)
	d.announces(t)
	if now := simulated(t, d.file, disclosure.IP, disclosure.OIR); !slices.Equal(now, ids) {
		t.Errorf("reports in the market: got %[2]d, want %[1]d", len(ids), len(now))
	}
	if err := d.serve.end(syscall.SIGTERM); err != nil {
		t.Errorf("serve did not end cleanly: %v\n%s", err, d.serve.log)
	}
	db := openStore(t, spec)
	storetest.CheckLog(t, db)
	storetest.Verify(t, db)

	// A store whose market file is missing is refused.
	if err := os.Rename(d.file, d.file+".away"); err != nil {
		t.Fatal(err)
	}
	d.refused(t, "the store holds another simulated market than data/sim.jsonl: ")
	if err := os.Rename(d.file+".away", d.file); err != nil {
		t.Fatal(err)
	}
	d.start(t, "0")
	d.shows(t, ids, false)
}
