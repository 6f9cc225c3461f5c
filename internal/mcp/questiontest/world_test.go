package questiontest_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/document"
	"pregon/internal/document/extract"
	"pregon/internal/mcp/tools"
	"pregon/internal/query"
	"pregon/internal/sim/archive"
	"pregon/internal/sim/market"
	"pregon/internal/sim/paper"
	"pregon/internal/sim/paper/statement"
	"pregon/internal/sim/shorts"
	"pregon/internal/sim/stake"
	"pregon/internal/source/coverage"
	"pregon/internal/store"
	"pregon/internal/store/sqlite"
)

const seed = 1 // of the demo, so that its companies can be asked about

// now is the time of all questions, a Thursday.
var now = time.Date(2026, time.November, 19, 18, 0, 0, 0, disclosure.Madrid)

var today = disclosure.DayOf(now)

// firstDay is the day from which reports are known and their documents read.
var firstDay = mustDay("2025-01-01")

func mustDay(s string) disclosure.Day {
	d, ok := disclosure.ParseDay(s)
	if !ok {
		panic("questiontest: " + s + " is not a day")
	}
	return d
}

// world is the simulated market: the truth about it.
type world struct {
	market  *market.Market
	reports []*archive.Report           // oldest first
	facts   map[string][]statement.Fact // by report, of the documents that were made to state them
	pages   map[string][]string         // of all documents that were read
	shorts  []shorts.Position
	stakes  *stake.Register
}

// sector returns the sector that the register of general data has of an issuer, or "".
func (w *world) sector(i *disclosure.Issuer) string {
	if i == nil {
		return ""
	}
	identity, _ := w.stakes.Identity(now, i.ID)
	return identity.Sector
}

// simulated returns the world, which is made once.
var simulated = sync.OnceValues(func() (*world, error) {
	m := market.New(seed)
	a, err := archive.Open(m, seed, "", func() time.Time { return now })
	if err != nil {
		return nil, err
	}
	w := &world{
		market: m,
		facts:  map[string][]statement.Fact{},
		pages:  map[string][]string{},
		shorts: shorts.New(shorts.Options{Market: m, Seed: seed, Size: 2000, Began: now}).Truth(now),
		stakes: stake.New(stake.Options{Market: m, Seed: seed, Began: now}),
	}
	for d := firstDay; d <= today; d++ {
		for _, r := range a.Settled(disclosure.Types, d) {
			w.reports = append(w.reports, r)
			source := paper.Source{Report: &r.Report, Form: r.Form, Text: r.Text}
			if r.PDFURL == "" || !source.IsOrdinary(seed) {
				continue
			}
			if stated, ok := statement.Of(&r.Report, seed); ok {
				w.facts[r.ID] = stated.Facts
				w.pages[r.ID] = stated.Pages()
			} else {
				w.pages[r.ID] = []string{source.Words(seed)}
			}
		}
	}
	return w, a.Close()
})

// service is the product with everything of the world in its store.
type service struct {
	tools    *tools.Service
	snapshot *catalog.Snapshot
}

// start stores the world as a perfect reader of the regulator's site would, reads its
// documents, and serves it.
func start(t *testing.T, w *world) *service {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "pregon.db"), sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	w.load(t, db)
	c := catalog.New(db, slog.New(slog.DiscardHandler))
	if err := c.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	q := query.New(query.Options{
		Catalog:   c,
		Coverage:  coverage.New(db),
		Documents: db,
		Log:       db,
		Version:   "v0.0.0-test",
		Source:    func() string { return "demo" },
		Shared:    func() string { return "off" },
	})
	return &service{
		tools:    &tools.Service{Query: q, BaseURL: "https://pregon.example", Now: func() time.Time { return now }},
		snapshot: c.Snapshot(),
	}
}

// load stores the issuers, the reports, their documents and the positions.
func (w *world) load(t *testing.T, db store.Store) {
	t.Helper()
	issuers := w.market.Issuers()
	for n := range issuers {
		if id, ok := w.stakes.Identity(now, issuers[n].ID); ok {
			issuers[n].LEI, issuers[n].Sector = id.LEI, id.Sector
		}
	}
	reports := make([]disclosure.Report, 0, len(w.reports))
	for _, r := range w.reports {
		read := r.Read()
		read.FirstSeenAt = read.PublishedAt.Add(time.Second)
		reports = append(reports, read)
	}
	appendAll(t, db, store.Batch{Issuers: issuers, Reports: reports, New: disclosure.Backfilled})
	appendAll(t, db, store.Batch{Aside: w.read(t, db, reports), New: disclosure.Backfilled})
	appendAll(t, db, store.Batch{Positions: w.positions(), New: disclosure.Backfilled})
}

func appendAll(t *testing.T, db store.Log, b store.Batch) {
	t.Helper()
	if _, err := db.Append(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

// typed is a reader of documents of which the bytes are the pages, as JSON.
type typed struct{}

func (typed) Warm(context.Context) error { return nil }

func (typed) Read(_ context.Context, body []byte) (*extract.Text, error) {
	t := &extract.Text{Type: extract.PDF, Method: extract.ByText, Language: "es"}
	var pages []string
	if err := json.Unmarshal(body, &pages); err != nil {
		return nil, err
	}
	for _, page := range pages {
		t.Pages = append(t.Pages, extract.Page{Text: page, Method: extract.ByText})
	}
	return t, nil
}

// read reads the documents, and returns what their reports get from them.
func (w *world) read(t *testing.T, db store.Store, reports []disclosure.Report) (out []disclosure.Report) {
	t.Helper()
	k := document.NewKeeper(document.Options{
		Store:   db,
		Readers: []document.Reader{typed{}},
		Logger:  slog.New(slog.DiscardHandler),
	})
	for n := range reports {
		r := &reports[n]
		pages := w.pages[r.ID]
		if pages == nil {
			continue
		}
		body, err := json.Marshal(pages)
		if err != nil {
			t.Fatal(err)
		}
		kept, err := k.Keep(t.Context(), body)
		if err != nil {
			t.Fatal(err)
		}
		change, err := k.Derive(t.Context(), r, kept)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, document.TextReady(r, kept), change)
	}
	return out
}

// positions returns what the registers have.
func (w *world) positions() (out []disclosure.Position) {
	count := map[string]int{}
	for _, s := range w.shorts {
		key := s.ISIN + s.Day.String()
		count[key]++
		state := disclosure.StatePast
		if s.Current {
			state = disclosure.StateCurrent
		}
		out = append(out, disclosure.Position{
			ID:      disclosure.ShortID(s.ISIN, s.Day.String(), count[key]),
			Kind:    disclosure.Short,
			LEI:     s.LEI,
			ISIN:    s.ISIN,
			Name:    s.Name,
			Date:    s.Day.String(),
			Percent: s.Percent,
			State:   state,
		})
	}
	for _, i := range w.market.Issuers() {
		table, ok := w.stakes.Table(now, i.ID)
		if !ok {
			continue
		}
		for _, p := range holdings(&table) { // those who control each other notify with one number
			key := string(p.Kind) + p.Number
			count[key]++
			p.ID = disclosure.PositionID(p.Kind, p.Number, count[key])
			out = append(out, p)
		}
	}
	for _, d := range w.stakes.Dealings(now, "", today-200, today) {
		out = append(out, dealing(&d))
	}
	return out
}

// holdings returns the present holdings and the own shares of a company.
func holdings(table *stake.Table) (out []disclosure.Position) {
	for _, row := range table.Present {
		p := notified(table, disclosure.Holding, &row.Notices[0])
		p.Name = row.Name
		out = append(out, p)
	}
	for n := range table.Own {
		p := notified(table, disclosure.OwnShares, &table.Own[n])
		p.Name = table.Issuer.Name
		if n > 0 {
			p.State = disclosure.StatePast
		}
		out = append(out, p)
	}
	return out
}

func notified(table *stake.Table, kind disclosure.PositionKind, n *stake.Notice) disclosure.Position {
	number := strconv.FormatInt(n.Number, 10)
	return disclosure.Position{
		ID:            disclosure.PositionID(kind, number, 1),
		Kind:          kind,
		Issuer:        table.Issuer.ID,
		IssuerName:    table.Issuer.Name,
		NIF:           table.Issuer.NIF,
		State:         disclosure.StateCurrent,
		Number:        number,
		RegisteredOn:  n.On.String(),
		Percent:       thousandths(n.Total()),
		PercentShares: thousandths(n.Shares()),
	}
}

// thousandths returns thousandths of a per cent as a decimal.
func thousandths(n int) string { return strconv.FormatFloat(float64(n)/1000, 'f', -1, 64) }

// dealing returns the position of a notice whose document was read.
func dealing(d *stake.Dealing) disclosure.Position {
	number := strconv.FormatInt(d.Number, 10)
	p := disclosure.Position{
		ID:           disclosure.PositionID(disclosure.Dealing, number, 1),
		Kind:         disclosure.Dealing,
		Issuer:       d.Issuer.ID,
		IssuerName:   d.Issuer.Name,
		NIF:          d.Issuer.NIF,
		Name:         d.Declarant,
		State:        disclosure.StateCurrent,
		Number:       number,
		RegisteredOn: d.On.String(),
		Relation:     disclosure.RelationManager,
	}
	if d.Associated {
		p.Relation = disclosure.RelationAssociated
	}
	for _, n := range d.RectifiedBy {
		p.State = disclosure.StateRectified
		p.RectifiedBy = append(p.RectifiedBy, strconv.FormatInt(n, 10))
	}
	for _, n := range d.Rectifies {
		p.Rectifies = append(p.Rectifies, strconv.FormatInt(n, 10))
	}
	if d.Lost {
		return p
	}
	p.DocumentStatus = disclosure.DocumentReady
	p.DocumentSHA256 = "00"
	p.Aggregates = disclosure.SumsAgree
	for _, trade := range d.Notice.Trades {
		p.Trades = append(p.Trades, disclosure.Trade{
			ISIN:       trade.ISIN,
			Instrument: trade.Instrument,
			Nature:     trade.Nature,
			Side:       sideOf(trade.Nature),
			Date:       trade.Date.String(),
			Venue:      trade.Venue,
			Volume:     trade.Volume,
			Price:      trade.Price,
			Currency:   trade.Currency,
			Page:       1,
			Quote:      trade.Volume,
		})
	}
	return p
}

func sideOf(nature string) disclosure.Side {
	switch nature {
	case "Compra":
		return disclosure.Buy
	case "Venta":
		return disclosure.Sell
	}
	return disclosure.OtherSide
}

// reader is the caller of all tools: it may read everything public, and documents.
var reader = access.Principal{ID: "reader", Mode: access.ByKey, Scope: access.AllScopes}

// call calls a tool. Its arguments are as they are decoded from JSON.
func (s *service) call(ctx context.Context, name string, arguments any) (tools.Result, error) {
	tool, err := tools.Named(name)
	if err != nil {
		return tools.Result{}, err
	}
	return s.tools.Call(access.NewContext(ctx, reader), tool, s.snapshot, arguments)
}
