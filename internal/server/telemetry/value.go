package telemetry

import "time"

// Bool returns the value of a gauge that is 1 for true and 0 for false.
func Bool(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Timestamp returns the value of a gauge that has a time: the seconds since 1970, 0 for
// the zero time.
func Timestamp(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}
