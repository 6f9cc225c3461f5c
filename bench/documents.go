package main

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/document"
	"pregon/internal/document/index"
	"pregon/internal/search"
	"pregon/internal/sim/market"
	"pregon/internal/store"
	"pregon/internal/store/postgres"
	"pregon/internal/store/sqlite"
)

// Numbers of reports with a document. The second is more than half of the
// regulator's history.
const (
	someDocuments = 20_000
	manyDocuments = 200_000
)

// documents measures searches in the texts of documents, on both engines.
func (b *bench) documents() error {
	for _, engine := range []struct {
		name string
		open func(n int) (store.Store, func(), error)
	}{
		{"sqlite", b.documentsFile},
		{"postgres", b.documentsServer},
	} {
		medians := map[int]float64{}
		for _, n := range []int{someDocuments, manyDocuments} {
			db, stop, err := engine.open(n)
			if err != nil {
				return err
			}
			all, err := b.searchDocuments(db, fmt.Sprintf("documents.search.%s.%dk", engine.name, n/1000))
			stop()
			if err != nil {
				return err
			}
			medians[n] = percentile(all, 0.5)
			if n == manyDocuments {
				figure("documents.search."+engine.name+".p50", 1000*percentile(all, 0.5), "ms")
				figure("documents.search."+engine.name+".p99", 1000*percentile(all, 0.99), "ms")
			}
		}
		figure("documents.search."+engine.name+".growth", medians[manyDocuments]/medians[someDocuments], "ratio")
	}
	return nil
}

// documentsFile returns a store of SQLite with n documents, which is kept between
// runs.
func (b *bench) documentsFile(n int) (store.Store, func(), error) {
	path := filepath.Join(b.dir, fmt.Sprintf("documents-%d.db", n))
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		making := path + ".making"
		for _, old := range []string{making, making + "-wal", making + "-shm"} {
			_ = os.Remove(old)
		}
		if err := b.makeDocumentsFile(making, n); err != nil {
			return nil, nil, err
		}
		if err := os.Rename(making, path); err != nil {
			return nil, nil, err
		}
	}
	db, err := sqlite.Open(b.ctx, path, sqlite.Options{})
	return db, func() { db.Close() }, err
}

func (b *bench) makeDocumentsFile(path string, n int) error {
	db, err := sqlite.Open(b.ctx, path, sqlite.Options{Create: true})
	if err != nil {
		return err
	}
	defer db.Close()
	raw, err := sql.Open("sqlite", path)
	if err != nil {
		return err
	}
	defer raw.Close()
	return fillDocuments(b.ctx, db, n, func(documents []store.Document) error {
		tx, err := raw.Begin()
		if err != nil {
			return err
		}
		defer tx.Rollback()
		for _, d := range documents {
			pages, err := json.Marshal(d.Pages)
			if err != nil {
				return err
			}
			if _, err := tx.Exec("INSERT INTO document (sha256) VALUES (?)", d.SHA256); err != nil {
				return err
			}
			_, err = tx.Exec("INSERT INTO document_text (document, bytes, head, pages) VALUES (last_insert_rowid(), 1, '{}', ?)", string(pages))
			if err != nil {
				return err
			}
		}
		return tx.Commit()
	})
}

// documentsServer returns a store of PostgreSQL with n documents.
func (b *bench) documentsServer(n int) (store.Store, func(), error) {
	server, err := startPostgres()
	if err != nil {
		return nil, nil, err
	}
	db, err := b.fillServer(server.url, n)
	if err != nil {
		server.stop()
		return nil, nil, err
	}
	return db, func() { db.Close(); server.stop() }, nil
}

func (b *bench) fillServer(url string, n int) (store.Store, error) {
	db, err := postgres.Open(b.ctx, url)
	if err != nil {
		return nil, err
	}
	raw, err := pgx.Connect(b.ctx, url)
	if err != nil {
		return nil, err
	}
	defer raw.Close(b.ctx)
	return db, fillDocuments(b.ctx, db, n, func(documents []store.Document) error {
		var batch pgx.Batch
		for _, d := range documents {
			batch.Queue("INSERT INTO document (sha256, bytes, head, pages) VALUES ($1, 1, '{}', $2)", d.SHA256, d.Pages)
		}
		return raw.SendBatch(b.ctx, &batch).Close()
	})
}

// fillDocuments stores reports with documents of about 1,000 words, a fiftieth of
// them ten times as long. It stores the texts with put, many at once, and then
// indexes them, as after an upgrade of the program.
func fillDocuments(ctx context.Context, db store.Store, n int, put func([]store.Document) error) error {
	market := market.New(seed)
	if _, err := db.Append(ctx, store.Batch{Issuers: market.Issuers()}); err != nil {
		return err
	}
	number := 0
	for reports := range slices.Chunk(slices.Collect(market.Bulk(n, until)), 1000) {
		documents := make([]store.Document, len(reports))
		for i := range reports {
			documents[i] = documentOf(number)
			number++
			reports[i].Document = disclosure.Document{Status: disclosure.DocumentReady, SHA256: documents[i].SHA256}
		}
		if err := put(documents); err != nil {
			return err
		}
		if _, err := db.Append(ctx, store.Batch{Reports: reports, New: disclosure.Backfilled}); err != nil {
			return err
		}
	}
	start := time.Now()
	keeper := index.Keeper{Store: db, Holder: "bench", Logger: slog.New(slog.DiscardHandler)}
	if err := keeper.Settle(ctx); err != nil {
		return err
	}
	list, err := db.Segments(ctx)
	fmt.Fprintf(os.Stderr, "# %d documents indexed, %.0f a second, in %d segments\n", n, float64(n)/time.Since(start).Seconds(), len(list))
	return err
}

// textOf returns the words of document n. They are about as frequent as those of a
// language. The word frecuente is in most documents, and rarisimo in one of a thousand.
func textOf(n int) []string {
	random := rand.New(rand.NewPCG(seed, uint64(n)))
	ranks := rand.NewZipf(random, 1.1, 8, 200_000)
	length := 500 + random.IntN(1000)
	if n%50 == 0 {
		length *= 10
	}
	words := make([]string, length)
	for i := range words {
		words[i] = wordOf(ranks.Uint64())
	}
	if n%5 > 0 {
		words[70] = "frecuente"
	}
	if n%1000 == 0 {
		words[80] = "rarisimo"
	}
	return words
}

// wordOf spells a number in syllables, so that words begin alike.
func wordOf(rank uint64) string {
	const consonants, vowels = "bcdfglmnprst", "aeiou"
	var word []byte
	for n := rank*7919 + 61; n > 0; n /= 60 {
		word = append(word, consonants[n%12], vowels[n/12%5])
	}
	return string(word)
}

func documentOf(n int) store.Document {
	sum := sha256.Sum256(fmt.Append(nil, n))
	hash := hex.EncodeToString(sum[:])
	var pages []string
	for page := range slices.Chunk(textOf(n), 400) {
		pages = append(pages, strings.Join(page, " "))
	}
	return store.Document{SHA256: hash, Pages: pages}
}

// documentSearches returns searches by kind.
func documentSearches() map[string][]string {
	out := map[string][]string{"common": {"frecuente"}, "rare": {"rarisimo"}}
	for rank := range uint64(20) {
		out["common"] = append(out["common"], `"`+wordOf(rank*3)+`"`, wordOf(rank*20))
		out["rare"] = append(out["rare"], wordOf(50_000+rank*1000))
	}
	for n := range 40 {
		words := textOf(n * 37)
		at := 100 + n
		out["phrase"] = append(out["phrase"], `"`+strings.Join(words[at:at+2+n%2], " ")+`"`)
	}
	return out
}

// searchDocuments measures searches of all kinds, each alone and with a filter, and
// returns how long they took, shortest first.
func (b *bench) searchDocuments(db store.Store, name string) ([]time.Duration, error) {
	catalog := catalog.New(db, slog.New(slog.DiscardHandler))
	if err := catalog.Load(b.ctx); err != nil {
		return nil, err
	}
	snapshot := catalog.Snapshot()
	words := index.New(db, catalog.Documents())
	find := func(text string, f disclosure.Filter) (int, error) {
		q, err := document.Query(search.Parse(text))
		if err != nil {
			return 0, err
		}
		var among search.NumberSet
		if f != (disclosure.Filter{}) {
			if among, err = snapshot.Documents(b.ctx, f); err != nil {
				return 0, err
			}
		}
		found, err := words.FindAmong(b.ctx, q, among)
		if err != nil {
			return 0, err
		}
		page, err := snapshot.Among(b.ctx, found, f, 1, 20)
		return page.Total, err
	}
	newest := snapshot.Newest(disclosure.Filter{}, 1).Reports[0]
	filters := map[string]disclosure.Filter{
		"alone":  {},
		"issuer": {Issuer: newest.IssuerID()},
		"month":  {From: disclosure.DayOf(until.AddDate(0, -1, 0)), To: disclosure.DayOf(until)},
	}
	var all []time.Duration
	for kind, texts := range documentSearches() {
		for with, filter := range filters {
			var some []time.Duration
			found := 0
			for range 3 {
				for _, text := range texts {
					start := time.Now()
					total, err := find(text, filter)
					if err != nil {
						return nil, err
					}
					some = append(some, time.Since(start))
					found += total
				}
			}
			slices.Sort(some)
			fmt.Fprintf(os.Stderr, "# %s %s %s: p50 %.1f ms, p99 %.1f ms, %d reports found\n",
				name, kind, with, 1000*percentile(some, 0.5), 1000*percentile(some, 0.99), found/len(some))
			all = append(all, some...)
		}
	}
	slices.Sort(all)
	return all, nil
}
