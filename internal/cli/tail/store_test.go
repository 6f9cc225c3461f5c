package tail

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"pregon/internal/fault"
	"pregon/internal/push/events"
	"pregon/internal/store/sqlite"
)

// TestStoreRefuses: a cursor that the log never had ends the command with the reason.
func TestStoreRefuses(t *testing.T) {
	t.Parallel()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "pregon.db"), sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	p := Printer{Out: io.Discard, Err: io.Discard}
	err = p.Store(t.Context(), db, events.Selection{}, "99")
	if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "99 is ahead of all changes") {
		t.Errorf("got %v, want the reason", err)
	}
}
