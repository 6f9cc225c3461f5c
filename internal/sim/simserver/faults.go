package simserver

import (
	"cmp"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/sim/paper"
)

// surface is a part of the site that a fault can affect.
type surface string

const (
	onFeed      surface = "feed"
	onList      surface = "list"
	onPermalink surface = "permalink"
	onHR        surface = "hr"
	onDocument  surface = "document"
	onRegister  surface = "register"
	onExchange  surface = "exchange"
	onShorts    surface = "shorts"
	onPositions surface = "positions"
	onNothing   surface = "" // is never affected
	everywhere  surface = "all"
)

var surfaces = []surface{
	onFeed, onList, onPermalink, onHR, onDocument, onRegister, onExchange, onShorts, onPositions, everywhere,
}

// armed is a fault that is active until its time or its count is used up.
type armed struct {
	Kind    string          `json:"kind"`
	Surface surface         `json:"surface"`
	Type    disclosure.Type `json:"type,omitempty"`
	Share   float64         `json:"share"` // of the requests that it affects
	By      duration        `json:"by,omitzero"`
	For     duration        `json:"for,omitzero"`    // of a fault to arm: becomes Until
	Times   int             `json:"times,omitempty"` // left; zero is unlimited
	Until   time.Time       `json:"until,omitzero"`
	Struck  int             `json:"struck"`

	below [3]int64 // the next numbers of the series when it was armed
}

// duration is a duration in the form of time.ParseDuration.
type duration struct{ time.Duration }

func (d duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

func (d *duration) UnmarshalText(text []byte) (err error) {
	d.Duration, err = time.ParseDuration(string(text))
	return err
}

// faults are the armed faults.
type faults struct {
	now  func() time.Time
	mu   sync.Mutex // guards the fields below
	all  []*armed
	rng  *rand.Rand
	cuts int // the number of truncated answers
}

// effect is the effect of faults on a request.
type effect struct {
	wait    time.Duration                                             // before anything else
	instead func(*Server, http.ResponseWriter, *http.Request)         // responds instead of the site
	write   func(*Server, http.ResponseWriter, *http.Request, answer) // sends the answer of the site
}

// kinds are the faults, besides the hostile documents. Some only change the request.
var kinds = map[string]func(*armed, *request, *effect){
	"error500":     func(_ *armed, _ *request, e *effect) { e.instead = failing(http.StatusInternalServerError) },
	"error403":     func(_ *armed, _ *request, e *effect) { e.instead = failing(http.StatusForbidden) },
	"errorpage":    func(_ *armed, _ *request, e *effect) { e.instead = errorAsSuccess },
	"redirectloop": func(_ *armed, _ *request, e *effect) { e.instead = redirect },
	"reset":        func(_ *armed, _ *request, e *effect) { e.instead = reset },
	"endless":      func(_ *armed, _ *request, e *effect) { e.instead = endless },
	"stall":        func(f *armed, _ *request, e *effect) { e.wait += f.By.Duration },
	"half":         func(_ *armed, _ *request, e *effect) { e.write = half },
	"stale":        func(f *armed, r *request, _ *effect) { r.back = f.By.Duration },
	"truncate":     func(_ *armed, _ *request, e *effect) { e.write = truncate },
	"markup":       func(_ *armed, _ *request, e *effect) { e.write = rename },
	"huge":         func(_ *armed, _ *request, e *effect) { e.write = huge },
	"bomb":         func(_ *armed, _ *request, e *effect) { e.write = bomb },
	"runaway":      func(_ *armed, r *request, _ *effect) { r.runaway = true },
	"feedcut":      func(f *armed, r *request, _ *effect) { r.cut = r.now.Add(-f.By.Duration) },
	"silent":       func(_ *armed, r *request, _ *effect) { r.below = 1 },
	"frozen":       func(f *armed, r *request, _ *effect) { r.below = f.below[r.series.Index()] },
	"skew":         func(f *armed, r *request, _ *effect) { r.skew = f.By.Duration },
}

// damageDocument answers a hostile document instead of a good one. It leaves other
// answers unchanged.
func (a *armed) damageDocument(_ *Server, w http.ResponseWriter, r *http.Request, good answer) {
	if good.isDocument {
		good = damaged(a.Kind, good)
	}
	write(w, r, good)
}

// onDocuments reports whether a fault affects documents only. A bomb is a hostile
// document on their surface, and a compressed response on others.
func (a *armed) onDocuments() bool {
	return paper.IsHostile(a.Kind) && (a.Kind != "bomb" || a.Surface == onDocument)
}

// defaults are the durations of faults that have one.
var defaults = map[string]time.Duration{"stall": time.Minute, "feedcut": time.Minute, "skew": 90 * time.Second, "stale": 7 * 24 * time.Hour}

// only are the surfaces of kinds that do not affect all of them.
var only = map[string][]surface{
	"half":    {onShorts},
	"stale":   {onShorts},
	"runaway": {onList, onHR},
	"feedcut": {onFeed},
	"silent":  {onFeed},
	"frozen":  {onFeed},
}

// apply returns the effect of the armed faults on a request. The first fault that
// responds instead of the site wins. The effects of others are combined.
func (f *faults) apply(at route, r *request) (e effect) {
	if at.surface == onNothing {
		return e
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.expire()
	for _, a := range f.all {
		if !a.affects(at, r) || a.Share < 1 && f.rng.Float64() >= a.Share {
			continue
		}
		a.Struck++
		if a.onDocuments() {
			e.write = a.damageDocument
		} else {
			kinds[a.Kind](a, r, &e)
		}
		if a.Times > 0 {
			if a.Times--; a.Times == 0 {
				a.Times = -1 // used up
			}
		}
		if e.instead != nil {
			return e
		}
	}
	return e
}

// affects reports whether a fault affects a request.
func (a *armed) affects(at route, r *request) bool {
	if a.Times < 0 || a.Surface != everywhere && a.Surface != at.surface {
		return false
	}
	if where := only[a.Kind]; where != nil && !slices.Contains(where, at.surface) {
		return false
	}
	if a.onDocuments() && !strings.EqualFold(r.URL.Path, documentPath) {
		return false // a page of the same surface
	}
	return a.Type == "" || a.Type == r.series
}

// expire drops the faults that are used up. The caller holds mu.
func (f *faults) expire() {
	now := f.now()
	f.all = slices.DeleteFunc(f.all, func(a *armed) bool {
		return a.Times < 0 || !a.Until.IsZero() && !now.Before(a.Until)
	})
}

func (f *faults) list() []armed {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.expire()
	out := make([]armed, 0, len(f.all))
	for _, a := range f.all {
		out = append(out, *a)
	}
	return out
}

func (f *faults) clear() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.expire()
	n := len(f.all)
	f.all = nil
	return n
}

// arm adds a fault. next are the next numbers of the series.
func (f *faults) arm(a armed, next [3]int64) (armed, error) {
	a.Kind, a.Type = strings.ToLower(a.Kind), disclosure.Type(strings.ToUpper(string(a.Type)))
	a.Surface = cmp.Or(surface(strings.ToLower(string(a.Surface))), everywhere)
	switch {
	case kinds[a.Kind] == nil && !paper.IsHostile(a.Kind):
		return a, fault.New(fault.Invalid, "kind %s is unknown; GET /_sim/ lists the kinds", a.Kind)
	case !slices.Contains(surfaces, a.Surface):
		return a, fault.New(fault.Invalid,
			"surface %s: use feed, list, permalink, hr, document, register, exchange, shorts, positions or all", a.Surface)
	case a.Type != "" && a.Type.Index() < 0:
		return a, fault.New(fault.Invalid, "type %s: use ip, hr or oir", a.Type)
	case a.Share < 0 || a.Share > 1:
		return a, fault.New(fault.Invalid, "share must be between 0 and 1")
	case a.Times < 0 || a.For.Duration < 0:
		return a, fault.New(fault.Invalid, "times and for must not be negative")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	a.Until = time.Time{}
	a.Struck = 0
	a.below = next
	if a.For.Duration > 0 {
		a.Until = f.now().Add(a.For.Duration).UTC()
	}
	a.By.Duration, a.For = cmp.Or(a.By.Duration, defaults[a.Kind]), duration{}
	f.all = append(f.all, &a)
	return a, nil
}
