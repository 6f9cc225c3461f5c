package monitor

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"pregon/internal/fault"
	"pregon/internal/store"
)

const (
	tolerated  = 1               // consecutive failures of one method that are ignored
	forgetting = 2 * time.Minute // after this time without calls a method's failures are ignored
	passing    = 5 * time.Second // the same, if other methods have succeeded since
	repeating  = time.Minute     // between two log lines of one outage
)

// Failure is a part of the store that fails.
type Failure struct {
	Part   string
	Reason string // may be shown to any client
	Since  time.Time
	Writes bool // new reports cannot be stored
}

// health has the results of the methods' calls. Damage is kept by part: only a
// check that finds none clears it, since a broken page fails some calls and not
// others.
type health struct {
	logger  *slog.Logger
	observe func(part string, took time.Duration, failed bool) // nil for none

	mu      sync.Mutex
	methods map[method]*calls  // guarded by mu
	damaged map[string]Failure // guarded by mu; by part
	failing bool               // guarded by mu: whether an outage was logged
	// guarded by mu: when a method last succeeded, and when one that writes what reports
	// need did
	worked  [2]time.Time
	others  time.Time // guarded by mu: when it was last seen that another process writes to the store
	logged  time.Time // guarded by mu
	checked time.Time // guarded by mu: see Checked
}

// method is a method of the store, and the part that it belongs to.
type method struct {
	part, name string
	writes     bool
}

// Methods whose results mean more than those of others.
var (
	appendReports = method{"log", "Append", true}
	acquireLease  = method{"leases", "AcquireLease", true}
)

// calls are the results of the calls of one method.
type calls struct {
	failures  int // consecutive
	since, at time.Time
	reason    string
}

// watch starts to measure a call; the returned function ends the measurement.
func (h *health) watch(ctx context.Context, m method, err *error) func() {
	start := time.Now()
	return func() { h.record(ctx, m, time.Since(start), *err) }
}

// record records the result of a call. took is negative when the duration is not to
// be observed. A rejected call is not a failure, since the store answered. Neither
// is a canceled call, unless its deadline passed while the store did not answer.
func (h *health) record(ctx context.Context, m method, took time.Duration, err error) {
	if err != nil && (errors.Is(err, context.Canceled) || errors.Is(context.Cause(ctx), context.Canceled)) {
		return
	}
	failed := isFailure(err)
	if h.observe != nil && took >= 0 {
		h.observe(m.part, took, failed)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.methods[m]
	if r == nil {
		r = &calls{}
		h.methods[m] = r
	}
	if refused := err != nil && !failed; refused && m.writes {
		// It wrote nothing, so that it does not prove that something can be written. A
		// lease that another process holds was written by it a moment ago.
		if m == acquireLease && fault.KindOf(err) == fault.Conflict {
			r.failures = 0
			h.others = time.Now()
		}
		return
	}
	if !failed {
		r.failures = 0
		h.worked[0] = time.Now()
		if m.writes {
			h.worked[1] = h.worked[0]
		}
		if h.failing {
			h.logOutage()
		}
		return
	}
	now := time.Now()
	if r.failures == 0 {
		r.since = now
	}
	r.failures++
	r.at, r.reason = now, reason(err)
	if errors.Is(err, store.ErrDamaged) {
		h.damage(m.part, m.writes)
	}
	h.logger.Debug("a call of the store failed", "part", m.part, "method", m.name, "err", err)
	h.logOutage()
}

// damage records a damaged part. h.mu is held.
func (h *health) damage(part string, writes bool) {
	if _, known := h.damaged[part]; !known {
		const reason = "it is damaged: restore a backup, or see docs/operations.md"
		h.damaged[part] = Failure{
			Part:   part,
			Reason: reason,
			Since:  time.Now(),
			Writes: writes,
		}
	}
}

// failures returns the failing parts, one entry for each. h.mu is held.
func (h *health) failures() []Failure {
	parts := maps.Clone(h.damaged)
	for m, r := range h.methods {
		if r.failures <= tolerated || h.over(m, r) {
			continue
		}
		f, known := parts[m.part]
		if !known {
			f = Failure{Part: m.part, Reason: r.reason, Since: r.since}
		}
		if r.since.Before(f.Since) {
			f.Since = r.since
		}
		f.Writes = f.Writes || m.writes
		parts[m.part] = f
	}
	return slices.SortedFunc(maps.Values(parts), func(a, b Failure) int { return cmp.Compare(a.Part, b.Part) })
}

// over reports whether the failures of a method that is called rarely no longer count.
// Reports that could not be stored are tried again and again, and count until they are
// stored: other writes may succeed meanwhile, such as small ones on a full disk. But if
// another process stores them, this one does not try again. h.mu is held.
func (h *health) over(m method, r *calls) bool {
	var worked time.Time
	switch {
	case m == appendReports:
		worked = h.others
	case m.writes:
		worked = h.worked[1]
	default:
		worked = h.worked[0]
	}
	age := time.Since(r.at)
	return age > forgetting || age > passing && worked.Sub(r.at) > passing
}

// logOutage logs the start and the end of an outage, and one line a minute while it
// lasts. h.mu is held.
func (h *health) logOutage() {
	failures := h.failures()
	switch {
	case len(failures) == 0 && h.failing:
		h.failing = false
		h.logger.Info("the store works again")
	case len(failures) > 0 && (!h.failing || time.Since(h.logged) >= repeating):
		h.failing, h.logged = true, time.Now()
		for _, f := range failures {
			h.logger.Error("the store fails", "part", f.Part, "reason", f.Reason, "since", f.Since)
		}
	}
}

func isFailure(err error) bool {
	if err == nil {
		return false
	}
	switch fault.KindOf(err) {
	case fault.Invalid, fault.NotFound, fault.Conflict:
		return false
	}
	return true
}

// reason returns a text for an error that any client may see: the text of a
// database's error can contain hosts and users.
func reason(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "it does not answer in time"
	}
	if e, ok := errors.AsType[*fault.Error](err); ok {
		return e.Message
	}
	return "it fails; the log of the service has the cause"
}
