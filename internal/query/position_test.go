package query_test

import (
	"encoding/json"
	"log/slog"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/query"
	"pregon/internal/query/querytest"
	"pregon/internal/store"
	"pregon/internal/store/sqlite"
)

// registers returns a service with the market and the registers of querytest.
func registers(t *testing.T) (*query.Service, store.Store, *catalog.Catalog) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "pregon.db"), sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	c := catalog.New(db, slog.New(slog.DiscardHandler))
	querytest.Append(t, db, c, querytest.Market())
	querytest.Append(t, db, c, querytest.Positions())
	return query.New(query.Options{
		Catalog:   c,
		Documents: db,
		Log:       db,
		Source:    func() string { return "" },
	}), db, c
}

func TestPositionList(t *testing.T) {
	q, _, c := registers(t)
	s := c.Snapshot()
	const (
		alfaOld = "short-es0sim000010-2026-02-02-1"
		alfa    = "short-es0sim000010-2026-03-04-1"
		beta    = "short-es0sim000010-2026-03-04-2"
		unknown = "short-es0sim000028-2026-03-05-1"
	)
	for _, c := range []struct {
		kind  disclosure.PositionKind
		query string
		want  string
	}{
		{disclosure.Short, "", unknown + " " + beta + " " + alfa + " " + alfaOld},
		{disclosure.Short, "current=true", unknown + " " + beta + " " + alfa},
		{disclosure.Short, "current=false&to=2026-02-28", alfaOld},
		{disclosure.Short, "limit=1&page=2", beta},
		{disclosure.Short, "issuer=BVB", beta + " " + alfa + " " + alfaOld},
		{disclosure.Short, "issuer=A-69000016&holder=alfa", alfa + " " + alfaOld},
		{disclosure.Short, "issuer=" + querytest.ISIN + "&from=2026-03-01", beta + " " + alfa},
		{disclosure.Short, "issuer=" + querytest.LEI + "&current=true", beta + " " + alfa},
		{disclosure.Short, "issuer=" + querytest.UnknownISIN, unknown},
		{disclosure.Short, "issuer=" + strings.ToLower(querytest.UnknownLEI), unknown},
		{disclosure.Short, "issuer=ANB", ""}, // it has none
		{disclosure.Short, "holder=beta", unknown + " " + beta},
		{disclosure.Short, "market=sibe", beta + " " + alfa + " " + alfaOld},
		{disclosure.Short, "market=growth", ""},
		{disclosure.Short, "sector=food", beta + " " + alfa + " " + alfaOld},
		{disclosure.Short, "sector=alimentacion&market=growth", ""},
		{disclosure.Short, "sector=metal", ""},
		{disclosure.Holding, "current=true", "holding-2026000103 holding-2026000102"},
		{disclosure.Holding, "holder=elena", ""},
		{disclosure.Holding, "holder=elena&issuer=bvb", "holding-2026000103"},
		{disclosure.Holding, "holder=Cartera", "holding-2026000102 holding-2026000101"},
		{disclosure.OwnShares, "issuer=bvb&current=true", "own-shares-2026000110"},
		{disclosure.Dealing, "issuer=bvb&person=ELENA", "dealing-2026000124 dealing-2026000122 dealing-2026000121"},
		{disclosure.Dealing, "side=sell", "dealing-2026000123"},
		{disclosure.Dealing, "side=other", "dealing-2026000122"},
		{disclosure.Dealing, "min_amount=2600", "dealing-2026000123 dealing-2026000122"},
		{disclosure.Dealing, "min_amount=2600&currency=USD", ""},
	} {
		p := query.ParseQuery(c.query)
		l := p.PositionList(s, c.kind)
		if err := p.Err(); err != nil {
			t.Errorf("%s %q: %v", c.kind, c.query, err)
			continue
		}
		found, err := q.Positions(t.Context(), s.Positions(), l)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, e := range found.Entries {
			ids = append(ids, e.ID())
		}
		if got := strings.Join(ids, " "); got != c.want {
			t.Errorf("%s %q: got %q, want %q", c.kind, c.query, got, c.want)
		}
	}
	for _, c := range []struct {
		kind  disclosure.PositionKind
		query string
		want  string // a part of the error
	}{
		{disclosure.Dealing, "person=elena", "person"},
		{disclosure.Dealing, "person=elena&issuer=", "needs issuer"},
		{disclosure.Dealing, "side=Compra", "must be buy, sell or other"},
		{disclosure.Dealing, "min_amount=-1", "not negative"},
		{disclosure.Dealing, "min_amount=1e3", "number of units"},
		{disclosure.Dealing, "min_amount=1&currency=eur", "three capital letters"},
		{disclosure.Dealing, "currency=USD", "min_amount, which is missing"},
		{disclosure.Short, "issuer=Bodegas%20de%20Valdebriza", "Did you mean"},
		{disclosure.Short, "current=yes", "true or false"},
		{disclosure.Short, "holder=...", "word"},
		{disclosure.Short, "holder=" + strings.Repeat("x", 201), "200 bytes"},
		{disclosure.Short, "from=2026-03-02&to=2026-03-01", "must not be later"},
		{disclosure.Holding, "from=yesterday", "YYYY-MM-DD"},
		{disclosure.Short, "market=nowhere", "Unknown market"},
		{disclosure.Short, "limit=51", "from 1 to 50"},
	} {
		p := query.ParseQuery(c.query)
		p.PositionList(s, c.kind)
		if err := p.Err(); err == nil || !strings.Contains(err.Error(), c.want) || fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s %q: the error is %v, want one with %q", c.kind, c.query, err, c.want)
		}
	}
	p := query.NewParams(url.Values{"currency": {"EUR"}}) // the default of a form
	p.PositionList(s, disclosure.Dealing)
	if err := p.Err(); err != nil {
		t.Error(err)
	}
}

func TestShortTotals(t *testing.T) {
	q, _, c := registers(t)
	s := c.Snapshot()
	got, _ := json.Marshal(q.ShortTotal(s.Positions(), "A69000016"))
	if want := `{"percent":"1.2","holders":2,"date":"2026-03-04"}`; string(got) != want {
		t.Errorf("the total is %s, want %s", got, want)
	}
	got, _ = json.Marshal(q.ShortTotal(s.Positions(), "A69000024"))
	if want := `{"percent":"0","holders":0,"date":null}`; string(got) != want {
		t.Errorf("the total of an issuer without short positions is %s, want %s", got, want)
	}
	got, _ = json.Marshal(q.ShortSeries(s.Positions(), querytest.ISIN))
	if want := `[{"date":"2026-02-02","percent":"0.62","holders":1},{"date":"2026-03-04","percent":"1.2","holders":2}]`; string(got) != want {
		t.Errorf("the series is %s, want %s", got, want)
	}
	p := query.NewParams(nil)
	got, _ = json.Marshal(q.ShortTotals(s.Positions(), p.ShortTotals(s)))
	want := `{"data":[` +
		`{"issuer_id":null,"issuer_name":"QUINTAS DE QUIMERALBA, S.A.","lei":"` + querytest.UnknownLEI + `","isin":"ES0SIM000028","percent":"1.5","holders":1,"date":"2026-03-05"},` +
		`{"issuer_id":"A69000016","issuer_name":"BODEGAS DE VALDEBRISA, S.A.","lei":"` + querytest.LEI + `","isin":"ES0SIM000010","percent":"1.2","holders":2,"date":"2026-03-04"}` +
		`],"total":2,"page":1,"limit":10}`
	if string(got) != want {
		t.Errorf("the totals are\n%s, want\n%s", got, want)
	}
	for raw, want := range map[string]int{"market=sibe": 1, "market=growth": 0, "page=2&limit=1": 2, "page=9": 2} {
		p := query.ParseQuery(raw)
		if got := q.ShortTotals(s.Positions(), p.ShortTotals(s)); got.Total != want || p.Err() != nil {
			t.Errorf("%s: total %d, %v, want %d", raw, got.Total, p.Err(), want)
		}
	}
}

func TestOwnership(t *testing.T) {
	q, _, c := registers(t)
	s := c.Snapshot()
	o, err := q.Ownership(t.Context(), s, "bvb")
	if err != nil {
		t.Fatal(err)
	}
	if *o.IssuerID != "A69000016" || len(o.Holdings) != 2 || len(o.OwnShares) != 1 || len(o.Shorts.Current) != 2 ||
		o.Shorts.Totals.Percent != "1.2" || len(o.Shorts.Series) != 2 || o.Dealings.Total != 4 || len(o.Dealings.Latest) != 4 {
		t.Errorf("the ownership is %+v", o)
	}
	if !strings.Contains(string(o.Holdings[0]), `"percent_total":"12.5"`) {
		t.Errorf("the largest holding is %s", o.Holdings[0])
	}
	months, _ := json.Marshal(o.Dealings.Months)
	if want := `[{"month":"2026-02","currency":"EUR","bought":"2600","sold":"54000","buys":1,"sells":1}]`; string(months) != want {
		t.Errorf("the months are %s, want %s", months, want)
	}
	empty, err := q.Ownership(t.Context(), s, "ANB")
	if err != nil || len(empty.Holdings) != 0 || empty.Shorts.Totals.Percent != "0" || *empty.IssuerName == "" {
		t.Errorf("the ownership of an issuer without positions is %+v, %v", empty, err)
	}
	unknown, err := q.Ownership(t.Context(), s, querytest.UnknownLEI)
	if err != nil || unknown.IssuerID != nil || *unknown.IssuerName != "QUINTAS DE QUIMERALBA, S.A." || len(unknown.Shorts.Current) != 1 {
		t.Errorf("the ownership of an issuer that only a register has is %+v, %v", unknown, err)
	}
	if _, err := q.Ownership(t.Context(), s, "nothing"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("the ownership of no issuer: %v", err)
	}
}

// The past of one position and of a list: a name that was erased is erased there too.
func TestPositionHistory(t *testing.T) {
	q, db, c := registers(t)
	ended := querytest.Short(querytest.ISIN, "Fondo Imaginario Beta, Ltd.", "2026-03-04", "0.49", disclosure.StateEnded, 2)
	before := c.Snapshot().Seq()
	querytest.Append(t, db, c, store.Batch{Positions: []disclosure.Position{ended}})
	s := c.Snapshot()
	now, err := q.Position(s, strings.ToUpper(ended.ID))
	if err != nil || !strings.Contains(string(now), `"state":"ended"`) {
		t.Fatalf("the position is %s, %v", now, err)
	}
	then, err := q.PositionAsOf(t.Context(), s, ended.ID, query.Point{Seq: before})
	if err != nil || !strings.Contains(string(then), `"current":true`) || !strings.Contains(string(then), `"issuer_id":"A69000016"`) {
		t.Errorf("the position as of before is %s, %v", then, err)
	}
	if _, err := q.PositionAsOf(t.Context(), s, ended.ID, query.Point{Seq: 1}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("the position before it was known: %v", err)
	}
	book, err := q.PositionsAt(t.Context(), s, &query.Point{Seq: before})
	if err != nil || q.ShortTotal(book, "bvb").Percent != "0" || q.ShortTotal(book, querytest.ISIN).Percent != "1.2" {
		t.Errorf("the total as of before is %+v, %v", q.ShortTotal(book, querytest.ISIN), err)
	}
	if total := q.ShortTotal(s.Positions(), querytest.ISIN); total.Percent != "0.71" {
		t.Errorf("the total now is %+v", total)
	}
	h, err := q.PositionHistory(t.Context(), s, ended.ID, query.HistoryQuery{Limit: 10})
	if err != nil || len(h.Data) != 2 {
		t.Fatalf("the history is %+v, %v", h, err)
	}
	changed, _ := json.Marshal(h.Data[0].Changed)
	if want := `[{"field":"current","old":true,"new":false},{"field":"state","old":"current","new":"ended"}]`; string(changed) != want {
		t.Errorf("the change is %s, want %s", changed, want)
	}
	if first := h.Data[1].Changed; first[0].Field != "id" || string(first[0].Old) != "null" || h.Data[1].Event != "position.published" {
		t.Errorf("the first change is %+v", h.Data[1])
	}
	const id = "dealing-2026000122"
	if _, err := db.EraseNames(t.Context(), nil, id); err != nil {
		t.Fatal(err)
	}
	querytest.Append(t, db, c, store.Batch{})
	s = c.Snapshot()
	then, err = q.PositionAsOf(t.Context(), s, id, query.Point{Seq: before})
	if err != nil || strings.Contains(string(then), "Elena") || !strings.Contains(string(then), `"person_erased":true`) {
		t.Errorf("the erased name as of before is in %s, %v", then, err)
	}
	h, _ = q.PositionHistory(t.Context(), s, id, query.HistoryQuery{Limit: 10})
	if all, _ := json.Marshal(h); strings.Contains(string(all), "Elena") {
		t.Errorf("the erased name is in the history: %s", all)
	}
	for _, id := range []string{"oir-40374", "", "dealing-1", "short-"} {
		if _, err := q.Position(s, id); fault.KindOf(err) != fault.NotFound {
			t.Errorf("the position %q: %v", id, err)
		}
	}
}
