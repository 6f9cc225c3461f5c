// Package directory keeps the directory of issuers up to date: it reads the
// regulator's registers and the exchange once a day and appends what changed.
//
// The directory is read in parts: each register, the open data and the exchange.
// Each part has its own time of the last success and its own retry, so that one
// part that fails does not delay the others. An issuer that a part no longer
// shows stays as it is.
package directory

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/retry"
	"pregon/internal/source/coverage"
	"pregon/internal/source/exchange"
	"pregon/internal/source/health"
	"pregon/internal/source/regulator"
	"pregon/internal/source/throttle"
	"pregon/internal/store"
)

// Known looks up issuers. It may lag behind the store.
type Known interface {
	// Issuer returns an issuer by any of its identifiers.
	Issuer(key string) (disclosure.Issuer, bool)
	// Named returns the only issuer of a name, in any spelling.
	Named(name string) (disclosure.Issuer, bool)
}

// Options are the collaborators of a Refresher.
type Options struct {
	Coverage  *coverage.Tracker
	Lease     *store.Lease
	Known     Known
	Regulator *regulator.Client
	Exchange  *exchange.Client // nil for none
	Monitor   *health.Monitor
	Logger    *slog.Logger

	// Append stores issuers. Its error may be shown to clients.
	Append func(context.Context, []disclosure.Issuer) error
	// RecordRead records the outcome of reading a surface, which began at start.
	RecordRead func(ctx context.Context, surface string, start time.Time, err error) error
}

// Refresher refreshes the directory under one term of the lease.
type Refresher struct {
	Options
	refreshing sync.Mutex
}

// New returns a Refresher.
func New(o Options) *Refresher { return &Refresher{Options: o} }

const (
	refreshEvery = 24 * time.Hour
	firstRetry   = 10 * time.Minute    // the wait after the first failure; it doubles with each
	longestRetry = time.Hour           // the surface is degraded meanwhile
	detailsEvery = 30 * 24 * time.Hour // for shares whose row in the list did not change
	mostFailures = 5                   // shares in a row that fail before the exchange counts as unavailable
)

// Run refreshes what is due until the context ends. It begins with failures of
// earlier terms that were not retried yet.
func (r *Refresher) Run(ctx context.Context) error {
	r.restoreFailures(health.Register, r.registers())
	r.restoreFailures(health.Exchange, r.exchange())
	for {
		r.Refresh(ctx)
		if err := retry.Sleep(ctx, time.Minute); err != nil {
			return err
		}
	}
}

// Refresh reads the parts of registers and exchange that are due.
func (r *Refresher) Refresh(ctx context.Context) {
	r.refreshing.Lock()
	defer r.refreshing.Unlock()
	j := r.newJoiner()
	r.refresh(ctx, j, health.Register, r.registers())
	r.refresh(ctx, j, health.Exchange, r.exchange())
}

// Complete reports whether every surface of the directory was read to its end at
// least once.
func (r *Refresher) Complete() bool {
	return !r.Coverage.Time(health.Register).IsZero() &&
		(r.Exchange == nil || !r.Coverage.Time(health.Exchange).IsZero())
}

// part is a part of the directory that is read and retried by itself.
type part struct {
	name string // key of the time at which it was last read to its end
	read func(context.Context, *joiner) error
}

// failureKey is the key under which the failures of a part are stored.
func (p part) failureKey() string { return p.name + "/failed" }

// failure is the stored state of a part that failed.
type failure struct {
	Tries  int       `json:"tries"` // in a row; 0 for none
	At     time.Time `json:"at"`
	Reason string    `json:"why"` // may be shown to clients
}

// wait returns the time between the failure and the next try.
func (f failure) wait() time.Duration { return retry.Backoff(f.Tries-1, firstRetry, longestRetry) }

// rowsError is the failure of single rows of a part that was otherwise read to
// its end.
type rowsError struct{ error }

func (e rowsError) Unwrap() error { return e.error }

// asRowsError marks an error that concerns only some rows.
func asRowsError(err error) error {
	if regulator.IsPartial(err) {
		return rowsError{err}
	}
	return err
}

// registers returns the parts of the regulator: first the lists of managers and
// funds, which give NIF and register number, and then the open data, which give
// ISINs by register number.
func (r *Refresher) registers() []part {
	client := r.Regulator.For(throttle.Registers)
	parts := []part{{health.Register + "/managers", func(ctx context.Context, j *joiner) error {
		return j.register(ctx, "the managers",
			func(ctx context.Context, _ int) (regulator.Entities, error) { return client.Managers(ctx) })
	}}}
	for _, register := range regulator.FundRegisters {
		name := fmt.Sprintf("%s-%d", register.Name, register.List)
		parts = append(parts, part{health.Register + "/" + name, func(ctx context.Context, j *joiner) error {
			return j.register(ctx, name, func(ctx context.Context, page int) (regulator.Entities, error) {
				return client.Funds(ctx, register, page)
			})
		}})
	}
	return append(parts, part{
		health.Register + "/opendata",
		func(ctx context.Context, j *joiner) error { return j.openData(ctx, client) },
	})
}

// exchange returns the exchange as one part: every share in it has its own state.
func (r *Refresher) exchange() []part {
	if r.Exchange == nil {
		return nil
	}
	return []part{{health.Exchange, func(ctx context.Context, j *joiner) error { return j.exchange(ctx) }}}
}

// restoreFailures reports the worst stored failure of a surface to the monitor.
func (r *Refresher) restoreFailures(surface string, parts []part) {
	var worst failure
	for _, p := range parts {
		if last := r.failure(p); last.Tries > worst.Tries {
			worst = last
		}
	}
	if worst.Tries > 0 {
		r.Monitor.Fail(surface, worst.Reason, worst.Tries > 1)
	}
}

// refresh reads the parts of a surface that are due. The surface is healthy when
// all of its parts are, and complete when each was read to its end.
func (r *Refresher) refresh(ctx context.Context, j *joiner, surface string, parts []part) {
	var failed error
	tried := false
	complete := true
	healthy := true
	began := time.Now()
	for _, p := range parts {
		if r.due(p) {
			tried = true
			err := r.try(ctx, j, p)
			if ctx.Err() != nil || fault.KindOf(err) == fault.Conflict {
				return
			}
			failed = cmp.Or(failed, err)
		}
		last, done := r.failure(p), r.Coverage.Time(p.name)
		healthy = healthy && last.Tries == 0
		complete = complete && !done.IsZero() && !done.Before(last.At)
	}
	if !tried {
		return
	}
	if failed != nil || healthy { // otherwise a part that failed earlier waits for its retry
		_ = r.RecordRead(ctx, surface, began, failed)
	}
	if complete {
		_ = r.Coverage.SetTime(ctx, r.Lease, surface, began) // if this fails, the next refresh sets it
	}
	if failed == nil {
		r.Logger.Info("directory refreshed", "surface", surface, "duration_seconds", time.Since(began).Seconds())
	}
}

// due reports whether a part is to be read: daily, and sooner after a failure.
func (r *Refresher) due(p part) bool {
	if last := r.failure(p); last.Tries > 0 {
		return coverage.Elapsed(last.At, last.wait())
	}
	return coverage.Elapsed(r.Coverage.Time(p.name), refreshEvery)
}

// failure returns the stored failure of a part.
func (r *Refresher) failure(p part) (last failure) {
	_ = json.Unmarshal([]byte(r.Coverage.Value(p.failureKey())), &last) // an empty value is no failure
	return last
}

// try reads a part and stores the outcome. If that cannot be stored, the part is
// read again, which has no other effect.
func (r *Refresher) try(ctx context.Context, j *joiner, p part) error {
	err := p.read(ctx, j)
	if ctx.Err() != nil {
		return ctx.Err() // no failure of the source
	}
	now := time.Now().UTC().Truncate(time.Second) // the precision of Coverage.Time
	if last := r.failure(p); err != nil {
		r.Logger.Warn("the directory could not be refreshed", "part", p.name, "attempts", last.Tries+1, "err", err)
		text, _ := json.Marshal(failure{Tries: last.Tries + 1, At: now, Reason: regulator.Reason(err)})
		_ = r.Coverage.SetValue(ctx, r.Lease, p.failureKey(), string(text))
	} else if last.Tries > 0 {
		_ = r.Coverage.SetValue(ctx, r.Lease, p.failureKey(), "")
	}
	if _, rows := errors.AsType[rowsError](err); err == nil || rows {
		_ = r.Coverage.SetTime(ctx, r.Lease, p.name, now)
	}
	return err
}
