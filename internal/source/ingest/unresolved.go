package ingest

import (
	"context"
	"slices"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/retry"
)

// tieLoose finds the reports that others have to do with and that were not
// known when those came: a back-fill brings the later of two first.
func (s *session) tieLoose(ctx context.Context) error {
	const recent, all = 7 * 24 * time.Hour, time.Hour
	tied := -1 // how many reports there were
	var last time.Time
	for {
		if err := retry.Sleep(ctx, s.intervals.loose); err != nil {
			return err
		}
		n := s.known.Len()
		if n == tied {
			continue
		}
		since := time.Now().Add(-recent)
		if time.Since(last) > all {
			since, last = time.Time{}, time.Now()
		}
		if s.tie(ctx, since) == nil {
			tied = n
		}
	}
}

// tie tells the store of every loose report since an instant once more, as it
// is known: what it has to do with is looked for on the way.
func (s *session) tie(ctx context.Context, since time.Time) error {
	for some := range slices.Chunk(s.known.Loose(since), 100) {
		for n := range some {
			some[n].ForgetDocument() // which may be told anew meanwhile
		}
		if _, err := s.append(ctx, disclosure.Published, some); err != nil {
			return err
		}
	}
	return nil
}
