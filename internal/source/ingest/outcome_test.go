package ingest

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
		"missing":   fault.New(fault.NotFound, "the regulator has no such page"),
		"failed":    errors.New("disk full"),
	} {
		if got := outcome(err); got != want || !slices.Contains(Outcomes, got) {
			t.Errorf("%v is %q, want %q", err, got, want)
		}
	}
}
