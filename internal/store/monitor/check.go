package monitor

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"pregon/internal/retry"
)

const (
	checkEvery = 24 * time.Hour
	checkAgain = time.Hour       // after a check that failed
	checkFor   = 5 * time.Minute // at most
)

// checker is a store that can check its data for damage.
type checker interface {
	// Check reads the store and calls found for each part when it was read. It ends
	// early, with an error, when the context does.
	Check(ctx context.Context, found func(part string, damaged bool)) error
}

// CanCheck reports whether the store can check its data for damage.
func (s *Store) CanCheck() bool {
	_, ok := s.Store.(checker)
	return ok
}

// RunChecks checks the store now and every day, until the context ends. It does
// nothing for a store that is not a checker.
func (s *Store) RunChecks(ctx context.Context) error {
	c, ok := s.Store.(checker)
	if !ok {
		<-ctx.Done()
		return ctx.Err()
	}
	for {
		wait := checkEvery
		if !s.check(ctx, c) {
			wait = checkAgain
		}
		if err := retry.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// check checks the store once, and reports whether the next check can wait a day.
func (s *Store) check(ctx context.Context, c checker) bool {
	start := time.Now()
	checking, cancel := context.WithTimeout(ctx, checkFor)
	defer cancel()
	left := slices.Clone(Parts)
	var damaged []string
	err := c.Check(checking, func(part string, broken bool) {
		left = slices.DeleteFunc(left, func(p string) bool { return p == part })
		if broken {
			damaged = append(damaged, part)
		}
		s.SetDamaged(part, broken)
	})
	if ctx.Err() != nil {
		return false
	}
	if err != nil {
		s.logger.Warn("the check of the store for damage was not completed",
			"unchecked", left, "damaged", damaged, "duration_seconds", time.Since(start).Seconds(), "err", err)
		return checking.Err() != nil // the next check would also run out of time
	}
	level := slog.LevelDebug // the usual result
	if len(damaged) > 0 {
		level = slog.LevelWarn
	}
	s.logger.Log(ctx, level, "the store was checked for damage", "damaged", damaged, "duration_seconds",
		time.Since(start).Seconds())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.checked = start
	return true
}

// Checked returns when the last check that read every part began, zero when there
// was none.
func (s *Store) Checked() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.checked
}
