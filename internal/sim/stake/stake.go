// Package stake holds the simulated registers of who owns and who deals in the shares
// of the fictional companies: managers' dealings, significant holdings and own shares.
//
// Nothing in it is real: the companies are those of the simulated market, and the names
// of shareholders and managers are invented.
//
// The registers agree with each other over time: what a manager with a significant
// holding buys or sells changes that holding, the companies of a chain of control notify
// the same votes, and a notice that is annulled leaves what was before it.
//
// Everything depends on the seed and the clock alone. The past is made when it is first
// asked for. After that, the register goes on by itself if it is live, and by Publish.
// What was published so is in memory only.
package stake

import (
	"slices"
	"strings"
	"sync"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/sim/filler"
	"pregon/internal/sim/market"
)

const (
	// pace is the time in which a live register has one event.
	pace = 15 * time.Minute
	// threshold is the percentage, in thousandths, from which a holding is significant.
	threshold = 3000
	// catchUp bounds the events that are made at once when the clock has jumped.
	catchUp = 20_000
)

// The first days of the registers.
var (
	firstDay     = dayOf(2003, time.January, 1)
	busyFrom     = dayOf(2016, time.January, 1)
	dealingsFrom = dayOf(2018, time.May, 1)
)

func dayOf(y int, m time.Month, d int) disclosure.Day {
	return disclosure.DayOf(time.Date(y, m, d, 12, 0, 0, 0, disclosure.Madrid))
}

// Options are the settings of a Register.
type Options struct {
	Market *market.Market
	Seed   uint64
	Began  time.Time // the end of the past
	Live   bool      // whether it goes on by itself after that
}

// Register holds the simulated registers. It is safe for concurrent use.
type Register struct {
	options Options

	mu       sync.Mutex // guards the fields below
	made     bool       // the past
	books    []*book
	byID     map[string]*book
	dealings []*Dealing // oldest first
	last     int64      // the last number given
	next     time.Time  // of the next live event
	slot     uint64     // counts live events
	changes  []change   // of holdings and own shares, oldest first
}

// book is what the registers have on one company.
type book struct {
	issuer   disclosure.Issuer
	votes    int64
	changed  disclosure.Day // when the votes last changed
	price    float64
	parties  []*party
	managers []*manager
	own      []*Notice // oldest first
	ownShare int       // thousandths of a per cent
	concert  bool      // the table has a label for shareholders who act together
}

// party is a shareholder. Its parent controls it: the votes of both are the same.
type party struct {
	name       string
	parent     *party
	isParent   bool
	direct     int // thousandths of a per cent of the votes
	indirect   int
	instrument int
	notices    []*Notice // oldest first, annulled ones too
	annulments []*Annulment
}

// manager is a manager who deals, alone or by a company of theirs.
type manager struct {
	name    string
	role    string
	company string // closely associated, or ""
	stake   *party // a significant holding of the manager, or nil
	latest  *Dealing
}

// Notice is a notice of a holding or of own shares. Percentages are in thousandths.
type Notice struct {
	Number      int64
	On          disclosure.Day
	Direct      int
	Indirect    int
	Instruments int
	AnnulledBy  int64 // the last notice that annuls it, or 0
}

// Shares returns the votes of shares.
func (n *Notice) Shares() int { return n.Direct + n.Indirect }

// Total returns the votes of shares and instruments.
func (n *Notice) Total() int { return n.Shares() + n.Instruments }

// Annulment is a notice that annuls another.
type Annulment struct {
	By     int64
	On     disclosure.Day
	Annuls []*Notice
}

// change is that an issuer has a new notice of holdings or own shares.
type change struct {
	day  disclosure.Day
	book *book
}

// New returns the registers of a market.
func New(o Options) *Register { return &Register{options: o, byID: map[string]*book{}} }

// advance makes the past once, and what has happened since. r.mu is held.
func (r *Register) advance(now time.Time) {
	if !r.made {
		r.made = true
		r.makeBooks()
		r.makePast()
		r.next = r.options.Began.Add(pace)
	}
	if !r.options.Live {
		return
	}
	if jump := now.Add(-catchUp * pace); r.next.Before(jump) {
		r.next = jump
	}
	for ; !r.next.After(now); r.next = r.next.Add(pace) {
		r.slot++
		r.happen(r.next, r.random(forLive, r.slot))
	}
}

// Each purpose has random numbers of its own.
const (
	forBooks uint64 = iota + 1
	forDays
	forLive
	forPublished
)

func (r *Register) random(purpose, n uint64) filler.Random {
	return filler.NewRandom(filler.Mix(r.options.Seed^filler.Mix(purpose)), filler.Mix(n))
}

// makeBooks makes the companies with their shareholders and managers.
func (r *Register) makeBooks() {
	for n, i := range r.options.Market.Issuers() {
		if i.Kind != disclosure.Company || i.Market == "" {
			continue
		}
		b := newBook(i, r.random(forBooks, uint64(n)))
		r.books = append(r.books, b)
		r.byID[i.ID] = b
	}
}

func newBook(i disclosure.Issuer, rng filler.Random) *book {
	b := &book{
		issuer:  i,
		votes:   int64(rng.LogUniform(4e6, 4e9)),
		changed: busyFrom + disclosure.Day(rng.IntN(3000)),
		price:   rng.LogUniform(0.6, 45),
		concert: rng.Percent(15),
	}
	used := map[string]bool{}
	add := func(p *party) *party {
		for used[p.name] {
			p.name = institution(rng)
		}
		used[p.name] = true
		b.parties = append(b.parties, p)
		return p
	}
	for range rng.Between(1, 5) {
		p := add(&party{name: institution(rng)})
		if rng.Percent(25) {
			p.parent = add(&party{name: foundation(rng), isParent: true})
		}
	}
	for range rng.Between(2, 4) {
		first, family := person(rng)
		m := &manager{name: first + " " + family, role: filler.Pick(rng, roles)}
		if used[m.name] {
			continue
		}
		used[m.name] = true
		if rng.Percent(30) {
			m.company = institution(rng)
		}
		if rng.Percent(40) {
			m.stake = add(&party{name: strings.ToUpper(family + " , " + first)})
		}
		b.managers = append(b.managers, m)
	}
	return b
}

// makePast makes the events up to the end of the past, day by day.
func (r *Register) makePast() {
	for d := firstDay; d <= disclosure.DayOf(r.options.Began); d++ {
		if day := d.Weekday(); day == time.Saturday || day == time.Sunday {
			continue
		}
		rng := r.random(forDays, uint64(d))
		events := rng.Between(3, 8)
		if d < busyFrom {
			events = rng.IntN(5) / 4
		}
		begin := d.Start().Add(9 * time.Hour)
		for n := range events {
			at := begin.Add(time.Duration(n)*time.Hour + time.Duration(rng.IntN(50))*time.Minute)
			if at.After(r.options.Began) {
				return
			}
			r.happen(at, rng)
		}
	}
}

// number returns the next number of the sequence that all registers share: the year, and
// six digits that grow over it, or five before 2007.
func (r *Register) number(at time.Time) int64 {
	at = at.In(disclosure.Madrid)
	minute := int64(at.YearDay()-1)*24*60 + int64(at.Hour())*60 + int64(at.Minute()) + 1
	n := int64(at.Year())*1_000_000 + minute
	if at.Year() < 2007 {
		n = int64(at.Year())*100_000 + minute/6 + 1
	}
	r.last = max(n, r.last+1)
	return r.last
}

// Kind is a kind of event to publish.
type Kind string

// The kinds of events.
const (
	KindDealing   Kind = "dealing"
	KindHolding   Kind = "holding"
	KindOwnShares Kind = "own_shares"
	KindAnnulment Kind = "annulment"
)

// Kinds are all kinds.
var Kinds = []Kind{KindDealing, KindHolding, KindOwnShares, KindAnnulment}

// Publish makes an event of a company now and returns its number. An empty id leaves
// the company to the register.
func (r *Register) Publish(now time.Time, kind Kind, id string) (number int64, err error) {
	if !slices.Contains(Kinds, kind) {
		return 0, fault.New(fault.Invalid, "kind %q: use dealing, holding, own_shares or annulment", kind)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.advance(now)
	rng := r.random(forPublished, uint64(r.last))
	b := filler.Pick(rng, r.books)
	if id != "" {
		if b = r.byID[disclosure.IssuerKey(id)]; b == nil {
			return 0, fault.New(fault.Invalid, "issuer %s is not a listed company of this fictional market", id)
		}
	}
	switch kind {
	case KindDealing:
		return r.deal(now, b, rng).Number, nil
	case KindOwnShares:
		return r.notifyOwn(now, b, rng).Number, nil
	case KindAnnulment:
		if n := r.annul(now, b, rng); n != nil {
			return n.By, nil
		}
		return 0, fault.New(fault.Invalid, "%s has no notice of a holding to annul", b.issuer.Name)
	}
	return r.notify(now, b, rng).Number, nil
}
