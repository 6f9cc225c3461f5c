//go:build !race

package extract_test

const race = false
