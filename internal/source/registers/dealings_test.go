package registers

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/document"
	"pregon/internal/document/extract/extracttest"
	"pregon/internal/document/extract/sandbox"
	"pregon/internal/retry"
	"pregon/internal/source/regulator"
)

// checkDealings compares the store with the truth of the register.
func (w *world) checkDealings() {
	w.Helper()
	now := time.Now()
	from := disclosure.DayOf(now) - dealingHistory
	got := w.positions(disclosure.Dealing)
	want := w.site.Stakes().Dealings(now, "", from, disclosure.DayOf(now))
	if len(got) != len(want) || len(want) == 0 {
		w.Errorf("got %d dealings, want %d", len(got), len(want))
	}
	for _, d := range want {
		p := got[disclosure.PositionID(disclosure.Dealing, numberOf(d.Number), 1)]
		if p == nil {
			w.Errorf("the dealing %d is missing", d.Number)
			continue
		}
		associated := p.Relation == disclosure.RelationAssociated
		rectified := p.State == disclosure.StateRectified
		if p.Name != d.Declarant || p.RegisteredOn != d.On.String() || associated != d.Associated ||
			!slices.Equal(p.Rectifies, numbersOf(d.Rectifies)) || rectified != (len(d.RectifiedBy) > 0) {
			w.Errorf("got %+v, want %+v", p, d)
		}
	}
}

// A dealing that the register does not show any more is withdrawn, without the name.
func TestDealingWithdrawn(t *testing.T) {
	w := newWorld(t)
	r := w.reader(Dealings)
	day := disclosure.DayOf(time.Now())
	gone := disclosure.Position{
		ID:           disclosure.PositionID(disclosure.Dealing, "2026999999", 1),
		Kind:         disclosure.Dealing,
		NIF:          listedCompanies()[0].NIF,
		Name:         "Elena Ruiz Salvatierra",
		Number:       "2026999999",
		RegisteredOn: day.String(),
		State:        disclosure.StateCurrent,
	}
	if err := r.append(t.Context(), disclosure.Published, []disclosure.Position{gone}); err != nil {
		t.Fatal(err)
	}
	if err := r.readNewDealings(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := w.positions(disclosure.Dealing)[gone.ID]
	if got.State != disclosure.StateAnnulled || got.Name != "" || !got.NameErased() {
		t.Errorf("got %+v", got)
	}
	if events := w.events(0); events[disclosure.PositionWithdrawn] != 1 {
		t.Errorf("the events are %v", events)
	}
	// a list that lacks many is not believed
	var many []disclosure.Position
	for n := range 2000 {
		p := gone
		p.Number = fmt.Sprint(2026900000 + n)
		p.ID = disclosure.PositionID(disclosure.Dealing, p.Number, 1)
		many = append(many, p)
	}
	if err := r.append(t.Context(), disclosure.Published, many); err != nil {
		t.Fatal(err)
	}
	if err := r.readNewDealings(t.Context()); err == nil || !strings.Contains(err.Error(), "lacks") {
		t.Errorf("a list that lacks 2,000 notices: %v", err)
	}
	if events := w.events(0); events[disclosure.PositionWithdrawn] != 1 {
		t.Errorf("the events are %v", events)
	}
}

// A notice is rectified if either of the two says so, also after it was read again.
func TestRectified(t *testing.T) {
	w := newWorld(t)
	r := w.reader(Dealings)
	day := disclosure.DayOf(time.Now())
	row := func(number int64, rectifies ...int64) regulator.Dealing {
		return regulator.Dealing{
			Number:       number,
			RegisteredOn: day,
			Name:         "BODEGAS DE VALDEBRISA, S.A.",
			NIF:          "A69000016",
			Declarant:    "Elena Ruiz Salvatierra",
			Relation:     disclosure.RelationManager,
			Rectifies:    rectifies,
		}
	}
	for n, rows := range [][]regulator.Dealing{{row(1)}, {row(2, 1), row(1)}, {row(1)}, {row(3, 2)}} {
		if err := r.takeDealings(t.Context(), rows, r.knownDealings(day-1, day), disclosure.Published); err != nil {
			t.Fatal(err)
		}
		got := w.positions(disclosure.Dealing)
		isRectified := got["dealing-1"].State == disclosure.StateRectified
		if isRectified != (n > 0) {
			t.Errorf("after read %d the first is %s", n, got["dealing-1"].State)
		}
		if n == 3 && (got["dealing-2"].State != disclosure.StateRectified || got["dealing-2"].Name == "") {
			t.Errorf("the second is %+v", got["dealing-2"])
		}
	}
}

// The documents of dealings are read, the newest first, and state what the register says of
// their trades.
func TestDealingDocuments(t *testing.T) {
	w := newWorld(t)
	dir := t.TempDir()
	command, err := extracttest.BuildWorker(dir)
	if err != nil {
		t.Fatal(err)
	}
	reader := sandbox.NewReader(sandbox.Options{
		Command:   command,
		CacheDir:  dir,
		Tesseract: "-",
	})
	t.Cleanup(func() { _ = reader.Close() })
	w.documents = document.NewKeeper(document.Options{
		Store:   w.store,
		Readers: []document.Reader{reader},
		Logger:  slog.New(slog.DiscardHandler),
	})
	today := disclosure.DayOf(time.Now())
	truth := w.site.Stakes().Dealings(time.Now(), "", today-dealingWindow, today)
	if len(truth) < 5 {
		t.Fatalf("only %d dealings", len(truth))
	}
	w.run(w.reader(Dealings), func() error {
		got := w.positions(disclosure.Dealing)
		for _, d := range truth[:5] {
			p := got[disclosure.PositionID(disclosure.Dealing, numberOf(d.Number), 1)]
			if p == nil || p.DocumentStatus == "" && !d.Lost {
				return fmt.Errorf("the document of %d was not read", d.Number)
			}
		}
		return nil
	})
	got := w.positions(disclosure.Dealing)
	read := 0
	for _, d := range truth[:5] {
		p := got[disclosure.PositionID(disclosure.Dealing, numberOf(d.Number), 1)]
		if p.DocumentStatus != disclosure.DocumentReady {
			continue // it is unreadable, and says why
		}
		read++
		if len(p.Trades) != len(d.Notice.Trades) || p.DocumentSHA256 == "" {
			t.Fatalf("%s has %d trades, want %d", p.ID, len(p.Trades), len(d.Notice.Trades))
		}
		for n, want := range d.Notice.Trades {
			trade := p.Trades[n]
			if trade.Nature != want.Nature || trade.Date != want.Date.String() || trade.Currency != want.Currency ||
				disclosure.CompareDecimals(trade.Volume, want.Volume) != 0 {
				t.Errorf("%s: got %+v, want %+v", p.ID, trade, want)
			}
		}
	}
	if read == 0 {
		t.Error("no document is readable")
	}
}

// Old documents are read from the newest on, whatever is loaded later, and new ones before
// all of them.
func TestOrderOfDocuments(t *testing.T) {
	r := New(Options{Documents: document.NewKeeper(document.Options{})})
	today := disclosure.DayOf(time.Now())
	dealing := func(number string, day disclosure.Day) disclosure.Position {
		return disclosure.Position{
			ID:           "dealing-" + number,
			Kind:         disclosure.Dealing,
			RegisteredOn: day.String(),
			DocumentURL:  "https://regulator.example/" + number,
		}
	}
	r.queueDocuments([]disclosure.Position{dealing("5", today), dealing("4", today), dealing("3", today-100)})
	r.queueDocuments([]disclosure.Position{dealing("2", today-200), dealing("1", today-201)})
	r.queueDocuments([]disclosure.Position{dealing("6", today)})
	for name, test := range map[string]struct {
		queue *retry.Queue
		want  string
	}{
		"new": {r.fresh, "dealing-6 dealing-5 dealing-4"},
		"old": {r.old, "dealing-3 dealing-2 dealing-1"},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		var order []string
		_ = test.queue.Run(ctx, func(id string, _ int) time.Duration {
			if order = append(order, id); len(order) == 3 {
				cancel()
			}
			return 0
		})
		if got := strings.Join(order, " "); got != test.want {
			t.Errorf("%s documents are read in the order %s, want %s", name, got, test.want)
		}
	}
}
