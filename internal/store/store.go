// Package store defines the interface of the durable store and its guarantees.
// It has no SQL. The two engines, sqlite and postgres, give the same guarantees,
// and package storetest tests them.
//
// # The log
//
// Every visible change of a report, an issuer or a position is one row of an
// append-only log. A row holds the event, the names of the changed fields, and the complete
// record after the change. The state of the service is the newest row of every
// subject; there is no second copy of a record. Readers keep a cursor and ask
// for the changes after it.
//
// The sequence number is drawn from one counter row that the appending
// transaction locks before it reads anything. So numbers have no gaps (a
// rollback returns its numbers), they rise in the order of commits (no writer
// draws the next one before the last is committed or rolled back), and a reader
// that sees n never later finds a change at or below n that it did not see.
// OccurredAt is the appending process's clock: across replicas it need not
// rise with seq.
//
// The appending transaction also writes the hash of every change as a leaf of the
// Merkle tree over the log: see package proof. The tree follows from these hashes.
//
// # Names
//
// A position can have the name of a natural person, which must not be kept forever. The
// row in the log, and so the leaf of the tree, has a seal in its place: the SHA-256 of a
// random salt and the name. Salt and name are kept beside the log. Readers of changes
// receive the name with the row, and no name once it was erased: see EraseNames. The seal
// stays, so that the proofs of earlier changes still hold, and cannot be opened any more.
//
// # Beside the log
//
// Records, nonces, uses, counts, deliveries and documents are not part of the log, and
// readers of changes do not see them. Records have counters of their own, which
// work as the log's does. The others have none, since no reader follows them.
//
// # Failures
//
// When a method returns nil, its effect survives a crash of the program and of
// the machine. When it returns an error the effect may or may not have
// happened, and repeating the call is safe: a record equal to the stored one
// changes nothing. A crash at any point leaves only complete batches.
package store

import (
	"context"
	"errors"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"pregon/internal/disclosure"
)

// ErrDamaged is in the chain of errors that are caused by a corrupt database file
// or index.
var ErrDamaged = errors.New("the database is damaged")

// Store is implemented by every engine. Its methods may be called by many
// goroutines and by many processes on one database.
type Store interface {
	Log
	Leases
	Records
	Nonces
	Usage
	Counts
	Deliveries
	Documents
	Index

	// Source returns the source set by ClaimSource, or the empty string.
	Source(ctx context.Context) (string, error)
	// ClaimSource sets the source of this store's reports, unless it is set
	// already, and returns the source that is set. It prevents the simulated
	// market and the real one from sharing a store.
	ClaimSource(ctx context.Context, source string) (string, error)

	// CreatedAt returns when the store was created, zero for stores that are
	// older than this field.
	CreatedAt(ctx context.Context) (time.Time, error)

	Close() error
}

// Log is the append-only log of changes.
type Log interface {
	// Append merges a batch into the stored records, as disclosure's Merge does,
	// and writes a change for every record that is new or different, all of them
	// or none, in the batch's order, issuers first, then reports, then positions. The
	// name of a natural person is sealed. A record without new
	// information writes nothing. Records must have passed Validate.
	//
	// Append waits for other writers. With Batch.Lease it fails, Conflict, and
	// writes nothing unless that lease is still the newest. It may have expired,
	// as long as no process took it over and it was not released.
	Append(ctx context.Context, b Batch) (Outcome, error)

	// Changes returns up to limit changes with seq > after, in order. Fewer
	// than limit means that there were no more.
	Changes(ctx context.Context, after int64, limit int) ([]disclosure.Change, error)

	// ChangesAt returns the changes with these seqs, in order of seq. Those that
	// are not in the log are left out.
	ChangesAt(ctx context.Context, seqs ...int64) ([]disclosure.Change, error)

	// ChangesOf returns up to limit changes of a subject with seq <= upTo,
	// the newest first. Fewer than limit means that there were no more.
	ChangesOf(ctx context.Context, of disclosure.Subject, id string, upTo int64, limit int) ([]disclosure.Change, error)

	// AsOf returns the newest change with seq <= upTo of each of the subjects with
	// these ids, in order of seq. Those that have none are left out.
	AsOf(ctx context.Context, of disclosure.Subject, upTo int64, ids ...string) ([]disclosure.Change, error)

	// Marks returns the marks of up to limit changes with seq > after, in order. It
	// is cheaper than Changes, because no record is read.
	Marks(ctx context.Context, after int64, limit int) ([]disclosure.Mark, error)

	// Current passes the newest change of every issuer, report and position to fn, in
	// order of seq, in one snapshot, and returns the head of that snapshot. A
	// reader starts with it and continues with Changes. An error of fn ends it.
	Current(ctx context.Context, fn func(disclosure.Change) error) (disclosure.Head, error)

	// Reports returns the present state of the reports with these ids, in no
	// particular order. Unknown ids are left out.
	Reports(ctx context.Context, ids ...string) ([]disclosure.Report, error)

	// Positions returns the present state of the positions with these ids, in no
	// particular order. Unknown ids are left out.
	Positions(ctx context.Context, ids ...string) ([]disclosure.Position, error)

	// EraseNames erases the names of natural persons of the positions with these ids,
	// with their salts, from all changes: one transaction removes them and appends a
	// position.backfilled of each position with Erased set. Positions that are unknown
	// or erased, and those of legal persons, whose names the log has, are left alone.
	// With a lease it fails as Append does. The names may be readable in the files of
	// the database for some time, and in backups.
	EraseNames(ctx context.Context, lease *Lease, ids ...string) (Outcome, error)

	// NameOpening returns the salt and the name of a seal. found is false if there is
	// no such seal, or the name was erased.
	NameOpening(ctx context.Context, sealed string) (n SealedName, found bool, err error)

	// SealedNames passes all names beside the log to fn, with their seals, in no
	// particular order.
	SealedNames(ctx context.Context, fn func(sealed, name string)) error

	// Newest returns the newest committed seq, 0 when the log is empty.
	Newest(ctx context.Context) (int64, error)

	// Head returns the newest committed seq and the log's epoch.
	Head(ctx context.Context) (disclosure.Head, error)

	// RenewEpoch gives the log another epoch, as disclosure.Head.Renew does, and
	// returns its head. When the epoch is no longer the one to be replaced,
	// another process has renewed it, and it is left alone. It is also left alone
	// when the log has the change lost, if one is given: then an earlier read was
	// answered by a replica that is behind.
	RenewEpoch(ctx context.Context, replaced string, lost disclosure.Mark,
		shared ...disclosure.Cursor) (disclosure.Head, error)

	// LeafHashes passes the hashes of the leaves of the changes with seq > after to
	// fn, in order and without gaps, until fn fails. Changes that were appended by a
	// program without the tree have none before AddLeaves, nor have those after them.
	LeafHashes(ctx context.Context, after int64, fn func(tlog.Hash) error) error

	// Leaves returns the leaves of up to limit changes with seq > after, in order.
	Leaves(ctx context.Context, after int64, limit int) ([]disclosure.Leaf, error)

	// AddLeaves writes the hashes of the next changes that have none, and returns how
	// many it hashed, 0 when there are no more. Each call is one step: it may be
	// interrupted, and any number of processes may do it at once.
	AddLeaves(ctx context.Context) (int, error)

	// Wait returns nil once there is a change with seq > after, at once after
	// a commit of this process and within a second after one of another. It
	// returns the context's error when that ends first, and at once the
	// engine's own error when the log cannot be read: the caller must back off.
	Wait(ctx context.Context, after int64) error
}

// Leases let one process at a time do a job.
type Leases interface {
	// AcquireLease takes the named lease when it is free or has expired, or
	// prolongs it when holder has it already. It fails, Conflict, while
	// another holder has it. The first term is 1, and every acquisition that
	// is not a prolongation raises it by one, even by the same holder.
	AcquireLease(ctx context.Context, name, holder string, ttl time.Duration) (Lease, error)

	// ReleaseLease releases the lease if it is still the newest, so that
	// another process need not wait until it expires. Otherwise it does nothing.
	ReleaseLease(ctx context.Context, l Lease) error

	// CurrentLease returns the newest lease of a name, the zero value if there
	// never was one. held reports whether it is in force: it was neither released
	// nor has it expired.
	CurrentLease(ctx context.Context, name string) (l Lease, held bool, err error)
}

// Records are texts by kind and id that the processes of one store share: keys,
// webhooks, the coverage of the source. They are not in the log, and nothing
// exports them. Each write of a record gives it the next revision of its table,
// without gaps and in the order of commits, so that a reader that keeps the
// newest revision it saw finds all later records and no others.
type Records interface {
	// PutRecords writes records of one kind, all or none, and returns them with
	// their revisions. Of several with one id only the last counts. A record
	// replaces the stored one that has its revision, is new when that is 0, and
	// replaces any with AnyRevision. A record that is stored with the same body is
	// left alone, whatever its revision: a repeated call is safe. Two callers that
	// put the same body over one revision both succeed; a caller that must not be
	// taken for another puts its name into the body.
	//
	// It fails, Conflict, and writes nothing when a record is by now at another
	// revision. With a lease it also fails as Log.Append does.
	//
	// An empty body removes a record, and readers see it as an empty one. Removing
	// a record that never existed leaves it at revision 0. A removed record is
	// written again over the revision of its removal, not over 0.
	PutRecords(ctx context.Context, lease *Lease, records ...Record) ([]Record, error)

	// RecordsSince returns the records of a kind with a higher revision, each in
	// its present state, in order of revision; all of them after 0.
	RecordsSince(ctx context.Context, kind string, revision int64) ([]Record, error)
}

// Record is a text of a kind under an id.
type Record struct {
	Kind, ID, Body string
	Revision       int64 // 0 when it was never written
}

// Nonces are names that may be used once, such as the ids of assertions.
type Nonces interface {
	// ClaimNonce reports whether the caller is the first to claim a name. The name
	// stays taken until the given time, and is forgotten after it. The clock is
	// the database's on PostgreSQL and this machine's on SQLite. After an error
	// the name may be taken, so that a second call returns false. Two callers
	// never both get true.
	ClaimNonce(ctx context.Context, name string, until time.Time) (bool, error)
}

// Usage records when names, such as those of keys, were used.
type Usage interface {
	// RecordUse records that a name was used at a time, and returns when it was
	// used first. Times are kept to the microsecond and may come in any order: the
	// first is the earliest of them, and the last the latest.
	RecordUse(ctx context.Context, name string, at time.Time) (first time.Time, err error)

	// Uses returns the uses of all names.
	Uses(ctx context.Context) (map[string]Use, error)
}

// Use is when a name was used.
type Use struct{ First, Last time.Time }

// Counts are how often owners, such as keys, used operations, by day.
type Counts interface {
	// AddCounts adds to the stored counts, all or none. A batch is added once: a
	// repeated call with its name within a day changes nothing.
	AddCounts(ctx context.Context, batch string, counts ...Count) error

	// Counts returns the counts of an owner on the days from first to last, in
	// order of day and operation.
	Counts(ctx context.Context, owner string, first, last disclosure.Day) ([]Count, error)

	// PruneCounts deletes up to limit counts of the days before one, the oldest
	// first, and returns how many.
	PruneCounts(ctx context.Context, before disclosure.Day, limit int) (int, error)
}

// Count is how often an owner used an operation on a day. The texts must be valid
// UTF-8 without NUL.
type Count struct {
	Account   string
	Day       disclosure.Day
	Operation string
	N         int64
}

// Deliveries are the changes to send to webhooks and to the channels of alerts, and the
// results of sending them. A webhook is a record of the kind "webhook", a channel one of
// the kind "alert"; here only their ids are used, and both are called webhooks. Whether a
// delivery is due is decided by the database's clock on PostgreSQL and by this machine's on
// SQLite. Times are kept to the microsecond.
type Deliveries interface {
	// Fanned returns the seq up to which the log was fanned out to a consumer. It
	// starts with the newest seq at the time when the migration for that consumer ran.
	Fanned(ctx context.Context, to Consumer) (int64, error)

	// FanOut adds deliveries and moves that seq, both or neither. It fails,
	// Conflict, and writes nothing when the seq is no longer f.From, or when a
	// record of a kind of the consumer has a revision above the one in f.Revisions: a
	// webhook, for instance, was created, changed or removed, and the caller has not
	// seen it. The kinds of ForWebhooks are "webhook" and "watchlist"; those of ForAlerts
	// are "alert" and "watchlist". It fails, Unavailable, when the log is not of f.Epoch or
	// does not have f.Seen: a backup was restored. A delivery that exists already is left
	// alone. With f.To equal to f.From it only adds deliveries.
	//
	// A webhook has one delivery of a story. A second one is not added, whatever its seq,
	// as long as the first is stored. While the first is pending, the causes of the
	// second are added to it; unless it was attempted, it is due when the sooner of both
	// is, and in that one's lane.
	FanOut(ctx context.Context, f FanOut) error

	// Enqueue adds deliveries that are due at once, and makes those that exist
	// due at once again, whatever their state. Their attempts count from 0 again;
	// earlier attempts stay listed. It does not check that the webhook exists.
	Enqueue(ctx context.Context, deliveries ...Delivery) error

	// Claim gives the holder up to c.Endpoints of c.Webhooks that have a delivery
	// due and that no other holder has, longest waiting first, each with up to
	// c.Each due deliveries in order of seq, until c.TTL has passed. With
	// c.Failing it gives only webhooks whose last attempt failed, otherwise only
	// the others. If a delivery of a lane of c.Together is due, it also gives those of
	// that lane that were not attempted and are due later. Webhooks that the holder has already are given again: it must
	// leave those that it is working on out of c.Webhooks.
	Claim(ctx context.Context, c Claim) ([]Claimed, error)

	// Renew prolongs the holder's claims of these webhooks, also expired ones that
	// no other holder took, and returns the webhooks that the holder has, in no
	// particular order.
	Renew(ctx context.Context, holder string, ttl time.Duration, webhooks ...string) (held []string, err error)

	// Release ends the holder's claims of these webhooks.
	Release(ctx context.Context, holder string, webhooks ...string) error

	// Settle records attempts, in the given order, and the resulting states of
	// their deliveries, all or none. It does not matter who holds the webhook. It
	// skips deliveries that no longer exist, since their webhook was dropped, and
	// those of another epoch. It also skips an attempt that was recorded before:
	// one with the same time. A wait begins now, by the same clock that decides
	// whether a delivery is due, since the clock of the process may differ. A failed
	// attempt that is recorded late does not change the state of a delivery that was
	// delivered or died meanwhile.
	Settle(ctx context.Context, results ...Result) error

	// Endpoints returns the endpoints of webhooks, by id. Webhooks that never had
	// a delivery are left out.
	Endpoints(ctx context.Context, webhooks ...string) (map[string]Endpoint, error)

	// ListDeliveries returns up to q.Limit deliveries of a webhook, the newest
	// seq first, those below q.Before if set, of q.State if set, with their
	// attempts in order of time.
	ListDeliveries(ctx context.Context, q DeliveryQuery) ([]Delivered, error)

	// DropDeliveries deletes everything stored for a webhook, even while a holder
	// has it.
	DropDeliveries(ctx context.Context, webhook string) error

	// PruneDeliveries deletes up to limit deliveries that were delivered or died
	// before a time, the oldest first, with their attempts, and returns how many. Those
	// of a story stay for KeepStories at least.
	PruneDeliveries(ctx context.Context, before time.Time, limit int) (int, error)

	// CorrectTimes takes back what was scheduled by a clock that was set back since:
	// a new delivery without a lane is due at once, and a claim lasts for ttl at most. A
	// new delivery in a lane keeps a wait of up to ShortWait, which then begins now. A
	// longer wait ends at a time of day, which does not move with the clock. If the last
	// failure of a webhook is in the future now, its deliveries that failed keep
	// their wait since then. In any case none of them waits longer than longest, the
	// longest wait of a Result. It returns how many webhooks it corrected.
	// Differences of up to ten seconds are left alone.
	CorrectTimes(ctx context.Context, ttl, longest time.Duration) (int, error)
}

// DeliveryState is the state of a delivery.
type DeliveryState string

// The states of a delivery.
const (
	DeliveryPending   DeliveryState = "pending" // to be attempted at DueAt
	DeliveryDelivered DeliveryState = "delivered"
	DeliveryDead      DeliveryState = "dead" // given up
)

// Delivery is a change of the log that is sent to a webhook.
type Delivery struct {
	Webhook   string
	Epoch     string // of the log, when it was made; set by the store
	Seq       int64
	Event     string
	State     DeliveryState
	Attempts  int       // since it was made, or made due again
	DueAt     time.Time // only of a pending one
	CreatedAt time.Time
	DoneAt    time.Time // when it was delivered or died

	// The following are empty in deliveries to webhooks.

	Story string        // what it is about: see FanOut
	Lane  string        // those of a lane are sent together: see Claim
	Cause string        // words that tell why it is sent, separated by spaces
	Wait  time.Duration // of a new one in a lane, until it is due; not returned
	At    time.Time     // of a new one that is due at a time of day, in place of Wait; not returned
	Early bool          // claimed with others of its lane, before it is due
}

// Consumer is what the log is fanned out to. Each has a position of its own in the log,
// so that a program that does not know one of them cannot move its position.
type Consumer int

// The consumers.
const (
	ForWebhooks Consumer = iota
	ForAlerts
)

// KeepStories is how long a delivery of a story is kept after it was delivered or died, so
// that the story is not sent again while it is news.
const KeepStories = 5 * 24 * time.Hour

// ShortWait is the longest wait of a new delivery that does not end at a time of day.
const ShortWait = 10 * time.Minute

// FanOut fans the changes after From, up to To, out to Consumer. Of its deliveries, the
// webhook, the seq, the event, the story, the lane, the cause, the wait and the time are used.
// The wait tells which is due sooner, also if it has a time.
type FanOut struct {
	Consumer   Consumer
	From, To   int64
	Epoch      string           // of the log that the caller read; empty: any
	Seen       disclosure.Mark  // the newest change that the caller saw; zero: any
	Revisions  map[string]int64 // by kind, the newest that the caller saw of a record
	Deliveries []Delivery
}

// Claim has the parameters of Deliveries.Claim.
type Claim struct {
	Holder    string
	Webhooks  []string
	Failing   bool
	Together  []string // lanes
	Endpoints int
	Each      int
	TTL       time.Duration
}

// Claimed is a webhook that a holder claimed, and its due deliveries.
type Claimed struct {
	Webhook    string
	Deliveries []Delivery
}

// Attempt is an attempt to deliver. Bytes that are not valid text are replaced.
type Attempt struct {
	At      time.Time
	Status  int // 0: no answer
	Latency time.Duration
	Error   string
	Excerpt string
}

// Result is an attempt and the state of its delivery after it. It failed
// unless the delivery is delivered.
type Result struct {
	Webhook string
	Epoch   string // of the delivery
	Seq     int64
	Attempt Attempt
	State   DeliveryState
	Wait    time.Duration // until a pending delivery is attempted again
	Unsent  bool          // nothing was sent: it says nothing about the endpoint

	// Withdrawn means that the delivery is not wanted any more, and was not attempted. It is
	// deleted if it is pending and its cause is Cause, so that another delivery of its
	// story can be added; with another cause it may be wanted, and stays. No attempt is
	// recorded: only the webhook, the epoch, the seq and the cause are used.
	Withdrawn bool
	Cause     string
}

// Endpoint is the state of a webhook's endpoint, derived from its deliveries.
// Times are zero when there was no such event.
type Endpoint struct {
	FailingSince  time.Time // the first failure after the last success
	LastSuccessAt time.Time
	LastFailureAt time.Time
	Pending, Dead int
}

// DeliveryQuery asks for deliveries of a webhook.
type DeliveryQuery struct {
	Webhook string
	State   DeliveryState // empty: any
	Before  int64         // only lower seqs; 0: from the newest
	Limit   int
}

// Delivered is a delivery and its attempts.
type Delivered struct {
	Delivery
	History []Attempt
}

// Lease is the right to do a job until Expires. Its term fences off a holder
// that has not noticed that it lost the lease: see Log.Append.
type Lease struct {
	Name    string
	Holder  string
	Term    int64
	Expires time.Time
}

// Batch is the argument of Append.
type Batch struct {
	Issuers   []disclosure.Issuer
	Reports   []disclosure.Report
	Positions []disclosure.Position
	// Aside are partial reports with facts that the other reports of the batch
	// state about them. They are written last and are not counted. Unknown ones
	// are left out.
	Aside []disclosure.Report
	// New is the event of a report that was not known: Backfilled or Published.
	// Empty means Published. When it is Backfilled, so is every change of a known
	// report. A new report that has an AvailableAt keeps it, and also keeps its
	// Backfilled field. All of this applies to positions too, whose events are
	// PositionBackfilled and PositionPublished; that a position is annulled is always
	// PositionWithdrawn.
	New disclosure.Event
	// Lease, when set, must still be the newest: see Log.Append.
	Lease *Lease
}

// Outcome counts the records of an Append.
type Outcome struct {
	Seq                     int64 // the newest seq after the batch
	New, Updated, Unchanged int
	NewIssuers              int // among New
	NewPositions            int // among New
}

// Add returns the sum of two outcomes.
func (o Outcome) Add(p Outcome) Outcome {
	return Outcome{
		Seq:          max(o.Seq, p.Seq),
		New:          o.New + p.New,
		Updated:      o.Updated + p.Updated,
		Unchanged:    o.Unchanged + p.Unchanged,
		NewIssuers:   o.NewIssuers + p.NewIssuers,
		NewPositions: o.NewPositions + p.NewPositions,
	}
}
