package main_test

import (
	"testing"

	"pregon/internal/test/longtest"
)

// A browser follows companies as people do.
func TestFollowing(t *testing.T) {
	longtest.Skip(t, "it needs Chromium")
	t.Parallel()
	r := startMarket(t)
	key := pregon(t, r.spec, "keys", "create", "--plan", "pro")
	runChecker(t, "following.mjs", r.serve.url, key, r.source.url)
}
