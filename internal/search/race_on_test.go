//go:build race

package search_test

// raceDetector makes everything several times slower.
const raceDetector = true
