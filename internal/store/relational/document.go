package relational

import (
	"context"
	"slices"
	"time"

	"pregon/internal/store"
)

func (b *Base) Document(ctx context.Context, sha256 string) (store.Document, error) {
	d := store.Document{SHA256: sha256}
	found, err := false, error(nil)
	if store.IsHash(sha256) {
		found, err = One(ctx, b, []any{&d.Bytes, &d.Head, &d.Pages},
			`SELECT bytes, head, pages FROM `+b.Documents+` WHERE sha256 = $1`, sha256)
	}
	if err != nil {
		return store.Document{}, b.Failed("reading the document "+sha256, err)
	}
	if !found {
		return store.Document{}, store.NoDocument(sha256)
	}
	return d, nil
}

func (b *Base) DocumentPages(ctx context.Context, sha256 ...string) (found map[string][]string, err error) {
	defer b.fail("reading the pages of documents", &err)
	found = map[string][]string{}
	var (
		hash  string
		pages []string
	)
	hashes := slices.DeleteFunc(slices.Clone(sha256), func(h string) bool { return !store.IsHash(h) })
	err = Each(ctx, b, []any{&hash, &pages}, func() error {
		found[hash], pages = pages, nil
		return nil
	}, `SELECT sha256, pages FROM `+b.Documents+` WHERE sha256 `+b.SQL.In(`$1`), hashes)
	return found, err
}

func (b *Base) PutOriginal(ctx context.Context, sha256 string, body []byte) (err error) {
	defer b.fail("keeping the bytes of a document", &err)
	if err := store.CheckHash(sha256); err != nil {
		return err
	}
	return b.Exec(ctx, `INSERT INTO original (sha256, body) VALUES ($1, $2) ON CONFLICT (sha256) DO NOTHING`, sha256, NotNull(body))
}

// NotNull returns a slice that the database does not take for NULL, as it does nil.
func NotNull[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

func (b *Base) Original(ctx context.Context, sha256 string) (body []byte, err error) {
	found := false
	if store.IsHash(sha256) {
		found, err = One(ctx, b, []any{&body}, `SELECT body FROM original WHERE sha256 = $1`, sha256)
	}
	if err != nil {
		return nil, b.Failed("reading the bytes of the document "+sha256, err)
	}
	if !found {
		return nil, store.NoDocument(sha256)
	}
	return body, nil
}

func (b *Base) PutDocument(ctx context.Context, d store.Document) (err error) {
	defer b.fail("keeping the document "+d.SHA256, &err)
	if d, err = d.Clean(); err != nil {
		return err
	}
	put, err := b.PutText(&d)
	if err != nil {
		return err
	}
	return b.Update(ctx, func(tx Tx) error {
		put(ctx, tx)
		return putSegment(ctx, tx, &d.Index)
	})
}

func (b *Base) KeepDocument(ctx context.Context, sha256 string) (err error) {
	defer b.fail("keeping a document", &err)
	return b.Exec(ctx, `UPDATE document SET unused_since = NULL WHERE sha256 = $1 AND unused_since IS NOT NULL`, sha256)
}

// removeAtOnce is the number of documents that one step of RemoveDocuments looks at.
const removeAtOnce = 100

// RemoveDocuments searches outside of transactions: other writers need not wait for
// it. The statements that write check the conditions again.
func (b *Base) RemoveDocuments(ctx context.Context, grace time.Duration) (removed int, more bool, err error) {
	defer b.fail("removing documents", &err)
	unused := ` AND NOT EXISTS (` + b.Filed + `)`
	seen, err := Column[string](ctx, b, `SELECT sha256 FROM document d WHERE unused_since IS NULL`+unused+
		` LIMIT $1`, removeAtOnce)
	if err != nil {
		return 0, false, err
	}
	if len(seen) > 0 {
		err = b.Exec(ctx, `UPDATE document AS d SET unused_since = `+b.SQL.Now+`
			WHERE sha256 `+b.SQL.In(`$1`)+` AND unused_since IS NULL`+unused, seen)
		return 0, true, err
	}
	var due []string
	err = b.Update(ctx, func(tx Tx) error {
		tx.Exec(ctx, `UPDATE document AS d SET unused_since = NULL WHERE unused_since IS NOT NULL AND EXISTS (`+b.Filed+`)`)
		due, err = Column[string](ctx, tx, `SELECT sha256 FROM document d
			WHERE unused_since < `+b.SQL.Now+` - CAST($1 AS interval)`+unused+`
			LIMIT $2 `+b.SQL.Lock(`FOR UPDATE`), grace, removeAtOnce)
		for _, sha256 := range due {
			for _, statement := range b.RemoveText {
				tx.Exec(ctx, statement, sha256)
			}
		}
		return err
	})
	return len(due), len(due) == removeAtOnce, err
}
