package stake

import (
	"fmt"
	"strconv"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/sim/filler"
	"pregon/internal/sim/market"
	"pregon/internal/sim/paper/notice"
)

// Dealing is a notice of a manager's dealings.
type Dealing struct {
	Number      int64
	On          disclosure.Day
	Issuer      disclosure.Issuer
	Declarant   string
	Associated  bool
	Rectifies   []int64
	RectifiedBy []int64
	Notice      notice.Notice // what its document states
	Lost        bool          // its document is empty for ever
}

// happen makes one event of any kind.
func (r *Register) happen(at time.Time, rng filler.Random) {
	b := filler.Pick(rng, r.books)
	switch kind := rng.IntN(100); {
	case kind < 55 && disclosure.DayOf(at) >= dealingsFrom:
		r.deal(at, b, rng)
	case kind < 84:
		r.notify(at, b, rng)
	case kind < 97:
		r.notifyOwn(at, b, rng)
	default:
		r.annul(at, b, rng)
	}
}

// notify makes a notice of a holding, and the same of those who control it.
func (r *Register) notify(at time.Time, b *book, rng filler.Random) *Notice {
	p := filler.Pick(rng, b.parties)
	for p.isParent { // it notifies with those whom it controls
		p = filler.Pick(rng, b.parties)
	}
	p.move(rng)
	return r.notice(at, b, p)
}

// move changes what a party has: most holdings stay between 3 and 12 %.
func (p *party) move(rng filler.Random) {
	if len(p.notices) == 0 {
		p.direct = 3000 + rng.IntN(5000)
		if rng.Percent(40) {
			p.direct, p.indirect = 0, p.direct
		}
	}
	step := rng.Between(-900, 1000)
	switch {
	case rng.Percent(6): // below the threshold
		p.direct, p.indirect = 0, 1000+rng.IntN(1999)
	case p.indirect > 0:
		p.indirect = min(max(p.indirect+step, 100), 29_000)
	default:
		p.direct = min(max(p.direct+step, 100), 29_000)
	}
	switch {
	case rng.Percent(30):
		p.instrument = rng.IntN(6000)
	case rng.Percent(30):
		p.instrument = 0
	}
}

// notice registers what a party has now. Those who control it have the same votes,
// indirectly, in the same notice.
func (r *Register) notice(at time.Time, b *book, p *party) *Notice {
	n := &Notice{
		Number:      r.number(at),
		On:          disclosure.DayOf(at),
		Direct:      p.direct,
		Indirect:    p.indirect,
		Instruments: p.instrument,
	}
	p.notices = append(p.notices, n)
	for up := p.parent; up != nil; up = up.parent {
		up.notices = append(up.notices, &Notice{
			Number:      n.Number,
			On:          n.On,
			Indirect:    n.Shares(),
			Instruments: n.Instruments,
		})
	}
	r.changed(n.On, b)
	return n
}

// notifyOwn makes a notice of the company's own shares.
func (r *Register) notifyOwn(at time.Time, b *book, rng filler.Random) *Notice {
	b.ownShare = min(max(b.ownShare+rng.Between(-700, 900), 0), 9900)
	n := &Notice{
		Number: r.number(at),
		On:     disclosure.DayOf(at),
		Direct: b.ownShare,
	}
	if rng.Percent(20) {
		n.Direct, n.Indirect = b.ownShare-b.ownShare/4, b.ownShare/4
	}
	b.own = append(b.own, n)
	r.changed(n.On, b)
	return n
}

// annul makes a notice that annuls the last one of a party, or returns nil if no party
// has two. A few are annulled a second time.
func (r *Register) annul(at time.Time, b *book, rng filler.Random) *Annulment {
	var able []*party
	for _, p := range b.parties {
		if len(p.valid()) >= 2 && p.parent == nil && !p.isParent {
			able = append(able, p)
		}
	}
	if len(able) == 0 {
		return nil
	}
	p := filler.Pick(rng, able)
	valid := p.valid()
	target := valid[len(valid)-1]
	a := r.annulment(at, p, target)
	if rng.Percent(20) {
		a = r.annulment(at, p, target)
	}
	before := valid[len(valid)-2]
	p.direct, p.indirect, p.instrument = before.Direct, before.Indirect, before.Instruments
	r.changed(a.On, b)
	return a
}

func (r *Register) annulment(at time.Time, p *party, target *Notice) *Annulment {
	a := &Annulment{
		By:     r.number(at),
		On:     disclosure.DayOf(at),
		Annuls: []*Notice{target},
	}
	target.AnnulledBy = a.By
	p.annulments = append(p.annulments, a)
	return a
}

// valid returns the notices that were not annulled.
func (p *party) valid() (out []*Notice) {
	for _, n := range p.notices {
		if n.AnnulledBy == 0 {
			out = append(out, n)
		}
	}
	return out
}

func (r *Register) changed(day disclosure.Day, b *book) {
	r.changes = append(r.changes, change{day, b})
}

// rectifyWithin is the age of a dealing that may still be rectified.
const rectifyWithin = 30

// deal makes a notice of dealings. What a manager with a holding trades changes the
// holding, which is notified at once.
func (r *Register) deal(at time.Time, b *book, rng filler.Random) *Dealing {
	m := filler.Pick(rng, b.managers)
	day := disclosure.DayOf(at)
	d := &Dealing{
		Number:    r.number(at),
		On:        day,
		Issuer:    b.issuer,
		Declarant: m.name,
		Lost:      len(r.dealings) == 40,
	}
	role := m.role
	if m.company != "" && rng.Percent(50) {
		d.Declarant, d.Associated = m.company, true
		role = m.name + " - " + m.role
	}
	d.Notice = notice.Notice{
		Number:     strconv.FormatInt(d.Number, 10),
		Issuer:     b.issuer.Name,
		LEI:        market.LEI(b.issuer),
		Person:     d.Declarant,
		Role:       role,
		Associated: d.Associated,
		Other:      "Mercado simulado: nada de esto es real.",
	}
	old := m.latest
	rectifies := old != nil && day-old.On <= rectifyWithin && old.Declarant == d.Declarant && rng.Percent(35)
	if rectifies {
		d.Rectifies = []int64{old.Number}
		old.RectifiedBy = append(old.RectifiedBy, d.Number)
		d.Notice.Amendment = "Error en el precio comunicado"
		d.Notice.Trades = corrected(old.Notice.Trades)
	} else {
		d.Notice.Trades = r.trade(b, m, d, rng)
	}
	m.latest = d
	r.dealings = append(r.dealings, d)
	if m.stake != nil && !d.Associated && !rectifies && m.stake.direct > 0 {
		r.notice(at, b, m.stake)
	}
	return d
}

// corrected returns trades with another price.
func corrected(trades []notice.Trade) []notice.Trade {
	out := make([]notice.Trade, len(trades))
	for n, t := range trades {
		price, err := strconv.ParseFloat(t.Price, 64)
		if err == nil && price > 0 {
			t.Price = fmt.Sprintf("%.4f", price+0.01)
		}
		out[n] = t
	}
	return out
}

// venues are those on which most trades are made, and XOFF for those outside of any.
var venues = []string{"XMAD", "XMAD", "XMAD", "XMAD", "XBAR", "BEUP", "CEUX", "XOFF"}

// trade returns the trades of a dealing: one operation, at one price or at several. A
// trade of a manager with a holding changes the holding.
func (r *Register) trade(b *book, m *manager, d *Dealing, rng filler.Random) (out []notice.Trade) {
	nature := "Compra"
	switch {
	case rng.Percent(12):
		nature = "Otros"
	case rng.Percent(45):
		nature = "Venta"
	}
	on := d.On - disclosure.Day(rng.IntN(4))
	volume := int64(rng.LogUniform(50, 60_000))
	if m.stake != nil && !d.Associated {
		volume = m.stake.dealt(b.votes, &nature, rng)
	}
	rows := 1
	if rng.Percent(30) {
		rows = rng.Between(2, 8)
	}
	b.price *= 0.97 + rng.Float64()*0.0605
	for n := range rows {
		part := volume / int64(rows)
		if n == rows-1 {
			part = volume - part*int64(rows-1)
		}
		t := notice.Trade{
			ISIN:       b.issuer.ISINs[0],
			Instrument: "Acción",
			Nature:     nature,
			Date:       on,
			Venue:      filler.Pick(rng, venues),
			Volume:     strconv.FormatInt(max(part, 1), 10),
			Price:      fmt.Sprintf("%.4f", b.price*(1+float64(n)*0.0007)),
			Currency:   "EUR",
		}
		if nature == "Otros" {
			t.Price, t.Venue = "0.00", "XOFF"
		}
		out = append(out, t)
	}
	return out
}

// dealt changes the holding of a manager and returns the number of shares. A holding
// that is used up is not sold further.
func (p *party) dealt(votes int64, nature *string, rng filler.Random) int64 {
	delta := rng.Between(1, 150)
	if p.direct == 0 {
		p.direct = threshold
	}
	if *nature == "Venta" && p.direct <= delta {
		*nature = "Compra"
	}
	if *nature == "Venta" {
		p.direct -= delta
	} else {
		p.direct += delta
	}
	return votes * int64(delta) / 100_000
}
