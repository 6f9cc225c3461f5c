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
	"pregon/internal/sim/paper"
)

// surface is a part of the site that a fault can be aimed at.
type surface string

const (
	onFeed      surface = "feed"
	onList      surface = "list"
	onPermalink surface = "permalink"
	onHR        surface = "hr"
	onDocument  surface = "document"
	onRegister  surface = "register"
	onExchange  surface = "exchange"
	onNothing   surface = "" // no fault strikes there
	everywhere  surface = "all"
)

var surfaces = []surface{onFeed, onList, onPermalink, onHR, onDocument, onRegister, onExchange, everywhere}

// armed is a fault that strikes until its time or its count is over.
type armed struct {
	Kind    string          `json:"kind"`
	Surface surface         `json:"surface"`
	Type    disclosure.Type `json:"type,omitempty"`
	Share   float64         `json:"share"` // of the requests that it strikes
	By      string          `json:"by,omitempty"`
	Times   int             `json:"times,omitempty"` // left; zero is no bound
	Until   time.Time       `json:"until,omitzero"`
	Struck  int             `json:"struck"`

	by    time.Duration
	below [3]int64 // the next numbers of the series when it was armed
}

// faults are those that are armed.
type faults struct {
	now  func() time.Time
	mu   sync.Mutex // guards what follows
	all  []*armed
	dice *rand.Rand
	cuts int // how many answers were cut short
}

// spoil is what the faults that strike do: answer in the site's stead, or with
// the site's answer.
type spoil struct {
	wait   time.Duration // first of all
	before func(*Server, http.ResponseWriter, *http.Request)
	after  func(*Server, http.ResponseWriter, *http.Request, answer)
}

// kinds are all faults. Some change no more than what is asked for.
var kinds = map[string]func(*armed, *request, *spoil){
	"error500":     func(_ *armed, _ *request, s *spoil) { s.before = failing(http.StatusInternalServerError) },
	"error403":     func(_ *armed, _ *request, s *spoil) { s.before = failing(http.StatusForbidden) },
	"errorpage":    func(_ *armed, _ *request, s *spoil) { s.before = apologise },
	"redirectloop": func(_ *armed, _ *request, s *spoil) { s.before = redirect },
	"reset":        func(_ *armed, _ *request, s *spoil) { s.before = reset },
	"endless":      func(_ *armed, _ *request, s *spoil) { s.before = endless },
	"stall":        func(f *armed, _ *request, s *spoil) { s.wait += f.by },
	"truncate":     func(_ *armed, _ *request, s *spoil) { s.after = truncate },
	"markup":       func(_ *armed, _ *request, s *spoil) { s.after = rename },
	"huge":         func(_ *armed, _ *request, s *spoil) { s.after = huge },
	"bomb":         explode,
	"runaway":      func(_ *armed, r *request, _ *spoil) { r.runaway = true },
	"feedcut":      func(f *armed, r *request, _ *spoil) { r.cut = r.now.Add(-f.by) },
	"silent":       func(_ *armed, r *request, _ *spoil) { r.below = 1 },
	"frozen":       func(f *armed, r *request, _ *spoil) { r.below = f.below[r.series.Index()] },
	"skew":         func(f *armed, r *request, _ *spoil) { r.skew = f.by },
	"corrupt":      spoilFile,
	"cut":          spoilFile,
	"locked":       spoilFile,
	"cycle":        spoilFile,
	"billions":     spoilFile,
	"empty":        spoilFile,
	"page":         spoilFile,
	"word":         spoilFile,
}

// spoilFile answers a hostile document instead of a good one. Other answers stay
// as they are.
func spoilFile(f *armed, _ *request, s *spoil) {
	s.after = func(_ *Server, w http.ResponseWriter, r *http.Request, a answer) {
		if a.filed {
			a = damaged(f.Kind, a)
		}
		write(w, r, a)
	}
}

// explode answers what unpacks to very much: a file if documents are what is
// aimed at, else an answer of any sort.
func explode(f *armed, r *request, s *spoil) {
	if s.after = bomb; f.onFiles() {
		spoilFile(f, r, s)
	}
}

// onFiles reports whether a fault spoils documents and nothing else.
func (a *armed) onFiles() bool {
	return paper.IsHostile(a.Kind) && (a.Kind != "bomb" || a.Surface == onDocument)
}

// defaults are how long a fault lasts or reaches when nothing is said.
var defaults = map[string]time.Duration{"stall": time.Minute, "feedcut": time.Minute, "skew": 90 * time.Second}

// only are the surfaces that a kind can strike, where it is not all of them.
var only = map[string][]surface{
	"runaway": {onList, onHR},
	"feedcut": {onFeed},
	"silent":  {onFeed},
	"frozen":  {onFeed},
}

// strike lets the armed faults act on a request: the first that answers in the
// site's stead wins, the others add up.
func (f *faults) strike(at route, r *request) (s spoil) {
	if at.surface == onNothing {
		return s
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.expire()
	for _, a := range f.all {
		if !a.aims(at, r) || a.Share < 1 && f.dice.Float64() >= a.Share {
			continue
		}
		a.Struck++
		kinds[a.Kind](a, r, &s)
		if a.Times > 0 {
			if a.Times--; a.Times == 0 {
				a.Times = -1 // over
			}
		}
		if s.before != nil {
			return s
		}
	}
	return s
}

func (a *armed) aims(at route, r *request) bool {
	if a.Times < 0 || a.Surface != everywhere && a.Surface != at.surface {
		return false
	}
	if where := only[a.Kind]; where != nil && !slices.Contains(where, at.surface) {
		return false
	}
	if a.onFiles() && !strings.EqualFold(r.URL.Path, documentPath) {
		return false // a page of the same surface
	}
	return a.Type == "" || a.Type == r.series
}

// expire drops the faults that are over. The caller holds the lock.
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

// wanted is a fault as somebody asks for it.
type wanted struct {
	Kind    string   `json:"kind"`
	Surface surface  `json:"surface"`
	Type    string   `json:"type"`
	For     string   `json:"for"`
	Times   int      `json:"times"`
	Share   *float64 `json:"share"`
	By      string   `json:"by"`
}

// arm adds a fault. next are the numbers that the next reports of the series
// will have.
func (f *faults) arm(w wanted, next [3]int64) (armed, error) {
	a := armed{
		Kind: strings.ToLower(w.Kind), Surface: surface(strings.ToLower(string(w.Surface))),
		Type: disclosure.Type(strings.ToUpper(w.Type)), Share: 1, Times: w.Times, below: next,
	}
	var bad []fault.Field
	refuse := func(name, value, reason string) {
		bad = append(bad, fault.Field{Name: name, Value: value, Reason: reason})
	}
	if kinds[a.Kind] == nil {
		refuse("kind", w.Kind, "is no fault that can be armed")
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
			refuse("share", "", "must lie between 0 and 1")
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
	if err := invalid(bad); err != nil {
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
