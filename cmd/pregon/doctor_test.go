package main_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pregon/internal/source/doctor"
	"pregon/internal/test/longtest"
)

// diagnosis is the output of pregon doctor --json.
type diagnosis struct {
	Ready      bool
	Conclusion string
	Checks     []doctor.Check
}

func (d *diagnosis) check(t *testing.T, name string) doctor.Check {
	t.Helper()
	for _, c := range d.Checks {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("there is no check %s", name)
	return doctor.Check{}
}

// diagnose runs pregon doctor. Its exit status must agree with what it prints.
func diagnose(t *testing.T, args ...string) diagnosis {
	t.Helper()
	cmd := exec.Command(program, append([]string{"doctor", "--json", "--listen", "127.0.0.1:0"}, args...)...)
	cmd.Env = append(os.Environ(), cacheEnv(), "PREGON_SECRET_KEY="+strings.Repeat("hunter2", 6), "PREGON_LLM_KEY=hunter2")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		t.Fatal(err)
	}
	var d diagnosis
	if err := json.Unmarshal(out, &d); err != nil {
		t.Fatalf("%v: %s%s", err, out, stderr.String())
	}
	if d.Ready != (err == nil) || !d.Ready && !strings.Contains(stderr.String(), d.Conclusion) {
		t.Errorf("got %v and %q for %q", err, stderr.String(), d.Conclusion)
	}
	return d
}

// TestDoctor: a healthy source and machine are ready. The same verdicts follow from
// the saved answers, in which there is no secret. A broken surface is named.
func TestDoctor(t *testing.T) {
	longtest.Skip(t, "it reads every surface at the pace of the service")
	t.Parallel()
	for name, newStore := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec, source := newStore(t), startSource(t)
			_ = openStore(t, spec).Close()
			args := append(sourceArgs(source.url), "--store", spec, "--contact", "ops@pregon.example")
			first, second := filepath.Join(t.TempDir(), "new", "bundle"), t.TempDir()
			d := diagnose(t, append(args, "--save", first)...)
			for _, c := range d.Checks {
				if c.Verdict != doctor.OK && c.Name != "tesseract" && c.Name != "documents" { // which depend on this machine
					t.Errorf("%s: %v", c.Name, c.Findings)
				}
			}
			if !d.Ready || d.check(t, "contact").Found == "" || !strings.Contains(d.check(t, "store").Found, "newest change") {
				t.Errorf("got %+v", d)
			}
			compareReplay(t, d, diagnose(t, "--from", first))

			source.arm(t, `{"kind":"markup","surface":"list","type":"oir"}`)
			d = diagnose(t, append(args, "--save", second)...)
			if c := d.check(t, "list-oir"); d.Ready || !c.Loses || len(c.Findings) == 0 || c.Findings[0].Line == 0 || !strings.Contains(d.Conclusion, "list-oir (line ") {
				t.Errorf("got %q, %+v", d.Conclusion, c)
			}
			compareReplay(t, d, diagnose(t, "--from", second))
			checkPrivate(t, first, "hunter2", "ops@pregon.example", spec, strings.TrimPrefix(spec, "sqlite:"), "newest change")
			if out, err := exec.Command(program, "doctor", "--save", first).CombinedOutput(); err == nil || !strings.Contains(string(out), "is not empty") {
				t.Errorf("got %v: %s", err, out)
			}
		})
	}
}

// compareReplay compares the checks of the source with those of its bundle.
func compareReplay(t *testing.T, live, replayed diagnosis) {
	t.Helper()
	if live.Ready != replayed.Ready || live.Conclusion != replayed.Conclusion {
		t.Errorf("got %q from the bundle, want %q", replayed.Conclusion, live.Conclusion)
	}
	for n, c := range replayed.Checks {
		if want := live.Checks[n]; fmt.Sprint(c.Name, c.Verdict, c.Found, c.Findings) != fmt.Sprint(want.Name, want.Verdict, want.Found, want.Findings) {
			t.Errorf("got %+v from the bundle, want %+v", c, want)
		}
	}
}

// checkPrivate checks that a bundle can be read by its owner only, and that it has none of
// the secrets.
func checkPrivate(t *testing.T, dir string, secrets ...string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			t.Fatal(err)
		}
		body, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 || len(body) == 0 {
			t.Errorf("%s has mode %v and %d bytes", f.Name(), info.Mode(), len(body))
		}
		for _, secret := range secrets {
			if bytes.Contains(body, []byte(secret)) {
				t.Errorf("%s has %q", f.Name(), secret)
			}
		}
	}
	report, err := os.ReadFile(filepath.Join(dir, "report.txt"))
	if err != nil || !bytes.HasSuffix(report, []byte("\nready\n")) {
		t.Errorf("%v, %s", err, report)
	}
}

// TestDoctorStore: a store that serve could not use means that reports are lost, and
// an older one is not migrated.
func TestDoctorStore(t *testing.T) {
	longtest.Skip(t, "it runs the command ten times, each for seconds")
	t.Parallel()
	for name, newStore := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := newStore(t)
			version := "PRAGMA user_version = %d"
			if name == "postgres" {
				version = "UPDATE schema_version SET version = %d"
			}
			if d := diagnose(t, "--store", spec, "--source", "none"); !d.Ready {
				t.Errorf("an empty store: %q", d.Conclusion)
			}
			db := openStore(t, spec)
			if _, err := db.ClaimSource(t.Context(), "cnmv"); err != nil {
				t.Fatal(err)
			}
			_ = db.Close()
			if d := diagnose(t, "--store", spec, "--source", "demo"); d.Ready || !strings.Contains(d.Conclusion, "store (it belongs to the source cnmv") {
				t.Errorf("a store of another source: %q", d.Conclusion)
			}
			behind(t, spec, fmt.Sprintf(version, 3))
			for range 2 { // the first must leave it as it is
				if d := diagnose(t, "--store", spec, "--source", "none"); !d.Ready || !strings.Contains(d.check(t, "store").Found, "schema version 3: serve brings it to") {
					t.Errorf("an older store: %q, %+v", d.Conclusion, d.check(t, "store"))
				}
			}
			behind(t, spec, fmt.Sprintf(version, 9999))
			if d := diagnose(t, "--store", spec, "--source", "none"); d.Ready || !strings.Contains(d.Conclusion, "use a newer pregon") {
				t.Errorf("a newer store: %q", d.Conclusion)
			}
		})
	}
}

// TestDoctorMachine: what serve cannot do without means that reports are lost, and
// what it can do without does not.
func TestDoctorMachine(t *testing.T) {
	longtest.Skip(t, "it breaks the machine that it examines")
	t.Parallel()
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = busy.Close() }) // after the parallel tests
	store := func() string { return engines["sqlite"](t) }
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		check   string
		verdict doctor.Verdict
		loses   bool
		text    string
		args    []string
	}{
		"no model":       {"model", doctor.Failed, false, "model", []string{"--llm-url", "http://127.0.0.1:1", "--llm-model", "none"}},
		"no Redis":       {"redis", doctor.Failed, false, "does not answer", []string{"--redis", "redis://:hunter2@127.0.0.1:1/0"}},
		"no bucket":      {"bucket", doctor.Failed, true, "bucket", []string{"--documents-s3", "s3://bucket/prefix", "--s3-endpoint", "http://127.0.0.1:1"}},
		"no bulk bucket": {"bucket", doctor.Failed, true, "--bulk-s3", []string{"--bulk-s3", "s3://bucket/prefix", "--s3-endpoint", "http://127.0.0.1:1"}},
		"no snapshots":   {"snapshots", doctor.Failed, false, "not a directory", []string{"--bulk-dir", filepath.Join(file, "bulk")}},
		"no contact":     {"contact", doctor.Warning, false, "--contact", []string{"--source", "cnmv", "--role", "serve"}},
		"a busy address": {"listen", doctor.Warning, false, "in use", []string{"--listen", busy.Addr().String()}},
		"no address":     {"listen", doctor.Failed, true, "192.0.2.1", []string{"--listen", "192.0.2.1:8080"}},
		"no store":       {"store", doctor.Failed, true, "there is no store", []string{"--store", store() + "?mode=rw"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := diagnose(t, append([]string{"--source", "none", "--store", store()}, test.args...)...)
			c := d.check(t, test.check)
			if c.Verdict != test.verdict || c.Loses != test.loses || d.Ready == test.loses || len(c.Findings) != 1 || !strings.Contains(c.Findings[0].Text, test.text) {
				t.Errorf("got %q, %+v", d.Conclusion, c)
			}
			if strings.Contains(fmt.Sprint(d), "hunter2") {
				t.Error("a secret is printed")
			}
		})
	}
}
