package registers

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/source/health"
	"pregon/internal/source/regulator"
	"pregon/internal/source/shorts"
	"pregon/internal/source/throttle"
	"pregon/internal/store"
)

// shortsKey is the key under which the state of the register is stored.
const shortsKey = "registers/shorts"

// shortsState is what is known of the workbook that was read last.
type shortsState struct {
	Validators regulator.Validators `json:"validators"`
	Published  disclosure.Day       `json:"published"`
	Entries    int                  `json:"entries"`
	Current    int                  `json:"current"` // of the present table
	Loaded     bool                 `json:"loaded"`  // once as a whole: what comes later is news
}

func (r *Reader) followShorts(ctx context.Context) error {
	return r.repeat(ctx, health.Shorts, r.intervals.forShorts, r.readShorts)
}

// readShorts reads the workbook if it has changed.
func (r *Reader) readShorts(ctx context.Context) error {
	var state shortsState
	_ = json.Unmarshal([]byte(r.Coverage.Value(shortsKey)), &state) // what cannot be read is read anew
	start := time.Now()
	file, err := r.Regulator.For(throttle.Registers).NetShortPositions(ctx, state.Validators)
	if err != nil {
		return err
	}
	if file.Unchanged {
		return r.setRegister(ctx, string(Shorts), start, state.Entries)
	}
	book, err := r.Workbook(ctx, file.Body)
	if err != nil {
		return err
	}
	register, err := shorts.Parse(book)
	if err != nil {
		return &regulator.MarkupError{Surface: "workbook of net short positions", Detail: err.Error()}
	}
	notices := register.Union()
	for n := range notices {
		if !disclosure.IsLEI(notices[n].LEI) {
			notices[n].LEI = "" // its check digits are wrong: see the findings
		}
	}
	if reason := refusal(&register, len(notices), &state); reason != "" {
		return &regulator.MarkupError{Surface: "workbook of net short positions", Detail: reason}
	}
	if err := r.Known.CatchUp(ctx); err != nil {
		return err
	}
	newsFrom := never
	if state.Loaded {
		newsFrom = state.Published - lateNotice
	}
	history, news := r.shortChanges(notices, file.URL, newsFrom)
	if err := r.append(ctx, disclosure.Backfilled, history); err != nil {
		return err
	}
	if err := r.append(ctx, disclosure.Published, news); err != nil {
		return err
	}
	if err := r.learnIdentities(ctx, notices); err != nil {
		return err
	}
	for _, found := range register.Findings {
		r.Logger.Debug("the workbook of net short positions is odd", "reason", found.String())
	}
	state = shortsState{
		Validators: file.Validators,
		Published:  register.Published,
		Entries:    len(notices),
		Current:    len(register.Current),
		Loaded:     true,
	}
	text, err := json.Marshal(state)
	if err != nil {
		return err
	}
	if err := r.Coverage.SetValue(ctx, r.Lease, shortsKey, string(text)); err != nil {
		return store.Unavailable(err)
	}
	return r.setRegister(ctx, string(Shorts), start, state.Entries)
}

const (
	// leastPercent is how many of the notices of the workbook before a workbook must have. A
	// register does not lose its past.
	leastPercent = 95
	// leastCurrent is the same for the present table, whose rows come and go.
	leastCurrent = 50
	// lateNotice is how many days before the day of the last workbook a notice may be that is
	// news.
	lateNotice = 30
)

// refusal returns why a workbook is not believed, or "". A day in the future would make
// every later workbook look old.
func refusal(register *shorts.Register, notices int, last *shortsState) string {
	switch {
	case register.Published < last.Published:
		return fmt.Sprintf("it is of %s, older than the one of %s", register.Published, last.Published)
	case register.Published > disclosure.DayOf(time.Now())+1:
		return fmt.Sprintf("it is of %s, which is in the future", register.Published)
	case notices*100 < last.Entries*leastPercent:
		return fmt.Sprintf("it has %d notices, and had %d before", notices, last.Entries)
	case len(register.Current)*100 < last.Current*leastCurrent:
		return fmt.Sprintf("it has %d present positions, and had %d before", len(register.Current), last.Current)
	}
	return ""
}

// knownShorts are the notices that are in the store.
type knownShorts struct {
	byKey    map[shorts.Key]*disclosure.Position
	erased   map[values][]*disclosure.Position // those whose name is not known any more
	named    map[values][]*disclosure.Position // the others, without name and LEI
	ordinals ordinals
	matched  map[string]bool // by id
}

func (r *Reader) knownShorts() knownShorts {
	k := knownShorts{
		byKey:    map[shorts.Key]*disclosure.Position{},
		erased:   map[values][]*disclosure.Position{},
		named:    map[values][]*disclosure.Position{},
		ordinals: ordinals{},
		matched:  map[string]bool{},
	}
	for p := range r.Known.Positions(disclosure.Short) {
		k.ordinals.use(shortBase(p.ISIN, p.Date), p.ID)
		v := values{p.ISIN, p.Date, p.Percent}
		if p.NameErased() {
			k.erased[v] = append(k.erased[v], p)
			continue
		}
		k.named[v] = append(k.named[v], p)
		k.byKey[shorts.Key{
			LEI:     p.LEI,
			ISIN:    p.ISIN,
			Name:    p.Name,
			Day:     dayOf(p.Date),
			Percent: p.Percent,
		}] = p
	}
	return k
}

// shortBase is the id of a short position without its ordinal.
func shortBase(isin, date string) string {
	return strings.TrimSuffix(disclosure.ShortID(isin, date, 1), "-1")
}

// findAll returns the known positions of notices, nil for those that are new. A notice that
// has another spelling of the name or the LEI than before, and is otherwise the same, is
// known.
func (k *knownShorts) findAll(notices []shorts.Notice) []*disclosure.Position {
	found := make([]*disclosure.Position, len(notices))
	for n := range notices {
		if p := k.byKey[notices[n].Key()]; p != nil {
			k.matched[p.ID] = true
			found[n] = p
		}
	}
	for n := range notices {
		if found[n] != nil {
			continue
		}
		notice := &notices[n]
		v := values{notice.ISIN, notice.Day.String(), notice.Percent}
		if !disclosure.IsLegalEntity(notice.Name) {
			found[n] = k.take(k.erased[v])
		}
		if found[n] == nil {
			found[n] = k.take(k.named[v])
		}
	}
	return found
}

// take returns the first of some positions that no other notice is, or nil.
func (k *knownShorts) take(of []*disclosure.Position) *disclosure.Position {
	for _, p := range of {
		if !k.matched[p.ID] {
			k.matched[p.ID] = true
			return p
		}
	}
	return nil
}

// shortChanges returns the positions that are new or have changed: those that are history,
// and news. A name that may not be kept any more is left out.
func (r *Reader) shortChanges(
	notices []shorts.Notice,
	source string,
	newsFrom disclosure.Day,
) (history, news []disclosure.Position) {
	known := r.knownShorts()
	found := known.findAll(notices)
	states := shortStates(notices)
	for n := range notices {
		notice := &notices[n]
		p := r.short(notice, states[n], source)
		if before := found[n]; before != nil {
			p.ID = before.ID
			if before.State == disclosure.StateAnnulled {
				p.State = before.State
			}
			if _, fields := before.Merge(p); len(fields) > 0 {
				news = append(news, p)
			}
			continue
		}
		p.ID = disclosure.ShortID(p.ISIN, p.Date, known.ordinals.next(shortBase(p.ISIN, p.Date)))
		if notice.Day < newsFrom {
			history = append(history, p)
		} else {
			news = append(news, p)
		}
	}
	return history, append(news, r.vanishedShorts(&known, notices)...)
}

// short returns the position of a notice, without its id.
func (r *Reader) short(
	notice *shorts.Notice,
	state disclosure.PositionState,
	source string,
) disclosure.Position {
	p := disclosure.Position{
		Kind:       disclosure.Short,
		Issuer:     r.issuerID(notice.ISIN, notice.LEI),
		IssuerName: notice.Issuer,
		LEI:        notice.LEI,
		ISIN:       notice.ISIN,
		Name:       notice.Name,
		State:      state,
		Date:       notice.Day.String(),
		Percent:    notice.Percent,
		SourceURL:  source,
	}
	if r.isExpired(notice.Name, notice.Day) {
		p.Name = ""
		p.Erased = true
	}
	return p
}

// shortStates returns the states of notices, which are in the order of their days. The
// newest of a pair is current if the register lists it so. One that is not, and is not 0,
// is no longer current, which does not say that it was closed.
func shortStates(notices []shorts.Notice) []disclosure.PositionState {
	states := make([]disclosure.PositionState, len(notices))
	newest := map[shorts.Pair]int{}
	for n := range notices {
		pair := notices[n].Pair()
		before, seen := newest[pair]
		if seen && notices[before].Current && !notices[n].Current {
			states[n] = disclosure.StatePast
			continue
		}
		if seen {
			states[before] = disclosure.StatePast
		}
		newest[pair] = n
		switch {
		case notices[n].Closed():
			states[n] = disclosure.StateClosed
		case notices[n].Current:
			states[n] = disclosure.StateCurrent
		default:
			states[n] = disclosure.StateEnded
		}
	}
	return states
}

// vanishedShorts returns the known positions that are not in the workbook any more and
// count as present, with the state that they have now.
func (r *Reader) vanishedShorts(known *knownShorts, notices []shorts.Notice) (out []disclosure.Position) {
	pairs := map[shorts.Pair]bool{}
	for n := range notices {
		pairs[notices[n].Pair()] = true
	}
	for p := range r.Known.Positions(disclosure.Short) {
		if known.matched[p.ID] {
			continue
		}
		if p.State == disclosure.StatePast || p.State == disclosure.StateEnded || p.State == disclosure.StateAnnulled {
			continue
		}
		state := disclosure.StateEnded
		if pairs[shorts.Pair{LEI: p.LEI, ISIN: p.ISIN, Name: p.Name}] {
			state = disclosure.StatePast
		}
		out = append(out, withState(p, state))
	}
	return out
}

// withState returns an observation of a known position in another state, which says nothing
// else: what it said before may have changed meanwhile.
func withState(p *disclosure.Position, state disclosure.PositionState) disclosure.Position {
	return disclosure.Position{
		ID:           p.ID,
		Kind:         p.Kind,
		State:        state,
		Date:         p.Date,
		RegisteredOn: p.RegisteredOn,
		Percent:      p.Percent,
	}
}

// issuerID returns the id of the issuer with one of some identifiers, or "".
func (r *Reader) issuerID(idents ...string) string {
	for _, ident := range idents {
		if ident == "" {
			continue
		}
		if i, ok := r.Known.Issuer(disclosure.IssuerKey(ident)); ok {
			return i.ID
		}
	}
	return ""
}

// learnIdentities adds the LEI of the workbook to the issuers of its shares. Of an issuer
// with several, none is certain.
func (r *Reader) learnIdentities(ctx context.Context, notices []shorts.Notice) error {
	leis := map[string][]string{} // by ISIN
	for n := range notices {
		isin, lei := notices[n].ISIN, notices[n].LEI
		if disclosure.IsLEI(lei) && !slices.Contains(leis[isin], lei) {
			leis[isin] = append(leis[isin], lei)
		}
	}
	learnt := map[string]disclosure.Issuer{}
	ambiguous := map[string]bool{}
	for isin, found := range leis {
		i, ok := r.Known.Issuer(isin)
		if !ok || i.LEI != "" {
			continue
		}
		before, again := learnt[i.ID]
		if len(found) > 1 || again && before.LEI != found[0] {
			ambiguous[i.ID] = true
			continue
		}
		learning := observed(&i)
		learning.LEI = found[0]
		learnt[i.ID] = learning
	}
	var issuers []disclosure.Issuer
	for id, i := range learnt {
		if !ambiguous[id] {
			issuers = append(issuers, i)
		}
	}
	return r.appendIssuers(ctx, issuers)
}

// observed returns an observation of a known issuer that says nothing of it yet.
func observed(known *disclosure.Issuer) disclosure.Issuer {
	return disclosure.Issuer{
		ID:   known.ID,
		Name: known.Name,
		NIF:  known.NIF,
	}
}

// appendIssuers stores what was learnt of issuers.
func (r *Reader) appendIssuers(ctx context.Context, issuers []disclosure.Issuer) error {
	for n := range issuers {
		if err := issuers[n].Validate(); err != nil {
			return &regulator.MarkupError{Surface: "general data", Detail: err.Error()}
		}
	}
	if len(issuers) == 0 {
		return nil
	}
	return r.Append(ctx, store.Batch{Issuers: issuers})
}
