package ingest

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"pregon/internal/disclosure"
	"pregon/internal/pace"
	"pregon/internal/regulator"
	"pregon/internal/store"
	"pregon/internal/watch"
)

const (
	firstDays = 30 // of history that a new store begins with
	nightly   = 7  // days that are looked at again every night
	nightHour = 3  // in Madrid
)

// reconcile compares a series with the lists: at once, and then again and
// again.
func (s *session) reconcile(ctx context.Context, t disclosure.Type) error {
	for try := 0; ; {
		if err := s.round(ctx, t); err != nil {
			if err := pause(ctx, s.backoff(try)); err != nil {
				return err
			}
			try++
			continue
		}
		try = 0
		if err := s.pauseUnlessAsked(ctx, t); err != nil {
			return err
		}
	}
}

// pauseUnlessAsked waits for the next round, which comes sooner when somebody
// asks for it, but never at once after the last.
func (s *session) pauseUnlessAsked(ctx context.Context, t disclosure.Type) error {
	if err := pause(ctx, s.rhythm.reconcileSoon); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-s.kick[t]:
	case <-time.After(s.rhythm.reconcile - s.rhythm.reconcileSoon):
	}
	return nil
}

// Clocks of a series: the last round that came to its end, and the last that
// went back a week.
func roundClock(t disclosure.Type) string   { return "round/" + string(t) }
func nightlyClock(t disclosure.Type) string { return "nightly/" + string(t) }

// round reads the lists of yesterday and today; of a week, once every night;
// and of all days since the last round, if that was longer ago, or the first
// days of a new store. Only a round that came to its end is remembered: one
// that was cut short, by a crash too, is done again from where it began.
func (s *session) round(ctx context.Context, t disclosure.Type) error {
	began := time.Now()
	today := disclosure.DayOf(began)
	from, last := today-1, s.Ledger.Clock(roundClock(t))
	if last.IsZero() {
		from = today - firstDays
	} else {
		from = min(from, disclosure.DayOf(last))
	}
	night := s.nightlyDue(t, began)
	if night {
		from = min(from, today-nightly)
	}
	for to := today; to >= from; to -= window {
		r := reading{series: t, from: max(from, to-window+1), to: to, brief: from == today-1 && s.readOfLate(t)}
		if _, err := s.read(ctx, pace.Reconcile, r); err != nil {
			return err
		}
	}
	if night {
		if err := s.Ledger.SetClock(ctx, s.lease, nightlyClock(t), began); err != nil {
			return err
		}
	}
	return s.Ledger.SetClock(ctx, s.lease, roundClock(t), began)
}

// nightlyDue tells whether the last days are to be looked at again.
func (s *session) nightlyDue(t disclosure.Type, now time.Time) bool {
	return now.In(disclosure.Madrid).Hour() >= nightHour &&
		disclosure.DayOf(s.Ledger.Clock(nightlyClock(t))) < disclosure.DayOf(now)
}

const (
	window    = 7      // days that are asked for at once
	pageSize  = 10     // rows of a full page
	mostPages = 20_000 // of a window; real ones have some dozens
	abreast   = 4      // pages asked for at once
)

// reading is a list to be read.
type reading struct {
	series   disclosure.Type
	from, to disclosure.Day
	old      history
	brief    bool // of a very long list only as much as has something new
}

// longList has more pages than two days of the real register ever had.
const longList = 100

// readOfLate tells whether the whole list was read within the hour.
func (s *session) readOfLate(t disclosure.Type) bool {
	return time.Since(s.Ledger.Covered(t, disclosure.DayOf(time.Now()))) < time.Hour
}

// read reads the list of some days to its end and appends what it tells. When
// all of it was read, the days count as covered.
func (s *session) read(ctx context.Context, class pace.Class, r reading) (store.Outcome, error) {
	var out store.Outcome
	began := time.Now()
	seen := map[int64]bool{}
	pages, barren := 1, 0
	for page := 0; page < min(pages, mostPages) && barren < 2; {
		lists, err := s.pages(ctx, class, r, page, min(pages-page, abreast))
		for _, list := range lists {
			rows := unseen(list.Rows, seen)
			more, taken := s.takeSettled(ctx, r.series, rows, list.Received, r.old)
			if taken != nil {
				return out, taken
			}
			if r.brief && err == nil && list.Pages > longList && more.New+more.Updated == 0 {
				return out, s.note(ctx, watch.List(r.series), nil)
			}
			out = out.Add(more)
			page++
			pages = max(list.Pages, pages)
			if list.Pages <= page && len(list.Rows) >= pageSize && page == pages && pages == 1 {
				pages++ // a full page without a pager: see what follows
			}
			// Past its end a list may go on with the same rows for ever. One
			// page of them may mean that filings came meanwhile.
			barren++
			if len(rows) > 0 {
				barren = 0
			}
		}
		if s.note(ctx, watch.List(r.series), err) != nil {
			return out, fmt.Errorf("reading the list of %s from %s to %s: %w", r.series, r.from, r.to, err)
		}
	}
	return out, s.Ledger.Cover(ctx, s.lease, r.series, r.from, min(r.to, disclosure.DayOf(began)), began)
}

// pages reads some pages abreast and returns those before the first that
// failed, in order, and with its error what could be read of that one.
func (s *session) pages(ctx context.Context, class pace.Class, r reading, first, n int) ([]regulator.List, error) {
	lists, errs := make([]regulator.List, n), make([]error, n)
	var g errgroup.Group
	for k := range n {
		g.Go(func() error {
			lists[k], errs[k] = s.Regulator.For(class).List(ctx, r.series, r.from, r.to, first+k)
			return nil
		})
	}
	_ = g.Wait()
	for k := range n {
		if errs[k] != nil {
			return lists[:k+1], errs[k]
		}
	}
	return lists, nil
}

// takeSettled appends rows of a list, and lets those wait that a page can add
// to.
func (s *session) takeSettled(ctx context.Context, t disclosure.Type, rows []regulator.Row, received time.Time, h history) (store.Outcome, error) {
	rows, err := s.settle(ctx, t, rows)
	if err != nil {
		return store.Outcome{}, err
	}
	out, err := s.take(ctx, rows, received, h)
	if err != nil || h == old || out.New == 0 {
		return out, err
	}
	for n := range rows {
		if !s.before(&rows[n]) {
			s.enriching.add(disclosure.ReportID(t, rows[n].Number))
		}
	}
	return out, nil
}

// unseen returns the rows whose number did not come before. A number may come
// twice, and filings that come while we read push others to the next page.
func unseen(rows []regulator.Row, seen map[int64]bool) []regulator.Row {
	var out []regulator.Row
	for _, row := range rows {
		if !seen[row.Number] {
			seen[row.Number] = true
			out = append(out, row)
		}
	}
	return out
}
