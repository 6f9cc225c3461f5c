// Package health tracks how well the service can read its source. "No new
// reports" means something only if the source was read.
//
// A Monitor records every read of every surface of the source, that is its feeds,
// lists and pages, and computes one state from them.
package health

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"pregon/internal/disclosure"
)

// State is the health of the source.
type State string

const (
	// Live: all surfaces are read, and a report was published recently.
	Live State = "live"
	// Quiet: all surfaces are read, and nothing was published recently.
	Quiet State = "quiet"
	// Degraded: some surfaces fail, so that reports may be late or incomplete.
	Degraded State = "degraded"
	// Starting: a process has just begun to read the source, and has not read every
	// series yet. It lasts for a short time only.
	Starting State = "starting"
	// Blind: a report published now might be missed.
	Blind State = "blind"
	// Off: no process reads the source; only stored reports are served.
	Off State = "off"
)

// States are the states of a source that is read, the best first.
var States = []State{Live, Quiet, Degraded, Starting, Blind}

// Status is the state and the reasons for it.
type Status struct {
	State    State     `json:"state"`
	Since    time.Time `json:"since"`
	Reasons  []Reason  `json:"reasons"`
	Surfaces []Surface `json:"surfaces"`
	At       time.Time `json:"checked_at"`

	// Unseen is the result of Monitor.Unseen.
	Unseen []disclosure.Type `json:"unseen,omitempty"`
}

// Surface is the state of one part of the source.
type Surface struct {
	Name         string    `json:"name"`
	OK           bool      `json:"ok"`              // it was read, and does not fail
	Stale        bool      `json:"stale,omitempty"` // it can be read, but hides reports
	SuccessAt    time.Time `json:"last_success_at,omitzero"`
	FailureAt    time.Time `json:"last_failure_at,omitzero"`
	FailingSince time.Time `json:"failing_since,omitzero"`
	Failures     int       `json:"failures_in_a_row"`
	Error        string    `json:"error,omitempty"`
}

// WithStore returns the status for a process whose own store fails for these
// reasons. blind means that new reports cannot be stored.
func (s Status) WithStore(reasons []Reason, blind bool) Status {
	if len(reasons) == 0 {
		return s
	}
	// Earlier reasons of these surfaces follow from it: a status that is not stored
	// looks as if no process read the source.
	kept := slices.DeleteFunc(slices.Clone(s.Reasons),
		func(r Reason) bool { return r.Surface == Store || r.Surface == Service })
	s.Reasons = append(kept, reasons...)
	state := s.State
	switch {
	case state == Off:
	case blind:
		state = Blind
	case state == Live || state == Quiet:
		state = Degraded
	}
	if state != s.State {
		s.State, s.Since = state, reasons[0].Since
	}
	return s
}

// Names of surfaces. The store is one: what cannot be kept is not seen.
const (
	Store      = "store"
	Service    = "service" // no process reads the source
	HREntities = "hr-entities"
	Register   = "registers"
	Exchange   = "exchange"
)

// Names of the surfaces of the registers of positions, which are read only if the operator
// chose so.
const (
	Shorts   = "shorts"
	Dealings = "dealings"
	Holdings = "holdings"
	Identity = "identity"
)

// Registers are the names of these surfaces.
var Registers = []string{Shorts, Dealings, Holdings, Identity}

// Feed returns the name of the surface that is the feed of a series.
func Feed(t disclosure.Type) string { return "feed-" + t.Lower() }

// List returns the name of the surface that is the list of a series.
func List(t disclosure.Type) string { return "list-" + t.Lower() }

// Permalink returns the name of the surface that is the pages of a series.
func Permalink(t disclosure.Type) string { return "permalink-" + t.Lower() }

// Surfaces are the names of all surfaces that are read.
var Surfaces = surfaces()

func surfaces() (out []string) {
	for _, name := range []func(disclosure.Type) string{Feed, List, Permalink} {
		for _, t := range disclosure.Types {
			out = append(out, name(t))
		}
	}
	return append(out, HREntities, Register, Exchange, Store)
}

const (
	quietAfter = 30 * time.Minute // without a report
	tolerated  = 1                // failures in a row that do not count
)

// Monitor holds the state. Its methods may be called by several goroutines.
type Monitor struct {
	blindAfter time.Duration // without a successful read of a series

	mu       sync.Mutex
	surfaces map[string]*Surface // guarded by mu
	grave    map[string]bool     // guarded by mu: surfaces whose failure counts at once
	newest   time.Time           // guarded by mu: of the newest publication, by the clock of this process
	state    State               // guarded by mu
	since    time.Time           // guarded by mu: of state
	began    time.Time           // guarded by mu
	// guarded by mu: since when a first read of every series is awaited; zero: it is not
	starting time.Time
	expected map[string]time.Duration // guarded by mu: intervals at which surfaces should be read
	stale    map[string]Reason        // guarded by mu: surfaces that hide reports
}

// NewMonitor returns a Monitor for which a series is unseen after blindAfter
// without a successful read.
func NewMonitor(blindAfter time.Duration) *Monitor {
	m := &Monitor{blindAfter: blindAfter}
	m.Restart(Status{})
	return m
}

// Restart removes all surfaces. A process calls it when it begins a new term: the
// state of an earlier one is out of date. last is the status of the source before, also
// that of another process, and zero if it is not known. The new state is Starting. It
// is so since the earlier one if that is Starting, so that it does not last longer
// if terms or processes that end at once follow each other. After Blind it is Blind until
// the source is read.
func (m *Monitor) Restart(last Status) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.surfaces = map[string]*Surface{}
	m.grave = map[string]bool{}
	m.stale = map[string]Reason{}
	m.expected = map[string]time.Duration{}
	m.began = time.Now()
	since := m.began
	if !last.Since.IsZero() {
		since = since.Add(-max(0, since.Sub(last.Since))) // with a monotonic reading
	}
	switch last.State {
	case Blind:
		m.starting = time.Time{}
		m.state = Blind
		m.since = since
	case Starting:
		m.starting = since
	default:
		m.starting = m.began
	}
}

func (m *Monitor) surface(name string) *Surface {
	s := m.surfaces[name]
	if s == nil {
		s = &Surface{Name: name}
		m.surfaces[name] = s
	}
	return s
}

// Await lists a surface before this process has read it. last is when an earlier
// process read it, zero if that is not known.
func (m *Monitor) Await(name string, last time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.surface(name)
	s.SuccessAt = last
	s.OK = !last.IsZero()
}

// OK records a successful read.
func (m *Monitor) OK(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.surface(name)
	*s = Surface{
		Name:      name,
		OK:        true,
		SuccessAt: time.Now(),
		FailureAt: s.FailureAt,
	}
	delete(m.grave, name)
}

// Seen records a successful read of a part of a surface. Failures of other parts
// stay.
func (m *Monitor) Seen(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.surface(name)
	s.SuccessAt = time.Now()
	s.OK = !m.failing(s)
}

// Fail records a failed read. A grave failure counts at once: markup in an unknown
// form will not recover by itself.
func (m *Monitor) Fail(name, reason string, grave bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, now := m.surface(name), time.Now()
	if s.Failures == 0 {
		s.FailingSince = now
	}
	s.Failures++
	s.FailureAt, s.Error = now, reason
	m.grave[name] = m.grave[name] || grave
	s.OK = !s.SuccessAt.IsZero() && !m.failing(s)
}

// failing reports whether the last reads of a surface failed. It does not if it was
// never read. m.mu is held.
func (m *Monitor) failing(s *Surface) bool {
	return s.Failures > tolerated || s.Failures > 0 && m.grave[s.Name]
}

// overdue is the number of intervals without a read after which a surface is a
// reason.
const overdue = 3

// Expect sets the interval at which a surface should be read from now on.
func (m *Monitor) Expect(name string, every time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.expected[name] = every
	m.began = time.Now()
}

// Stale records that a surface can be read but hides reports, until Fresh. report is
// the id of one that it lacks, and at is when the list showed it.
func (m *Monitor) Stale(name, report string, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, before := m.stale[name]
	if !before {
		r = Reason{Surface: name, Code: Stale, Since: time.Now()}
	}
	r.Params = Params{Report: report, At: at}
	m.stale[name] = r
	m.surface(name)
}

// Fresh records that a surface shows all reports again.
func (m *Monitor) Fresh(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.stale, name)
}

// IsStale reports whether a surface hides reports.
func (m *Monitor) IsStale(name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, stale := m.stale[name]
	return stale
}

// Failing reports whether a surface is unreliable: its last reads failed, or it is
// stale.
func (m *Monitor) Failing(name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.surfaces[name]
	_, stale := m.stale[name]
	return stale || s != nil && m.failing(s)
}

// Published records the time of a publication, which separates Live from Quiet.
func (m *Monitor) Published(at time.Time) {
	now := time.Now()
	at = now.Add(-max(0, now.Sub(at))) // with a monotonic reading, so that its age does not change with the clock
	m.mu.Lock()
	defer m.mu.Unlock()
	if at.After(m.newest) {
		m.newest = at
	}
}

// Status computes the current state. changed is the previous state, or empty if it
// is the same as at the last call.
func (m *Monitor) Status() (status Status, changed State) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	state, reasons := m.evaluate(now)
	if state != m.state {
		changed = cmp.Or(m.state, Starting)
		m.state, m.since = state, now
	}
	if state == Starting {
		m.since = m.starting
	}
	status = Status{
		State:    state,
		Since:    m.since,
		Reasons:  reasons,
		At:       now,
		Surfaces: []Surface{},
	}
	for _, name := range slices.Sorted(maps.Keys(m.surfaces)) {
		s := *m.surfaces[name]
		if r, stale := m.stale[name]; stale {
			s.OK = false
			s.Stale = true
			s.Error = cmp.Or(s.Error, r.Text())
		}
		status.Surfaces = append(status.Surfaces, s)
	}
	status.Unseen = m.unseen(now)
	return status, changed
}

// Unseen returns the series that this process has not read for too long, so that
// another might do better. A stale feed does not count: it hides the same reports
// from every process.
func (m *Monitor) Unseen() []disclosure.Type {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.unseen(time.Now())
}

// unseen implements Unseen. m.mu is held.
func (m *Monitor) unseen(now time.Time) (out []disclosure.Type) {
	for _, t := range disclosure.Types {
		if _, stale := m.stale[Feed(t)]; stale {
			continue
		}
		last := m.seen(t)
		if last.Before(m.began) {
			last = m.began
		}
		if now.Sub(last) > m.blindAfter {
			out = append(out, t)
		}
	}
	return out
}

// evaluate returns the state and the reasons why it is not better. m.mu is held.
func (m *Monitor) evaluate(now time.Time) (State, []Reason) {
	reasons := []Reason{}
	state := Live
	for _, name := range slices.Sorted(maps.Keys(m.surfaces)) {
		if s := m.surfaces[name]; m.failing(s) {
			state = Degraded
			reasons = append(reasons, Reason{
				Surface: name,
				Code:    Failed,
				Params:  Params{Detail: s.Error},
				Since:   s.FailingSince,
			})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.stale)) {
		state = Degraded
		reasons = append(reasons, m.stale[name])
	}
	for _, name := range slices.Sorted(maps.Keys(m.expected)) {
		last := m.began
		if s := m.surfaces[name]; s != nil && s.SuccessAt.After(last) {
			last = s.SuccessAt
		}
		if s := m.surfaces[name]; now.Sub(last) > overdue*m.expected[name] && (s == nil || !m.failing(s)) {
			state = Degraded
			reasons = append(reasons, Reason{Surface: name, Code: Overdue, Since: last})
		}
	}
	unread := false
	for _, t := range disclosure.Types {
		seen := m.seen(t)
		switch {
		case seen.IsZero():
			unread = true
			if !m.awaited(t, now) {
				state = Blind
			} else if state != Blind {
				state = Starting
			}
			reasons = append(reasons, seriesReason(Unread, t, m.began))
		case now.Sub(seen) > m.blindAfter:
			state = Blind
			reasons = append(reasons, seriesReason(Unreadable, t, seen))
		}
	}
	if !unread {
		m.starting = time.Time{}
	}
	if s := m.surfaces[Store]; s != nil && m.failing(s) && now.Sub(s.FailingSince) > m.blindAfter {
		state = Blind
	}
	if state == Live && now.Sub(m.newest) > quietAfter {
		state = Quiet
	}
	return state, reasons
}

// seriesReason returns a reason that concerns a whole series.
func seriesReason(code Code, t disclosure.Type, since time.Time) Reason {
	return Reason{
		Surface: Feed(t),
		Code:    code,
		Params:  Params{Type: t},
		Since:   since,
	}
}

// awaited reports whether the first read of a series is still to be expected: it has
// not failed, and not much time has passed. m.mu is held.
func (m *Monitor) awaited(t disclosure.Type, now time.Time) bool {
	if s := m.surfaces[Feed(t)]; s != nil && m.failing(s) {
		return false
	}
	return !m.starting.IsZero() && now.Sub(m.starting) < m.blindAfter
}

// seen returns the time of the last successful read of a series, by its feed or
// its list. It is zero for never. A stale feed does not count. m.mu is held.
func (m *Monitor) seen(t disclosure.Type) (last time.Time) {
	for _, name := range []string{Feed(t), List(t)} {
		if _, stale := m.stale[name]; stale {
			continue
		}
		if s := m.surfaces[name]; s != nil && s.SuccessAt.After(last) {
			last = s.SuccessAt
		}
	}
	return last
}
