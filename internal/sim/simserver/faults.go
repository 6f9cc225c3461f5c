package simserver

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/sim/archive"
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
	onNothing   surface = "" // is never affected
	everywhere  surface = "all"
)

var surfaces = []surface{onFeed, onList, onPermalink, onHR, onDocument, onRegister, onExchange, everywhere}

// armed is a fault that is active until its time or its count is used up.
type armed struct {
	Kind    string          `json:"kind"`
	Surface surface         `json:"surface"`
	Type    disclosure.Type `json:"type,omitempty"`
	Share   float64         `json:"share"` // of the requests that it affects
	By      string          `json:"by,omitempty"`
	Times   int             `json:"times,omitempty"` // left; zero is unlimited
	Until   time.Time       `json:"until,omitzero"`
	Struck  int             `json:"struck"`

	by    time.Duration
	below [3]int64 // the next numbers of the series when it was armed
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

// kinds are all faults. Some of them only change the request.
var kinds = map[string]func(*armed, *request, *effect){
	"error500":     func(_ *armed, _ *request, e *effect) { e.instead = failing(http.StatusInternalServerError) },
	"error403":     func(_ *armed, _ *request, e *effect) { e.instead = failing(http.StatusForbidden) },
	"errorpage":    func(_ *armed, _ *request, e *effect) { e.instead = errorAsSuccess },
	"redirectloop": func(_ *armed, _ *request, e *effect) { e.instead = redirect },
	"reset":        func(_ *armed, _ *request, e *effect) { e.instead = reset },
	"endless":      func(_ *armed, _ *request, e *effect) { e.instead = endless },
	"stall":        func(f *armed, _ *request, e *effect) { e.wait += f.by },
	"truncate":     func(_ *armed, _ *request, e *effect) { e.write = truncate },
	"markup":       func(_ *armed, _ *request, e *effect) { e.write = rename },
	"huge":         func(_ *armed, _ *request, e *effect) { e.write = huge },
	"bomb":         expand,
	"runaway":      func(_ *armed, r *request, _ *effect) { r.runaway = true },
	"feedcut":      func(f *armed, r *request, _ *effect) { r.cut = r.now.Add(-f.by) },
	"silent":       func(_ *armed, r *request, _ *effect) { r.below = 1 },
	"frozen":       func(f *armed, r *request, _ *effect) { r.below = f.below[r.series.Index()] },
	"skew":         func(f *armed, r *request, _ *effect) { r.skew = f.by },
	"corrupt":      damageDocument,
	"cut":          damageDocument,
	"locked":       damageDocument,
	"cycle":        damageDocument,
	"billions":     damageDocument,
	"empty":        damageDocument,
	"page":         damageDocument,
	"word":         damageDocument,
}

// damageDocument answers a hostile document instead of a good one. It leaves other
// answers unchanged.
func damageDocument(f *armed, _ *request, e *effect) {
	e.write = func(_ *Server, w http.ResponseWriter, r *http.Request, a answer) {
		if a.isDocument {
			a = damaged(f.Kind, a)
		}
		write(w, r, a)
	}
}

// expand answers a decompression bomb: a hostile document on the surface of
// documents, a compressed response on others.
func expand(f *armed, r *request, e *effect) {
	if e.write = bomb; f.onDocuments() {
		damageDocument(f, r, e)
	}
}

// onDocuments reports whether a fault affects documents only.
func (a *armed) onDocuments() bool {
	return paper.IsHostile(a.Kind) && (a.Kind != "bomb" || a.Surface == onDocument)
}

// defaults are the durations of faults that have one.
var defaults = map[string]time.Duration{"stall": time.Minute, "feedcut": time.Minute, "skew": 90 * time.Second}

// only are the surfaces of kinds that do not affect all of them.
var only = map[string][]surface{
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
		kinds[a.Kind](a, r, &e)
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

// faultRequest is a fault to arm.
type faultRequest struct {
	Kind    string   `json:"kind"`
	Surface surface  `json:"surface"`
	Type    string   `json:"type"`
	For     string   `json:"for"`
	Times   int      `json:"times"`
	Share   *float64 `json:"share"`
	By      string   `json:"by"`
}

// arm adds a fault. next are the next numbers of the series.
func (f *faults) arm(w faultRequest, next [3]int64) (armed, error) {
	a := armed{
		Kind: strings.ToLower(w.Kind), Surface: surface(strings.ToLower(string(w.Surface))),
		Type: disclosure.Type(strings.ToUpper(w.Type)), Share: 1, Times: w.Times, below: next,
	}
	var bad []fault.Field
	refuse := func(name, value, reason string) {
		bad = append(bad, fault.Field{Name: name, Value: value, Reason: reason})
	}
	if kinds[a.Kind] == nil {
		refuse("kind", w.Kind, "is unknown; GET /_sim/ lists the kinds")
	}
	if a.Surface == "" {
		a.Surface = everywhere
	}
	if !slices.Contains(surfaces, a.Surface) {
		refuse("surface", string(w.Surface), "use feed, list, permalink, hr, document, register, exchange or all")
	}
	if a.Type != "" && a.Type.Index() < 0 {
		refuse("type", w.Type, "use ip, hr or oir")
	}
	if w.Share != nil {
		if a.Share = *w.Share; a.Share < 0 || a.Share > 1 {
			refuse("share", "", "must be between 0 and 1")
		}
	}
	if w.Times < 0 {
		refuse("times", "", "must not be negative")
	}
	a.by = defaults[a.Kind]
	var lasts time.Duration
	for name, d := range map[string]struct {
		text string
		into *time.Duration
	}{"by": {w.By, &a.by}, "for": {w.For, &lasts}} {
		if d.text == "" {
			continue
		}
		x, err := time.ParseDuration(d.text)
		if err != nil || name == "for" && x <= 0 {
			refuse(name, d.text, "must be a duration such as 30s")
		}
		*d.into = x
	}
	if err := archive.Invalid(bad); err != nil {
		return armed{}, err
	}
	if a.by != 0 {
		a.By = a.by.String()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if lasts > 0 {
		a.Until = f.now().Add(lasts).UTC()
	}
	f.all = append(f.all, &a)
	return a, nil
}
