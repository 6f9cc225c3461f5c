package compact

import (
	"context"
	"slices"
	"strings"

	"pregon/internal/disclosure"
	"pregon/internal/store/relational"
)

// unusedOriginals returns the hashes of the bytes that are stored and that no report
// refers to, as its document or as the evidence of its facts, and the number of these
// bytes.
func unusedOriginals(ctx context.Context, s Store) (unused []string, bytes int64, err error) {
	b := s.Relational()
	used := map[string]bool{}
	var report, sha256 string
	var size int64
	err = relational.Each(ctx, b, []any{&report, &sha256}, func() error {
		used[strings.Clone(sha256)] = true
		return nil
	}, b.FiledDocuments)
	if err == nil {
		_, err = s.Current(ctx, func(c disclosure.Change) error {
			if c.Report != nil && c.Report.FactsDetail != "" {
				used[strings.Clone(c.Report.FactsDetail)] = true
			}
			return nil
		})
	}
	if err == nil {
		err = relational.Each(ctx, b, []any{&sha256, &size}, func() error {
			if !used[sha256] {
				unused = append(unused, strings.Clone(sha256))
				bytes += size
			}
			return nil
		}, `SELECT sha256, length(body) FROM original`)
	}
	if err != nil {
		return nil, 0, b.Failed("listing documents", err)
	}
	return unused, bytes, nil
}

func removeOriginals(ctx context.Context, s Store, hold func(context.Context) error) error {
	if err := hold(ctx); err != nil {
		return err
	}
	b := s.Relational()
	unused, _, err := unusedOriginals(ctx, s)
	if err != nil {
		return err
	}
	for some := range slices.Chunk(unused, 20) { // each may have 50 MB
		if err := hold(ctx); err != nil {
			return err
		}
		if err := b.Exec(ctx, `DELETE FROM original WHERE sha256 `+b.SQL.In(`$1`), some); err != nil {
			return b.Failed("removing documents", err)
		}
	}
	return nil
}
