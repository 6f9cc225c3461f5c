package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/sim/market"
	"pregon/internal/store"
	"pregon/internal/store/sqlite"
)

// registered is the number of positions of which the memory is measured.
const registered = 100_000

// dossierYears is the length of the history of the issuer whose page is measured.
const dossierYears = 10

// positions measures the memory that positions take, compared with the same market without
// any, lists of them, and the dossier of an issuer with a long history, as JSON and as a
// page. A bare report of the same process is the peer of the dossier.
func (b *bench) positions() error {
	plain, err := b.storeOf(factual)
	if err != nil {
		return err
	}
	path, err := b.storeOfPositions()
	if err != nil {
		return err
	}
	without, err := b.memoryOf(plain, nil)
	if err != nil {
		return err
	}
	with, err := b.memoryOf(path, b.readPositions)
	if err != nil {
		return err
	}
	figure("positions.memory.100k", (with-without)/1e6, "MB")
	return nil
}

// readPositions measures the answers of a process with positions.
func (b *bench) readPositions(p *process) error {
	issuer := dossierIssuer()
	for _, each := range []struct{ name, path string }{
		{"positions.list", "/api/v1/shorts?limit=10"},
		{"positions.issuer", "/api/v1/holdings?issuer=" + issuer.ID + "&current=true"},
		{"positions.totals", "/api/v1/shorts/totals?limit=10"},
		{"positions.dossier.json", "/api/v1/issuers/" + issuer.ID + "/ownership"},
		{"positions.dossier.page", "/issuers/" + issuer.ID},
	} {
		n, err := rate(p.url, [][]byte{request(each.path)}, 3*time.Second)
		if err != nil {
			return err
		}
		figure(each.name, n, "requests/s")
	}
	return nil
}

// dossierIssuer is the issuer with the longest history.
func dossierIssuer() disclosure.Issuer { return benchCompanies()[0] }

// benchCompanies returns the companies of the market with shares.
func benchCompanies() []disclosure.Issuer {
	return slices.DeleteFunc(market.New(seed).Issuers(), func(i disclosure.Issuer) bool {
		return i.Kind != disclosure.Company || len(i.ISINs) == 0
	})
}

// storeOfPositions returns the path of a store with positions of all kinds. The first issuer
// has a notice of each kind every week of its history; the others share the rest.
func (b *bench) storeOfPositions() (string, error) {
	path := filepath.Join(b.dir, "positions.db")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	plain, err := b.storeOf(factual)
	if err != nil {
		return "", err
	}
	making := path + ".making"
	for _, old := range []string{making, making + "-wal", making + "-shm"} {
		_ = os.Remove(old)
	}
	content, err := os.ReadFile(plain)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(making, content, 0o600); err != nil {
		return "", err
	}
	db, err := sqlite.Open(b.ctx, making, sqlite.Options{Create: true})
	if err != nil {
		return "", err
	}
	defer db.Close()
	for some := range slices.Chunk(benchPositions(), 5000) {
		if _, err := db.Append(b.ctx, store.Batch{Positions: some, New: disclosure.Backfilled}); err != nil {
			return "", err
		}
	}
	if err := db.Close(); err != nil {
		return "", err
	}
	return path, os.Rename(making, path)
}

func benchPositions() []disclosure.Position {
	companies := benchCompanies()
	first := disclosure.DayOf(until) - dossierYears*365
	var out []disclosure.Position
	for week := range dossierYears * 52 {
		for _, kind := range disclosure.PositionKinds {
			out = append(out, benchPosition(len(out), kind, companies[0], first+disclosure.Day(7*week)))
		}
	}
	for n := len(out); n < registered; n++ {
		kind := disclosure.PositionKinds[n%len(disclosure.PositionKinds)]
		company := companies[1+n%(len(companies)-1)]
		out = append(out, benchPosition(n, kind, company, first+disclosure.Day(n%(dossierYears*365))))
	}
	return out
}

// benchPosition returns the position with a number of the simulated registers.
func benchPosition(n int, kind disclosure.PositionKind, of disclosure.Issuer, day disclosure.Day) disclosure.Position {
	number := strconv.Itoa(2026000000 + n)
	holder := fmt.Sprintf("Fondo Imaginario %d, S.L.", n%40)
	p := disclosure.Position{
		ID:         disclosure.PositionID(kind, number, 1),
		Kind:       kind,
		NIF:        of.NIF,
		IssuerName: of.Name,
		Name:       holder,
		State:      disclosure.StatePast,
		SourceURL:  "https://regulator.example/register",
	}
	if n%10 == 0 {
		p.State = disclosure.StateCurrent
	}
	switch kind {
	case disclosure.Short:
		p.ISIN = of.ISINs[0]
		p.ID = disclosure.ShortID(p.ISIN, day.String(), 1+n%1000)
		p.Date = day.String()
		p.Percent = fmt.Sprintf("0.%02d", 50+n%50)
	case disclosure.Dealing:
		p.Number = number
		p.RegisteredOn = day.String()
		p.Relation = disclosure.RelationManager
		p.DocumentStatus = disclosure.DocumentReady
		p.DocumentSHA256 = fmt.Sprintf("%064x", n)
		p.Aggregates = disclosure.SumsAgree
		p.Trades = []disclosure.Trade{{
			ISIN:       of.ISINs[0],
			Instrument: "Acción",
			Nature:     "Compra",
			Side:       disclosure.Buy,
			Date:       day.String(),
			Venue:      "XMAD",
			Volume:     strconv.Itoa(100 + n%900),
			Price:      fmt.Sprintf("%d.%02d", 1+n%50, n%100),
			Currency:   "EUR",
			Page:       1,
			Quote:      "Acción " + of.ISINs[0] + " Compra " + day.String() + " XMAD",
		}}
	default:
		p.Number = number
		p.RegisteredOn = day.String()
		p.Percent = fmt.Sprintf("%d.%03d", 3+n%20, n%1000)
		p.PercentShares = p.Percent
		p.PercentDirect = p.Percent
		p.PercentIndirect = "0"
		p.PercentInstruments = "0"
	}
	return p
}
