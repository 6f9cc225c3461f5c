package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"pregon/internal/disclosure"
	"pregon/internal/store"
)

// partBits is the number of low bits of a rowid of word that hold the number of
// the part. The other bits hold the number of the document.
const partBits = 20

// PutDocument implements store.Documents. It prepares as much as
// possible before the transaction, since other writers wait for it.
func (s *Store) PutDocument(ctx context.Context, d store.Document) error {
	d, err := d.Clean()
	if err != nil {
		return fmt.Errorf("keeping a document: %w", err)
	}
	pages, err := list(d.Pages)
	if err != nil {
		return err
	}
	texts := make([]string, len(d.Parts))
	for i := range d.Parts {
		texts[i] = indexed(&d.Parts[i])
	}
	err = s.update(ctx, func(tx *sql.Tx) error {
		number, err := putDocument(ctx, tx, &d, pages)
		if err != nil {
			return err
		}
		return putParts(ctx, tx, number, texts)
	})
	if err != nil {
		return fmt.Errorf("keeping the document %s: %w", d.SHA256, explained(err))
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
func putDocument(ctx context.Context, tx *sql.Tx, d *store.Document, pages string) (number int64, err error) {
	if err := nameDocument(ctx, tx, d.SHA256); err != nil {
		return 0, err
	}
	var parts int64
	err = tx.QueryRowContext(ctx, "SELECT number, parts FROM document WHERE sha256 = ?", d.SHA256).Scan(&number, &parts)
	if err != nil {
		return 0, err
	}
	for part := range parts {
		if _, err := tx.ExecContext(ctx, "DELETE FROM word WHERE rowid = ?", number<<partBits|part); err != nil {
			return 0, err
		}
	}
	if _, err := tx.ExecContext(ctx, "UPDATE document SET parts = ? WHERE number = ?", len(d.Parts), number); err != nil {
		return 0, err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO document_text (document, bytes, head, pages) VALUES (?, ?, ?, ?)
		ON CONFLICT (document) DO UPDATE SET bytes = excluded.bytes, head = excluded.head, pages = excluded.pages`, number, d.Bytes, d.Head, pages)
	return number, err
}

// nameDocument assigns a number to a hash, unless it has one.
func nameDocument(ctx context.Context, tx *sql.Tx, sha256 string) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO document (sha256) VALUES (?) ON CONFLICT (sha256) DO NOTHING", sha256)
	return err
}

func putParts(ctx context.Context, tx *sql.Tx, number int64, texts []string) error {
	row, err := tx.PrepareContext(ctx, "INSERT INTO word (rowid, words) VALUES (?, ?)")
	if err != nil {
		return err
	}
	defer row.Close()
	for part, text := range texts {
		if _, err := row.ExecContext(ctx, number<<partBits|int64(part), text); err != nil {
			return err
		}
	}
	return nil
}

// Document implements store.Documents.
func (s *Store) Document(ctx context.Context, sha256 string) (store.Document, error) {
	d := store.Document{SHA256: sha256}
	var pages []byte
	err := s.read.QueryRowContext(ctx, `SELECT t.bytes, t.head, t.pages FROM document d JOIN document_text t ON t.document = d.number
		WHERE d.sha256 = ?`, sha256).Scan(&d.Bytes, &d.Head, &pages)
	if errors.Is(err, sql.ErrNoRows) {
		return store.Document{}, store.NoDocument(sha256)
	}
	if err == nil {
		err = json.Unmarshal(pages, &d.Pages)
	}
	if err != nil {
		return store.Document{}, fmt.Errorf("reading the document %s: %w", sha256, explained(err))
	}
	return d, nil
}

// DocumentPages implements store.Documents.
func (s *Store) DocumentPages(ctx context.Context, sha256 ...string) (map[string][]string, error) {
	pages, err := documentPages(ctx, s.read, sha256)
	if err != nil {
		return nil, fmt.Errorf("reading the pages of documents: %w", explained(err))
	}
	return pages, nil
}

func documentPages(ctx context.Context, q querier, hashes []string) (map[string][]string, error) {
	wanted, err := list(hashes)
	if err != nil {
		return nil, err
	}
	rows, err := q.QueryContext(ctx, `SELECT d.sha256, t.pages FROM document d JOIN document_text t ON t.document = d.number
		WHERE d.sha256 IN (SELECT value FROM json_each(?))`, wanted)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found := map[string][]string{}
	for rows.Next() {
		var (
			hash  string
			body  sql.RawBytes
			pages []string
		)
		if err := rows.Scan(&hash, &body); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(body, &pages); err != nil {
			return nil, fmt.Errorf("the document %s cannot be read: %w", hash, err)
		}
		found[hash] = pages
	}
	return found, rows.Err()
}

// PutOriginal implements store.Documents.
func (s *Store) PutOriginal(ctx context.Context, sha256 string, body []byte) error {
	if err := store.CheckHash(sha256); err != nil {
		return fmt.Errorf("keeping a document's bytes: %w", err)
	}
	if body == nil {
		body = []byte{} // nil is NULL
	}
	err := s.update(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO original (sha256, body) VALUES (?, ?) ON CONFLICT (sha256) DO NOTHING", sha256, body)
		return err
	})
	if err != nil {
		return fmt.Errorf("keeping the bytes of the document %s: %w", sha256, explained(err))
	}
	return nil
}

// Original implements store.Documents.
func (s *Store) Original(ctx context.Context, sha256 string) (body []byte, err error) {
	err = s.read.QueryRowContext(ctx, "SELECT body FROM original WHERE sha256 = ?", sha256).Scan(&body)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, store.NoDocument(sha256)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the bytes of the document %s: %w", sha256, explained(err))
	}
	return body, nil
}

// FindInDocuments implements store.Documents. Each group is searched for
// separately: its words may be in another part than those of the next.
func (s *Store) FindInDocuments(ctx context.Context, q store.WordQuery) ([]string, error) {
	if err := q.Check(); err != nil {
		return nil, fmt.Errorf("searching in documents: %w", err)
	}
	const documents = "SELECT rowid >> 20 FROM word WHERE word MATCH ?" // 20: see partBits
	matches, args := []string{}, []any{}
	for _, group := range q.All {
		matches, args = append(matches, documents), append(args, expression(group))
	}
	found := strings.Join(matches, " INTERSECT ")
	if len(q.None) > 0 {
		found, args = found+" EXCEPT "+documents, append(args, expression(q.None))
	}
	ids, err := collect(ctx, s.read, func(rows *sql.Rows) (id string, err error) { return id, rows.Scan(&id) },
		"SELECT report FROM filed_document WHERE document IN ("+found+")", args...)
	if err != nil {
		return nil, fmt.Errorf("searching in documents: %w", explained(err))
	}
	return ids, nil
}

// expression returns a full-text query that matches any of several phrases. Words
// need no escaping within the quotes: see store.Part.
func expression(phrases []store.Phrase) string {
	either := make([]string, len(phrases))
	for i, p := range phrases {
		words := strings.Join(p.Words, " ")
		if p.Stem {
			words = store.StemMark + words
		}
		either[i] = `"` + words + `"`
		if p.Prefix {
			either[i] += " *"
		}
	}
	return strings.Join(either, " OR ")
}

// writeDocuments writes which reports have another document now.
func writeDocuments(ctx context.Context, tx *sql.Tx, changes []disclosure.Change) error {
	for report, hash := range store.ChangedDocuments(changes) {
		if err := fileDocument(ctx, tx, report, hash); err != nil {
			return fmt.Errorf("writing the document of %s: %w", report, err)
		}
	}
	return nil
}

func fileDocument(ctx context.Context, tx *sql.Tx, report, sha256 string) error {
	if sha256 == "" {
		_, err := tx.ExecContext(ctx, "DELETE FROM filed_document WHERE report = ?", report)
		return err
	}
	if err := nameDocument(ctx, tx, sha256); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO filed_document (report, document) SELECT ?, number FROM document WHERE sha256 = ?
		ON CONFLICT (report) DO UPDATE SET document = excluded.document`, report, sha256)
	return err
}
