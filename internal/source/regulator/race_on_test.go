//go:build race

package regulator_test

// hostileShare is the fraction of the largest inputs that is tested: the race detector
// makes parsers ten times as slow.
const hostileShare = 8
