package filler

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Random is a random number generator with the distributions that the simulated
// market needs.
type Random struct{ *rand.Rand }

// NewRandom returns the generator of a seed of two numbers.
func NewRandom(a, b uint64) Random { return Random{rand.New(rand.NewPCG(a, b))} }

// Mix returns a hash of a number. It is the finalizer of SplitMix64.
func Mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Percent returns true with a probability of p in a hundred.
func (r Random) Percent(p int) bool { return r.IntN(100) < p }

// Between returns an integer from low to high, both included.
func (r Random) Between(low, high int) int { return low + r.IntN(high-low+1) }

// LogUniform returns a number from low to high whose orders of magnitude are
// equally likely, as those of amounts of money are.
func (r Random) LogUniform(low, high float64) float64 {
	return low * math.Exp(r.Float64()*math.Log(high/low))
}

// GUID returns a random UUID.
func (r Random) GUID() string {
	a, b := r.Uint64(), r.Uint64()
	return fmt.Sprintf("%08x-%04x-4%03x-%04x-%012x", a>>32, a>>16&0xffff, a&0xfff, b>>50|0x8000, b&(1<<48-1))
}

// Pick returns an element of a list.
func Pick[T any](r Random, from []T) T { return from[r.IntN(len(from))] }
