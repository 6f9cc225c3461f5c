package compact

import (
	"context"
	"slices"
	"strings"

	"pregon/internal/store/relational"
)

// unusedOriginals returns the hashes of the documents whose bytes are stored and
// that no report has.
func unusedOriginals(ctx context.Context, b *relational.Base) (unused []string, err error) {
	used := map[string]bool{}
	var report, sha256 string
	err = relational.Each(ctx, b, []any{&report, &sha256}, func() error {
		used[strings.Clone(sha256)] = true
		return nil
	}, b.FiledDocuments)
	if err == nil {
		err = relational.Each(ctx, b, []any{&sha256}, func() error {
			if !used[sha256] {
				unused = append(unused, strings.Clone(sha256))
			}
			return nil
		}, `SELECT sha256 FROM original`)
	}
	if err != nil {
		return nil, b.Failed("listing documents", err)
	}
	return unused, nil
}

func removeOriginals(ctx context.Context, s Store, hold func(context.Context) error) error {
	if err := hold(ctx); err != nil {
		return err
	}
	b := s.Relational()
	unused, err := unusedOriginals(ctx, b)
	if err != nil {
		return err
	}
	for some := range slices.Chunk(unused, 20) { // each may have 50 MB
		if err := hold(ctx); err != nil {
			return err
		}
		if err := b.Exec(ctx, `DELETE FROM original WHERE sha256 = ANY($1)`, some); err != nil {
			return b.Failed("removing documents", err)
		}
	}
	return nil
}
