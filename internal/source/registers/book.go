package registers

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/source/coverage"
	"pregon/internal/source/regulator"
	"pregon/internal/text"
)

// book is what is known of the holdings in one issuer, and what a walk changes.
type book struct {
	*Reader
	key      string
	issuer   string // its id in the directory, or empty
	newsFrom disclosure.Day
	known    map[string]*disclosure.Position // by id
	ordinals ordinals
	taken    map[string]bool      // ids that the walk has shown
	shown    map[string]bool      // folded names that the walk has shown
	former   map[string]time.Time // see follower
	// hasChanged means that the register names new notices about the issuer.
	hasChanged bool
	// formerRead are the folded names of former holders whose history the walk has read.
	formerRead map[string]bool
	changes    []disclosure.Position
	found      *regulator.Holdings
}

// earlierNews is how many days before the last read of an issuer a notice may be
// registered that is news.
const earlierNews = 7

// never is later than all days.
const never = disclosure.Day(1 << 30)

func (r *Reader) newBook(key string) *book {
	b := &book{
		Reader:   r,
		key:      key,
		issuer:   r.issuerID(key),
		newsFrom: never,
		known:    map[string]*disclosure.Position{},
		ordinals: ordinals{},
		taken:    map[string]bool{},
		shown:    map[string]bool{},

		formerRead: map[string]bool{},
	}
	if read := r.Coverage.Time(issuerClock(key)); !read.IsZero() {
		b.newsFrom = disclosure.DayOf(read) - earlierNews
	}
	for _, kind := range []disclosure.PositionKind{disclosure.Holding, disclosure.OwnShares} {
		for p := range r.Known.PositionsOf(key, kind) {
			b.known[p.ID] = p
			b.ordinals.use(disclosure.PositionID(kind, b.numberFor(p), 1), p.ID)
		}
	}
	return b
}

// numberFor returns the number that the id of a position is made of: that of the register,
// or of the issuer and the day if the register did not show one.
func (b *book) numberFor(p *disclosure.Position) string {
	return cmp.Or(p.Number, strings.ToLower(b.key)+"-"+p.RegisteredOn)
}

// formerEvery is how often the history of someone who holds nothing any more is read.
const formerEvery = 30 * 24 * time.Hour

// wantsHistory reports whether the notices of a row must be read: its last one is not known
// by its number, or some are annulled. A name that was erased does not say which number is
// that of the row.
func (b *book) wantsHistory(h regulator.Holding) bool {
	known := b.named(h.Name)
	if h.Former {
		return b.wantsFormer(h, known)
	}
	if h.HasAnnulled {
		return true
	}
	on := h.RegisteredOn.String()
	return !slices.ContainsFunc(known, func(p *disclosure.Position) bool { return p.RegisteredOn == on })
}

// wantsFormer is wantsHistory for someone who holds nothing any more. Such a row has no day,
// so that a new notice is found only in the history, and an annulled one too.
func (b *book) wantsFormer(h regulator.Holding, known []*disclosure.Position) bool {
	hasEnded := len(known) > 0 && !slices.ContainsFunc(known, (*disclosure.Position).IsCurrent)
	read, ok := b.former[b.key+"\x00"+text.Fold(h.Name)]
	if b.hasChanged && (h.HasAnnulled || !ok || coverage.Elapsed(read, b.intervals.former)) {
		return true
	}
	return !hasEnded && (!ok || coverage.Elapsed(read, formerEvery))
}

// named returns the known holdings of a name that have a number.
func (b *book) named(name string) (out []*disclosure.Position) {
	folded := text.Fold(name)
	for _, p := range b.known {
		if p.Kind == disclosure.Holding && p.Number != "" && p.Name != "" && text.Fold(p.Name) == folded {
			out = append(out, p)
		}
	}
	return out
}

// isHollow reports whether a walk shows nobody, although there were holdings: the site has
// such pages when it cannot answer.
func (b *book) isHollow(found *regulator.Holdings) bool {
	if len(found.Holdings) > 0 || len(found.Former) > 0 {
		return false
	}
	for _, p := range b.known {
		if p.Kind == disclosure.Holding && p.IsCurrent() {
			return true
		}
	}
	return false
}

// isOf reports whether a known position may be that of a name. One whose name was erased
// may be that of any natural person.
func (b *book) isOf(p *disclosure.Position, name string) bool {
	if p.NameErased() {
		return !disclosure.IsLegalEntity(name)
	}
	return text.Fold(p.Name) == text.Fold(name)
}

// read compares a walk with what is known.
func (b *book) read(found *regulator.Holdings) {
	b.found = found
	for _, rows := range [][]regulator.Holding{found.Holdings, found.Former} {
		for n := range rows {
			b.shown[text.Fold(rows[n].Name)] = true
		}
	}
	for n := range found.Holdings {
		row := &found.Holdings[n]
		b.take(b.present(row))
		b.past(row, b.presentNotice(row))
	}
	for n := range found.Former {
		row := &found.Former[n]
		last := newest(row.History)
		if last != nil {
			b.take(b.notice(row, last, disclosure.StateEnded))
			b.formerRead[text.Fold(row.Name)] = true
		}
		b.past(row, last)
	}
	b.ownShares()
	b.annul()
	b.endOthers()
}

// present returns the position of a row of the present table.
func (b *book) present(row *regulator.Holding) disclosure.Position {
	p := b.position(disclosure.Holding, row.Name)
	p.State = disclosure.StateCurrent
	p.Percent = row.Total
	p.PercentShares = row.Shares
	p.PercentDirect = row.Direct
	p.PercentIndirect = row.Indirect
	p.PercentInstruments = row.Instruments
	p.DocumentURL = row.DocumentURL
	p.RegisteredOn = row.RegisteredOn.String()
	if last := b.presentNotice(row); last != nil {
		p.Number = numberOf(last.Number)
		return p
	}
	for _, known := range b.named(row.Name) { // its history was not read: the number is known
		if known.RegisteredOn == p.RegisteredOn && !b.taken[known.ID] && (p.Number == "" || known.Number < p.Number) {
			p.Number = known.Number
		}
	}
	return p
}

// presentNotice returns the notice of the history that the row of the present table is of,
// or nil.
func (b *book) presentNotice(row *regulator.Holding) *regulator.HoldingNotice {
	for n := range row.History {
		if row.DocumentURL != "" && row.History[n].DocumentURL == row.DocumentURL {
			return &row.History[n]
		}
	}
	for n := range row.History {
		if row.History[n].RegisteredOn == row.RegisteredOn {
			return &row.History[n]
		}
	}
	return nil
}

// newest returns the newest notice, or nil if there is none.
func newest(notices []regulator.HoldingNotice) *regulator.HoldingNotice {
	if len(notices) == 0 {
		return nil
	}
	last := slices.MaxFunc(notices, func(a, b regulator.HoldingNotice) int {
		return cmp.Or(cmp.Compare(a.RegisteredOn, b.RegisteredOn), cmp.Compare(a.Number, b.Number))
	})
	return &last
}

// past takes the notices of a row but one, which later ones have replaced.
func (b *book) past(row *regulator.Holding, but *regulator.HoldingNotice) {
	for n := range row.History {
		if but == nil || row.History[n].Number != but.Number {
			b.take(b.notice(row, &row.History[n], disclosure.StatePast))
		}
	}
}

// notice returns the position of a notice of a history.
func (b *book) notice(
	row *regulator.Holding,
	n *regulator.HoldingNotice,
	state disclosure.PositionState,
) disclosure.Position {
	p := b.position(disclosure.Holding, row.Name)
	p.State = state
	setNotice(&p, n)
	return p
}

func setNotice(p *disclosure.Position, n *regulator.HoldingNotice) {
	p.Number = numberOf(n.Number)
	p.RegisteredOn = n.RegisteredOn.String()
	p.Percent = cmp.Or(n.Total, n.Shares)
	p.PercentShares = n.Shares
	p.PercentInstruments = n.Instruments
	p.DocumentURL = n.DocumentURL
}

// position returns a position of a name, without what a row or a notice states.
func (b *book) position(kind disclosure.PositionKind, name string) disclosure.Position {
	return disclosure.Position{
		Kind:       kind,
		Issuer:     b.issuer,
		IssuerName: b.found.Name,
		NIF:        b.found.NIF,
		Name:       name,
		SourceURL:  b.found.SourceURL,
	}
}

// ownShares takes the notices of the issuer's own shares, of which the newest is current.
// One that is not in the list any more was annulled.
func (b *book) ownShares() {
	last := newest(b.found.OwnShares)
	listed := map[string]bool{}
	for n := range b.found.OwnShares {
		notice := &b.found.OwnShares[n]
		p := b.position(disclosure.OwnShares, b.found.Name)
		p.State = disclosure.StatePast
		if notice.Number == last.Number {
			p.State = disclosure.StateCurrent
		}
		setNotice(&p, notice)
		listed[p.Number] = true
		b.take(p)
	}
	if len(listed) == 0 {
		return
	}
	for _, p := range b.known {
		if p.Kind == disclosure.OwnShares && !listed[p.Number] {
			b.mark(p, disclosure.StateAnnulled, "")
		}
	}
}

// take compares a position with the known one, and gives it an id.
func (b *book) take(p disclosure.Position) {
	number := b.numberFor(&p)
	base := disclosure.PositionID(p.Kind, number, 1)
	before := b.find(number, &p)
	if before == nil {
		if b.isExpired(p.Name, dayOf(p.RegisteredOn)) && p.Kind == disclosure.Holding {
			if p.State != disclosure.StateCurrent {
				return
			}
			p.Name = "" // its percentages are still the present ones
			p.Erased = true
		}
		p.ID = disclosure.PositionID(p.Kind, number, b.ordinals.next(base))
		b.taken[p.ID] = true
		b.changes = append(b.changes, p)
		return
	}
	p.ID = before.ID
	b.taken[p.ID] = true
	if _, fields := before.Merge(p); len(fields) > 0 {
		b.changes = append(b.changes, p)
	}
}

// find returns the known position that a position is, or nil: that of its name, else one of
// a name that was erased, else the only one with its number, if that name is not shown any
// more. Several positions share a number.
func (b *book) find(number string, p *disclosure.Position) *disclosure.Position {
	var exact, erased, respelt []*disclosure.Position
	for _, known := range b.known {
		isSame := known.Kind == p.Kind && (b.numberFor(known) == number ||
			known.Number == "" && known.RegisteredOn == p.RegisteredOn)
		switch {
		case !isSame || b.taken[known.ID]:
		case p.Kind == disclosure.OwnShares || !known.NameErased() && b.isOf(known, p.Name):
			exact = append(exact, known)
		case known.NameErased() && b.isOf(known, p.Name):
			erased = append(erased, known)
		case !known.NameErased() && known.Number != "" && !b.shown[text.Fold(known.Name)]:
			respelt = append(respelt, known)
		}
	}
	if len(exact) > 0 {
		return first(exact, p)
	}
	if len(erased) > 0 {
		return first(erased, p)
	}
	if len(respelt) == 1 {
		return respelt[0]
	}
	return nil
}

// first returns the position with the same percentage, or else with the smallest id, so that
// every walk decides alike.
func first(of []*disclosure.Position, like *disclosure.Position) *disclosure.Position {
	return slices.MinFunc(of, func(a, b *disclosure.Position) int {
		if same := a.Percent == like.Percent; same != (b.Percent == like.Percent) {
			if same {
				return -1
			}
			return 1
		}
		return strings.Compare(a.ID, b.ID)
	})
}

// annul marks the notices that others annul.
func (b *book) annul() {
	for _, a := range b.found.Annulments {
		for _, annulled := range a.Annuls {
			for _, p := range b.known {
				if p.Number == numberOf(annulled.Number) && !b.taken[p.ID] {
					b.mark(p, disclosure.StateAnnulled, numberOf(a.By))
				}
			}
		}
	}
}

// endOthers marks the known holdings that the walk did not show: one that is missing from a
// history was annulled, and one that is missing from the present table has ended.
func (b *book) endOthers() {
	var present, complete []string // folded names
	for n := range b.found.Holdings {
		present = append(present, text.Fold(b.found.Holdings[n].Name))
	}
	for _, rows := range [][]regulator.Holding{b.found.Holdings, b.found.Former} {
		for n := range rows {
			if len(rows[n].History) > 0 {
				complete = append(complete, text.Fold(rows[n].Name))
			}
		}
	}
	for _, p := range b.known {
		if p.Kind != disclosure.Holding || b.taken[p.ID] {
			continue
		}
		name := text.Fold(p.Name)
		switch {
		case p.Name != "" && p.Number != "" && slices.Contains(complete, name):
			b.mark(p, disclosure.StateAnnulled, "")
		case p.State == disclosure.StateCurrent && p.Name != "" && slices.Contains(present, name):
			b.mark(p, disclosure.StatePast, "")
		case p.State == disclosure.StateCurrent:
			b.mark(p, disclosure.StateEnded, "")
		}
	}
}

// mark changes the state of a known position that the walk did not show.
func (b *book) mark(p *disclosure.Position, state disclosure.PositionState, by string) {
	b.taken[p.ID] = true
	if p.State == state || p.State == disclosure.StateAnnulled {
		return
	}
	changed := withState(p, state)
	changed.AnnulledBy = cmp.Or(p.AnnulledBy, by)
	b.changes = append(b.changes, changed)
}
