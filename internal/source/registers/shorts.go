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
	Loaded     bool                 `json:"loaded"` // once as a whole: what comes later is news
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
	if register.Published < state.Published {
		return &regulator.MarkupError{
			Surface: "workbook of net short positions",
			Detail:  fmt.Sprintf("it is of %s, older than the one of %s", register.Published, state.Published),
		}
	}
	if err := r.Known.CatchUp(ctx); err != nil {
		return err
	}
	notices := register.Union()
	if len(notices)*100 < state.Entries*leastPercent {
		return &regulator.MarkupError{
			Surface: "workbook of net short positions",
			Detail:  fmt.Sprintf("it has %d notices, and had %d before", len(notices), state.Entries),
		}
	}
	changes := r.shortChanges(notices, file.URL)
	event := disclosure.PositionPublished
	if !state.Loaded {
		event = disclosure.PositionBackfilled
	}
	if err := r.append(ctx, batchEvent(event), changes); err != nil {
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

// batchEvent returns the event of a batch whose new positions have an event.
func batchEvent(of disclosure.Event) disclosure.Event {
	if of == disclosure.PositionBackfilled {
		return disclosure.Backfilled
	}
	return disclosure.Published
}

// leastPercent is how many of the notices of the workbook before a workbook must have. A
// register does not lose its past.
const leastPercent = 95

// knownShorts are the notices that are in the store.
type knownShorts struct {
	byKey    map[shorts.Key]*disclosure.Position
	erased   map[values][]*disclosure.Position // those whose name is not known any more
	ordinals ordinals
	matched  map[string]bool // by id
}

func (r *Reader) knownShorts() knownShorts {
	k := knownShorts{
		byKey:    map[shorts.Key]*disclosure.Position{},
		erased:   map[values][]*disclosure.Position{},
		ordinals: ordinals{},
		matched:  map[string]bool{},
	}
	for p := range r.Known.Positions(disclosure.Short) {
		k.ordinals.use(shortBase(p.ISIN, p.Date), p.ID)
		if p.NameErased() {
			v := values{p.LEI, p.ISIN, p.Date, p.Percent}
			k.erased[v] = append(k.erased[v], p)
			continue
		}
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

// find returns the known position of a notice, or nil.
func (k *knownShorts) find(n *shorts.Notice) *disclosure.Position {
	if p := k.byKey[n.Key()]; p != nil {
		k.matched[p.ID] = true
		return p
	}
	for _, p := range k.erased[values{n.LEI, n.ISIN, n.Day.String(), n.Percent}] {
		if !k.matched[p.ID] && !disclosure.IsLegalEntity(n.Name) {
			k.matched[p.ID] = true
			return p
		}
	}
	return nil
}

// shortChanges returns the positions that are new or whose state has changed.
func (r *Reader) shortChanges(notices []shorts.Notice, source string) []disclosure.Position {
	known := r.knownShorts()
	states := shortStates(notices)
	var out []disclosure.Position
	for n := range notices {
		notice := &notices[n]
		if p := known.find(notice); p != nil {
			if p.State != states[n] && p.State != disclosure.StateAnnulled {
				out = append(out, withState(p, states[n]))
			}
			continue
		}
		if r.isExpired(notice.Name, notice.Day) {
			continue
		}
		date := notice.Day.String()
		out = append(out, disclosure.Position{
			ID:         disclosure.ShortID(notice.ISIN, date, known.ordinals.next(shortBase(notice.ISIN, date))),
			Kind:       disclosure.Short,
			Issuer:     r.issuerID(notice.ISIN, notice.LEI),
			IssuerName: notice.Issuer,
			LEI:        notice.LEI,
			ISIN:       notice.ISIN,
			Name:       notice.Name,
			State:      states[n],
			Date:       date,
			Percent:    notice.Percent,
			SourceURL:  source,
		})
	}
	return append(out, r.vanishedShorts(&known, notices)...)
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

// withState returns an observation of a known position in another state.
func withState(p *disclosure.Position, state disclosure.PositionState) disclosure.Position {
	observed := *p
	observed.State = state
	return observed
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
		learnt[i.ID] = disclosure.Issuer{ID: i.ID, Name: i.Name, NIF: i.NIF, LEI: found[0]}
	}
	var issuers []disclosure.Issuer
	for id, i := range learnt {
		if !ambiguous[id] {
			issuers = append(issuers, i)
		}
	}
	return r.appendIssuers(ctx, issuers)
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
