package store

import (
	"fmt"
	"time"
)

// FormatCreated returns the text in which engines store when a store was created.
func FormatCreated(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// ParseCreated parses a text of FormatCreated. The empty text is the zero time.
func ParseCreated(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}, fmt.Errorf("the store's time of creation is %q: %w", s, err)
	}
	return t, nil
}
