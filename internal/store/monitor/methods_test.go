package monitor

import (
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/store"
	"pregon/internal/store/sqlite"
	"pregon/internal/store/storetest"
)

// notMonitored is for methods that no part of the service depends on while it runs.
const notMonitored = ""

// partOf has the part for which the calls of each method count.
var partOf = map[string]string{
	"Source":      notMonitored, // called once, at the start
	"ClaimSource": notMonitored,
	"CreatedAt":   notMonitored,
	"Close":       notMonitored,

	"AddLeaves":   "log",
	"Append":      "log",
	"AsOf":        "log",
	"Changes":     "log",
	"ChangesAt":   "log",
	"ChangesOf":   "log",
	"Current":     "log",
	"EraseNames":  "log",
	"Head":        "log",
	"LeafHashes":  "log",
	"Leaves":      "log",
	"Marks":       "log",
	"NameOpening": "log",
	"SealedNames": "log",
	"Newest":      "log",
	"Positions":   "log",
	"RenewEpoch":  "log",
	"Reports":     "log",
	"Wait":        "log", // its result counts, its duration does not

	"AcquireLease": "leases",
	"CurrentLease": "leases",
	"ReleaseLease": "leases",

	"PutRecords":   "records", // those of coverage: notes
	"RecordsSince": "records",

	"AddCounts":   "marks",
	"ClaimNonce":  "marks",
	"Counts":      "marks",
	"PruneCounts": "marks",
	"RecordUse":   "marks",
	"Uses":        "marks",

	"Claim":           "deliveries",
	"CorrectTimes":    "deliveries",
	"DropDeliveries":  "deliveries",
	"Endpoints":       "deliveries",
	"Enqueue":         "deliveries",
	"FanOut":          "deliveries",
	"Fanned":          "deliveries",
	"ListDeliveries":  "deliveries",
	"PruneDeliveries": "deliveries",
	"Release":         "deliveries",
	"Renew":           "deliveries",
	"Settle":          "deliveries",

	"Blocks":          "documents",
	"Document":        "documents",
	"DocumentPages":   "documents",
	"DropSegment":     "documents",
	"KeepDocument":    "documents",
	"NewSegment":      "documents",
	"Original":        "documents",
	"PutBlocks":       "documents",
	"PutDocument":     "documents",
	"PutOriginal":     "documents",
	"RemoveDocuments": "documents",
	"SegmentHeads":    "documents",
	"Segments":        "documents",
	"SweepSegments":   "documents",
	"Unindexed":       "documents",
	"UseSegment":      "documents",
}

// TestMethods: the calls of every method count for a part, unless they are not
// monitored on purpose.
func TestMethods(t *testing.T) {
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "pregon.db"), sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	report := disclosure.Report{
		ID:          "oir-1",
		Type:        disclosure.OIR,
		Number:      1,
		CompanyName: "EJEMPLAR FICTICIA, S.A.",
		Title:       "La sociedad informa",
		PublishedAt: time.Now(),
	}
	if _, err := db.Append(t.Context(), store.Batch{Reports: []disclosure.Report{report}}); err != nil {
		t.Fatal(err)
	}
	const decide = "decide for which part its calls count, add a method to monitor.Store that watches them, and a line to the table; " +
		"if nothing depends on it while the service runs, add it as notMonitored"
	storetest.CheckMethods(t, partOf, decide, func(t *testing.T, name, want string) {
		if name == "Close" {
			return // the next method needs the store
		}
		s := New(db, Options{Logger: slog.New(slog.DiscardHandler)})
		if storetest.Call(t.Context(), s, name) {
			t.Fatalf("%s panicked", name)
		}
		got := notMonitored
		for m := range s.methods {
			got = m.part
		}
		if got != want {
			t.Errorf("a call of %s counts for %q, want %q", name, got, want)
		}
	})
}
