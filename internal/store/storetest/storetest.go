// Package storetest tests the guarantees of package store. Every engine must pass
// the tests.
//
// Every test ends with CheckLog, which reads the whole store and verifies every
// invariant. No test relies on a fixed delay: it waits for the expected event, with
// a long timeout.
package storetest

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/store"
)

// Engine adapts one implementation of store.Store to the tests.
type Engine struct {
	// Fresh makes a new empty database and returns a function that opens it;
	// every call opens it once more, as another process would.
	Fresh func(t *testing.T) (open func() (store.Store, error))

	// FailCommit makes the next commit of s fail with err, after it took
	// effect or before. That commit will be an Append's, a PutRecords',
	// a ClaimNonce's, an AddCounts', a PutDocument's or one of Deliveries', and of one
	// that found something new. Other goroutines may be using s.
	FailCommit func(s store.Store, after bool, err error)

	// Newer raises the schema version of the database that s has open beyond
	// what this program knows, as a newer program would.
	Newer func(t *testing.T, s store.Store)
}

// Commits wraps the commits of a store and can make the next one fail. With the
// zero value all commits succeed.
type Commits struct {
	mu     sync.Mutex
	before error // guarded by mu: returned instead of the next commit
	after  error // guarded by mu: returned once the next commit is done
}

// Fail makes the next commit fail, before it takes effect or after.
func (c *Commits) Fail(after bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if after {
		c.after = err
	} else {
		c.before = err
	}
}

// Commit commits, unless Fail was called.
func (c *Commits) Commit(commit func() error) error {
	c.mu.Lock()
	before, after := c.before, c.after
	c.before, c.after = nil, nil
	c.mu.Unlock()
	if before != nil {
		return before
	}
	if err := commit(); err != nil {
		return err
	}
	return after
}

// patience is the timeout of a test. It is not a measure of speed: machines that
// run tests can be very busy.
const patience = 5 * time.Minute

// Run runs all tests against an engine.
func Run(t *testing.T, e Engine) {
	run(t, e, slices.Concat(readers, others))
}

// RunReaders runs the tests of reading the log and the documents, against a store
// that reads them from another server. It needs only e.Fresh.
func RunReaders(t *testing.T, e Engine) { run(t, e, readers) }

type test struct {
	name string
	run  func(*testing.T, Engine)
}

func run(t *testing.T, e Engine, tests []test) {
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t, e)
		})
	}
}

var readers = []test{
	{"EmptyStore", testEmptyStore},
	{"ChangesFromEveryCursor", testChangesFromEveryCursor},
	{"ChangesAt", testChangesAt},
	{"ChangesOf", testChangesOf},
	{"AsOf", testAsOf},
	{"HistoryOfPositions", testHistoryOfPositions},
	{"LeafHashes", testLeafHashes},
	{"Marks", testMarks},
	{"CurrentIsTheReplay", testCurrentIsTheReplay},
	{"CurrentStopsOnError", testCurrentStopsOnError},
	{"WaitForOwnCommit", testWaitForOwnCommit},
	{"WaitForOthersCommit", testWaitForOthersCommit},
	{"WaitEndsWithContext", testWaitEndsWithContext},
	{"Epoch", testEpoch},
	{"Documents", testDocuments},
	{"Originals", testOriginals},
	{"RemoveDocuments", testRemoveDocuments},
	{"Segments", testSegments},
}

var others = []test{
	{"NewUpdatedUnchanged", testNewUpdatedUnchanged},
	{"IssuerNewUpdatedUnchanged", testIssuerNewUpdatedUnchanged},
	{"TwiceInOneBatch", testTwiceInOneBatch},
	{"MergeNeverErases", testMergeNeverErases},
	{"BatchOrder", testBatchOrder},
	{"EqualIDs", testEqualIDs},
	{"Corrected", testCorrected},
	{"PositionEvents", testPositionEvents},
	{"PositionRoundTrip", testPositionRoundTrip},
	{"Seals", testSeals},
	{"EraseNames", testEraseNames},
	{"EraseNamesOfSome", testEraseNamesOfSome},
	{"EraseNamesFailures", testEraseNamesFailures},
	{"EraseNamesRace", testEraseNamesRace},
	{"LeavesOfOlderProgram", testLeavesOfOlderProgram},
	{"MissingLeaves", testMissingLeaves},
	{"LeafRace", testLeafRace},
	{"RoundTrip", testRoundTrip},
	{"LargeBatch", testLargeBatch},
	{"Reports", testReports},
	{"ManyReports", testManyReports},
	{"ConcurrentWriters", testConcurrentWriters},
	{"FailureBeforeCommit", testFailureBeforeCommit},
	{"FailureAfterCommit", testFailureAfterCommit},
	{"CancelledAppend", testCancelledAppend},
	{"LeaseIsExclusive", testLeaseIsExclusive},
	{"LeaseRenewal", testLeaseRenewal},
	{"LeaseTakeOver", testLeaseTakeOver},
	{"LeaseRelease", testLeaseRelease},
	{"LeaseIsShown", testLeaseIsShown},
	{"LeaseRace", testLeaseRace},
	{"LeaseGuardsAppend", testLeaseGuardsAppend},
	{"LeaseFencesOff", testLeaseFencesOff},
	{"OverwriteNewUnchangedGone", testOverwriteNewUnchangedGone},
	{"OverwriteOddNames", testOverwriteOddNames},
	{"OverwriteMany", testOverwriteMany},
	{"LeaseGuardsRecords", testLeaseGuardsRecords},
	{"OverwriteFailureBeforeCommit", testOverwriteFailureBeforeCommit},
	{"OverwriteFailureAfterCommit", testOverwriteFailureAfterCommit},
	{"OverwriteOneRecord", testOverwriteOneRecord},
	{"ConcurrentOverwrites", testConcurrentOverwrites},
	{"RecordsNewChangedGone", testRecordsNewChangedGone},
	{"RecordsDoneTwice", testRecordsDoneTwice},
	{"RecordsOfKinds", testRecordsOfKinds},
	{"RecordsOfOddNames", testRecordsOfOddNames},
	{"ManyRecords", testManyRecords},
	{"RecordFailureBeforeCommit", testRecordFailureBeforeCommit},
	{"RecordFailureAfterCommit", testRecordFailureAfterCommit},
	{"RecordRace", testRecordRace},
	{"ConcurrentRecords", testConcurrentRecords},
	{"Once", testOnce},
	{"OnceIsForgotten", testOnceIsForgotten},
	{"OnceFailureBeforeCommit", testOnceFailureBeforeCommit},
	{"OnceFailureAfterCommit", testOnceFailureAfterCommit},
	{"OnceRace", testOnceRace},
	{"ConcurrentOnce", testConcurrentOnce},
	{"Uses", testUses},
	{"UseRace", testUseRace},
	{"Counts", testCounts},
	{"PruneCounts", testPruneCounts},
	{"CountFailures", testCountFailures},
	{"CountRace", testCountRace},
	{"FanOut", testFanOut},
	{"FanOutKnowsWebhooks", testFanOutKnowsWebhooks},
	{"FanOutRace", testFanOutRace},
	{"FanOutMeetsNewWebhooks", testFanOutMeetsNewWebhooks},
	{"FanOutOfConsumers", testFanOutOfConsumers},
	{"FanOutKnowsAlerts", testFanOutKnowsAlerts},
	{"Stories", testStories},
	{"DueAtTime", testDueAtTime},
	{"Withdrawn", testWithdrawn},
	{"StoryRace", testStoryRace},
	{"Enqueue", testEnqueue},
	{"ListDeliveries", testListDeliveries},
	{"DeliveriesOfOddNames", testDeliveriesOfOddNames},
	{"DropWhileHeld", testDropWhileHeld},
	{"PruneDeliveries", testPruneDeliveries},
	{"CorrectTimes", testCorrectTimes},
	{"CorrectOldFailure", testCorrectOldFailure},
	{"ProcessClockAhead", testProcessClockAhead},
	{"CorrectWaits", testCorrectWaits},
	{"DeliveriesFailureBeforeCommit", testDeliveriesFailureBeforeCommit},
	{"DeliveriesFailureAfterCommit", testDeliveriesFailureAfterCommit},
	{"ConcurrentDeliveries", testConcurrentDeliveries},
	{"Claim", testClaim},
	{"ClaimFailing", testClaimFailing},
	{"ClaimIsFair", testClaimIsFair},
	{"ClaimTogether", testClaimTogether},
	{"ClaimTakeOver", testClaimTakeOver},
	{"ClaimRace", testClaimRace},
	{"Settle", testSettle},
	{"EpochRace", testEpochRace},
	{"EpochOfDeliveries", testEpochOfDeliveries},
	{"SettleOddTexts", testSettleOddTexts},
	{"EndpointTimes", testEndpointTimes},
	{"DocumentOfOddTexts", testDocumentOfOddTexts},
	{"DocumentFailures", testDocumentFailures},
	{"DocumentRace", testDocumentRace},
	{"SourceIsClaimedOnce", testSourceIsClaimedOnce},
	{"SourceRace", testSourceRace},
	{"CreatedAt", testCreatedAt},
	{"ReopenKeepsAll", testReopenKeepsAll},
	{"OpenAtOnce", testOpenAtOnce},
	{"NewerSchemaIsRefused", testNewerSchemaIsRefused},
}

// fresh makes a new database and returns a function that opens it once more,
// until the test ends.
func (e Engine) fresh(t *testing.T) (open func() store.Store) {
	t.Helper()
	tryOpen := e.Fresh(t)
	return func() store.Store {
		t.Helper()
		s, err := tryOpen()
		if err != nil {
			t.Fatalf("opening: %v", err)
		}
		t.Cleanup(func() { closeStore(t, s) })
		return s
	}
}

func closeStore(t *testing.T, s store.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Errorf("closing: %v", err)
	}
}

// patiently returns a context with the long timeout of a test.
func patiently(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

func mustAppend(t *testing.T, s store.Store, b store.Batch) store.Outcome {
	t.Helper()
	outcome, err := s.Append(patiently(t), b)
	if err != nil {
		t.Fatalf("appending: %v", err)
	}
	return outcome
}

// published returns a batch of new reports.
func published(reports ...disclosure.Report) store.Batch {
	return store.Batch{Reports: reports, New: disclosure.Published}
}

func newReport(number int64, title string) disclosure.Report {
	return disclosure.Report{
		ID:          disclosure.ReportID(disclosure.OIR, number),
		Type:        disclosure.OIR,
		Number:      number,
		CompanyName: "EJEMPLAR FICTICIA, S.A.",
		Title:       title,
		PublishedAt: time.Date(2026, 4, 22, 8, 0, 33, 0, time.UTC),
	}
}

func newReports(from, to int64) []disclosure.Report {
	var all []disclosure.Report
	for n := from; n <= to; n++ {
		all = append(all, newReport(n, "La sociedad informa"))
	}
	return all
}

func company(id, name string) disclosure.Issuer {
	return disclosure.Issuer{ID: id, Name: name, Kind: disclosure.Company}
}
