// Package health returns what the service can see of its source, and says so
// honestly: that nothing new came is worth something only from somebody who
// looked.
//
// A Board notes every look at every surface of the source, that is its feeds,
// lists and pages, and works out one state from them.
package health

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"pregon/internal/disclosure"
)

// State is how well the source is seen.
type State string

const (
	// Live: everything is seen, and there was a report of late.
	Live State = "live"
	// Quiet: everything is seen, and there is nothing new.
	Quiet State = "quiet"
	// Degraded: reports are seen, but not by every way, so later or poorer
	// than they should be.
	Degraded State = "degraded"
	// Blind: a report published now might not be seen.
	Blind State = "blind"
	// Off: nobody reads the source; what the store holds is served.
	Off State = "off"
)

// States are those of a source that is read, the best first.
var States = []State{Live, Quiet, Degraded, Blind}

// Status is the state and how it comes about.
type Status struct {
	State    State     `json:"state"`
	Since    time.Time `json:"since"`
	Reasons  []Reason  `json:"reasons"`
	Surfaces []Surface `json:"surfaces"`
	At       time.Time `json:"checked_at"`

	// Unseen is described by Board.Unseen.
	Unseen []disclosure.Type `json:"unseen,omitempty"`
}

// Reason is why the state is not better.
type Reason struct {
	Surface string    `json:"surface"`
	Text    string    `json:"reason"`
	Since   time.Time `json:"since"`
}

// Surface is how one part of the source is doing.
type Surface struct {
	Name         string    `json:"name"`
	OK           bool      `json:"ok"`
	Stale        bool      `json:"stale,omitempty"` // it is read well, and hides reports
	SuccessAt    time.Time `json:"last_success_at,omitzero"`
	FailureAt    time.Time `json:"last_failure_at,omitzero"`
	FailingSince time.Time `json:"failing_since,omitzero"`
	Failures     int       `json:"failures_in_a_row"`
	Error        string    `json:"error,omitempty"`
}

// WithStore returns the status as a process knows it whose own store fails for
// these reasons; blind when it cannot keep what is published.
func (s Status) WithStore(reasons []Reason, blind bool) Status {
	if len(reasons) == 0 {
		return s
	}
	// The others follow from it: what is not written down looks like silence.
	kept := slices.DeleteFunc(slices.Clone(s.Reasons), func(r Reason) bool { return r.Surface == Store || r.Surface == Service })
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

// Feed, List and Permalink name the surfaces of a series.
func Feed(t disclosure.Type) string { return "feed-" + t.Lower() }

// List is described by Feed.
func List(t disclosure.Type) string { return "list-" + t.Lower() }

// Permalink is described by Feed.
func Permalink(t disclosure.Type) string { return "permalink-" + t.Lower() }

// Surfaces are the names of all of them.
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
	tolerated  = 1                // failures in a row that mean nothing yet
)

// Board keeps the state. Its methods may be called by several goroutines.
type Monitor struct {
	blindAfter time.Duration // without a good look at a series

	mu       sync.Mutex
	surfaces map[string]*Surface      // guarded by mu
	grave    map[string]bool          // guarded by mu: what failed is not a passing trouble
	filing   time.Time                // guarded by mu: the newest publication
	state    State                    // guarded by mu
	since    time.Time                // guarded by mu: of state
	began    time.Time                // guarded by mu
	expected map[string]time.Duration // guarded by mu: how often surfaces should be read
	stale    map[string]Reason        // guarded by mu: the surfaces that hide reports
}

// NewBoard returns a board that calls the source unseen after so long.
func NewMonitor(blindAfter time.Duration) *Monitor {
	b := &Monitor{blindAfter: blindAfter}
	b.Restart()
	return b
}

// Restart forgets all surfaces, for a process that begins to read the source
// anew: what it saw before has no meaning now.
func (b *Monitor) Restart() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.surfaces, b.grave, b.stale = map[string]*Surface{}, map[string]bool{}, map[string]Reason{}
	b.expected, b.began = map[string]time.Duration{}, time.Now()
}

func (b *Monitor) surface(name string) *Surface {
	s := b.surfaces[name]
	if s == nil {
		s = &Surface{Name: name}
		b.surfaces[name] = s
	}
	return s
}

// OK notes a good look.
func (b *Monitor) OK(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.surface(name)
	*s = Surface{Name: name, OK: true, SuccessAt: time.Now(), FailureAt: s.FailureAt}
	delete(b.grave, name)
}

// Seen notes a good look at a part of a surface, which says nothing of what
// failed elsewhere in it.
func (b *Monitor) Seen(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.surface(name).SuccessAt = time.Now()
}

// Fail notes a look that failed. A grave failure counts at once: markup that
// cannot be read does not mend itself.
func (b *Monitor) Fail(name, reason string, grave bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s, now := b.surface(name), time.Now()
	if s.Failures == 0 {
		s.FailingSince = now
	}
	s.Failures++
	s.FailureAt, s.Error = now, reason
	b.grave[name] = b.grave[name] || grave
	s.OK = s.Failures <= tolerated && !b.grave[name]
}

// overdue is how many times it may fail to be read before somebody should know.
const overdue = 3

// Expect notes how often a surface should be read from now on.
func (b *Monitor) Expect(name string, every time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expected[name] = every
	b.began = time.Now()
}

// Stale notes that a surface is read well but hides reports, until Fresh.
func (b *Monitor) Stale(name, reason string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r, before := b.stale[name]
	if !before {
		r = Reason{Surface: name, Since: time.Now()}
	}
	r.Text = reason
	b.stale[name] = r
	b.surface(name)
}

// Fresh notes that a surface shows all reports again.
func (b *Monitor) Fresh(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.stale, name)
}

// IsStale reports whether a surface hides reports.
func (b *Monitor) IsStale(name string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, stale := b.stale[name]
	return stale
}

// Failing reports whether a surface cannot be relied upon: the last looks at
// it failed, or it is stale.
func (b *Monitor) Failing(name string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.surfaces[name]
	_, stale := b.stale[name]
	return stale || s != nil && !s.OK
}

// Filed notes when a report was published, to tell quiet from live.
func (b *Monitor) Published(at time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if at.After(b.filing) {
		b.filing = at
	}
}

// Status works out the present state. changed is the state that it replaces,
// empty when it is the same as at the last call.
func (b *Monitor) Status() (status Status, changed State) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	state, reasons := b.judge(now)
	if state != b.state {
		changed = cmp.Or(b.state, Blind)
		b.state, b.since = state, now
	}
	status = Status{State: state, Since: b.since, Reasons: reasons, At: now, Surfaces: []Surface{}}
	for _, name := range slices.Sorted(maps.Keys(b.surfaces)) {
		s := *b.surfaces[name]
		if r, stale := b.stale[name]; stale {
			s.OK, s.Stale, s.Error = false, true, cmp.Or(s.Error, r.Text)
		}
		status.Surfaces = append(status.Surfaces, s)
	}
	status.Unseen = b.unseen(now)
	return status, changed
}

// Unseen returns the series of which a report published now might not be seen
// from here, though there was time to look. A feed that hides reports does so
// wherever it is read from.
func (b *Monitor) Unseen() []disclosure.Type {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.unseen(time.Now())
}

// unseen is described by Unseen. b.mu is held.
func (b *Monitor) unseen(now time.Time) (out []disclosure.Type) {
	for _, t := range disclosure.Types {
		if _, stale := b.stale[Feed(t)]; stale {
			continue
		}
		last := b.seen(t)
		if last.Before(b.began) {
			last = b.began
		}
		if now.Sub(last) > b.blindAfter {
			out = append(out, t)
		}
	}
	return out
}

// judge returns the state and why it is not better. b.mu is held.
func (b *Monitor) judge(now time.Time) (State, []Reason) {
	reasons := []Reason{}
	state := Live
	for _, name := range slices.Sorted(maps.Keys(b.surfaces)) {
		if s := b.surfaces[name]; !s.OK && s.Failures > 0 {
			state = Degraded
			reasons = append(reasons, Reason{Surface: name, Text: s.Error, Since: s.FailingSince})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.stale)) {
		state = Degraded
		reasons = append(reasons, b.stale[name])
	}
	for _, name := range slices.Sorted(maps.Keys(b.expected)) {
		last := b.began
		if s := b.surfaces[name]; s != nil && s.SuccessAt.After(last) {
			last = s.SuccessAt
		}
		if s := b.surfaces[name]; now.Sub(last) > overdue*b.expected[name] && (s == nil || s.OK) {
			state = Degraded
			reasons = append(reasons, Reason{Surface: name, Text: "it was not read for a while: its turn does not come", Since: last})
		}
	}
	for _, t := range disclosure.Types {
		seen := b.seen(t)
		switch {
		case seen.IsZero():
			state = Blind
			reasons = append(reasons, Reason{Surface: Feed(t), Text: fmt.Sprintf("%s was not read yet", t), Since: b.began})
		case now.Sub(seen) > b.blindAfter:
			state = Blind
			reasons = append(reasons, Reason{Surface: Feed(t), Text: fmt.Sprintf("neither the feed nor the list of %s can be read", t), Since: seen})
		}
	}
	if s := b.surfaces[Store]; s != nil && !s.OK && now.Sub(s.FailingSince) > b.blindAfter {
		state = Blind
	}
	if state == Live && now.Sub(b.filing) > quietAfter {
		state = Quiet
	}
	return state, reasons
}

// seen returns when a series was last looked at, by its feed or its list; zero
// is never. A feed that hides reports does not count. b.mu is held.
func (b *Monitor) seen(t disclosure.Type) (last time.Time) {
	for _, name := range []string{Feed(t), List(t)} {
		if _, stale := b.stale[name]; stale {
			continue
		}
		if s := b.surfaces[name]; s != nil && s.SuccessAt.After(last) {
			last = s.SuccessAt
		}
	}
	return last
}
