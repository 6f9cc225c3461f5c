package relational

import (
	"context"
	"fmt"
	"slices"
	"strings"

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
	err = each(ctx, b, []any{&hash, &pages}, func() error {
		found[hash], pages = pages, nil
		return nil
	}, `SELECT sha256, pages FROM `+b.Documents+` WHERE sha256 = ANY($1)`, hashes)
	return found, err
}

func (b *Base) PutOriginal(ctx context.Context, sha256 string, body []byte) (err error) {
	defer b.fail("keeping the bytes of a document", &err)
	if err := store.CheckHash(sha256); err != nil {
		return err
	}
	if body == nil {
		body = []byte{} // nil is NULL
	}
	return b.Exec(ctx, `INSERT INTO original (sha256, body) VALUES ($1, $2) ON CONFLICT (sha256) DO NOTHING`, sha256, body)
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

// Matching returns a query of the documents that match a query for words, and its
// arguments. match is the query of the documents with a part that matches the
// parameter %d, and expression returns an argument that matches any of several
// phrases. Each group is searched for separately: its words may be in another part
// than those of the next.
func Matching(q store.WordQuery, match string, expression func([]store.Phrase) string) (query string, args []any) {
	var groups []string
	for _, group := range q.All {
		args = append(args, expression(group))
		groups = append(groups, fmt.Sprintf(match, len(args)))
	}
	query = strings.Join(groups, ` INTERSECT `)
	if len(q.None) > 0 {
		args = append(args, expression(q.None))
		query += ` EXCEPT ` + fmt.Sprintf(match, len(args))
	}
	return query, args
}

// Expression returns the expression of a full-text query that matches any of several phrases.
// Words need no escaping within the quotes: see store.Part.
func Expression(phrases []store.Phrase, quote, next, prefix, or string) string {
	either := make([]string, len(phrases))
	for i, p := range phrases {
		words := strings.Join(p.Words, next)
		if p.Stem {
			words = store.StemMark + words
		}
		either[i] = quote + words + quote
		if p.Prefix {
			either[i] += prefix
		}
	}
	return strings.Join(either, or)
}
