package ingest

import (
	"context"
	"slices"

	"pregon/internal/disclosure"
)

// tieLoose finds the filings that others have to do with and that were not
// known when those came: a back-fill brings the later of two first.
func (s *session) tieLoose(ctx context.Context) error {
	tied := -1 // how many filings there were
	for {
		if err := pause(ctx, s.rhythm.loose); err != nil {
			return err
		}
		if n := s.known.Len(); n != tied && s.tie(ctx) == nil {
			tied = n
		}
	}
}

// tie tells the store of every loose filing once more, as it is known: what it
// has to do with is looked for on the way.
func (s *session) tie(ctx context.Context) error {
	for some := range slices.Chunk(s.known.Loose(), 100) {
		if _, err := s.append(ctx, disclosure.Published, some); err != nil {
			return err
		}
	}
	return nil
}
