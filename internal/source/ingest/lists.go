package ingest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/retry"
	"pregon/internal/source/coverage"
	"pregon/internal/source/health"
	"pregon/internal/source/regulator"
	"pregon/internal/source/throttle"
	"pregon/internal/store"
)

// lists reads the lists of the series, for reports that the feeds did not show.
type lists struct{ *writer }

const (
	firstDays = 30 // of history in a new store
	nightly   = 7  // days that are read again every night
	nightHour = 3  // in Madrid
)

// run reads the lists of a series at once, and then regularly until the context
// ends.
func (l *lists) run(ctx context.Context, t disclosure.Type) error {
	for try := 0; ; {
		err := l.round(ctx, t)
		if regulator.IsMarkup(err) && t == disclosure.HR {
			err = nil // the pages of HR are the second source: they are not retried sooner
		}
		if err != nil {
			if err := retry.Sleep(ctx, l.backoff(try)); err != nil {
				return err
			}
			try++
			continue
		}
		try = 0
		if err := l.awaitRound(ctx, l.series[t]); err != nil {
			return err
		}
	}
}

// awaitRound waits for the next round. A request makes it come sooner, but not
// immediately after the last.
func (l *lists) awaitRound(ctx context.Context, s *series) error {
	if err := retry.Sleep(ctx, l.intervals.reconcileSoon); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-s.wake:
	case <-time.After(l.intervals.lists(s.name) - l.intervals.reconcileSoon):
	}
	return nil
}

// roundClock is the key of the time of the last complete round of a series, and
// nightlyClock of the last nightly one.
func roundClock(t disclosure.Type) string   { return "round/" + string(t) }
func nightlyClock(t disclosure.Type) string { return "nightly/" + string(t) }

// round reads the lists of yesterday and today; once every night those of a week;
// of all days since the last round if that is longer ago; and the first days of a
// new store. Only the time of a complete round is stored, so that one that was
// interrupted is repeated from its beginning.
func (l *lists) round(ctx context.Context, t disclosure.Type) error {
	if t == disclosure.HR {
		return l.roundHR(ctx)
	}
	began := time.Now()
	today := disclosure.DayOf(began)
	from, last := today-1, l.Coverage.Time(roundClock(t))
	if last.IsZero() {
		from = today - firstDays
	} else {
		from = min(from, disclosure.DayOf(last))
	}
	night := l.nightlyDue(t, began)
	if night {
		from = min(from, today-nightly)
	}
	complete := true
	for to := today; to >= from; to -= window {
		r := reading{
			series: t,
			from:   max(from, to-window+1),
			to:     to,
			brief:  from == today-1 && l.readRecently(t),
		}
		_, whole, err := l.readList(ctx, throttle.Reconcile, r)
		if err != nil {
			return err
		}
		complete = complete && whole
	}
	if !complete {
		return nil
	}
	if night {
		if err := l.Coverage.SetTime(ctx, l.lease, nightlyClock(t), began); err != nil {
			return err
		}
	}
	return l.Coverage.SetTime(ctx, l.lease, roundClock(t), began)
}

// nightlyDue reports whether the nightly round is still to be done today.
func (l *lists) nightlyDue(t disclosure.Type, now time.Time) bool {
	return now.In(disclosure.Madrid).Hour() >= nightHour &&
		disclosure.DayOf(l.Coverage.Time(nightlyClock(t))) < disclosure.DayOf(now)
}

// roundHR compares the series with the pages of the latest HR. There is no list
// by date, so only the days that those pages show in full are covered.
func (l *lists) roundHR(ctx context.Context) error {
	began := time.Now()
	today := disclosure.DayOf(began)
	list, reach, err := l.latestHR(ctx, throttle.Reconcile)
	if _, err := l.takeList(ctx, disclosure.HR, list.Rows, list.Received, news); err != nil {
		return err
	}
	if err := l.recordRead(ctx, health.List(disclosure.HR), began, err); err != nil {
		return err
	}
	if reach == 0 || reach > today {
		return nil
	}
	return l.Coverage.Cover(ctx, l.lease, disclosure.HR, reach, today, began)
}

// latestHR reads the pages of the latest HR. reach is the first day that all of
// them show in full. A page that cannot be read does not hide the others.
func (l *lists) latestHR(
	ctx context.Context,
	p throttle.Priority,
) (all regulator.List, reach disclosure.Day, failed error) {
	for _, surface := range regulator.LatestHRPages {
		list, err := l.Regulator.For(p).LatestHR(ctx, surface)
		failed = errors.Join(failed, err)
		reach = max(reach, reachOf(list.Rows))
		all.Rows, all.Received = append(all.Rows, list.Rows...), list.Received
	}
	return all, reach, failed
}

// reachOf returns the first day that a page of the latest reports shows in full:
// the day after that of its oldest row. It returns 0 if the page has no rows.
func reachOf(rows []regulator.Row) (day disclosure.Day) {
	for _, row := range rows {
		if d := disclosure.DayOf(row.At) + 1; day == 0 || d < day {
			day = d
		}
	}
	return day
}

const (
	window    = 7      // days in one query
	pageSize  = 10     // rows of a full page
	mostPages = 20_000 // of a query; real ones have some dozens
	abreast   = 4      // pages read at once
)

// reading is a list to be read.
type reading struct {
	series   disclosure.Type
	from, to disclosure.Day
	old      history
	brief    bool // a very long list is read only as far as it has something new
}

// longList is more pages than two days of the real register ever had.
const longList = 100

// readRecently reports whether the whole list of today was read within the hour.
func (l *lists) readRecently(t disclosure.Type) bool {
	return !coverage.Elapsed(l.Coverage.Covered(t, disclosure.DayOf(time.Now())), time.Hour)
}

// read reads the list of some days to its end and appends its rows. Rows that
// cannot be read do not hide the rows after them. The days are covered only if
// every page was read without an error.
func (l *lists) read(ctx context.Context, p throttle.Priority, r reading) (store.Outcome, error) {
	out, _, err := l.readList(ctx, p, r)
	return out, err
}

// readList is like read. It also reports whether the list was read to its end,
// which a brief reading may not be.
func (l *lists) readList(
	ctx context.Context, p throttle.Priority, r reading,
) (_ store.Outcome, whole bool, _ error) {
	began := time.Now()
	at := progress{seen: map[int64]bool{}, pages: 1}
	for !at.done() {
		if at.repeated.isEndless() {
			changed, err := l.hasChanged(ctx, p, r, at.seen)
			if err != nil {
				return at.out, false, r.failed(l.noteList(ctx, r.series, began, err))
			}
			if changed {
				return at.out, false, r.failed(fmt.Errorf("page %d repeats rows, since reports were published meanwhile", at.page))
			}
			break
		}
		pages, errs := l.readPages(ctx, p, r, at.page, min(at.pages-at.page, r.abreast(began)))
		for k, list := range pages {
			rows := at.turn(list, errs[k])
			more, err := l.takeList(ctx, r.series, rows, list.Received, r.old)
			if err != nil {
				return at.out, false, err
			}
			at.out = at.out.Add(more)
			if errs[k] != nil && !regulator.IsPartial(errs[k]) {
				return at.out, false, r.failed(l.noteList(ctx, r.series, began, errs[k]))
			}
			if r.brief && list.Pages > longList && more.New+more.Updated == 0 {
				return at.out, false, l.noteList(ctx, r.series, began, at.broken)
			}
		}
	}
	if err := l.noteList(ctx, r.series, began, at.broken); err != nil {
		return at.out, false, r.failed(err)
	}
	return at.out, true, l.Coverage.Cover(ctx, l.lease, r.series, r.from, min(r.to, disclosure.DayOf(began)), began)
}

// hasChanged reports whether the newest page of a list has rows that were not seen. If
// not, a list that repeats its rows is past its end. If so, reports that were published
// meanwhile may have moved them, so that older rows follow.
func (l *lists) hasChanged(ctx context.Context, p throttle.Priority, r reading, seen map[int64]bool) (bool, error) {
	newest, err := l.Regulator.For(p).List(ctx, r.series, r.from, r.to, 0)
	if err != nil && !regulator.IsPartial(err) {
		return false, err
	}
	return len(unseen(newest.Rows, maps.Clone(seen))) > 0, nil
}

// readPages reads n pages at once.
func (l *lists) readPages(
	ctx context.Context,
	p throttle.Priority,
	r reading,
	first, n int,
) ([]regulator.List, []error) {
	pages, errs := make([]regulator.List, n), make([]error, n)
	var all sync.WaitGroup
	for k := range n {
		all.Go(func() { pages[k], errs[k] = l.Regulator.For(p).List(ctx, r.series, r.from, r.to, first+k) })
	}
	all.Wait()
	return pages, errs
}

// noteList records the outcome of reading the lists of a series from began on. A
// failure stays until the lists are read again, even if their newest page can be read.
func (l *lists) noteList(ctx context.Context, t disclosure.Type, began time.Time, err error) error {
	l.series[t].listFailing.Store(err != nil)
	return l.recordRead(ctx, health.List(t), began, err)
}

// abreast returns the number of pages that may be read at once. A list that still
// grows is read page by page, since new rows move others to the next page.
func (r reading) abreast(now time.Time) int {
	if r.to >= disclosure.DayOf(now) {
		return 1
	}
	return abreast
}

func (r reading) failed(err error) error {
	return fmt.Errorf("reading the list of %s from %s to %s: %w", r.series, r.from, r.to, err)
}

// progress is the state of reading a list.
type progress struct {
	out      store.Outcome
	seen     map[int64]bool // numbers
	page     int            // the next
	pages    int            // as far as known
	repeated repetition
	short    int   // the first page, from 1, that was not full: it should be the last
	broken   error // the first error that concerns rows
}

// done reports whether all pages were read.
func (p *progress) done() bool { return p.page >= min(p.pages, mostPages) }

// turn takes a page and returns the rows that are new in this reading.
func (p *progress) turn(list regulator.List, broken error) []regulator.Row {
	rows := unseen(list.Rows, p.seen)
	p.page++
	p.pages = max(p.pages, list.Pages)
	full := len(list.Rows) >= pageSize
	if list.Pages <= 1 && full {
		p.pages = max(p.pages, p.page+1) // a full page without a pager: another may follow
	}
	if len(rows) > 0 && broken == nil && p.short > 0 {
		broken = &regulator.MarkupError{
			Surface: "list",
			Detail:  fmt.Sprintf("page %d lacks rows, and is not the last", p.short),
		}
	}
	if p.broken == nil {
		p.broken = broken
	}
	if !full && p.short == 0 {
		p.short = p.page
	}
	p.repeated.add(&list, len(rows) == 0)
	return rows
}

// repetition counts the pages that repeat rows of the same reading of a list. Reports
// that are published meanwhile move rows to later pages, so that some pages repeat.
// Its pager then has as many pages more.
type repetition struct {
	pages int // in a row, that had nothing else
	first int // pages of the list when the reading began, as its pager says
	grown int // pages that the list has more since
}

// add adds a page.
func (r *repetition) add(list *regulator.List, repeated bool) {
	if r.first == 0 {
		r.first = list.Pages
	}
	r.grown = max(r.grown, list.Pages-r.first)
	r.pages++
	if !repeated {
		r.pages = 0
	}
}

// isEndless reports whether more pages are repeated than the growth of the list
// explains. It may be past its end, where the site may repeat rows without end. Without
// a pager its growth is not known: then the newest page tells.
func (r *repetition) isEndless() bool { return r.pages >= r.grown+2 }

// unseen returns the rows whose number is not in seen, and adds it. A number may
// occur twice: a new report moves others to the next page.
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
