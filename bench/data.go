package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/sim/market"
	"pregon/internal/store"
	"pregon/internal/store/sqlite"
	"pregon/internal/text"
)

// Sizes of the generated markets: a small one, all of the regulator's history,
// and three times that.
const (
	small = 10_000
	whole = 350_000
	large = 1_000_000
)

const seed = 1

var until = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

// storeOf returns the path of a store with n reports. It creates the store if it
// does not exist.
func (b *bench) storeOf(n int) (string, error) {
	path := filepath.Join(b.dir, fmt.Sprintf("market-%d.db", n))
	if _, err := os.Stat(path); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return path, err
	}
	fmt.Fprintf(os.Stderr, "# making a store of %d reports\n", n)
	making := path + ".making"
	for _, old := range []string{making, making + "-wal", making + "-shm"} {
		_ = os.Remove(old)
	}
	if err := fill(b.ctx, making, n); err != nil {
		return "", err
	}
	return path, os.Rename(making, path)
}

func fill(ctx context.Context, path string, n int) error {
	db, err := sqlite.Open(ctx, path, sqlite.Options{Create: true})
	if err != nil {
		return err
	}
	defer db.Close()
	if err := fillStore(ctx, db, n); err != nil {
		return err
	}
	return db.Close()
}

// fillStore fills an empty store with a market of n reports.
func fillStore(ctx context.Context, db store.Store, n int) error {
	market := market.New(seed)
	if _, err := db.Append(ctx, store.Batch{Issuers: market.Issuers()}); err != nil {
		return err
	}
	for reports := range slices.Chunk(slices.Collect(market.Bulk(n, until)), 5000) {
		if _, err := db.Append(ctx, store.Batch{Reports: reports, New: disclosure.Backfilled}); err != nil {
			return err
		}
	}
	return nil
}

// queries returns distinct searches of one to three words, with the frequencies
// that they have in reports.
func queries(n int) []string {
	rng := rand.New(rand.NewPCG(seed, 1))
	var titles []string
	for r := range market.New(seed).Bulk(small, until) {
		titles = append(titles, strings.TrimPrefix(r.Title, market.Mark)+" "+r.CompanyName)
	}
	seen := map[string]bool{}
	var out []string
	for len(out) < n {
		words := text.Words(titles[rng.IntN(len(titles))])
		var picked []string
		for range 1 + rng.IntN(3) {
			picked = append(picked, words[rng.IntN(len(words))])
		}
		if q := strings.Join(picked, " "); !seen[q] {
			seen[q] = true
			out = append(out, q)
		}
	}
	return out
}

// prefixes returns the prefixes of three letters of the words.
func prefixes() []string {
	seen := map[string]bool{}
	var out []string
	for _, q := range queries(2000) {
		for _, w := range strings.Fields(q) {
			if len(w) >= 3 && w[0] >= 'a' && !seen[w[:3]] {
				seen[w[:3]] = true
				out = append(out, w[:3])
			}
		}
	}
	return out
}
