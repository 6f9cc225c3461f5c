//go:build !race

package regulator_test

// hostileShare is the fraction of the largest inputs that is tested.
const hostileShare = 1
