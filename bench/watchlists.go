package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/sim/market"
	"pregon/internal/store/sqlite"
)

// A watchlist as long as one may be, and the streams that follow it.
const (
	listedIssuers  = 450
	listedSearches = 50
	listStreams    = 100
	listedReports  = 2000 // published while the streams are open
)

// watchlists measures a list of reports by a long watchlist, and the processor time of
// matching published reports with it for many streams.
func (b *bench) watchlists() error {
	path, err := b.emptyStore()
	if err != nil {
		return err
	}
	defer b.scratch(emptyStore)
	db, err := sqlite.Open(b.ctx, path, sqlite.Options{})
	if err != nil {
		return err
	}
	defer db.Close()
	if err := fillStore(b.ctx, db, small); err != nil {
		return err
	}
	key, err := b.key("sqlite:" + path)
	if err != nil {
		return err
	}
	p, err := b.serve(path)
	if err != nil {
		return err
	}
	defer p.stop()
	list, err := makeWatchlist(p.url, key)
	if err != nil {
		return err
	}
	credential := "X-API-Key: " + key
	for _, each := range []struct{ name, target string }{
		{"watchlists.list", "/api/v1/reports?limit=10&watchlist=" + list},
		{"watchlists.list.without", "/api/v1/reports?limit=10"},
		{"watchlists.changes", "/api/v1/changes?limit=10&watchlist=" + list},
	} {
		n, err := rate(p.url, [][]byte{request(each.target, credential)}, 3*time.Second)
		if err != nil {
			return fmt.Errorf("%s: %w", each.name, err)
		}
		figure(each.name, n, "requests/s")
	}
	reports := slices.Collect(market.New(seed+1).Bulk(2*listedReports, until))
	alone, err := p.whilePublished(b, db, reports[:listedReports])
	if err != nil {
		return err
	}
	l, err := listen(p.url, listStreams, [][]byte{request("/api/v1/stream?watchlist="+list, credential)})
	if err != nil {
		return err
	}
	defer l.stop()
	go func() {
		for range l.receipts { // what arrives is not measured
		}
	}()
	followed, err := p.whilePublished(b, db, reports[listedReports:])
	if err != nil {
		return err
	}
	figure("watchlists.stream", 1e6*(followed-alone)/listStreams, "us")
	return nil
}

// whilePublished appends reports, and returns the processor time of the service for each
// of them in seconds.
func (p *process) whilePublished(b *bench, db *sqlite.Store, reports []disclosure.Report) (float64, error) {
	time.Sleep(3 * time.Second) // until the effects of the previous measurement are over
	before, err := p.busy()
	if err != nil {
		return 0, err
	}
	if err := appendAll(b.ctx, db, reports); err != nil {
		return 0, err
	}
	time.Sleep(3 * time.Second)
	after, err := p.busy()
	return (after - before).Seconds() / float64(len(reports)), err
}

// makeWatchlist creates a watchlist, and returns its id.
func makeWatchlist(base, key string) (string, error) {
	type saved struct {
		Name   string            `json:"name"`
		Filter map[string]string `json:"filter"`
	}
	var wanted struct {
		Name    string   `json:"name"`
		Issuers []string `json:"issuers"`
		Filters []saved  `json:"filters"`
	}
	wanted.Name = "Bench"
	for _, issuer := range market.New(seed).Issuers() {
		if len(wanted.Issuers) < listedIssuers {
			wanted.Issuers = append(wanted.Issuers, issuer.ID)
		}
	}
	for i, words := range queries(listedSearches) {
		wanted.Filters = append(wanted.Filters, saved{
			Name:   fmt.Sprintf("Search %d", i+1),
			Filter: map[string]string{"search": words},
		})
	}
	body, err := json.Marshal(wanted)
	if err != nil {
		return "", err
	}
	req, err := http.NewRequest(http.MethodPost, base+"/api/v1/account/watchlists", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-API-Key", key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return "", err
	}
	var made struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(answer, &made); err != nil || made.ID == "" {
		return "", fmt.Errorf("making a watchlist: %s: %.500s", resp.Status, answer)
	}
	return made.ID, nil
}
