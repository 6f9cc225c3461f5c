package docfetch

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pregon/internal/document/extract"
)

func TestClassify(t *testing.T) {
	for want, err := range map[string]error{
		"cannot be read: it is encrypted.":              fmt.Errorf("x: %w", &extract.Unreadable{Reason: "it is encrypted"}),
		"a page of its own":                             extract.ErrSitePage,
		"The service cannot read documents at present.": errors.New("the disk is full on host db-7"),
	} {
		if got := classify(err).reason; !strings.Contains(got, want) || strings.Contains(got, "db-7") {
			t.Errorf("reason of %v: got %q, want %q and no host", err, got, want)
		}
	}
}
