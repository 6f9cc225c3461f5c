package postgres

import (
	"context"

	"pregon/internal/store"
	"pregon/internal/store/relational"
)

func putText(d *store.Document) (func(context.Context, relational.Tx), error) {
	return func(ctx context.Context, tx relational.Tx) {
		tx.Exec(ctx, `INSERT INTO document (sha256, bytes, head, pages, indexed) VALUES ($1, $2, $3, $4, true)
			ON CONFLICT (sha256) DO UPDATE SET
				bytes = excluded.bytes, head = excluded.head, pages = excluded.pages, indexed = true, unused_since = NULL`,
			d.SHA256, d.Bytes, d.Head, relational.NotNull(d.Pages))
		// Segments become visible in the order of their ids, which are drawn next. Otherwise
		// the newest text of a document could be in a segment that seems older than another,
		// into which its former text was merged meanwhile.
		tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, int64(storing))
	}, nil
}
