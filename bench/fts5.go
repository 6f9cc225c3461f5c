package main

import (
	"database/sql"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/sim/market"
	"pregon/internal/store/sqlite"
	"pregon/internal/text"
)

// fts5 runs the same queries on SQLite's own full-text index, in this process: the
// ten newest and the exact total.
func (b *bench) fts5() error {
	path, err := b.storeOf(whole)
	if err != nil {
		return err
	}
	db, err := sqlite.Open(b.ctx, path, sqlite.Options{})
	if err != nil {
		return err
	}
	defer db.Close()
	c := catalog.New(db, slog.New(slog.DiscardHandler))
	if err := c.Load(b.ctx); err != nil {
		return err
	}
	peer, err := b.openFTS5()
	if err != nil {
		return err
	}
	defer peer.Close()

	texts := queries(1000)
	s := c.Snapshot()
	start := time.Now()
	for _, q := range texts {
		if _, err := s.Reports(b.ctx, disclosure.Filter{Search: q}, 1, 10); err != nil {
			return err
		}
	}
	ours := time.Since(start)
	start = time.Now()
	for _, q := range texts {
		if err := askFTS5(peer, q); err != nil {
			return err
		}
	}
	theirs := time.Since(start)
	figure("search.vs_fts5", theirs.Seconds()/ours.Seconds(), "ratio")
	figure("search.in_process", ours.Seconds()/float64(len(texts))*1e6, "us")
	return nil
}

// openFTS5 opens an index over the same texts. It creates the index if it does not
// exist.
func (b *bench) openFTS5() (*sql.DB, error) {
	path := filepath.Join(b.dir, "fts5.db")
	_, err := os.Stat(path)
	missing := errors.Is(err, fs.ErrNotExist)
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(off)&_pragma=synchronous(off)&_pragma=cache_size(-200000)")
	if err != nil || !missing {
		return db, err
	}
	tx, err := db.Begin()
	if err != nil {
		return nil, err
	}
	if _, err := tx.Exec(`CREATE VIRTUAL TABLE report USING fts5(text, content='', tokenize="unicode61 remove_diacritics 2", prefix='2 3')`); err != nil {
		return nil, err
	}
	insert, err := tx.Prepare("INSERT INTO report (rowid, text) VALUES (?, ?)")
	if err != nil {
		return nil, err
	}
	n := 0
	for r := range market.New(seed).Bulk(whole, until) { // oldest first, as the rowid
		n++
		if _, err := insert.Exec(n, strings.Join([]string{r.CompanyName, r.Title, r.Category}, " ")); err != nil {
			return nil, err
		}
	}
	return db, tx.Commit()
}

func askFTS5(db *sql.DB, q string) error {
	match := `"` + strings.Join(text.Words(q), `" "`) + `" *`
	rows, err := db.Query("SELECT rowid FROM report WHERE report MATCH ? ORDER BY rowid DESC LIMIT 10", match)
	if err != nil {
		return err
	}
	for rows.Next() {
	}
	rows.Close()
	var total int
	return db.QueryRow("SELECT count(*) FROM report WHERE report MATCH ?", match).Scan(&total)
}
