package rest

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/query"
	"pregon/internal/source/coverage"
	"pregon/internal/store/sqlite"
)

// Use is counted under the names of the document.
func TestOperations(t *testing.T) {
	var document struct {
		Paths map[string]map[string]yaml.Node `yaml:"paths"`
	}
	if err := yaml.Unmarshal(embeddedYAML, &document); err != nil {
		t.Fatal(err)
	}
	for _, rt := range routes {
		method, path, _ := strings.Cut(rt.pattern, " ")
		var described struct {
			OperationID string `yaml:"operationId"`
		}
		node := document.Paths[strings.Replace(path, "...}", "}", 1)][strings.ToLower(method)]
		if err := node.Decode(&described); err != nil {
			t.Errorf("%s: %v", rt.pattern, err)
		}
		if rt.operation == "" || rt.operation != described.OperationID {
			t.Errorf("the operation of %s is %q, and its operationId %q", rt.pattern, rt.operation, described.OperationID)
		}
	}
}

// An internal error is logged once, and not shown.
func TestInternalError(t *testing.T) {
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "pregon.db"), sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	c := catalog.New(db, slog.New(slog.DiscardHandler))
	if err := c.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	a, err := New(Options{
		Query: query.New(query.Options{Catalog: c, Coverage: coverage.New(db)}), Guard: access.NewGuard(access.Options{}),
		Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	fails := func(*API, *http.Request, *catalog.Snapshot) (response, error) {
		return response{}, errors.New("at /srv/secret")
	}
	w := httptest.NewRecorder()
	a.serve(route{handle: fails, need: public(0)}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	if got, want := w.Code, http.StatusInternalServerError; got != want {
		t.Errorf("got %d, want %d", got, want)
	}
	if strings.Contains(w.Body.String(), "secret") {
		t.Errorf("the response exposes the internal error: %s", w.Body)
	}
	if n := strings.Count(log.String(), "at /srv/secret"); n != 1 {
		t.Errorf("the failure is logged %d times, want once:\n%s", n, log.String())
	}
}
