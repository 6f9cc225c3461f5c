package readreplica

import (
	"path/filepath"
	"testing"

	"pregon/internal/store/sqlite"
	"pregon/internal/store/storetest"
)

// server is the server that answers a call.
type server string

const (
	standby server = "the standby"
	main    server = "the primary"
)

// serverOf has the server that answers each method.
var serverOf = map[string]server{
	// Readers of the log and of documents may be a moment behind.
	"AsOf":          standby,
	"Blocks":        standby,
	"Changes":       standby,
	"ChangesAt":     standby,
	"ChangesOf":     standby,
	"Current":       standby,
	"Document":      standby,
	"DocumentPages": standby,
	"Head":          standby,
	"LeafHashes":    standby,
	"Leaves":        standby,
	"Marks":         standby,
	"NameOpening":   standby,
	"SealedNames":   standby,
	"Newest":        standby,
	"Original":      standby,
	"SegmentHeads":  standby,
	"Segments":      standby,
	"Source":        standby,

	"Wait": main, // and then the standby, until it has the change

	// Those that read here decide what is written, or take effect at once.
	"AcquireLease":    main,
	"AddCounts":       main,
	"AddLeaves":       main,
	"Append":          main,
	"Claim":           main,
	"ClaimNonce":      main,
	"ClaimSource":     main,
	"Close":           main, // the standby is closed by what opened it
	"CorrectTimes":    main,
	"Counts":          main,
	"CreatedAt":       main,
	"CurrentLease":    main,
	"DropDeliveries":  main,
	"DropSegment":     main,
	"Endpoints":       main,
	"Enqueue":         main,
	"EraseNames":      main,
	"FanOut":          main,
	"Fanned":          main,
	"KeepDocument":    main,
	"ListDeliveries":  main,
	"NewSegment":      main,
	"Positions":       main,
	"PruneCounts":     main,
	"PruneDeliveries": main,
	"PutBlocks":       main,
	"PutDocument":     main,
	"PutOriginal":     main,
	"PutRecords":      main,
	"RecordUse":       main,
	"RecordsSince":    main,
	"Release":         main,
	"ReleaseLease":    main,
	"RemoveDocuments": main,
	"Renew":           main,
	"RenewEpoch":      main,
	"Reports":         main,
	"Settle":          main,
	"SweepSegments":   main,
	"Unindexed":       main,
	"UseSegment":      main,
	"Uses":            main,
}

// TestMethods: every method goes to one of the two servers on purpose. The primary is
// nil here, so that a call which goes to it panics.
func TestMethods(t *testing.T) {
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "pregon.db"), sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s := &Store{Reads: db}
	const decide = "decide whether a standby, which may be a moment behind, may answer it; if so, add it to readreplica.Reads; " +
		"add a line to the table in either case"
	storetest.CheckMethods(t, serverOf, decide, func(t *testing.T, name string, want server) {
		got := standby
		if storetest.Call(t.Context(), s, name) {
			got = main
		}
		if got != want {
			t.Errorf("%s is answered by %s, want %s", name, got, want)
		}
	})
}
