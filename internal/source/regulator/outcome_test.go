package regulator_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pregon/internal/fault"
	"pregon/internal/source/regulator"
)

func TestOutcome(t *testing.T) {
	for want, err := range map[string]error{
		"ok":        nil,
		"status":    fmt.Errorf("asking: %w", &regulator.StatusError{Status: 500}),
		"transport": &regulator.TransportError{Err: errors.New("away")},
		"markup":    &regulator.MarkupError{Surface: "list of OIR"},
		"missing":   fault.New(fault.NotFound, "the regulator does not have this page"),
		"failed":    errors.New("disk full"),
	} {
		if got := regulator.Outcome(err); got != want || !slices.Contains(regulator.Outcomes, got) {
			t.Errorf("Outcome(%v): got %q, want %q", err, got, want)
		}
	}
}
