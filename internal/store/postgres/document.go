package postgres

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"pregon/internal/store"
	"pregon/internal/store/relational"
)

// PutDocument writes the document's row first: another transaction that puts the
// same document waits there, and then finds all of its parts.
func (s *Store) PutDocument(ctx context.Context, d store.Document) error {
	d, err := d.Clean()
	if err != nil {
		return failed("keeping a document", err)
	}
	if d.Pages == nil {
		d.Pages = []string{} // nil is NULL
	}
	err = s.transact(ctx, s.pool, readCommitted, func(tx relational.Tx) error {
		tx.Exec(ctx, `SET LOCAL idle_in_transaction_session_timeout = '30s'`)
		tx.Exec(ctx, `INSERT INTO document (sha256, bytes, head, pages) VALUES ($1, $2, $3, $4)
			ON CONFLICT (sha256) DO UPDATE SET bytes = excluded.bytes, head = excluded.head, pages = excluded.pages`,
			d.SHA256, d.Bytes, d.Head, d.Pages)
		tx.Exec(ctx, `DELETE FROM document_part WHERE sha256 = $1`, d.SHA256)
		for part := range d.Parts {
			tx.Exec(ctx, `INSERT INTO document_part (sha256, part, words) VALUES ($1, $2, $3::text::tsvector)`,
				d.SHA256, part+1, vector(&d.Parts[part]))
		}
		return nil
	})
	if err != nil {
		return failed("keeping the document "+d.SHA256, err)
	}
	return nil
}

// vector writes a part as a tsvector: 'word':1,7 of words, and '~stem' of stems.
// Words need no quoting beyond the quotes: see store.Part.
func vector(p *store.Part) string {
	places := make(map[string][]byte, len(p.Words))
	for i, word := range p.Words {
		at, again := places[word]
		if again {
			at = append(at, ',')
		}
		places[word] = strconv.AppendInt(at, int64(i+1), 10)
	}
	var b strings.Builder
	for word, at := range places {
		fmt.Fprintf(&b, "'%s':%s ", word, at)
	}
	for _, stem := range p.Stems {
		fmt.Fprintf(&b, "'%s%s' ", store.StemMark, stem)
	}
	return b.String()
}

func (s *Store) FindInDocuments(ctx context.Context, q store.WordQuery) (ids []string, err error) {
	if err = q.Check(); err == nil {
		const match = `SELECT sha256 FROM document_part WHERE words @@ $%d::tsquery`
		matching, args := relational.Matching(q, match, func(phrases []store.Phrase) string {
			return relational.Expression(phrases, `'`, `' <-> '`, `:*`, ` | `)
		})
		ids, err = s.find(ctx, `SELECT report FROM filed_document WHERE sha256 IN (`+matching+`)`, args)
	}
	if err != nil {
		return nil, failed("searching in documents", err)
	}
	return ids, nil
}

// find searches for reports through an index. By default the planner prefers a
// sequential scan when a word is common: it estimates the size of the table
// without the words, which are stored out of line and compressed.
func (s *Store) find(ctx context.Context, query string, args []any) (ids []string, err error) {
	err = s.snapshot(ctx, func(tx relational.Tx) error {
		tx.Exec(ctx, `SET LOCAL enable_seqscan = off`)
		ids, err = relational.Column[string](ctx, tx, query, args...)
		return err
	})
	return ids, err
}
