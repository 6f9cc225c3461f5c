package delivery_test

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/push/alert"
	"pregon/internal/push/alert/subscription"
	"pregon/internal/store"
)

// readText gives a report a document with a text.
func readText(t *testing.T, db store.Store, number int64, text string) {
	t.Helper()
	sum := sha256.Sum256([]byte(text))
	hash := hex.EncodeToString(sum[:])
	if err := db.PutDocument(t.Context(), store.Document{SHA256: hash, Head: "{}", Pages: []string{text}}); err != nil {
		t.Fatal(err)
	}
	update(t, db, number, func(r *disclosure.Report) {
		r.Document = disclosure.Document{Status: disclosure.DocumentReady, SHA256: hash}
		r.FactsRules = 1
		r.FactsOf = hash
	})
}

// An alert that searches in documents is about the report once its text has the words. A
// report that another alert of the channel has told is not told again.
func TestInDocument(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, box := newWorld(t), &postbox{}
		p := w.process(t, box, nil)
		words, both := p.channel(t, ana, "words@example.com"), p.channel(t, ana, "both@example.com")
		inText := func(d *subscription.AlertDraft) {
			d.Filter.Search = "dividendo"
			d.Filter.InDocument = true
		}
		p.alert(t, ana, words.ID, alert.AtOnce, inText)
		p.alert(t, ana, both.ID, alert.AtOnce, inText)
		p.alert(t, ana, both.ID, alert.AtOnce, func(d *subscription.AlertDraft) { d.Filter.Search = "2" })
		w.publish(t, p.db, 3)
		time.Sleep(soon)
		box.check(t, words.Address)
		box.check(t, both.Address, "Report 2")
		readText(t, p.db, 1, "El dividendo es de 0,25 euros.")
		readText(t, p.db, 2, "Un dividendo.")
		readText(t, p.db, 3, "La junta.")
		time.Sleep(soon)
		box.check(t, words.Address, "Report 1", "Report 2")
		box.check(t, both.Address, "Report 2", "Report 1")
	})
}
