// Package longtest marks the tests that only `make test-all` runs.
package longtest

import "testing"

// Skip skips a test in `make test`, which runs tests with -short. The reason says what
// the test needs or why it takes long.
func Skip(t testing.TB, reason string) {
	t.Helper()
	if testing.Short() {
		t.Skipf("make test-all runs it: %s", reason)
	}
}
