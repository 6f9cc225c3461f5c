package main_test

import "testing"

// A browser uses the site as people do.
func TestSite(t *testing.T) {
	t.Parallel()
	r := startMarket(t)
	key := pregon(t, r.spec, "keys", "create", "--plan", "pro")
	runChecker(t, "site.mjs", r.serve.url, key, r.source.url)
}
