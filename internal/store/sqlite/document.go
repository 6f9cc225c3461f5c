package sqlite

import (
	"context"
	"encoding/json"
	"strings"

	"pregon/internal/store"
	"pregon/internal/store/relational"
)

// partBits is the number of low bits of a rowid of word that hold the number of
// the part. The other bits hold the number of the document.
const partBits = 20

// PutDocument prepares as much as possible before the transaction, since other
// writers wait for it.
func (s *Store) PutDocument(ctx context.Context, d store.Document) error {
	d, err := d.Clean()
	if err != nil {
		return failed("keeping a document", err)
	}
	pages, err := json.Marshal(d.Pages)
	if err != nil {
		return err
	}
	texts := make([]string, len(d.Parts))
	for i := range d.Parts {
		texts[i] = indexed(&d.Parts[i])
	}
	err = s.update(ctx, func(tx relational.Tx) error {
		number, err := putDocument(ctx, tx, &d, string(pages))
		if err != nil {
			return err
		}
		for part, text := range texts {
			tx.Exec(ctx, "INSERT INTO word (rowid, words) VALUES ($1, $2)", number<<partBits|int64(part), text)
		}
		return nil
	})
	if err != nil {
		return failed("keeping the document "+d.SHA256, err)
	}
	return nil
}

// indexed returns the text of a part for the table word.
func indexed(p *store.Part) string {
	var b strings.Builder
	for _, word := range p.Words {
		b.WriteString(word)
		b.WriteByte(' ')
	}
	seen := make(map[string]bool, len(p.Stems))
	for _, stem := range p.Stems {
		if seen[stem] {
			continue
		}
		seen[stem] = true
		b.WriteString(store.StemMark)
		b.WriteString(stem)
		b.WriteByte(' ')
	}
	return b.String()
}

// putDocument writes all of a document but its words, deletes its old words, and
// returns its number.
func putDocument(ctx context.Context, tx relational.Tx, d *store.Document, pages string) (number int64, err error) {
	tx.Exec(ctx, nameDocument, d.SHA256)
	var parts int64
	_, err = relational.One(ctx, tx, []any{&number, &parts}, "SELECT number, parts FROM document WHERE sha256 = $1", d.SHA256)
	if err != nil {
		return 0, err
	}
	for part := range parts {
		tx.Exec(ctx, "DELETE FROM word WHERE rowid = $1", number<<partBits|part)
	}
	tx.Exec(ctx, "UPDATE document SET parts = $1 WHERE number = $2", len(d.Parts), number)
	tx.Exec(ctx, `INSERT INTO document_text (document, bytes, head, pages) VALUES ($1, $2, $3, $4)
		ON CONFLICT (document) DO UPDATE SET bytes = excluded.bytes, head = excluded.head, pages = excluded.pages`,
		number, d.Bytes, d.Head, pages)
	return number, nil
}

// nameDocument assigns a number to a hash, unless it has one.
const nameDocument = "INSERT INTO document (sha256) VALUES ($1) ON CONFLICT (sha256) DO NOTHING"

func (s *Store) FindInDocuments(ctx context.Context, q store.WordQuery) (ids []string, err error) {
	if err = q.Check(); err == nil {
		// 20: see partBits
		matching, args := relational.Matching(q, "SELECT rowid >> 20 FROM word WHERE word MATCH $%d", func(phrases []store.Phrase) string {
			return relational.Expression(phrases, `"`, " ", " *", " OR ")
		})
		ids, err = relational.Column[string](ctx, s, "SELECT report FROM filed_document WHERE document IN ("+matching+")", args...)
	}
	if err != nil {
		return nil, failed("searching in documents", err)
	}
	return ids, nil
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
