// Package registers brings the registers of positions into the store: net short
// positions, managers' dealings, significant holdings and own shares. It also reads the
// general data of the issuers that have them.
//
// A Reader works under one term of the lease, beside the loops of package ingest, and all
// of its requests wait in the same throttle, most of them behind everything that brings
// reports. What it has done is in the coverage, and the ids of positions are made of what
// the registers show, so that after a crash everything is simply done again.
//
// An entry is news if it was not in the register when that was first read. All others are
// history, whenever they are loaded.
package registers

import (
	"context"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"pregon/internal/disclosure"
	"pregon/internal/document"
	"pregon/internal/document/extract/xls"
	"pregon/internal/fault"
	"pregon/internal/retry"
	"pregon/internal/source/coverage"
	"pregon/internal/source/health"
	"pregon/internal/source/regulator"
	"pregon/internal/store"
)

// Name is the name of a register, as operators choose it.
type Name string

const (
	Shorts   Name = "shorts"   // net short positions
	Dealings Name = "dealings" // managers' dealings
	Holdings Name = "holdings" // significant holdings, own shares, general data
)

// Names lists the registers.
var Names = []Name{Shorts, Dealings, Holdings}

// ParseNames reads names separated by commas. "none" means none.
func ParseNames(list string) ([]Name, error) {
	if strings.TrimSpace(list) == "none" {
		return nil, nil
	}
	var names []Name
	for word := range strings.SplitSeq(list, ",") {
		name := Name(strings.TrimSpace(word))
		if !slices.Contains(Names, name) {
			return nil, fault.New(fault.Invalid,
				"%q is not a register: use shorts, dealings and holdings, separated by commas, or none", name)
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// surfaces are the surfaces of the source that belong to a register.
var surfaces = map[Name][]string{
	Shorts:   {health.Shorts},
	Dealings: {health.Dealings},
	Holdings: {health.Holdings, health.Identity},
}

// Surfaces returns the surfaces of the source that belong to some registers.
func Surfaces(names []Name) (out []string) {
	for _, name := range names {
		out = append(out, surfaces[name]...)
	}
	return out
}

// MaxRetention is the longest time for which names of natural persons may be kept: five
// years, of which at least one is a leap year.
const MaxRetention = 1826

// Known is what is already in the store. It may lag behind the store until CatchUp.
type Known interface {
	// Issuer returns an issuer by any of its identifiers.
	Issuer(key string) (disclosure.Issuer, bool)
	// Issuers returns the issuers of some kinds, or all issuers.
	Issuers(kinds ...disclosure.Kind) []disclosure.Issuer
	// Positions returns the positions of a kind, the newest first.
	Positions(kind disclosure.PositionKind) iter.Seq[*disclosure.Position]
	// PositionsOf returns those of an issuer, by any of its identifiers.
	PositionsOf(key string, kind disclosure.PositionKind) iter.Seq[*disclosure.Position]
	// CountPositions returns the number of positions of a kind.
	CountPositions(kind disclosure.PositionKind) int
	// Position returns the position with an id.
	Position(id string) (*disclosure.Position, bool)
	// CatchUp waits until everything appended before the call is known.
	CatchUp(ctx context.Context) error
}

// Settings are the choices of the operator.
type Settings struct {
	Read      []Name
	Retention int  // days for which names of natural persons are kept: from 1 to MaxRetention
	Often     bool // requests are not spaced, as those to a simulator, so that it need not be spared
}

// Options are the collaborators of a Reader.
type Options struct {
	Settings
	Store     store.Log
	Lease     *store.Lease
	Coverage  *coverage.Tracker
	Known     Known
	Regulator *regulator.Client
	Documents *document.Keeper // nil: documents of dealings are not read
	Workbook  func(ctx context.Context, body []byte) (xls.Book, error)
	Logger    *slog.Logger

	// Failure returns why a document was not read, in words for clients, and whether it is
	// given up after some tries before this one.
	Failure func(err error, tries int) (reason string, final bool)
	// Append stores a batch, whose lease it sets. Its error may be shown to clients.
	Append func(context.Context, store.Batch) error
	// RecordRead records the outcome of reading a surface, which began at start, and
	// returns the error.
	RecordRead func(ctx context.Context, surface string, start time.Time, err error) error
}

// Reader reads the registers under one term of the lease.
type Reader struct {
	Options
	intervals    intervals
	fresh        *retry.Queue // new dealings whose document is to be read
	old          *retry.Queue // all others, which must not delay the new ones
	dealingsLock retry.Lock   // held while the state of the dealings changes

	mu     sync.Mutex
	warned map[string]bool // guarded by mu: ids of entries that are not valid
}

// New returns a Reader. Run starts it.
func New(o Options) *Reader {
	r := &Reader{
		Options:      o,
		intervals:    usual,
		dealingsLock: retry.NewLock(),
		fresh:        retry.NewQueue(true),
		old:          retry.NewQueue(false),
		warned:       map[string]bool{},
	}
	if o.Often {
		r.intervals = often
	}
	return r
}

// Run reads the registers until the context ends.
func (r *Reader) Run(ctx context.Context) error {
	if err := r.awaitDirectory(ctx); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	loops := []func(context.Context) error{r.eraseOldNames}
	if r.reads(Shorts) {
		loops = append(loops, r.followShorts)
	}
	if r.reads(Dealings) {
		loops = append(loops, r.followDealings, r.loadDealings, r.findUnread)
		if r.Documents != nil {
			loops = append(loops, r.readFresh, r.readOld)
		}
	}
	if r.reads(Holdings) {
		loops = append(loops, r.followHoldings)
	}
	for _, loop := range loops {
		g.Go(func() error { return loop(ctx) })
	}
	return g.Wait()
}

// awaitDirectory waits until the directory of a new store was read, so that the first
// positions have their issuers. It does not wait for long: issuers that are learnt later are
// found when positions are read.
func (r *Reader) awaitDirectory(ctx context.Context) error {
	const pause = 500 * time.Millisecond
	for waited := time.Duration(0); waited < r.intervals.directory; waited += pause {
		if !r.Coverage.Time(health.Register).IsZero() && !r.Coverage.Time(health.Exchange).IsZero() {
			return nil
		}
		if err := retry.Sleep(ctx, pause); err != nil {
			return err
		}
	}
	return nil
}

func (r *Reader) reads(name Name) bool { return slices.Contains(r.Read, name) }

// repeat calls read at the interval that every returns, and after failures with growing
// waits.
func (r *Reader) repeat(
	ctx context.Context,
	surface string,
	every func(time.Time) time.Duration,
	read func(context.Context) error,
) error {
	for failures := 0; ; {
		start := time.Now()
		err := r.RecordRead(ctx, surface, start, read(ctx))
		wait := every(time.Now())
		if err != nil && ctx.Err() == nil {
			r.Logger.Debug("a register was not read", "surface", surface, "err", err, "cause", regulator.Cause(err))
			wait = min(wait, retry.Backoff(failures, r.intervals.firstRetry, r.intervals.longestRetry))
			failures++
		} else {
			failures = 0
		}
		if err := retry.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// mostBatch is the number of positions that are appended at once, so that reports need
// not wait long for the store.
const mostBatch = 200

// append stores positions with the event of those that were not known.
func (r *Reader) append(ctx context.Context, event disclosure.Event, positions []disclosure.Position) error {
	valid := make([]disclosure.Position, 0, len(positions))
	for _, p := range positions {
		if p.Validate() != nil {
			r.warnInvalid(p.ID)
			continue
		}
		if p.Erased {
			p.Natural = true
		}
		valid = append(valid, p)
	}
	for some := range slices.Chunk(valid, mostBatch) {
		if err := r.Append(ctx, store.Batch{Positions: some, New: event}); err != nil {
			return err
		}
		if err := retry.Sleep(ctx, r.intervals.pause); err != nil {
			return err
		}
	}
	return nil
}

// mostWarned bounds the entries of which the log says once that they are not valid.
const mostWarned = 1000

// warnInvalid logs that an entry is left out. One that is not valid does not keep the others
// from being stored. What is wrong with it is not logged, since it may contain a name.
func (r *Reader) warnInvalid(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.warned[id] || len(r.warned) >= mostWarned {
		return
	}
	r.warned[id] = true
	r.Logger.Warn("an entry of a register is not valid and is left out", "position", id)
}

// retainedFrom returns the first day of which names of natural persons are kept.
func (r *Reader) retainedFrom() disclosure.Day {
	return disclosure.DayOf(time.Now()) - disclosure.Day(r.Retention)
}

// isExpired reports whether a name is that of a natural person and older than the
// retention allows.
func (r *Reader) isExpired(name string, day disclosure.Day) bool {
	return day < r.retainedFrom() && !disclosure.IsLegalEntity(name)
}

// setRegister records that a register was read.
func (r *Reader) setRegister(ctx context.Context, name string, whole time.Time, entries int) error {
	return store.Unavailable(r.Coverage.SetRegister(ctx, r.Lease, name, coverage.Register{
		ReadAt:     time.Now(),
		WholeUntil: whole,
		Entries:    entries,
	}))
}

// dayOf reads a date of a stored position. One that is none is day 0.
func dayOf(date string) disclosure.Day {
	day, _ := disclosure.ParseDay(date)
	return day
}
