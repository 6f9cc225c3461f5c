package doctor_test

import (
	"bytes"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/source/doctor"
	"pregon/internal/test/longtest"
)

var update = flag.Bool("update", false, "write want.txt of the bundles in testdata")

// TestBundles plays the bundles in testdata. docs/operations.md says how to add one.
func TestBundles(t *testing.T) {
	dirs, err := filepath.Glob("testdata/*/index.json")
	if err != nil || len(dirs) == 0 {
		t.Fatal("there are no bundles", err)
	}
	for _, index := range dirs {
		dir := filepath.Dir(index)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, tape, err := doctor.LoadBundle(dir)
				if err != nil {
					t.Fatal(err)
				}
				var got bytes.Buffer
				checks := examine(t, tape, b.At)
				for _, c := range checks {
					if c.Verdict != doctor.Skipped {
						c.Print(&got)
					}
				}
				conclusion, _ := doctor.Conclude(checks)
				got.WriteString(conclusion + "\n")
				file := filepath.Join(dir, "want.txt")
				if *update {
					if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(want), got.String()); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}

// A bundle gives the same verdicts as the site, whatever is broken, and has neither
// cookies nor passwords.
func TestSave(t *testing.T) {
	longtest.Skip(t, "it takes many seconds")
	for _, fault := range []string{
		`{"kind":"stall","surface":"feed","type":"ip","by":"1h"}`, `{"kind":"truncate","surface":"list"}`, `{"kind":"markup","surface":"list"}`,
		`{"kind":"redirectloop","surface":"hr"}`, `{"kind":"reset","surface":"permalink"}`, `{"kind":"huge","surface":"feed","type":"oir"}`,
		`{"kind":"endless","surface":"register"}`, `{"kind":"error403","surface":"exchange"}`,
	} {
		t.Run(fault, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t)
				s.arm(fault)
				s.change = func(_ *http.Request, res *http.Response) {
					res.Header.Set("Set-Cookie", "session=hunter2")
					if to := res.Header.Get("Location"); to != "" {
						res.Header.Set("Location", "http://user:hunter2@127.0.0.1:1"+to)
					}
				}
				dir, tape, now := filepath.Join(t.TempDir(), "bundle"), doctor.Record(s), time.Now()
				live := examine(t, tape, now)
				root, err := doctor.CreateBundle(dir)
				if err != nil {
					t.Fatal(err)
				}
				b := doctor.Bundle{Version: "test", At: now, Regulator: "http://127.0.0.1:1", Exchange: "http://127.0.0.1:1", Checks: live}
				if err := b.Save(root, tape); err != nil {
					t.Fatal(err)
				}
				if _, err := doctor.CreateBundle(dir); err == nil || !strings.Contains(err.Error(), "not empty") {
					t.Errorf("got %v for a directory in use", err)
				}
				index, err := os.ReadFile(filepath.Join(dir, "index.json"))
				if err != nil || bytes.Contains(index, []byte("hunter2")) || bytes.Contains(index, []byte("Cookie")) {
					t.Errorf("%v, %s", err, index)
				}
				_, played, err := doctor.LoadBundle(dir)
				if err != nil {
					t.Fatal(err)
				}
				// Numbers that replace tokens of sessions are shorter.
				size := regexp.MustCompile(`[0-9]+ bytes`)
				sizeless := func(checks []doctor.Check) string { return size.ReplaceAllString(printed(checks), "bytes") }
				if diff := cmp.Diff(sizeless(live), sizeless(examine(t, played, now))); diff != "" {
					t.Errorf("(-live +played):\n%s", diff)
				}
			})
		})
	}
}

// A bundle that was changed by hand is refused with a reason.
func TestBadBundle(t *testing.T) {
	for index, want := range map[string]string{
		"":             "is not a bundle",
		"{":            "cannot be read",
		`{"format":2}`: "has format 2",
		`{"format":1,"regulator":"http://u:p@h","exchange":"http://h"}`:                                                 "with two origins",
		`{"format":1,"regulator":"http://h","exchange":"http://h","answers":[{"file":"../../../../../../etc/passwd"}]}`: "escapes",
		`{"format":1,"regulator":"http://h","exchange":"http://h","answers":[{"file":"none"}]}`:                         "no such file",
	} {
		dir := t.TempDir()
		if index != "" {
			if err := os.WriteFile(filepath.Join(dir, "index.json"), []byte(index), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, err := doctor.LoadBundle(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", index, err, want)
		}
	}
}
