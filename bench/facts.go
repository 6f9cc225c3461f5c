package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/document/fact"
	"pregon/internal/sim/market"
	"pregon/internal/sim/paper/statement"
	"pregon/internal/store"
	"pregon/internal/store/sqlite"
)

// factsLimit is the processor time in which the facts of a document of ten pages are found.
const factsLimit = 5 * time.Millisecond

// facts measures the processor time of the rules for a document of ten pages, compared with the
// limit.
func (b *bench) facts() error {
	var documents []fact.Document
	pages, bytes := 0, 0
	for i, kind := range statement.Kinds() {
		d := statement.Long(kind, 10, uint64(i+1))
		documents = append(documents, fact.Document{
			Company:   d.Company,
			Title:     d.Title,
			Category:  d.Category,
			Language:  d.Language,
			Published: d.Day,
			Pages:     d.Pages(),
		})
		for _, p := range d.Pages() {
			pages++
			bytes += len(p)
		}
	}
	runtime.GC()
	var times []float64
	for range 20 {
		start := cpuTime()
		for _, d := range documents {
			fact.Find(d)
		}
		times = append(times, (cpuTime()-start).Seconds()/float64(len(documents)))
	}
	took := median(times)
	figure("facts.cpu", 1000*took, "ms")
	figure("facts.cpu.vs_limit", took/factsLimit.Seconds(), "ratio")
	figure("facts.page", float64(bytes)/float64(pages), "bytes")
	return nil
}

// factual is the number of facts of which the memory is measured.
const factual = 100_000

// factMemory measures the memory that facts take: that of a market of which each report
// has one, compared with the same market without facts. It also measures lists of them.
func (b *bench) factMemory() error {
	plain, err := b.storeOf(factual)
	if err != nil {
		return err
	}
	path, err := b.storeOfFacts()
	if err != nil {
		return err
	}
	without, err := b.memoryOf(plain, nil)
	if err != nil {
		return err
	}
	with, err := b.memoryOf(path, func(p *process) error {
		for _, each := range []struct{ name, target string }{
			{"facts.list", "/api/v1/facts?kind=dividend&limit=10"},
			{"facts.reports", "/api/v1/reports?fact=dividend&limit=10"},
			{"calendar.list", "/api/v1/calendar?from=2000-01-01&to=2030-12-31&limit=10"},
			{"calendar.feed", "/api/v1/calendar.ics"},
		} {
			n, err := rate(p.url, [][]byte{request(each.target)}, 3*time.Second)
			if err != nil {
				return fmt.Errorf("%s: %w", each.name, err)
			}
			figure(each.name, n, "requests/s")
		}
		return nil
	})
	if err != nil {
		return err
	}
	figure("facts.memory.100k", (with-without)/1e6, "MB")
	return nil
}

// memoryOf returns the memory of a process that has loaded a store and answered searches.
func (b *bench) memoryOf(path string, then func(*process) error) (float64, error) {
	p, err := b.serve(path)
	if err != nil {
		return 0, err
	}
	defer p.stop()
	if _, err := rate(p.url, searches(queries(1000)), 3*time.Second); err != nil {
		return 0, err
	}
	bytes, err := p.memory()
	if err == nil && then != nil {
		err = then(p)
	}
	return bytes, err
}

// storeOfFacts returns the path of a store in which each report has a fact.
func (b *bench) storeOfFacts() (string, error) {
	path := filepath.Join(b.dir, "facts.db")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	making := path + ".making"
	for _, old := range []string{making, making + "-wal", making + "-shm"} {
		_ = os.Remove(old)
	}
	db, err := sqlite.Open(b.ctx, making, sqlite.Options{Create: true})
	if err != nil {
		return "", err
	}
	defer db.Close()
	m := market.New(seed)
	if _, err := db.Append(b.ctx, store.Batch{Issuers: m.Issuers()}); err != nil {
		return "", err
	}
	reports := slices.Collect(m.Bulk(factual, until))
	kinds := disclosure.FactKinds()
	for i := range reports {
		d := statement.Make(string(kinds[i%len(kinds)]), "letter", uint64(i%1000))
		reports[i].FactsRules = fact.Rules
		reports[i].Facts = []disclosure.Fact{{Kind: disclosure.FactKind(d.Facts[0].Kind), Fields: d.Facts[0].Fields}}
	}
	for some := range slices.Chunk(reports, 5000) {
		if _, err := db.Append(b.ctx, store.Batch{Reports: some, New: disclosure.Backfilled}); err != nil {
			return "", err
		}
	}
	if err := db.Close(); err != nil {
		return "", err
	}
	return path, os.Rename(making, path)
}
