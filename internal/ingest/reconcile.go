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

// reconcile compares a series with the lists, for ever.
func (s *session) reconcile(ctx context.Context, t disclosure.Type) error {
	for try := 0; ; try++ {
		err := s.catchUp(ctx, t)
		if err == nil {
			break
		}
		if err := pause(ctx, s.backoff(try)); err != nil {
			return err
		}
	}
	for try := 0; ; {
		wait := s.pauseUnlessAsked
		if try > 0 {
			wait = func(ctx context.Context, _ disclosure.Type) error { return pause(ctx, s.backoff(try)) }
		}
		if err := wait(ctx, t); err != nil {
			return err
		}
		today := disclosure.DayOf(time.Now())
		from := today - 1
		if s.nightlyDue(t) {
			from = today - nightly
		}
		_, err := s.read(ctx, pace.Reconcile, reading{series: t, from: from, to: today, brief: s.readOfLate(t) && from == today-1})
		if err == nil && from == today-nightly {
			err = s.Ledger.SetClock(ctx, s.lease, "nightly/"+string(t), time.Now())
		}
		if err != nil {
			try++
			continue
		}
		try = 0
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

// nightlyDue tells whether the last days are to be looked at again.
func (s *session) nightlyDue(t disclosure.Type) bool {
	now := time.Now().In(disclosure.Madrid)
	last := s.Ledger.Clock("nightly/" + string(t))
	return now.Hour() >= nightHour && disclosure.DayOf(last) < disclosure.DayOf(now)
}

// catchUp reads what was filed since the lists were last read, or the first
// days of a new store, the newest first.
func (s *session) catchUp(ctx context.Context, t disclosure.Type) error {
	today := disclosure.DayOf(time.Now())
	from := s.Ledger.LastCovered(t)
	if s.Ledger.Clock("first/" + string(t)).IsZero() {
		from = today - firstDays
	}
	for to := today; to >= from; to -= window {
		if _, err := s.read(ctx, pace.Reconcile, reading{series: t, from: max(from, to-window+1), to: to}); err != nil {
			return err
		}
	}
	if s.Ledger.Clock("first/" + string(t)).IsZero() {
		return s.Ledger.SetClock(ctx, s.lease, "first/"+string(t), time.Now())
	}
	return nil
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
