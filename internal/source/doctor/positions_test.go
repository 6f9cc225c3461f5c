package doctor_test

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/source/doctor"
	"pregon/internal/test/longtest"
)

var guidForm = regexp.MustCompile(`(?i)qS=[^"'&\s]*[0-9a-f]{8}-[0-9a-f]{4}-`)

// TestBundleHasNoSessions: a bundle has the pages of the registers, without the tokens of
// their links, and can be played.
func TestBundleHasNoSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		tape := doctor.Record(s)
		now := time.Now()
		checks := examine(t, tape, now)
		dir := filepath.Join(t.TempDir(), "bundle")
		root, err := doctor.CreateBundle(dir)
		if err != nil {
			t.Fatal(err)
		}
		bundle := doctor.Bundle{
			At:        now,
			Regulator: "http://127.0.0.1:1",
			Exchange:  "http://127.0.0.1:1",
			Checks:    checks,
		}
		if err := bundle.Save(root, tape); err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		replaced := 0
		for _, file := range files {
			body, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if found := guidForm.Find(body); found != nil {
				t.Errorf("%s has %s", filepath.Base(file), found)
			}
			replaced += bytes.Count(body, []byte("qS=%7Bsession-"))
		}
		if replaced < 10 || !slices.ContainsFunc(s.asked, guidForm.MatchString) {
			t.Errorf("%d tokens were replaced", replaced)
		}
		_, played, err := doctor.LoadBundle(dir)
		if err != nil {
			t.Fatal(err)
		}
		for n, c := range examine(t, played, now) {
			if c.Verdict != checks[n].Verdict || c.Found != checks[n].Found {
				t.Errorf("%s is %s (%s) when it is played, and was %s (%s)",
					c.Name, c.Verdict, c.Found, checks[n].Verdict, checks[n].Found)
			}
		}
	})
}

// TestPositionsBroken: a broken page of the walk fails its own check, and the pages
// before it stay good.
func TestPositionsBroken(t *testing.T) {
	longtest.Skip(t, "it reads all surfaces eight times")
	for path, name := range map[string]string{
		"directivos-resultado":           "registers/dealings",
		"busquedaultimosdias":            "registers/last-days",
		"ps_ac_ini":                      "registers/holdings",
		"notificaciones-participaciones": "registers/holdings-present",
		"notificacionesanteriores?":      "registers/holdings-history",
		"autocartera":                    "registers/own-shares",
		"notificacionesanterioresac":     "registers/own-shares-history",
		"datosgenerales":                 "registers/general-data",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t)
				s.change = func(req *http.Request, res *http.Response) {
					if strings.Contains(req.URL.RequestURI(), path) {
						res.StatusCode = http.StatusBadGateway
					}
				}
				for _, c := range examine(t, doctor.Record(s), time.Now()) {
					if (c.Verdict == doctor.Failed) != (c.Name == name) || c.Loses {
						t.Errorf("%s is %s: %v", c.Name, c.Verdict, c.Findings)
					}
					for _, a := range c.Answers {
						if guidForm.MatchString(a.Request) {
							t.Errorf("%s tells the token of %s", c.Name, a.Request)
						}
					}
				}
			})
		})
	}
}
