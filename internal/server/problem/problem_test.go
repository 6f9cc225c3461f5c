package problem_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/fault"
	"pregon/internal/server/problem"
)

func write(t *testing.T, err error) (problem.Document, *httptest.ResponseRecorder) {
	t.Helper()
	w := httptest.NewRecorder()
	w.Header().Set(problem.RequestIDHeader, "req-1")
	w.Header().Set("ETag", `"stale"`)
	problem.Write(w, err)
	var doc problem.Document
	if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	return doc, w
}

func TestWriteFault(t *testing.T) {
	doc, w := write(t, fmt.Errorf("listing: %w", &fault.Error{
		Kind: fault.Invalid, Message: "limit must be between 1 and 50",
		Fields: []fault.Field{{Name: "limit", Value: strings.Repeat("9", 1000), Reason: "1 to 50"}},
		Err:    errors.New("internal detail"),
	}))
	want := problem.Document{
		Type: "urn:pregon:problem:invalid", Title: "Invalid request", Status: 400,
		Detail: "limit must be between 1 and 50", Instance: "req-1",
		Errors: []problem.Field{{Parameter: "limit", Value: strings.Repeat("9", 200) + "…", Reason: "1 to 50"}},
	}
	if diff := cmp.Diff(want, doc); diff != "" {
		t.Error(diff)
	}
	if w.Code != 400 || w.Header().Get("Content-Type") != "application/problem+json" || w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("ETag") != "" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}

func TestInternalsAreNotShown(t *testing.T) {
	for _, err := range []error{errors.New("pq: password wrong"), fault.New(fault.Internal, "at /srv/secret")} {
		doc, w := write(t, err)
		if w.Code != 500 || strings.Contains(w.Body.String(), "password") || strings.Contains(w.Body.String(), "secret") || doc.Instance != "req-1" {
			t.Errorf("%v is written as %s", err, w.Body)
		}
	}
}

func TestEveryKindHasAStatus(t *testing.T) {
	seen := map[int]fault.Kind{}
	for k := fault.Internal; k <= fault.Unavailable; k++ {
		doc, w := write(t, fault.New(k, "x"))
		if other, twice := seen[w.Code]; twice || doc.Title == "" {
			t.Errorf("%v has the status %d of %v", k, w.Code, other)
		}
		seen[w.Code] = k
	}
}

// A credential that was sent in a wrong place is not repeated.
func TestCredentialsAreMasked(t *testing.T) {
	const key = "pregon_live_0123456789ABCDEFGHIJabcdefghijkl012345"
	_, w := write(t, &fault.Error{
		Kind: fault.Invalid, Message: "there is no " + key,
		Fields: []fault.Field{{Name: "id", Value: key, Reason: "must not be " + key}},
	})
	again := httptest.NewRecorder()
	problem.OfStatus(405, "method-not-allowed", "not "+key).Write(again)
	if strings.Contains(w.Body.String()+again.Body.String(), key[:20]) {
		t.Errorf("%s%s", w.Body, again.Body)
	}
}
