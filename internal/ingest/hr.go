package ingest

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/pace"
	"pregon/internal/regulator"
	"pregon/internal/watch"
)

// pollHR reads the pages of the latest HR. The series has no feed and no list
// by date, so what is filed there is seen within minutes, not seconds.
func (s *session) pollHR(ctx context.Context) error {
	for try := 0; ; {
		wait := s.rhythm.hr
		if err := s.latestHR(ctx); err != nil {
			wait = min(s.backoff(try), wait)
			try++
		} else {
			try = 0
		}
		if err := pause(ctx, wait); err != nil {
			return err
		}
	}
}

func (s *session) latestHR(ctx context.Context) error {
	began := time.Now()
	today := disclosure.DayOf(began)
	var reach disclosure.Day // the first day that every page shows whole
	var failed error
	for _, surface := range regulator.LatestHRPages {
		list, err := s.Regulator.For(pace.Reconcile).LatestHR(ctx, surface)
		_, kept := s.takeSettled(ctx, disclosure.HR, list.Rows, list.Received, news)
		failed = errors.Join(failed, err, kept)
		reach = max(reach, reachOf(list.Rows))
	}
	if err := s.note(ctx, watch.HR, failed); err != nil {
		return err
	}
	if reach == 0 || reach > today {
		return nil
	}
	return s.Ledger.Cover(ctx, s.lease, disclosure.HR, reach, today, began)
}

// reachOf returns the first day that a page of the latest filings shows whole:
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
		if err := pause(ctx, s.rhythm.sweep); err != nil {
			return err
		}
		entity, ok := after(s.Ledger.Memo(memo), s.filersOfHR())
		if !ok {
			continue
		}
		_ = s.note(ctx, watch.HREntities, s.sweep(ctx, entity))
		_ = s.Ledger.SetMemo(ctx, s.lease, memo, entity.ID) // else it is swept again
	}
}

// sweep reads the HR of an entity, newest first, as far as there is something
// new, and keeps the oldest first: what is cut short begins anew.
func (s *session) sweep(ctx context.Context, i disclosure.Issuer) error {
	var found []regulator.List
	broken := s.eachPage(ctx, pace.Registers, i, func(list regulator.List) (more bool, err error) {
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

// eachPage passes the pages of an entity's HR on, newest first, each with the
// rows that those before did not have, until there are no more or no more are
// wanted. Rows that cannot be read do not hide those behind them. An entity
// that the source does not know never filed.
func (s *session) eachPage(ctx context.Context, class pace.Class, i disclosure.Issuer, fn func(regulator.List) (more bool, err error)) error {
	seen := map[int64]bool{}
	var broken error
	for page := 0; page < mostPages; page++ {
		list, err := s.Regulator.For(class).EntityHR(ctx, i.NIF, page)
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

// knowsAll tells whether the store has all of the filings.
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

// readEntity reads the HR of an entity from a day on, for a back-fill.
func (s *session) readEntity(ctx context.Context, st *step) error {
	return s.eachPage(ctx, pace.Backfill, st.entity, func(list regulator.List) (more bool, err error) {
		wanted, reached := st.within(list.Rows)
		out, err := s.takeSettled(ctx, disclosure.HR, wanted, list.Received, old)
		st.outcome = st.outcome.Add(out)
		return !reached, err
	})
}
