//go:build !race

package regulator_test

// hostileShare is the part of the largest inputs that is tried: all.
const hostileShare = 1
