package fault_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"pregon/internal/fault"
)

func TestKindSurvivesWrapping(t *testing.T) {
	err := fmt.Errorf("opening: %w", fault.Wrap(fault.Unavailable, io.ErrUnexpectedEOF, "the store does not answer"))
	if got := fault.KindOf(err); got != fault.Unavailable {
		t.Errorf("KindOf = %v, want unavailable", got)
	}
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error("the cause is lost")
	}
}

func TestUnclassifiedIsInternal(t *testing.T) {
	for _, err := range []error{nil, io.EOF, errors.Join(io.EOF, io.ErrNoProgress)} {
		if got := fault.KindOf(err); got != fault.Internal {
			t.Errorf("KindOf(%v) = %v, want internal", err, got)
		}
	}
}

func TestKindNames(t *testing.T) {
	seen := map[string]bool{}
	for k := fault.Internal; k <= fault.Unavailable; k++ {
		if s := k.String(); s == "" || seen[s] {
			t.Errorf("kind %d has the name %q", k, s)
		} else {
			seen[s] = true
		}
	}
	if got := fault.Kind(200).String(); got != "kind 200" {
		t.Errorf("unknown kind prints %q", got)
	}
}
