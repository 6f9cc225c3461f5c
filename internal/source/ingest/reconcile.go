package ingest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/retry"
	"pregon/internal/source/health"
	"pregon/internal/source/regulator"
	"pregon/internal/source/throttle"
	"pregon/internal/store"
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
		err := s.round(ctx, t)
		if _, markup := errors.AsType[*regulator.MarkupError](err); markup && t == disclosure.HR {
			err = nil // its lists are the second line: they are not asked for sooner
		}
		if err != nil {
			if err := retry.Sleep(ctx, s.backoff(try)); err != nil {
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
	if err := retry.Sleep(ctx, s.intervals.reconcileSoon); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-s.wake[t]:
	case <-time.After(s.intervals.lists(t) - s.intervals.reconcileSoon):
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
	if t == disclosure.HR {
		return s.roundHR(ctx)
	}
	began := time.Now()
	today := disclosure.DayOf(began)
	from, last := today-1, s.Coverage.Time(roundClock(t))
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
		if _, err := s.read(ctx, throttle.Reconcile, r); err != nil {
			return err
		}
	}
	if night {
		if err := s.Coverage.SetTime(ctx, s.lease, nightlyClock(t), began); err != nil {
			return err
		}
	}
	return s.Coverage.SetTime(ctx, s.lease, roundClock(t), began)
}

// nightlyDue reports whether the last days are to be looked at again.
func (s *session) nightlyDue(t disclosure.Type, now time.Time) bool {
	return now.In(disclosure.Madrid).Hour() >= nightHour &&
		disclosure.DayOf(s.Coverage.Time(nightlyClock(t))) < disclosure.DayOf(now)
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

// readOfLate reports whether the whole list was read within the hour.
func (s *session) readOfLate(t disclosure.Type) bool {
	return time.Since(s.Coverage.Covered(t, disclosure.DayOf(time.Now()))) < time.Hour
}

// read reads the list of some days to its end and appends what it tells. Rows
// that cannot be read do not hide those behind them. Only when every page was
// read, and all of it, do the days count as covered.
func (s *session) read(ctx context.Context, class throttle.Priority, r reading) (store.Outcome, error) {
	began := time.Now()
	p := progress{seen: map[int64]bool{}, pages: 1}
	for !p.done() {
		lists, errs := s.pages(ctx, class, r, p.page, min(p.pages-p.page, r.abreast(began)))
		for k, list := range lists {
			rows := p.turn(list, errs[k])
			more, err := s.takeSettled(ctx, r.series, rows, list.Received, r.old)
			if err != nil {
				return p.out, err
			}
			p.out = p.out.Add(more)
			if errs[k] != nil && !partly(errs[k]) {
				return p.out, r.failed(s.noteList(ctx, r.series, errs[k]))
			}
			if r.brief && list.Pages > longList && more.New+more.Updated == 0 {
				return p.out, s.noteList(ctx, r.series, p.broken)
			}
		}
	}
	if err := s.noteList(ctx, r.series, p.broken); err != nil {
		return p.out, r.failed(err)
	}
	return p.out, s.Coverage.Cover(ctx, s.lease, r.series, r.from, min(r.to, disclosure.DayOf(began)), began)
}

// noteList notes how reading the lists of a series went. What failed there is not
// well again because the newest page can be read.
func (s *session) noteList(ctx context.Context, t disclosure.Type, err error) error {
	s.listFails[t].Store(err != nil)
	return s.note(ctx, health.List(t), err)
}

// abreast is how many pages may be asked for at once: of a list that still
// grows one, since what comes pushes rows from page to page.
func (r reading) abreast(now time.Time) int {
	if r.to >= disclosure.DayOf(now) {
		return 1
	}
	return abreast
}

func (r reading) failed(err error) error {
	return fmt.Errorf("reading the list of %s from %s to %s: %w", r.series, r.from, r.to, err)
}

// partly reports whether an answer lacks some rows only.
func partly(err error) bool {
	e, markup := errors.AsType[*regulator.MarkupError](err)
	return markup && !e.Whole
}

// progress is how far a list is read.
type progress struct {
	out    store.Outcome
	seen   map[int64]bool // numbers
	page   int            // the next
	pages  int            // that there are, as far as we know
	barren int            // pages in a row that told nothing new
	short  int            // the first page, from 1, that was not full: it should be the last that tells anything
	broken error          // the first trouble with rows
}

// done reports whether the end is reached. Past it a list may go on with the same
// rows for ever; one page of them may mean that reports came meanwhile.
func (p *progress) done() bool { return p.page >= min(p.pages, mostPages) || p.barren >= 2 }

// turn takes a page and returns the rows that are new in this reading: a number
// may come twice.
func (p *progress) turn(list regulator.List, broken error) []regulator.Row {
	rows := unseen(list.Rows, p.seen)
	p.page++
	p.pages = max(p.pages, list.Pages)
	full := len(list.Rows) >= pageSize
	if list.Pages <= 1 && full && len(rows) > 0 {
		p.pages = max(p.pages, p.page+1) // a full page without a pager: see what follows
	}
	if len(rows) > 0 && broken == nil && p.short > 0 {
		broken = &regulator.MarkupError{Surface: "list", Detail: fmt.Sprintf("page %d lacks rows, and is not the last", p.short)}
	}
	if p.broken == nil {
		p.broken = broken
	}
	if !full && p.short == 0 {
		p.short = p.page
	}
	p.barren++
	if len(rows) > 0 {
		p.barren = 0
	}
	return rows
}

// pages reads some pages, as many at once.
func (s *session) pages(ctx context.Context, class throttle.Priority, r reading, first, n int) ([]regulator.List, []error) {
	lists, errs := make([]regulator.List, n), make([]error, n)
	var all sync.WaitGroup
	for k := range n {
		all.Go(func() { lists[k], errs[k] = s.Regulator.For(class).List(ctx, r.series, r.from, r.to, first+k) })
	}
	all.Wait()
	return lists, errs
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
// twice, and reports that come while we read push others to the next page.
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
