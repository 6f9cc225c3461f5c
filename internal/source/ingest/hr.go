package ingest

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/retry"
	"pregon/internal/source/health"
	"pregon/internal/source/regulator"
	"pregon/internal/source/throttle"
)

// roundHR compares the series with the pages of the latest HR. There is no list
// by date, so the days before those pages reach cannot be compared.
func (s *session) roundHR(ctx context.Context) error {
	began := time.Now()
	today := disclosure.DayOf(began)
	list, reach, err := s.latestHR(ctx, throttle.Reconcile)
	if _, kept := s.takeSettled(ctx, disclosure.HR, list.Rows, list.Received, news); kept != nil {
		return kept
	}
	if err := s.note(ctx, health.List(disclosure.HR), err); err != nil {
		return err
	}
	if reach == 0 || reach > today {
		return nil
	}
	return s.Coverage.Cover(ctx, s.lease, disclosure.HR, reach, today, began)
}

// latestHR reads the pages of the latest HR. reach is the first day that all of
// them show whole. One that cannot be read does not hide the others.
func (s *session) latestHR(ctx context.Context, class throttle.Priority) (all regulator.List, reach disclosure.Day, failed error) {
	for _, surface := range regulator.LatestHRPages {
		list, err := s.Regulator.For(class).LatestHR(ctx, surface)
		failed = errors.Join(failed, err)
		reach = max(reach, reachOf(list.Rows))
		all.Rows, all.Received = append(all.Rows, list.Rows...), list.Received
	}
	return all, reach, failed
}

// reachOf returns the first day that a page of the latest reports shows whole:
// the one after its oldest row's. A page without rows says nothing of it.
func reachOf(rows []regulator.Row) (day disclosure.Day) {
	for _, row := range rows {
		if d := disclosure.DayOf(row.At) + 1; day == 0 || d < day {
			day = d
		}
	}
	return day
}

// sweepHR asks for one fund after another, for what the latest pages did not
// show. One that cannot be read waits for the next time round: the others do
// not wait for it.
func (s *session) sweepHR(ctx context.Context) error {
	const memo = "hr/sweep"
	for {
		wait := s.intervals.sweep
		if s.board.Failing(health.HREntities) { // to see that they are well again
			wait = min(wait, 2*s.intervals.retry)
		}
		if err := retry.Sleep(ctx, wait); err != nil {
			return err
		}
		entity, ok := after(s.Coverage.Value(memo), s.filersOfHR())
		if !ok {
			continue
		}
		_ = s.note(ctx, health.HREntities, s.sweep(ctx, entity))
		_ = s.Coverage.SetValue(ctx, s.lease, memo, entity.ID) // else it is swept again
	}
}

// sweep reads the HR of an entity, newest first, as far as there is something
// new, and keeps the oldest first: what is cut short begins anew.
func (s *session) sweep(ctx context.Context, i disclosure.Issuer) error {
	var found []regulator.List
	broken := s.eachPage(ctx, throttle.Registers, regulator.Funds, i, func(list regulator.List) (more bool, err error) {
		known, err := s.knowsAll(ctx, list.Rows)
		if err != nil || known {
			return false, err
		}
		found = append(found, list)
		return true, nil
	})
	if broken != nil && !partly(broken) {
		return broken
	}
	for _, list := range slices.Backward(found) {
		if _, err := s.takeSettled(ctx, disclosure.HR, list.Rows, list.Received, news); err != nil {
			return err
		}
	}
	return broken
}

// eachPage passes the pages of an entity's HR in a division on, as pagesUnder
// does. The site finds an entity by one spelling of its tax number only, so the
// other is asked for when there is nothing under the one that we know.
func (s *session) eachPage(ctx context.Context, class throttle.Priority, d regulator.Division, i disclosure.Issuer, fn func(regulator.List) (more bool, err error)) error {
	found := false
	first := s.pagesUnder(ctx, class, d, i.NIF, func(list regulator.List) (bool, error) {
		found = found || len(list.Rows) > 0
		return fn(list)
	})
	other, ok := disclosure.OtherSpelling(i.NIF)
	if _, markup := errors.AsType[*regulator.MarkupError](first); found || !ok || first != nil && !markup {
		return first
	}
	second := s.pagesUnder(ctx, class, d, other, func(list regulator.List) (bool, error) {
		found = found || len(list.Rows) > 0
		return fn(list)
	})
	if found || second != nil {
		return second
	}
	return first
}

// pagesUnder passes the pages of an entity's HR on, newest first, each with the
// rows that those before did not have, until there are no more or no more are
// wanted. Rows that cannot be read do not hide those behind them. An entity
// that the source does not know never filed.
func (s *session) pagesUnder(ctx context.Context, class throttle.Priority, d regulator.Division, nif string, fn func(regulator.List) (more bool, err error)) error {
	seen := map[int64]bool{}
	var broken error
	for page := 0; page < mostPages; page++ {
		list, err := s.Regulator.For(class).EntityHR(ctx, d, nif, page)
		if fault.KindOf(err) == fault.NotFound {
			break
		}
		if err != nil && !partly(err) {
			return err
		}
		broken = cmp.Or(broken, err)
		list.Rows = unseen(list.Rows, seen)
		more, err := fn(list)
		if err != nil {
			return err
		}
		if !more || len(list.Rows) == 0 || page+1 >= list.Pages {
			break
		}
	}
	return broken
}

// knowsAll reports whether the store has all of the reports.
func (s *session) knowsAll(ctx context.Context, rows []regulator.Row) (bool, error) {
	var ids []string
	for _, row := range rows {
		ids = append(ids, disclosure.ReportID(row.Type, row.Number))
	}
	known, err := s.Store.Reports(ctx, ids...)
	return len(known) == len(ids), notKept(err)
}

// filersOfHR returns who may have filed HR, in the order of their ids.
func (s *session) filersOfHR() []disclosure.Issuer {
	return byID(s.known.Issuers(disclosure.Fund, disclosure.Manager))
}

// byID puts issuers in the order of their ids, but for those without a key to
// ask the source for.
func byID(issuers []disclosure.Issuer) []disclosure.Issuer {
	issuers = slices.DeleteFunc(issuers, func(i disclosure.Issuer) bool { return i.NIF == "" })
	slices.SortFunc(issuers, func(a, b disclosure.Issuer) int { return cmp.Compare(a.ID, b.ID) })
	return issuers
}

// after returns the first issuer after an id, or the first of all when that
// was the last.
func after(id string, issuers []disclosure.Issuer) (disclosure.Issuer, bool) {
	for _, i := range issuers {
		if i.ID > id {
			return i, true
		}
	}
	if len(issuers) == 0 {
		return disclosure.Issuer{}, false
	}
	return issuers[0], true
}

// issuersEnd is the last day on which issuers of securities filed HR.
var issuersEnd, _ = disclosure.ParseDay("2020-02-08")

// readEntity reads the HR of an entity from a day on, for a back-fill. What it
// filed as an issuer, until 2020, is in a division of its own.
func (s *session) readEntity(ctx context.Context, st *step) error {
	divisions := []regulator.Division{regulator.Funds}
	if st.from <= issuersEnd {
		divisions = append(divisions, regulator.Issuers)
	}
	var broken error
	for _, d := range divisions {
		err := s.eachPage(ctx, throttle.Backfill, d, st.entity, func(list regulator.List) (more bool, err error) {
			wanted, reached := st.within(list.Rows)
			out, err := s.takeSettled(ctx, disclosure.HR, wanted, list.Received, old)
			st.outcome = st.outcome.Add(out)
			return !reached, err
		})
		if err != nil && !partly(err) {
			return err
		}
		broken = cmp.Or(broken, err)
	}
	return broken
}
