package ingest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/source/health"
	"pregon/internal/source/regulator"
	"pregon/internal/store"
)

// Claim marks the store as the source's, once for its life. The simulated
// market never shares a store with anything else.
func Claim(ctx context.Context, db store.Store, simulated bool) error {
	want := "cnmv"
	if simulated {
		want = "demo"
	}
	mark, err := db.Source(ctx)
	if err != nil {
		return err
	}
	if simulated && mark == "" {
		newest, err := db.Newest(ctx)
		if err != nil {
			return err
		}
		if newest > 0 {
			return fault.New(fault.Conflict, "the simulated market needs a store of its own: this one holds reports that are not simulated")
		}
	}
	if mark, err = db.ClaimSource(ctx, want); err != nil {
		return err
	}
	if mark != want {
		return fault.New(fault.Conflict, "this store belongs to the source %s: give %s a store of its own", mark, want)
	}
	return nil
}

// history returns how reports that were not known are to be announced.
type history bool

const (
	news history = false // as published, but for those from before we looked
	old  history = true  // as back-filled
)

// take appends what a surface told. Reports from before the first start are
// history, whichever surface told them; the rest is published, however late we
// learn of it.
func (s *session) take(ctx context.Context, rows []regulator.Row, seen time.Time, h history) (store.Outcome, error) {
	var published, backfilled []disclosure.Report
	var broken error
	for n := range rows {
		r := rows[n].Report(seen)
		if err := r.Validate(); err != nil {
			broken = &regulator.MarkupError{Surface: string(rows[n].Surface), Detail: err.Error()}
			continue // the others are none the worse
		}
		if h == old || s.before(&rows[n]) {
			backfilled = append(backfilled, r)
		} else {
			published = append(published, r)
		}
	}
	out, err := s.append(ctx, disclosure.Published, published)
	if err != nil {
		return out, err
	}
	more, err := s.append(ctx, disclosure.Backfilled, backfilled)
	return out.Add(more), errors.Join(err, broken)
}

// before reports whether a report is from before we first looked. Of a minute in
// which we began nobody knows.
func (s *session) before(row *regulator.Row) bool {
	at := row.At
	if row.Surface == disclosure.FromList {
		at = at.Add(time.Minute)
	}
	return at.Before(s.since[row.Type])
}

// append keeps reports, their issuers, and what they say of other reports.
func (s *session) append(ctx context.Context, event disclosure.Event, reports []disclosure.Report) (store.Outcome, error) {
	if len(reports) == 0 {
		return store.Outcome{}, nil
	}
	if err := s.claim(ctx); err != nil {
		return store.Outcome{}, s.note(ctx, health.Store, notKept(err))
	}
	related, err := s.relate(ctx, reports)
	if err != nil {
		return store.Outcome{}, s.note(ctx, health.Store, notKept(err))
	}
	issuers := s.newIssuers(reports)
	out, err := s.Store.Append(ctx, store.Batch{
		Issuers: issuers, Reports: reports, Aside: related, New: event, Lease: s.lease,
	})
	if err := s.note(ctx, health.Store, notKept(err)); err != nil {
		return out, err
	}
	out.New, out.NewIssuers = out.New-out.NewIssuers, 0 // reports are what is counted here
	for _, i := range issuers {
		s.harvested.Store(disclosure.IssuerKey(i.NIF), true)
	}
	for _, r := range reports {
		s.board.Published(r.PublishedAt)
	}
	if event == disclosure.Published && out.New+out.Updated > 0 {
		s.expectDocuments(reports)
	}
	return out, nil
}

// notKept is what others may be told when the store fails: its own words can
// name hosts and users. That the lease is lost is told as it is.
func notKept(err error) error {
	if err == nil || fault.KindOf(err) == fault.Conflict {
		return err
	}
	return fault.Wrap(fault.Unavailable, err, "the store does not answer as it should")
}

// claim marks the store before the first report is kept. Whether the source is
// a simulation only its answers tell.
func (s *session) claim(ctx context.Context) (err error) {
	if s.claimed.Load() {
		return nil
	}
	if !s.Regulator.Answered() { // but the exchange
		return fault.New(fault.Unavailable, "the regulator has not answered yet: nothing is kept before it is known what the source is")
	}
	if err = Claim(ctx, s.Store, s.Regulator.Simulated()); err == nil {
		s.claimed.Store(true)
	}
	return err
}

// harvest returns the issuers of reports that the directory does not know.
// Those that it knows are left alone: a report may spell a name in any way.
func (s *session) newIssuers(reports []disclosure.Report) []disclosure.Issuer {
	var out []disclosure.Issuer
	for _, r := range reports {
		id := disclosure.IssuerKey(r.NIF)
		_, before := s.harvested.Load(id)
		twice := slices.ContainsFunc(out, func(i disclosure.Issuer) bool { return disclosure.IssuerKey(i.NIF) == id })
		if id == "" || before || twice {
			continue
		}
		if _, known := s.known.Issuer(id); known {
			continue
		}
		i := disclosure.Issuer{ID: id, Name: r.CompanyName, NIF: r.NIF}
		if named, ok := s.known.Named(r.CompanyName); ok && named.NIF == "" {
			i.ID, i.Name = named.ID, named.Name // whose NIF we learn here
		}
		if strings.HasPrefix(id, "V") {
			i.Kind = disclosure.Fund // the letter of those that are not persons
		}
		if i.Validate() == nil {
			out = append(out, i)
		}
	}
	return out
}

// relate finds the reports that the reports say they have to do with. It
// completes the reports and returns the others, as they are to be told of it.
func (s *session) relate(ctx context.Context, reports []disclosure.Report) ([]disclosure.Report, error) {
	var ids []string
	for _, r := range reports {
		for _, other := range r.Related {
			for _, t := range disclosure.Types {
				ids = append(ids, disclosure.ReportID(t, other.Number))
			}
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	known, err := s.Store.Reports(ctx, ids...)
	if err != nil {
		return nil, err
	}
	all := slices.Concat(reports, known) // what was just told before what was known
	var out []disclosure.Report
	for n := range reports {
		r := &reports[n]
		for k := range r.Related {
			other := related(r, r.Related[k], all)
			if other == nil {
				continue
			}
			r.Related[k].ID = other.ID
			told := disclosure.Report{ID: other.ID, Type: other.Type, Number: other.Number}
			told.Related = []disclosure.Relation{{ID: r.ID, Number: r.Number, At: r.PublishedAt.Truncate(time.Minute)}}
			if corrects(r, r.Related[k]) {
				told.CorrectedBy = r.ID
			}
			out = append(out, told)
		}
	}
	return out, nil
}

// related returns the report that a relation means: the only one of that number,
// in whatever series, that was published in that minute.
func related(r *disclosure.Report, relation disclosure.Relation, among []disclosure.Report) (found *disclosure.Report) {
	for n := range among {
		other := &among[n]
		if other.Number != relation.Number || other.ID == r.ID || !other.PublishedAt.Truncate(time.Minute).Equal(relation.At) {
			continue
		}
		if found != nil && found.ID != other.ID {
			return nil
		}
		if found == nil {
			found = other
		}
	}
	return found
}

// corrections are the words by which the regulator says that a report puts
// another right or calls it off. An issuer's own words do not count.
var corrections = []string{"rectifica", "corrige", "corrección", "anula", "sustituye", "deja sin efecto"}

func corrects(r *disclosure.Report, relation disclosure.Relation) bool {
	label, heading := strings.ToLower(relation.Text), strings.ToLower(r.Category)
	return slices.ContainsFunc(corrections, func(word string) bool {
		return strings.HasPrefix(label, word) || strings.HasPrefix(heading, word)
	})
}
