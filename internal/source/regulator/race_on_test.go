//go:build race

package regulator_test

// hostileShare is the part of the largest inputs that is tried: the race
// detector makes parsers ten times as slow, and no less linear.
const hostileShare = 8
