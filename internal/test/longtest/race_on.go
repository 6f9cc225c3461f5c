//go:build race

package longtest

// Race reports whether the race detector runs, which makes everything several times slower.
const Race = true
