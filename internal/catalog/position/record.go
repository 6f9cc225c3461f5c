package position

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"
	"unique"

	"pregon/internal/disclosure"
)

// record is a position as a book keeps it: what lists select and add up, and the rest as
// JSON. Texts that many positions share are kept once, and are freed with the last
// position that has them, as names that are erased must be.
type record struct {
	id     string
	ref    ref
	name   unique.Handle[string]
	source unique.Handle[string]
	sums   *sums // of a dealing whose document was read
	rest   string

	percent   string
	firstSeen int64 // Unix microseconds
	available int64

	day   disclosure.Day
	ended disclosure.Day // when a short position was first seen missing; 0: unknown
	kind  disclosure.PositionKind
	state disclosure.PositionState

	natural    bool
	backfilled bool
}

// ref is what a register states about an issuer.
type ref = unique.Handle[reference]

type reference struct{ issuer, name, nif, lei, isin string }

// sums are the amounts of a notice of dealings: of all trades, and of those of each side.
type sums struct {
	all   amount
	sides [3]amount // in the order of disclosure.Sides
	has   [3]bool   // there is a trade of the side
}

// amount is empty if trades have several currencies.
type amount struct{ value, currency string }

// The ends of an order in which the newest day and the last id come first.
const (
	lastDay = disclosure.Day(1<<31 - 1)
	lastID  = "\xff"
)

func compareIDs(a, b *record) int { return strings.Compare(a.id, b.id) }

func compareKinds(a, b *record) int {
	return cmp.Or(
		strings.Compare(string(a.kind), string(b.kind)),
		cmp.Compare(b.day, a.day),
		strings.Compare(b.id, a.id),
	)
}

func compareRefs(a, b *record) int {
	if a.ref != b.ref {
		if c := a.ref.Value().compare(b.ref.Value()); c != 0 {
			return c
		}
	}
	return compareKinds(a, b)
}

// compareDays orders records of several kinds and issuers as lists show them.
func compareDays(a, b *record) int {
	return cmp.Or(cmp.Compare(b.day, a.day), strings.Compare(b.id, a.id))
}

func (r reference) compare(other reference) int {
	return cmp.Or(
		strings.Compare(r.issuer, other.issuer),
		strings.Compare(r.nif, other.nif),
		strings.Compare(r.lei, other.lei),
		strings.Compare(r.isin, other.isin),
		strings.Compare(r.name, other.name),
	)
}

// newRecord returns the record of the state after a change.
func newRecord(ch *disclosure.Change) *record {
	p := ch.Position
	r := &record{
		id: strings.Clone(p.ID), // which may be a part of a longer text, as may the percentage
		ref: unique.Make(reference{
			issuer: p.Issuer,
			name:   p.IssuerName,
			nif:    p.NIF,
			lei:    p.LEI,
			isin:   p.ISIN,
		}),
		name:       unique.Make(p.Name),
		source:     unique.Make(p.SourceURL),
		percent:    strings.Clone(p.Percent),
		firstSeen:  micros(p.FirstSeenAt),
		available:  micros(p.AvailableAt),
		kind:       disclosure.PositionKind(shared(string(p.Kind))),
		state:      disclosure.PositionState(shared(string(p.State))),
		natural:    p.Natural,
		backfilled: p.Backfilled,
	}
	r.day, _ = disclosure.ParseDay(p.Day())
	if p.State == disclosure.StateEnded && ch.Event == disclosure.PositionUpdated {
		r.ended = disclosure.DayOf(ch.OccurredAt)
	}
	if len(p.Trades) > 0 {
		r.sums = sumsOf(p)
	}
	if rest := restOf(p); !reflect.ValueOf(rest).IsZero() {
		body, err := json.Marshal(&rest)
		if err != nil {
			panic(fmt.Sprintf("encoding the position %s: %v", p.ID, err)) // it consists of texts
		}
		r.rest = string(body)
	}
	return r
}

// restOf returns a position without what the record has elsewhere. Most short positions
// then have nothing. A field that is new to Position is part of the rest.
func restOf(p *disclosure.Position) disclosure.Position {
	rest := *p
	if day := dayField(&rest); isDay(*day) {
		*day = ""
	}
	rest.ID = ""
	rest.Kind = ""
	rest.Issuer = ""
	rest.IssuerName = ""
	rest.NIF = ""
	rest.LEI = ""
	rest.ISIN = ""
	rest.Name = ""
	rest.Natural = false
	rest.State = ""
	rest.Percent = ""
	rest.SourceURL = ""
	rest.FirstSeenAt = time.Time{}
	rest.AvailableAt = time.Time{}
	rest.Backfilled = false
	if len(rest.Trades) == 0 {
		rest.Trades = nil
	}
	return rest
}

// dayField returns the field of a position that Day returns.
func dayField(p *disclosure.Position) *string {
	if p.Kind == disclosure.Short {
		return &p.Date
	}
	return &p.RegisteredOn
}

func isDay(s string) bool {
	d, ok := disclosure.ParseDay(s)
	return ok && d.String() == s
}

func (r *record) decode() *disclosure.Position {
	p := &disclosure.Position{}
	if r.rest != "" {
		if err := json.Unmarshal([]byte(r.rest), p); err != nil {
			panic(fmt.Sprintf("decoding the position %s: %v", r.id, err)) // newRecord wrote it
		}
	}
	of := r.ref.Value()
	p.ID = r.id
	p.Kind = r.kind
	p.Issuer = of.issuer
	p.IssuerName = of.name
	p.NIF = of.nif
	p.LEI = of.lei
	p.ISIN = of.isin
	p.Name = r.name.Value()
	p.Natural = r.natural
	p.State = r.state
	p.Percent = r.percent
	p.SourceURL = r.source.Value()
	p.FirstSeenAt = instant(r.firstSeen)
	p.AvailableAt = instant(r.available)
	p.Backfilled = r.backfilled
	if day := dayField(p); *day == "" && r.day != 0 {
		*day = r.day.String()
	}
	return p
}

func sumsOf(p *disclosure.Position) *sums {
	s := &sums{}
	s.all.value, s.all.currency = p.Amount()
	for i, side := range disclosure.Sides {
		s.sides[i].value, s.sides[i].currency = p.AmountOf(side)
		for j := range p.Trades {
			s.has[i] = s.has[i] || p.Trades[j].Side == side
		}
	}
	return s
}

func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func instant(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros).UTC()
}

// shared returns a text that all records with it share.
func shared(s string) string { return unique.Make(s).Value() }
