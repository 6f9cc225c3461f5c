package main_test

import (
	"testing"

	"pregon/internal/test/longtest"
)

// A browser uses the pages of accounts as people do, and attacks them.
func TestConsole(t *testing.T) {
	longtest.Skip(t, "it needs Chromium")
	t.Parallel()
	r := newReader(t, startSource(t), engines["sqlite"](t))
	r.serve = r.startServe(t, "--webhook-allow-private")
	r.started(t)
	key := pregon(t, r.spec, "keys", "create", "--plan", "pro", "--name", "Mesa de análisis")
	operator := pregon(t, r.spec, "keys", "create", "--plan", "operator", "--name", "Operaciones")
	runChecker(t, "console.mjs", r.serve.url, key, operator, r.source.url)
}
