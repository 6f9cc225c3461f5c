package ingest

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"pregon/internal/disclosure"
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
	var oldest time.Time
	var failed error
	for _, surface := range regulator.LatestHRPages {
		list, err := s.Regulator.For(pace.Reconcile).LatestHR(ctx, surface)
		_, kept := s.takeSettled(ctx, disclosure.HR, list.Rows, list.Received, news)
		failed = errors.Join(failed, err, kept)
		for _, row := range list.Rows {
			if oldest.IsZero() || row.At.Before(oldest) {
				oldest = row.At
			}
		}
	}
	if err := s.note(ctx, watch.HR, failed); err != nil || oldest.IsZero() {
		return err
	}
	// What is older than the oldest row is no longer shown, and its day only in part.
	today := disclosure.DayOf(began)
	return s.Ledger.Cover(ctx, s.lease, disclosure.HR, min(disclosure.DayOf(oldest)+1, today), today, began)
}

// sweepHR asks for one fund after another, for what the latest pages did not
// show.
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
		err := s.readEntity(ctx, pace.Registers, entity, nil)
		if s.note(ctx, watch.HR, err) == nil {
			_ = s.Ledger.SetMemo(ctx, s.lease, memo, entity.ID) // else it is swept again
		}
	}
}

// filersOfHR returns who may have filed HR, in the order of their ids.
func (s *session) filersOfHR() []disclosure.Issuer {
	var out []disclosure.Issuer
	for _, kind := range []disclosure.Kind{disclosure.Fund, disclosure.Manager} {
		out = append(out, s.Known.Issuers(kind)...)
	}
	return byID(out)
}

// byID puts issuers in the order of their ids, but for those without a key to
// ask the source for.
func byID(issuers []disclosure.Issuer) []disclosure.Issuer {
	issuers = slices.DeleteFunc(issuers, func(i disclosure.Issuer) bool { return i.NIF == "" })
	slices.SortFunc(issuers, func(a, b disclosure.Issuer) int { return cmp.Compare(a.ID, b.ID) })
	return slices.CompactFunc(issuers, func(a, b disclosure.Issuer) bool { return a.ID == b.ID })
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

// readEntity reads the HR of an entity, newest first. A sweep stops at a page
// that brings nothing new; a back-fill goes on to the first day it is to reach.
func (s *session) readEntity(ctx context.Context, class pace.Class, i disclosure.Issuer, job *step) error {
	seen := map[int64]bool{}
	for page := 0; page < mostPages; page++ {
		list, err := s.Regulator.For(class).EntityHR(ctx, i.NIF, page)
		rows := unseen(list.Rows, seen)
		wanted, reached := rows, false
		h := news
		if job != nil {
			h = old
			wanted, reached = job.within(rows)
		}
		out, kept := s.takeSettled(ctx, disclosure.HR, wanted, list.Received, h)
		if err := errors.Join(err, kept); err != nil {
			return err
		}
		if job != nil {
			job.outcome = job.outcome.Add(out)
		}
		if len(rows) == 0 || page+1 >= list.Pages || reached || job == nil && out.New == 0 {
			return nil
		}
	}
	return nil
}
