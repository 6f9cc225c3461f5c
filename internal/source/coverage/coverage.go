// Package coverage records what the service knows about its source besides the
// reports: the days that were compared with the source's lists, the numbers that
// were never published, the health of the source and the requested back-fills.
// It is kept in the store's records, which all processes share.
//
// A Tracker answers from memory. Follow keeps it up to date, and its own writes
// are visible at once. The holder of the ingest lease writes; any process may
// request a back-fill.
package coverage

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"pregon/internal/disclosure"
	"pregon/internal/retry"
	"pregon/internal/source/health"
	"pregon/internal/store"
	"pregon/internal/store/follow"
)

// Tracker is a copy of the store's records of coverage.
type Tracker struct {
	records  store.Records
	follower *follow.Follower
	epoch    func() string // nil: the store never changes under the process
	leases   Leases        // nil: any process may have written the status
	lease    string        // the name of the lease of the process that writes the status

	mu      sync.RWMutex
	began   time.Time                          // guarded by mu: when this process was started or, after Begin, began
	known   map[string]string                  // guarded by mu: text by name
	jobs    map[string]string                  // guarded by mu: text of the records that are jobs, by id
	covered map[disclosure.Type]disclosure.Day // guarded by mu: the newest covered day
	version int64                              // guarded by mu: counts what Proved depends on
	// guarded by mu: when the status last changed, by this machine's clock
	statusSeen time.Time
	status     health.Status // guarded by mu: the last one; its lists must not be modified
	reported   bool          // guarded by mu: there is a status
	author     author        // guarded by mu: of the status
	holder     holder        // guarded by mu: of the lease
	leftAt     time.Time     // guarded by mu: when the author ceased to hold the lease; zero while it does
}

// Leases is the part of a store that a Tracker uses to find out who reads the source.
type Leases interface {
	CurrentLease(ctx context.Context, name string) (l store.Lease, held bool, err error)
}

// author is the lease under which a status was written. The zero value means that it
// is not known.
type author struct {
	Holder string `json:"holder,omitempty"`
	Term   int64  `json:"term,omitempty"`
}

// holder is who holds the lease.
type holder struct {
	author
	known bool // the lease was read
	held  bool // the lease is in force
	doubt bool // it had expired when it was last read
}

// New returns a tracker that is empty until Refresh.
func New(records store.Records) *Tracker {
	t := &Tracker{
		records: records,
		known:   map[string]string{},
		jobs:    map[string]string{},
		covered: map[disclosure.Type]disclosure.Day{},
		began:   time.Now(),
	}
	t.follower = follow.New(follow.Options{
		Kind:  store.CoverageKind,
		Noun:  "records of coverage",
		Store: records,
		Apply: t.apply,
		Epoch: func() string {
			if t.epoch == nil {
				return ""
			}
			return t.epoch()
		},
	})
	return t
}

// Epoch sets the function that returns the epoch of the log. A new epoch means
// that a backup was restored, which has older records with lower revisions: all
// are read again. It must be called before Refresh and Follow.
func (t *Tracker) Epoch(epoch func() string) { t.epoch = epoch }

// Lease names the lease that the process which writes the status holds. A status
// then counts only while its author holds the lease: else no process reads the
// source, or another one does that has not reported yet. It must be called before
// Refresh and Follow.
func (t *Tracker) Lease(leases Leases, name string) {
	t.leases = leases
	t.lease = name
}

// Refresh reads the records that other processes wrote.
func (t *Tracker) Refresh(ctx context.Context) error {
	if err := t.follower.Poll(ctx); err != nil {
		return err
	}
	return t.readLease(ctx)
}

const (
	leaseEvery = time.Second     // between two reads of the lease
	leaseTime  = 5 * time.Second // for one read
)

// Follow refreshes until the context ends. While the store fails, the known
// records stay. Failures are not logged here: the catalogue reads the same store
// and logs them.
func (t *Tracker) Follow(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return t.follower.Run(ctx) })
	if t.leases != nil {
		g.Go(func() error { return t.followLease(ctx) })
	}
	return g.Wait()
}

func (t *Tracker) followLease(ctx context.Context) error {
	for {
		reading, cancel := context.WithTimeout(ctx, leaseTime)
		_ = t.readLease(reading) // what is known stays
		cancel()
		if err := retry.Sleep(ctx, leaseEvery); err != nil {
			return err
		}
	}
}

// readLease reads who holds the lease. No status is written meanwhile, so that an
// older result cannot replace what SetStatus knows.
func (t *Tracker) readLease(ctx context.Context) error {
	if t.leases == nil {
		return nil
	}
	return t.follower.Exclusive(ctx, func() error {
		l, held, err := t.leases.CurrentLease(ctx, t.lease)
		if err != nil {
			return fmt.Errorf("reading which process reads the source: %w", err)
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		a := author{l.Holder, l.Term}
		expired := !held && l.Expires.After(time.Unix(0, 0)) // and was not released
		if expired && t.holder.held && t.holder.author == a && !t.holder.doubt {
			// If the clock was set forward, its holder renews it within a second.
			t.holder.doubt = true
			return nil
		}
		t.setHolder(a, held)
		return nil
	})
}

// setHolder sets who holds the lease. t.mu is held.
func (t *Tracker) setHolder(a author, held bool) {
	t.holder = holder{author: a, known: true, held: held}
	t.checkAuthor()
}

// checkAuthor records whether the author of the status holds the lease. t.mu is held.
func (t *Tracker) checkAuthor() {
	holds := t.holder.held && t.holder.author == t.author
	switch unknown := t.author == (author{}) || !t.holder.known; {
	case holds || unknown:
		t.leftAt = time.Time{}
	case t.leftAt.IsZero():
		t.leftAt = time.Now()
	}
}

func (t *Tracker) apply(_ context.Context, u follow.Update) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if u.Reload {
		clear(t.known)
		clear(t.jobs)
		clear(t.covered)
		t.version++
	}
	for _, r := range u.Records {
		t.add(r.ID, r.Body)
	}
}

func (t *Tracker) text(name string) string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.known[name]
}

// set writes records over any revision and adds them to the known ones.
func (t *Tracker) set(ctx context.Context, lease *store.Lease, records ...store.Record) error {
	return t.put(ctx, lease, func() {}, records...)
}

// put is set that calls written while t.mu is held, after the records are written.
func (t *Tracker) put(ctx context.Context, lease *store.Lease, written func(), records ...store.Record) error {
	return t.follower.Exclusive(ctx, func() error {
		if _, err := t.records.PutRecords(ctx, lease, records...); err != nil {
			return fmt.Errorf("writing coverage: %w", err)
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		for _, r := range records {
			t.add(r.ID, r.Body)
		}
		written()
		return nil
	})
}

func newRecord(name, text string) store.Record {
	return store.Record{
		Kind:     store.CoverageKind,
		ID:       name,
		Body:     text,
		Revision: store.AnyRevision,
	}
}

// add adds a record to the known ones. The caller holds mu.
func (t *Tracker) add(name, text string) {
	if id, ok := strings.CutPrefix(name, jobPrefix); ok {
		t.jobs[id] = text
	}
	if !strings.HasPrefix(name, jobPrefix) && name != statusName && !isRegister(name) {
		t.version++
	}
	if key, ok := strings.CutPrefix(name, coverPrefix); ok {
		series, date, _ := strings.Cut(key, "/")
		if day, ok := disclosure.ParseDay(date); ok {
			t.covered[disclosure.Type(series)] = max(t.covered[disclosure.Type(series)], day)
		}
	}
	before := t.known[name]
	if t.known[name] = text; name != statusName || text == before {
		return
	}
	t.statusSeen = time.Now()
	t.status, t.author, t.reported = parseStatus(text)
	t.checkAuthor()
	if before == "" && t.reported { // it may be old: use the time in it
		// Add keeps the monotonic reading, so that a later step of the clock does not
		// change the age.
		t.statusSeen = t.statusSeen.Add(-max(0, t.statusSeen.Sub(t.status.At)))
	}
}

func instant(text string) time.Time {
	if seconds, err := strconv.ParseInt(text, 10, 64); err == nil {
		return time.Unix(seconds, 0).UTC()
	}
	return time.Time{}
}

func seconds(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) }

const coverPrefix = "covered/"

func coverName(t disclosure.Type, day disclosure.Day) string {
	return coverPrefix + string(t) + "/" + day.String()
}

// Covered returns when a day of a series was last compared with the source's
// complete list, zero for never.
func (t *Tracker) Covered(series disclosure.Type, day disclosure.Day) time.Time {
	return instant(t.text(coverName(series, day)))
}

// newestCovered returns the newest day of a series that was compared, zero for
// none.
func (t *Tracker) newestCovered(series disclosure.Type) disclosure.Day {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.covered[series]
}

// Version counts the changes of the records that Proved depends on. As long as it
// and the reports are the same, so is what is proved.
func (t *Tracker) Version() int64 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.version
}

// Cover records that the days from one to another were compared at a time.
func (t *Tracker) Cover(
	ctx context.Context,
	lease *store.Lease,
	series disclosure.Type,
	from, to disclosure.Day,
	at time.Time,
) error {
	var records []store.Record
	for day := from; day <= to; day++ {
		records = append(records, newRecord(coverName(series, day), seconds(at)))
	}
	return t.set(ctx, lease, records...)
}

func absentName(t disclosure.Type, number int64) string {
	return "absent/" + string(t) + "/" + strconv.FormatInt(number, 10)
}

// Absent returns when a number was searched for and not found, zero when it was
// never searched for.
func (t *Tracker) Absent(series disclosure.Type, number int64) time.Time {
	return instant(t.text(absentName(series, number)))
}

// SetAbsent records that the source has no report with that number.
func (t *Tracker) SetAbsent(
	ctx context.Context,
	lease *store.Lease,
	series disclosure.Type,
	number int64,
	at time.Time,
) error {
	return t.set(ctx, lease, newRecord(absentName(series, number), seconds(at)))
}

// Time returns when the named periodic task was done last.
func (t *Tracker) Time(name string) time.Time { return instant(t.text("clock/" + name)) }

// SetTime records when the named periodic task was done.
func (t *Tracker) SetTime(ctx context.Context, lease *store.Lease, name string, at time.Time) error {
	return t.set(ctx, lease, newRecord("clock/"+name, seconds(at)))
}

func liveClock(t disclosure.Type) string { return "live/" + string(t) }

// Live returns since when a series is read live, zero for never.
func (t *Tracker) Live(series disclosure.Type) time.Time { return t.Time(liveClock(series)) }

// SetLive records since when a series is read live.
func (t *Tracker) SetLive(ctx context.Context, lease *store.Lease, series disclosure.Type, at time.Time) error {
	return t.SetTime(ctx, lease, liveClock(series), at)
}

// Value returns a text that ingest stores under a name.
func (t *Tracker) Value(name string) string { return t.text("memo/" + name) }

// SetValue stores a text under a name.
func (t *Tracker) SetValue(ctx context.Context, lease *store.Lease, name, text string) error {
	return t.set(ctx, lease, newRecord("memo/"+name, text))
}

const statusName = "status"

// Status returns the last status that the ingesting process reported. ok is false
// when there is none.
func (t *Tracker) Status() (s health.Status, ok bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.status, t.reported
}

// signedStatus is a status with its author, as it is stored.
type signedStatus struct {
	health.Status
	Author author `json:"author,omitzero"`
}

func parseStatus(text string) (health.Status, author, bool) {
	var s signedStatus
	ok := text != "" && json.Unmarshal([]byte(text), &s) == nil
	return s.Status, s.Author, ok
}

// silence is the age at which a status no longer counts.
const silence = 20 * time.Second

// startTime is how long a process may take until it reports that it read the source.
// Until then the state is Starting.
const startTime = 15 * time.Second

// freeTime is how long the lease may be free between two processes that read the source:
// the next one tries to acquire it twice a second.
const freeTime = 3 * time.Second

// Begin records that this process begins to read the source, or to wait for the lease.
// Before, it loads what is stored, which may take longer than startTime.
func (t *Tracker) Begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.began = time.Now()
}

// SourceStatus returns the status of the source now. The ingesting process
// reports it every few seconds; when no report arrives for a while, that process
// is gone. Its age is measured by this machine's clock, since another machine's
// may be wrong. It is gone at once if it does not hold the lease any more. reads is
// whether this process expects that the source is read, by itself or by another.
func (t *Tracker) SourceStatus(reads bool) health.Status {
	t.mu.RLock()
	defer t.mu.RUnlock()
	s := t.status
	silent := time.Since(t.statusSeen) >= silence
	switch {
	case !t.reported && reads:
		return unread(s, t.began, t.began, health.NeverRead)
	case !t.reported:
		return health.Status{State: health.Off}
	case !silent && t.leftAt.IsZero():
		return s
	case !reads && (silent || !t.changesHands()):
		return health.Status{
			State:    health.Off,
			Since:    s.At,
			At:       s.At,
			Surfaces: s.Surfaces,
		}
	case silent:
		return unread(s, t.began, s.At, health.NotReadSince)
	}
	began := t.leftAt
	if t.began.After(began) {
		began = t.began
	}
	code := health.NobodyReads
	if t.holder.held {
		code = health.Takeover
	}
	return unread(s, began, t.leftAt, code)
}

// changesHands reports whether the lease passes from one process to another: it was
// taken over by one that has not reported yet, or is free for a moment. t.mu is held.
func (t *Tracker) changesHands() bool {
	free := time.Since(t.leftAt)
	return free < freeTime || t.holder.held && free < startTime
}

// unread returns the status while no process reads the source, or one has begun that has
// not reported yet. began is when it began, or was first missing, and since is when
// the source was last read.
//
// After a status that is Starting its beginning counts, and after one that is Blind it
// stays so until the source is read: processes that end soon after their start are no
// reason to say Starting without end.
func unread(last health.Status, began, since time.Time, code health.Code) health.Status {
	now := health.Status{
		State:    health.Starting,
		Since:    began,
		At:       last.At,
		Surfaces: last.Surfaces,
		Reasons:  []health.Reason{{Surface: health.Service, Code: code, Since: since}},
	}
	if last.State == health.Starting && last.Since.Before(began) {
		now.Since = last.Since
	}
	switch {
	case last.State == health.Blind:
		now.State = health.Blind
		now.Since = last.Since
	case time.Since(now.Since) >= startTime:
		now.State = health.Blind
		now.Since = since
	}
	return now
}

// SetStatus reports the status of the source to the other processes.
func (t *Tracker) SetStatus(ctx context.Context, lease *store.Lease, s health.Status) error {
	signed := signedStatus{Status: s}
	if lease != nil {
		signed.Author = author{lease.Holder, lease.Term}
	}
	text, err := json.Marshal(signed)
	if err != nil {
		return err
	}
	return t.put(ctx, lease, func() {
		if lease != nil { // the store has checked it
			t.setHolder(signed.Author, true)
		}
	}, newRecord(statusName, string(text)))
}
