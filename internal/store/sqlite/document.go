package sqlite

import (
	"context"
	"encoding/json"

	"pregon/internal/store"
	"pregon/internal/store/relational"
)

func putText(d *store.Document) (func(context.Context, relational.Tx), error) {
	pages, err := json.Marshal(d.Pages)
	return func(ctx context.Context, tx relational.Tx) {
		tx.Exec(ctx, nameDocument, d.SHA256)
		tx.Exec(ctx, "UPDATE document SET indexed = 1, unused_since = NULL WHERE sha256 = $1", d.SHA256)
		tx.Exec(ctx, `INSERT INTO document_text (document, bytes, head, pages) SELECT number, $2, $3, $4 FROM document WHERE sha256 = $1
			ON CONFLICT (document) DO UPDATE SET bytes = excluded.bytes, head = excluded.head, pages = excluded.pages`,
			d.SHA256, d.Bytes, d.Head, string(pages))
	}, err
}

// nameDocument assigns a number to a hash, unless it has one.
const nameDocument = "INSERT INTO document (sha256) VALUES ($1) ON CONFLICT (sha256) DO NOTHING"

var removeText = []string{
	"DELETE FROM document_text WHERE document = (SELECT number FROM document WHERE sha256 = $1)",
	"DELETE FROM document WHERE sha256 = $1",
}

// fileDocuments writes which reports have another document now.
func fileDocuments(ctx context.Context, tx relational.Tx, _ int64, documents map[string]string) {
	for report, sha256 := range documents {
		if sha256 == "" {
			tx.Exec(ctx, "DELETE FROM filed_document WHERE report = $1", report)
			continue
		}
		tx.Exec(ctx, nameDocument, sha256)
		tx.Exec(ctx, `INSERT INTO filed_document (report, document) SELECT $1, number FROM document WHERE sha256 = $2
			ON CONFLICT (report) DO UPDATE SET document = excluded.document`, report, sha256)
	}
}
