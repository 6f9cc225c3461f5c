// Package store says what is durable and what may be relied upon; it holds no
// SQL. Its two engines, sqlite and postgres, keep the same promises, which
// storetest states as tests.
//
// # The log
//
// Every visible change of a report or an issuer is one row of an append-only
// log. A row holds the event, the names of what changed, and the whole record
// as it then was: the state of the service is the newest row of every subject,
// and there is no second copy of a record to disagree with it. Readers keep a
// cursor and ask for what came after it.
//
// The sequence number is drawn from one counter row that the appending
// transaction locks before it reads anything. So numbers have no gaps (a
// rollback takes its numbers back), they rise in the order of commits (nobody
// draws the next one before the last is committed or gone), and a reader who
// sees n can never later find something at or below n that it did not see.
// (OccurredAt is the appending process's clock: across replicas it need not
// rise with seq.)
//
// # Beside the log
//
// Records, nonces, uses, deliveries and documents are no part of the log, and no reader
// of changes sees them. Records have counters of their own, which work as the
// log's. The others have none: they are read and never followed.
//
// # Failures
//
// When a method returns nil, its effect survives a crash of the program and of
// the machine. When it returns an error the effect may or may not have
// happened, and doing it again is safe: a record that is already there as told
// changes nothing. A crash at any point leaves whole batches only.
package store

import (
	"context"
	"errors"
	"time"

	"pregon/internal/disclosure"
)

// ErrDamaged is in the chain of an error of a database that is broken, on disk
// or in an index.
var ErrDamaged = errors.New("the database is damaged")

// Store is what an engine offers. Methods may be called from many goroutines
// and from many processes on one database.
type Store interface {
	Log
	Leases
	Records
	Nonces
	Usage
	Deliveries
	Documents

	// Source returns the mark left by ClaimSource, or nothing.
	Source(ctx context.Context) (string, error)
	// ClaimSource marks where this store's reports come from, once for its
	// life, and returns the mark in force: the caller's if there was none. It
	// keeps the simulated market and the real one from ever sharing a store.
	ClaimSource(ctx context.Context, source string) (string, error)

	// CreatedAt returns when the store was made, zero when that was before
	// stores kept it.
	CreatedAt(ctx context.Context) (time.Time, error)

	Close() error
}

// Log is the append-only log of changes.
type Log interface {
	// Append lays a batch over what is known, as disclosure's Merge does, and
	// writes a change for every record that is new or different, all of them
	// or none, in the batch's order, issuers first. A record that says nothing
	// new writes nothing. Records must have passed Validate.
	//
	// Append waits for other writers. With Batch.Lease it fails, Conflict, and
	// writes nothing unless that very lease is still the newest: it may be past
	// its time, as long as nobody took it over and it was not given back.
	Append(ctx context.Context, b Batch) (Outcome, error)

	// Changes returns up to limit changes with seq > after, in order. Fewer
	// than limit means that there were no more.
	Changes(ctx context.Context, after int64, limit int) ([]disclosure.Change, error)

	// ChangesAt returns the changes with these seqs, in order of seq. Those that
	// are not in the log are left out.
	ChangesAt(ctx context.Context, seqs ...int64) ([]disclosure.Change, error)

	// Current passes the newest change of every issuer and report to fn, in
	// order of seq, all as of one moment, and returns that moment's seq. With
	// it a reader starts, and goes on with Changes. An error of fn ends it.
	Current(ctx context.Context, fn func(disclosure.Change) error) (disclosure.Head, error)

	// Reports returns those of the reports with these ids that are known, as
	// they are now, in no particular order.
	Reports(ctx context.Context, ids ...string) ([]disclosure.Report, error)

	// Newest returns the newest committed seq, 0 when the log is empty.
	Newest(ctx context.Context) (int64, error)

	// Head returns the newest committed seq and the log's epoch.
	Head(ctx context.Context) (disclosure.Head, error)

	// RenewEpoch gives the log another epoch, as disclosure.Head.Renew does, and
	// returns its head. When the epoch is no longer the one to be replaced, it
	// was renewed by another process, and is left as it is. So it is when the log
	// has the change that is thought to be lost, if one is given: then a read was
	// answered by a copy that is behind.
	RenewEpoch(ctx context.Context, replaced string, lost disclosure.Mark, shared ...disclosure.Cursor) (disclosure.Head, error)

	// Wait returns nil once there is a change with seq > after, at once after
	// a commit of this process and within a second after one of another. It
	// returns the context's error when that ends first, and at once the
	// engine's own when it cannot look: whoever follows the log must back off.
	Wait(ctx context.Context, after int64) error
}

// Leases let one process at a time do a job.
type Leases interface {
	// AcquireLease takes the named lease when it is free or past its time, or
	// prolongs it when holder has it already. It fails, Conflict, while
	// somebody else holds it. The first term is 1, and every acquisition that
	// is not a prolongation raises it by one, even by the same holder.
	AcquireLease(ctx context.Context, name, holder string, ttl time.Duration) (Lease, error)

	// ReleaseLease gives the lease back if it is still the newest, so that
	// another need not wait for its end, and otherwise does nothing.
	ReleaseLease(ctx context.Context, l Lease) error
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

// Deliveries are what is to be sent to webhooks, and what came of it. A webhook
// is a record of the kind "webhook"; here it is known by its id alone. What is
// due is measured by the database's clock on PostgreSQL and this machine's on
// SQLite. Times are kept to the microsecond.
type Deliveries interface {
	// Fanned returns the seq up to which the log was handed out to webhooks. It
	// starts with the newest one of the time when the store learned of webhooks.
	Fanned(ctx context.Context) (int64, error)

	// FanOut adds deliveries and moves that seq, both or neither. It fails,
	// Conflict, and writes nothing when the seq is no longer f.From, or when a
	// record of the kind "webhook" has a revision above f.Revision: somebody made,
	// changed or removed a webhook, and the caller did not know. It fails,
	// Unavailable, when the log is not of f.Epoch or does not have f.Seen: a
	// backup was restored. A delivery that is there already is left alone.
	FanOut(ctx context.Context, f FanOut) error

	// Enqueue adds deliveries that are due at once, and makes those that are
	// there due at once again, whatever became of them. Their attempts count from
	// 0 again; those of before stay listed. It does not ask whether there is such
	// a webhook.
	Enqueue(ctx context.Context, deliveries ...Delivery) error

	// Claim gives the holder up to c.Endpoints of c.Webhooks that have something
	// due and that nobody else holds, those first that have waited longest, each
	// with up to c.Each due deliveries in order of seq, until c.TTL has passed.
	// With c.Failing only those whose last attempt failed, otherwise only the
	// others. What the holder holds already is given again: whoever is at work on
	// a webhook leaves it out of c.Webhooks.
	Claim(ctx context.Context, c Claim) ([]Claimed, error)

	// Renew prolongs what the holder holds of these webhooks, even past its time
	// if nobody took it, and returns what that is, in no particular order.
	Renew(ctx context.Context, holder string, ttl time.Duration, webhooks ...string) (held []string, err error)

	// Release gives back what the holder holds of these webhooks.
	Release(ctx context.Context, holder string, webhooks ...string) error

	// Settle notes attempts, in the order told, and what they make of their
	// deliveries, all or none. Who holds the webhook does not matter: what
	// happened happened. A delivery that is gone, since its webhook was dropped,
	// or that is of another epoch, is passed over, and so is an attempt that was
	// noted before, which is one at the very same time. A failed attempt that is told late does not change the
	// state of a delivery that was delivered or died meanwhile.
	Settle(ctx context.Context, results ...Result) error

	// Endpoints returns what is known of webhooks, by id. Those that never had a
	// delivery are left out.
	Endpoints(ctx context.Context, webhooks ...string) (map[string]Endpoint, error)

	// ListDeliveries returns up to q.Limit deliveries of a webhook, the newest
	// seq first, those below q.Before if set, of q.State if set, with their
	// attempts in order of time.
	ListDeliveries(ctx context.Context, q DeliveryQuery) ([]Delivered, error)

	// DropDeliveries forgets everything of a webhook, even while it is held.
	DropDeliveries(ctx context.Context, webhook string) error

	// PruneDeliveries forgets up to limit deliveries that were delivered or died
	// before a time, the oldest first, with their attempts, and returns how many.
	PruneDeliveries(ctx context.Context, before time.Time, limit int) (int, error)
}

// DeliveryState is what became of a delivery.
type DeliveryState string

// The states of a delivery.
const (
	DeliveryPending   DeliveryState = "pending" // to be tried at DueAt
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
}

// FanOut hands the changes after From, up to To, out to webhooks. Only the
// webhook, the seq and the event of its deliveries are used.
type FanOut struct {
	From, To   int64
	Epoch      string          // of the log that the caller read; empty: any
	Seen       disclosure.Mark // the newest change that the caller saw; zero: any
	Revision   int64           // the newest that the caller saw of a record of kind "webhook"
	Deliveries []Delivery
}

// Claim says what a holder wants: see Deliveries.Claim.
type Claim struct {
	Holder    string
	Webhooks  []string
	Failing   bool
	Endpoints int
	Each      int
	TTL       time.Duration
}

// Claimed is a webhook that a holder got, and what is due for it.
type Claimed struct {
	Webhook    string
	Deliveries []Delivery
}

// Attempt is a try to deliver. What is not text in its texts is replaced.
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
	DueAt   time.Time // of one that is to be tried again
}

// Endpoint is what is known of a webhook from its deliveries. Times are zero
// when there is nothing to tell.
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

// Lease is a right to do a job until Expires. Its term fences off a holder who
// has not noticed that he lost it: see Log.Append.
type Lease struct {
	Name    string
	Holder  string
	Term    int64
	Expires time.Time
}

// Batch is what one Append writes.
type Batch struct {
	Issuers []disclosure.Issuer
	Reports []disclosure.Report
	// Aside are known reports of which the others say something, with only
	// that told. They come last, are not counted, and left out when unknown.
	Aside []disclosure.Report
	// New is the event of a report that was not known: Backfilled, or
	// Published, which an empty one stands for. When it is Backfilled, so is
	// every change of a known report. A new report keeps the AvailableAt that it
	// says, and is then history only if it says so.
	New disclosure.Event
	// Lease, when set, must still be the newest: see Log.Append.
	Lease *Lease
}

// Outcome counts what an Append found.
type Outcome struct {
	Seq                     int64 // the newest seq when the batch was in
	New, Updated, Unchanged int
	NewIssuers              int // among New
}

// Add sums up several appends.
func (o Outcome) Add(p Outcome) Outcome {
	return Outcome{Seq: max(o.Seq, p.Seq), New: o.New + p.New, Updated: o.Updated + p.Updated, Unchanged: o.Unchanged + p.Unchanged, NewIssuers: o.NewIssuers + p.NewIssuers}
}
