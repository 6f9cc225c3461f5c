package delivery_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"pregon/internal/disclosure"
	"pregon/internal/push/webhook"
	"pregon/internal/push/webhook/delivery"
	"pregon/internal/query/querytest"
	"pregon/internal/store"
)

const elena = "Elena Ruiz Salvatierra"

// enter appends positions, and returns the seq of the last.
func enter(t *testing.T, db store.Store, positions ...disclosure.Position) int64 {
	t.Helper()
	for i := range positions {
		if err := positions[i].Validate(); err != nil {
			t.Fatal(err)
		}
	}
	out, err := db.Append(t.Context(), store.Batch{Positions: positions})
	if err != nil {
		t.Fatal(err)
	}
	return out.Seq
}

func newDealing(number, name, volume string) disclosure.Position {
	return querytest.Dealing(number, name, "2026-02-10", disclosure.StateCurrent,
		querytest.Trade("Compra", disclosure.Buy, volume, "2.5", "EUR"))
}

// A webhook gets the positions that its filter selects, and none without an event of
// positions. The filter is stored with all of its conditions.
func TestPositions(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		p := w.process(t, quick, nil)
		positions := []disclosure.Event{disclosure.PositionPublished, disclosure.PositionUpdated}
		type subscriber struct {
			receiver *receiver
			hook     webhook.Webhook
			want     []string // ids of positions
		}
		var all []subscriber
		for _, s := range []struct {
			events []disclosure.Event
			filter disclosure.Filter
			want   string
		}{
			{nil, disclosure.Filter{}, ""}, // the default events
			{positions, disclosure.Filter{}, "short short2 holding person company"},
			{positions, disclosure.Filter{Positions: disclosure.NewPositionSet(disclosure.Short)}, "short short2"},
			{positions, disclosure.Filter{MinPercent: "0.5"}, "short holding"},
			{positions, disclosure.Filter{HeldBy: "imaginaria"}, "holding"},
			{positions, disclosure.Filter{HeldBy: "elena"}, ""},
			{positions, disclosure.Filter{HeldBy: "elena", Issuer: "A69000016"}, "person"},
			{positions, disclosure.Filter{MinAmount: "5000", Currency: "EUR"}, "company"},
			{positions, disclosure.Filter{Side: disclosure.Buy}, "person company"},
			{positions, disclosure.Filter{Side: disclosure.Sell}, ""},
			{positions, disclosure.Filter{Type: disclosure.OIR}, ""},
			{[]disclosure.Event{disclosure.PositionBackfilled}, disclosure.Filter{}, ""},
		} {
			r := newReceiver(t, ok)
			h, _ := create(t, p, r, func(d *webhook.Draft) {
				d.Events = s.events
				d.Filter = s.filter
			})
			all = append(all, subscriber{r, h, strings.Fields(s.want)})
		}
		named := map[string]string{}
		for _, one := range []struct {
			name     string
			position disclosure.Position
		}{
			{"short", querytest.Short(querytest.ISIN, "Alfa LLP", "2026-02-02", "0.6", disclosure.StateCurrent, 1)},
			{"short2", querytest.Short(querytest.ISIN, "Beta Ltd.", "2026-02-02", "0.49", disclosure.StateCurrent, 2)},
			{"holding", querytest.Holding("2026000101", "CARTERA IMAGINARIA, S.L.", "2026-02-02", "5", disclosure.StateCurrent)},
			{"person", newDealing("2026000121", elena, "1000")},
			{"company", newDealing("2026000122", "Inversiones Lejanas, S.L.", "2000")},
		} {
			named[one.position.ID] = one.name
			enter(t, p.db, one.position)
		}
		handedOut(t, p)
		for _, s := range all {
			settled(t, p, s.hook.ID, len(s.want))
			var got []string
			for _, q := range s.receiver.requests() {
				var body struct{ ID, Event string }
				if err := json.Unmarshal(q.body, &body); err != nil || body.Event != string(disclosure.PositionPublished) {
					t.Errorf("%s, %v", q.body, err)
				}
				got = append(got, named[body.ID])
			}
			if !slices.Equal(got, s.want) {
				t.Errorf("%v of %+v: got %v, want %v", s.hook.Events, s.hook.Filter, got, s.want)
			}
		}
		other := w.process(t, quick, nil) // reads the stored form
		if err := other.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, s := range all {
			if h, _, err := other.Get(t.Context(), owner, s.hook.ID); err != nil || h.Filter != s.hook.Filter {
				t.Errorf("the filter is %+v, want %+v, %v", h.Filter, s.hook.Filter, err)
			}
		}
	})
}

// A delivery that is sent after the name of a person was erased does not have it, although
// the body was sent before. What the receiver answered to the name is not kept.
func TestErasedName(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		p := w.process(t, quick, nil)
		r := newReceiver(t, ok)
		echo := func(code int) func(http.ResponseWriter, *http.Request, int) {
			return func(w http.ResponseWriter, req *http.Request, _ int) {
				all := r.requests()
				slices.Reverse(all)
				i := slices.IndexFunc(all, func(q request) bool { return q.id == req.Header.Get("webhook-id") })
				w.WriteHeader(code)
				_, _ = w.Write(all[i].body)
			}
		}
		r.set(echo(http.StatusInternalServerError))
		h, _ := create(t, p, r, func(d *webhook.Draft) {
			d.Events = []disclosure.Event{disclosure.PositionPublished}
		})
		person := newDealing("2026000121", elena, "1000")
		company := newDealing("2026000122", "Inversiones Lejanas, S.L.", "1000")
		first := enter(t, p.db, person)
		until(t, "the first attempts", func() bool { return len(r.requests()) > 1 })
		for _, q := range r.requests() {
			if !strings.Contains(string(q.body), elena) {
				t.Fatalf("before the erasure: %s", q.body)
			}
		}
		if _, err := p.db.EraseNames(t.Context(), nil, person.ID); err != nil {
			t.Fatal(err)
		}
		handedOut(t, p)
		enter(t, p.db, company)
		r.set(echo(http.StatusOK))
		settled(t, p, h.ID, 2)
		last := map[string]string{}
		for _, q := range r.requests() {
			last[epochInID.ReplaceAllString(q.id, ".$1")] = string(q.body)
		}
		got := last[fmt.Sprintf("%s.%d", h.ID, first)]
		if strings.Contains(got, elena) || !strings.Contains(got, `"person":null,"person_erased":true`) {
			t.Errorf("after the erasure: %s", got)
		}
		n := len(r.requests())
		if err := p.Redeliver(t.Context(), owner, h.ID, first); err != nil {
			t.Fatal(err)
		}
		until(t, "the change is sent again", func() bool { return len(r.requests()) > n })
		if q := r.requests()[n]; strings.Contains(string(q.body), elena) {
			t.Errorf("sent again: %s", q.body)
		}
		kept := 0
		for _, d := range settled(t, p, h.ID, 2) {
			for _, a := range d.History {
				if strings.Contains(a.Excerpt, elena) {
					t.Errorf("change %d: the answer to the name was kept: %q", d.Seq, a.Excerpt)
				}
				if a.Excerpt != "" {
					kept++
				}
			}
		}
		if kept < 3 {
			t.Errorf("%d answers were kept, want those to bodies without the name", kept)
		}
	})
}

// A notice with many trades loses the last of them, and nothing else.
func TestLongNotice(t *testing.T) {
	p := newDealing("2026000121", "Inversiones Lejanas, S.L.", "1000")
	for len(p.Trades) < disclosure.MaxTrades {
		p.Trades = append(p.Trades, p.Trades[0])
	}
	long := disclosure.AppendPosition(nil, &p)
	var got struct {
		Truncated bool
		ID        string
		Person    string
		Trades    []any
		Amount    string
	}
	body := delivery.Fit(long)
	if err := json.Unmarshal(body, &got); err != nil || len(body) > delivery.LongestBody || len(body) < delivery.LongestBody/4 {
		t.Fatalf("%d bytes, %v", len(body), err)
	}
	if !got.Truncated || got.ID != p.ID || got.Person != p.Name || len(got.Trades) == 0 || got.Amount != "5000000" ||
		strings.Contains(string(body), `"summary"`) {
		t.Errorf("%s", body)
	}
}
