package disclosure_test

import (
	"testing"

	"pregon/internal/disclosure"
)

func TestIsSimulatedLink(t *testing.T) {
	const recorded = disclosure.SimulatedOrigin + "/ver?t=1"
	for _, test := range []struct {
		shown, recorded string
		want            bool
	}{
		{"http://127.0.0.1:8080/simulator/ver?t=1", recorded, true},
		{"https://pregon.example/simulator/ver?t=1", recorded, true},
		{"https://pregon.example/simulator/ver?t=2", recorded, false},
		{"https://pregon.example/ver?t=1", recorded, false},
		{"javascript:/simulator/ver?t=1", recorded, false},
		{"https://pregon.example/simulator/ver?t=1", "https://www.cnmv.es/ver?t=1", false},
	} {
		if got := disclosure.IsSimulatedLink(test.shown, test.recorded); got != test.want {
			t.Errorf("%s for %s: got %t, want %t", test.shown, test.recorded, got, test.want)
		}
	}
}
