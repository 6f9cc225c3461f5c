package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"pregon/internal/disclosure"
	"pregon/internal/store"
)

// PutDocument is described by store.Documents.
func (s *Store) PutDocument(ctx context.Context, d store.Document) error {
	d, err := d.Clean()
	if err != nil {
		return failed("keeping a document", err)
	}
	if err := s.putDocument(ctx, &d); err != nil {
		return failed("keeping the document "+d.SHA256, err)
	}
	return nil
}

// putDocument writes the document's row first: another transaction that puts the
// same document waits there, and then finds all of its parts.
func (s *Store) putDocument(ctx context.Context, d *store.Document) error {
	tx, err := s.pool.BeginTx(ctx, readCommitted)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }() // after a commit it does nothing
	pages := d.Pages
	if pages == nil {
		pages = []string{} // nil is NULL
	}
	batch := new(pgx.Batch)
	batch.Queue(`SET LOCAL idle_in_transaction_session_timeout = '30s'`)
	batch.Queue(`INSERT INTO document (sha256, bytes, head, pages) VALUES ($1, $2, $3, $4)
		ON CONFLICT (sha256) DO UPDATE SET bytes = excluded.bytes, head = excluded.head, pages = excluded.pages`, d.SHA256, d.Bytes, d.Head, pages)
	batch.Queue(`DELETE FROM document_part WHERE sha256 = $1`, d.SHA256)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return err
	}
	if err := putParts(ctx, tx, d); err != nil {
		return err
	}
	return s.commit(ctx, tx)
}

// putParts writes the words, some parts at a time, since messages to the server
// are limited in size.
func putParts(ctx context.Context, tx pgx.Tx, d *store.Document) error {
	const most = 100
	first := 0
	for parts := range slices.Chunk(d.Parts, most) {
		vectors := make([]string, len(parts))
		for i := range parts {
			vectors[i] = vector(&parts[i])
		}
		_, err := tx.Exec(ctx, `INSERT INTO document_part (sha256, part, words)
			SELECT $1, $2 + place, words::tsvector FROM unnest($3::text[]) WITH ORDINALITY AS t (words, place)`, d.SHA256, first, vectors)
		if err != nil {
			return err
		}
		first += len(parts)
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

// Document is described by store.Documents.
func (s *Store) Document(ctx context.Context, sha256 string) (store.Document, error) {
	if !store.IsHash(sha256) {
		return store.Document{}, store.NoDocument(sha256)
	}
	d := store.Document{SHA256: sha256}
	err := s.pool.QueryRow(ctx, `SELECT bytes, head, pages FROM document WHERE sha256 = $1`, sha256).Scan(&d.Bytes, &d.Head, &d.Pages)
	if errors.Is(err, pgx.ErrNoRows) {
		return store.Document{}, store.NoDocument(sha256)
	}
	if err != nil {
		return store.Document{}, failed("reading the document "+sha256, err)
	}
	return d, nil
}

// DocumentPages is described by store.Documents.
func (s *Store) DocumentPages(ctx context.Context, sha256 ...string) (map[string][]string, error) {
	pages, err := documentPages(ctx, s.pool, sha256)
	if err != nil {
		return nil, failed("reading the pages of documents", err)
	}
	return pages, nil
}

func documentPages(ctx context.Context, db rowsQuerier, hashes []string) (map[string][]string, error) {
	hashes = slices.DeleteFunc(slices.Clone(hashes), func(h string) bool { return !store.IsHash(h) })
	rows, err := db.Query(ctx, `SELECT sha256, pages FROM document WHERE sha256 = ANY($1)`, hashes)
	if err != nil {
		return nil, err
	}
	found := map[string][]string{}
	var (
		hash  string
		pages []string
	)
	_, err = pgx.ForEachRow(rows, []any{&hash, &pages}, func() error {
		found[hash], pages = pages, nil
		return nil
	})
	return found, err
}

// PutOriginal is described by store.Documents.
func (s *Store) PutOriginal(ctx context.Context, sha256 string, body []byte) error {
	if err := store.CheckHash(sha256); err != nil {
		return failed("keeping a document's bytes", err)
	}
	if body == nil {
		body = []byte{} // nil is NULL
	}
	_, err := s.pool.Exec(ctx, `INSERT INTO original (sha256, body) VALUES ($1, $2) ON CONFLICT (sha256) DO NOTHING`, sha256, body)
	if err != nil {
		return failed("keeping the bytes of the document "+sha256, err)
	}
	return nil
}

// Original is described by store.Documents.
func (s *Store) Original(ctx context.Context, sha256 string) (body []byte, err error) {
	if !store.IsHash(sha256) {
		return nil, store.NoDocument(sha256)
	}
	err = s.pool.QueryRow(ctx, `SELECT body FROM original WHERE sha256 = $1`, sha256).Scan(&body)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, store.NoDocument(sha256)
	}
	if err != nil {
		return nil, failed("reading the bytes of the document "+sha256, err)
	}
	return body, nil
}

// FindInDocuments is described by store.Documents. Each group is searched for
// separately: its words may be in another part than those of the next.
func (s *Store) FindInDocuments(ctx context.Context, q store.WordQuery) ([]string, error) {
	if err := q.Check(); err != nil {
		return nil, failed("searching in documents", err)
	}
	matches, args := []string{}, []any{}
	document := func(phrases []store.Phrase) string {
		args = append(args, expression(phrases))
		return fmt.Sprintf(`SELECT sha256 FROM document_part WHERE words @@ $%d::tsquery`, len(args))
	}
	for _, group := range q.All {
		matches = append(matches, document(group))
	}
	found := strings.Join(matches, ` INTERSECT `)
	if len(q.None) > 0 {
		found += ` EXCEPT ` + document(q.None)
	}
	ids, err := s.find(ctx, `SELECT report FROM filed_document WHERE sha256 IN (`+found+`)`, args)
	if err != nil {
		return nil, failed("searching in documents", err)
	}
	return ids, nil
}

// find searches for reports through an index. By default the planner prefers a
// sequential scan when a word is common: it estimates the size of the table
// without the words, which are stored out of line and compressed.
func (s *Store) find(ctx context.Context, query string, args []any) (ids []string, err error) {
	batch := new(pgx.Batch)
	batch.Queue(`SET LOCAL enable_seqscan = off`)
	batch.Queue(query, args...).Query(func(rows pgx.Rows) error {
		ids, err = pgx.AppendRows([]string(nil), rows, pgx.RowTo[string])
		return err
	})
	err = pgx.BeginTxFunc(ctx, s.pool, oneMoment, func(tx pgx.Tx) error { return tx.SendBatch(ctx, batch).Close() })
	return ids, err
}

// expression returns a tsquery that matches any of several phrases.
func expression(phrases []store.Phrase) string {
	either := make([]string, len(phrases))
	for i, p := range phrases {
		words := strings.Join(p.Words, `' <-> '`)
		if p.Stem {
			words = store.StemMark + words
		}
		either[i] = `'` + words + `'`
		if p.Prefix {
			either[i] += `:*`
		}
	}
	return strings.Join(either, ` | `)
}

// queueDocuments writes which reports have another document now.
func queueDocuments(batch *pgx.Batch, changes []disclosure.Change) {
	var reports, hashes, gone []string
	for report, hash := range store.ChangedDocuments(changes) {
		if hash == "" {
			gone = append(gone, report)
			continue
		}
		reports, hashes = append(reports, report), append(hashes, hash)
	}
	if len(reports) > 0 {
		batch.Queue(`INSERT INTO filed_document (report, sha256) SELECT * FROM unnest($1::text[], $2::text[])
			ON CONFLICT (report) DO UPDATE SET sha256 = excluded.sha256`, reports, hashes)
	}
	if len(gone) > 0 {
		batch.Queue(`DELETE FROM filed_document WHERE report = ANY($1)`, gone)
	}
}
