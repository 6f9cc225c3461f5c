package delivery_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/document"
	"pregon/internal/push/events"
	"pregon/internal/push/webhook"
	"pregon/internal/store"
	"pregon/internal/store/postgres/pgtest"
)

// read stores the text of a report's document as if it had just been read, and
// returns the seq of the change.
func read(t testing.TB, db store.Store, number int64, pages ...string) int64 {
	t.Helper()
	sum := sha256.Sum256([]byte(strings.Join(pages, "\f")))
	hash := hex.EncodeToString(sum[:])
	if err := db.PutDocument(t.Context(), store.Document{SHA256: hash, Head: "{}", Pages: pages}); err != nil {
		t.Fatal(err)
	}
	return update(t, db, number, func(r *disclosure.Report) {
		r.Document = disclosure.Document{Status: disclosure.DocumentReady, SHA256: hash, Link: r.PDFURL}
	})
}

// update changes a report, and returns the seq of the change.
func update(t testing.TB, db store.Store, number int64, change func(*disclosure.Report)) int64 {
	t.Helper()
	known, err := db.Reports(t.Context(), disclosure.ReportID(disclosure.OIR, number))
	if err != nil || len(known) != 1 {
		t.Fatal(known, err)
	}
	r := known[0]
	change(&r)
	out, err := db.Append(t.Context(), store.Batch{Aside: []disclosure.Report{r}})
	if err != nil {
		t.Fatal(err)
	}
	return out.Seq
}

// recent makes a report so new that its changes are not history.
func recent(r *disclosure.Report) { r.PublishedAt = time.Now().Add(-time.Minute).Truncate(time.Second) }

func inDocument(search string) func(*webhook.Draft) {
	return func(d *webhook.Draft) { d.Filter = disclosure.Filter{Search: search, InDocument: true} }
}

// eachStore runs a test on SQLite and on PostgreSQL.
func eachStore(t *testing.T, test func(*testing.T, *world)) {
	t.Run("sqlite", func(t *testing.T) { t.Parallel(); test(t, newWorld(t)) })
	t.Run("postgres", func(t *testing.T) { t.Parallel(); test(t, &world{postgres: pgtest.Database(t)}) })
}

// A webhook that searches in documents gets the change that brings the text, and
// later changes of that report, in order, whichever of two processes finds them.
func TestTexts(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		a, b := w.process(t, quick, nil), w.process(t, quick, nil)
		words, all, none := newReceiver(t, ok), newReceiver(t, ok), newReceiver(t, ok)
		byWords, _ := create(t, a, words, inDocument(`dividendo "por acción" -fusión`))
		plain, _ := create(t, b, all)
		title, _ := create(t, b, none, inDocument("report")) // a word of the titles
		first := w.publish(t, a.db, 4, recent)
		var want []string
		for number, text := range []string{"El DIVIDENDO es de 0,37 euros por acción.", "El dividendo.", "La fusión, con dividendo por acción.", strings.Repeat("palabra ", 200_000) + "Dividendos por acción"} {
			seq := read(t, []store.Store{a.db, b.db}[number%2], int64(number+1), "Portada", text)
			if number == 0 || number == 3 {
				want = append(want, fmt.Sprintf("%s.%d", byWords.ID, seq))
			}
		}
		last := update(t, b.db, 1, func(r *disclosure.Report) { r.Category = "Sobre dividendos" })
		want = append(want, fmt.Sprintf("%s.%d", byWords.ID, last))
		handedOut(t, a)
		settled(t, a, byWords.ID, len(want))
		settled(t, a, plain.ID, int(last-first)+4)
		if got := words.ids(); !slices.Equal(got, want) {
			t.Errorf("by words: got %v, want %v", got, want)
		}
		if len(none.ids()) > 0 || len(deliveries(t, a, title.ID)) > 0 {
			t.Errorf("words of the title: got %v, want none", none.ids())
		}
		var body struct {
			Event   string
			Changed []string
		}
		if err := json.Unmarshal(words.requests()[0].body, &body); err != nil || body.Event != "report.updated" || !slices.Contains(body.Changed, "document") {
			t.Errorf("got %s, %v; want report.updated with document", words.requests()[0].body, err)
		}
		if n, err := a.RedeliverSince(t.Context(), owner, byWords.ID, 0); err != nil || n != len(want) {
			t.Errorf("RedeliverSince: got %d, %v; want %d", n, err, len(want))
		}
		if err := a.Redeliver(t.Context(), owner, byWords.ID, first+2); err == nil {
			t.Error("Redeliver of a change whose document does not match: got no error")
		}
	})
}

// textless is an encoder that cannot load the texts of documents.
type textless struct {
	webhook.Encoder
	asked atomic.Int64
	works atomic.Bool
}

func (e *textless) Text(ctx context.Context, event *events.Event) (*document.Content, error) {
	e.asked.Add(1)
	if !e.works.Load() {
		return nil, errors.New("the text cannot be loaded")
	}
	return e.Encoder.Text(ctx, event)
}

// A text that cannot be loaded is tried again, also by the next process. Meanwhile
// other webhooks get their deliveries.
func TestTextsAreRetried(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		failing := &textless{}
		a := w.process(t, quick, func(o *webhook.Options) { failing.Encoder = o.Encoder; o.Encoder = failing })
		words, all := newReceiver(t, ok), newReceiver(t, ok)
		byWords, _ := create(t, a, words, inDocument("dividendo"))
		plain, _ := create(t, a, all)
		w.publish(t, a.db, 2, recent)
		first := read(t, a.db, 1, "El dividendo.")
		second := read(t, a.db, 2, "Otro dividendo.")
		settled(t, a, plain.ID, 4)
		until(t, "the texts were tried", func() bool { return failing.asked.Load() > 3 })
		if got := words.ids(); len(got) > 0 {
			t.Fatalf("got %v without a text, want none", got)
		}
		a.stop()
		b := w.process(t, quick, nil)
		settled(t, b, byWords.ID, 2)
		got := words.ids()
		slices.Sort(got)
		if want := []string{fmt.Sprintf("%s.%d", byWords.ID, first), fmt.Sprintf("%s.%d", byWords.ID, second)}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

// A webhook that no longer searches in documents when a text is compared gets the
// change if its new filter selects it.
func TestFilterChangesBeforeText(t *testing.T) {
	w := newWorld(t)
	failing := &textless{}
	a := w.process(t, quick, func(o *webhook.Options) { failing.Encoder = o.Encoder; o.Encoder = failing })
	r, other := newReceiver(t, ok), newReceiver(t, ok)
	h, _ := create(t, a, r, inDocument("dividendo"))
	create(t, a, other, inDocument("nada")) // keeps the queue in use
	w.publish(t, a.db, 1, recent)
	seq := read(t, a.db, 1, "Otra cosa.")
	until(t, "the text was tried", func() bool { return failing.asked.Load() > 0 })
	if _, err := a.Update(t.Context(), owner, h.ID, func(d *webhook.Draft) error { d.Filter = disclosure.Filter{Search: "report"}; return nil }); err != nil {
		t.Fatal(err)
	}
	failing.works.Store(true)
	settled(t, a, h.ID, 1)
	if got, want := r.ids(), []string{fmt.Sprintf("%s.%d", h.ID, seq)}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
