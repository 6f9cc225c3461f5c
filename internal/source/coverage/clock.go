package coverage

import "time"

// skew is how far the clocks of two machines may differ.
const skew = time.Minute

// Elapsed reports whether a duration has passed since a time that was stored, by this
// process or another. A time in the future was stored before the clock was set back: it
// says nothing, and what depends on it is done again rather than hours too late.
func Elapsed(stored time.Time, d time.Duration) bool {
	age := time.Since(stored)
	return age >= d || age < -skew
}
