// Package shorts is the simulated register of net short positions: fictional notices
// of fictional holders since 2011, in a workbook like that of the regulator, with its
// irregularities.
//
// The register depends on the seed and the time only. Each evening it has new notices,
// and in a demonstration every few minutes, so that a visitor sees it change. As in
// the real one positions leave it in three ways: with a notice just below the
// threshold, which stays for weeks; with a notice of 0; and without any notice.
//
// Nothing in it is real: the LEIs and ISINs are those of package market.
package shorts

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/sim/filler"
	"pregon/internal/sim/market"
)

// FullSize is the number of notices of the real register.
const FullSize = 12_000

// Options are the settings of New.
type Options struct {
	Market *market.Market
	Seed   uint64
	Size   int           // notices until Began, approximately
	Began  time.Time     // the demonstration's beginning
	Every  time.Duration // between notices after Began; 0: in the evenings only
}

// Register is the register up to a time, which advances. It is safe for concurrent use.
type Register struct {
	o       Options
	shares  []share
	holders []string

	mu        sync.Mutex // guards the fields below
	now       time.Time  // of the last change
	day       disclosure.Day
	slot      int64 // the last one between evenings
	pairs     []*pair
	byKey     map[[2]int]*pair
	published int // changes
	file      *File
	made      int // published when file was made
}

// share is a share that positions are in.
type share struct{ lei, isin, issuer string }

// pair is a holder and a share, by their numbers.
type pair struct {
	share, holder int
	percent       int      // in thousandths, of the newest notice
	notices       []notice // all
	since         int      // the first notice that is in the series
	current       bool
	leaves        disclosure.Day // when it leaves without a notice; 0: it does not
}

// notice is a row of the register.
type notice struct {
	day     disclosure.Day
	percent int
}

// first is the day from which there are notices.
var first, _ = disclosure.ParseDay("2011-01-03")

// The threshold in thousandths of a percent, and the number of days with a notice,
// which is that of working days since first.
const (
	threshold   = 500
	workingDays = 4000
)

// New returns the register as it was on the first day. It has the shares of companies
// on the main market.
func New(o Options) *Register {
	r := &Register{
		o:       o,
		holders: holders(),
		now:     first.Start(),
		day:     first,
		byKey:   map[[2]int]*pair{},
	}
	two := false
	for _, i := range o.Market.Issuers() {
		if i.Kind != disclosure.Company || i.Market != "SIBE" || len(i.ISINs) == 0 || len(r.shares) > 90 {
			continue
		}
		r.shares = append(r.shares, share{market.LEI(i), i.ISINs[0], i.Name})
		if !two && len(i.ISINs) > 1 { // one issuer has two
			two = true
			r.shares = append(r.shares, share{market.LEI(i), i.ISINs[1], i.Name})
		}
	}
	r.shares = append(r.shares, share{market.LEI(disclosure.Issuer{ID: "gb-1"}), foreignISIN, "HOLLINMOOR FERRIES PLC"})
	if o.Every > 0 {
		r.slot = o.Began.UnixNano() / int64(o.Every)
	}
	return r
}

// foreignISIN is that of a share from abroad, with a right check digit.
const foreignISIN = "GB00SIM00018"

// target is the number of positions that the register tends to have.
func (r *Register) target() int { return max(12, r.o.Size/180) }

// evening returns the time of a day at which the register is rewritten.
func evening(day disclosure.Day) time.Time {
	y, m, d := day.Start().Date()
	return time.Date(y, m, d, 20, 18, 29, 0, disclosure.Madrid)
}

// advance makes all publications up to a time. The caller holds mu.
func (r *Register) advance(now time.Time) {
	for {
		next, isSlot := evening(r.day), false
		if r.o.Every > 0 {
			if at := time.Unix(0, (r.slot+1)*int64(r.o.Every)); at.Before(next) {
				next, isSlot = at, true
			}
		}
		if next.After(now) {
			return
		}
		before := r.published
		if isSlot {
			r.slot++
			r.publishSlot(next)
		} else {
			r.publishEvening(r.day)
			r.day++
		}
		if r.published > before {
			r.now = next
		}
	}
}

// random returns the generator of a day or of a slot.
func (r *Register) random(purpose string, n int64) filler.Random {
	return filler.NewRandom(filler.Mix(r.o.Seed^uint64(purpose[0])<<32), uint64(n))
}

// publishEvening publishes the notices of a day.
func (r *Register) publishEvening(day disclosure.Day) {
	if market.IsClosed(day) {
		return
	}
	for _, p := range r.pairs {
		if p.current && p.leaves != 0 && p.leaves <= day {
			r.leave(p)
		}
	}
	rng := r.random("evening", int64(day))
	mean := float64(r.o.Size) / workingDays
	count := int(mean)
	if rng.Float64() < mean-float64(count) {
		count++
	}
	for range count {
		r.publish(rng, day)
	}
}

// publishSlot publishes a notice between evenings.
func (r *Register) publishSlot(at time.Time) {
	r.publish(r.random("slot", r.slot), disclosure.DayOf(at))
}

// leave takes a pair from the present positions.
func (r *Register) leave(p *pair) {
	p.current, p.leaves, p.since = false, 0, len(p.notices)
	r.published++
}

// publish adds a notice of a day: of a new position, or of one that there is.
func (r *Register) publish(rng filler.Random, day disclosure.Day) {
	var open []*pair
	present := 0
	for _, p := range r.pairs {
		if !p.current {
			continue
		}
		present++
		if p.leaves == 0 && p.notices[len(p.notices)-1].day < day {
			open = append(open, p)
		}
	}
	share := 5
	if present < r.target() {
		share = 12
	}
	if len(open) == 0 && present > 3*r.target() {
		return // every position has its notice of the day
	}
	if len(open) == 0 || rng.Percent(share) {
		r.open(rng, day)
		return
	}
	r.step(rng, filler.Pick(rng, open), day, present)
}

// open adds the first notice of a position, often of a pair that had one before.
func (r *Register) open(rng filler.Random, day disclosure.Day) {
	// a few shares and holders have most positions
	key := [2]int{skewed(rng, len(r.shares)), skewed(rng, len(r.holders))}
	p := r.byKey[key]
	if p == nil {
		p = &pair{share: key[0], holder: key[1]}
		r.byKey[key], r.pairs = p, append(r.pairs, p)
	}
	if p.current || len(p.notices) > 0 && p.notices[len(p.notices)-1].day >= day {
		return
	}
	p.current, p.leaves, p.since = true, 0, len(p.notices)
	r.add(p, day, threshold+10*rng.IntN(25))
}

// skewed returns a number below n. Low ones are more frequent.
func skewed(rng filler.Random, n int) int {
	x := rng.Float64()
	return int(x * x * float64(n))
}

// step adds the next notice of a position, or ends it.
func (r *Register) step(rng filler.Random, p *pair, day disclosure.Day, present int) {
	end := 7
	if present > 2*r.target() {
		end = 20
	}
	if rng.Percent(end) {
		switch rng.IntN(6) {
		case 0:
			r.add(p, day, 0)
			r.leave(p)
		case 1, 2:
			p.leaves = day + disclosure.Day(rng.Between(1, 20)) // without a notice
		default:
			r.add(p, day, threshold-10*(1+rng.IntN(9)*rng.IntN(2)))
			p.leaves = day + disclosure.Day(rng.Between(10, 90))
		}
		return
	}
	percent := p.percent + 10*rng.Between(5, 13)*(1-2*rng.IntN(2))
	if rng.Percent(3) {
		percent += rng.Between(1, 9) // three decimals
	}
	if percent < threshold || percent > 6000 || percent == p.percent {
		percent = p.percent/10*10 + 100
	}
	r.add(p, day, percent)
}

func (r *Register) add(p *pair, day disclosure.Day, percent int) {
	p.percent = percent
	p.notices = append(p.notices, notice{day, percent})
	r.published++
}

// Position is a row of the truth, with which a test compares what it read.
type Position struct {
	LEI     string
	ISIN    string
	Name    string
	Day     disclosure.Day
	Percent string
	Current bool
}

// Truth returns all notices up to a time, in the order of day, ISIN and holder.
func (r *Register) Truth(now time.Time) []Position {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.advance(now)
	var all []Position
	for _, p := range r.pairs {
		s := r.shares[p.share]
		for n, one := range p.notices {
			all = append(all, Position{
				LEI:     s.lei,
				ISIN:    s.isin,
				Name:    r.holders[p.holder],
				Day:     one.day,
				Percent: decimal(one.percent),
				Current: p.current && n == len(p.notices)-1,
			})
		}
	}
	slices.SortFunc(all, func(a, b Position) int {
		return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(a.ISIN, b.ISIN), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// decimal returns thousandths as a decimal without zeros at its end.
func decimal(thousandths int) string {
	return strconv.FormatFloat(float64(thousandths)/1000, 'f', -1, 64)
}

// etag returns the validator of a version, in the form of the real ones.
func (r *Register) etag() string {
	return fmt.Sprintf(`"%013x:0"`, filler.Mix(r.o.Seed^uint64(r.published))>>12)
}
