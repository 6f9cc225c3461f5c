package ingest

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/source/health"
	"pregon/internal/source/regulator"
	"pregon/internal/source/throttle"
	"pregon/internal/store"
)

// walk is the state of reading a list from its newest page on, for reports that
// the feed does not show. Each page is stored before the next is read.
//
// A walk ends at a page whose oldest row was known before. That the store has the
// row is not enough: this walk may have stored it, or an earlier one that was
// interrupted, or a round of the lists that is still under way. Older rows may then
// be missing. So the row must have been seen before the last complete comparison
// began. The time of the last complete round is in the store: a new process begins
// there.
type walk struct {
	since    time.Time      // when the last walk that was finished in this term began
	compared map[int64]bool // numbers that it showed

	seen    map[int64]bool // numbers that the earlier readings of this walk showed
	shown   map[int64]bool // numbers that its last reading showed
	resume  int            // the page at which it was interrupted, 0 for none
	bounded bool           // it is to continue at once: it had read walkPages, or reports were published meanwhile
}

// walkPages is the number of pages after which a walk is interrupted, so that the
// newest page is read again.
const walkPages = 20

// walkPriority returns the priority of the nth page of a reading. Every tenth waits
// behind the pages of new reports, which a long walk would otherwise delay.
func walkPriority(n int) throttle.Priority {
	if n%10 == 9 {
		return throttle.Permalinks
	}
	return throttle.Feeds
}

// interrupt notes the page at which the next reading continues. If even the newest
// page could not be read, nothing has changed.
func (w *walk) interrupt(page int) {
	if page > 0 {
		w.resume = page
	}
}

// begin begins a reading.
func (w *walk) begin() {
	w.seen = w.all()
	w.shown = map[int64]bool{}
	w.bounded = false
}

// finish notes that the list was compared as it was when the last reading began.
func (w *walk) finish(began time.Time) { *w = walk{since: began, compared: w.all()} }

// all returns the numbers that all readings of the walk showed.
func (w *walk) all() map[int64]bool {
	all := make(map[int64]bool, len(w.seen)+len(w.shown))
	maps.Copy(all, w.seen)
	maps.Copy(all, w.shown)
	return all
}

// unseen returns the rows that no reading of the walk has shown, each once.
func (w *walk) unseen(rows []regulator.Row) []regulator.Row {
	fresh := slices.DeleteFunc(slices.Clone(rows), func(row regulator.Row) bool {
		return w.seen[row.Number] || w.shown[row.Number]
	})
	return unseen(fresh, make(map[int64]bool, len(fresh)))
}

// show adds rows to those that the reading showed. It reports whether it had shown all
// of them before.
func (w *walk) show(rows []regulator.Row) (repeated bool) {
	before := len(w.shown)
	for _, row := range rows {
		w.shown[row.Number] = true
	}
	return len(w.shown) == before
}

// next returns the page to read after a page that was stored. fresh reports whether the
// page had unseen rows. Pages before the one at which the walk was interrupted need not
// be read again once the reading meets what an earlier one has shown. The last of them
// is, in case a row was removed from the list.
//
// Rows without news prove nothing if only this reading has shown them: reports that are
// published between two pages move the rows of one to the other.
func (w *walk) next(page int, rows []regulator.Row, fresh bool) int {
	if fresh || len(rows) == 0 || !w.seen[rows[len(rows)-1].Number] {
		return page + 1
	}
	return max(page+1, w.resume-1)
}

// readNewest appends the newest reports of the list, page by page, as far as they
// were not compared before.
func (f *feed) readNewest(ctx context.Context, c *comparison) {
	began := time.Now()
	defer func() { c.read = time.Now() }()
	defer f.walking.Store(false)
	w := &c.walk
	w.begin()
	var found store.Outcome
	var broken error // the first error of the list
	var repeated repetition
	page := 0
	for n := range walkPages {
		list, err := f.newestPage(ctx, page, walkPriority(n))
		broken = cmp.Or(broken, err)
		rows := w.unseen(list.Rows)
		more, ended, stored := f.takeNewest(ctx, w, rows, list.Received)
		found = found.Add(more)
		if stored == nil {
			f.hide(c, rows)
		}
		if stored != nil || err != nil && !regulator.IsPartial(err) {
			w.interrupt(page)
			f.noteNewest(ctx, began, broken, found, stored)
			return
		}
		repeated.add(&list, w.show(list.Rows))
		if ended || f.isLast(&list, page) {
			w.finish(began)
			f.noteNewest(ctx, began, broken, found, nil)
			return
		}
		if repeated.isEndless() {
			err := f.endRepeated(ctx, w, page, began)
			f.noteNewest(ctx, began, cmp.Or(broken, err), found, nil)
			return
		}
		page = w.next(page, list.Rows, len(rows) > 0)
		f.walking.Store(true)
	}
	w.interrupt(page)
	w.bounded = true
	f.noteNewest(ctx, began, broken, found, nil)
}

// endRepeated ends a reading at a page from which on the list repeats its rows. If the
// newest page is still the same, that is the end of the list. If not, reports were
// published meanwhile, and the next reading continues here.
func (f *feed) endRepeated(ctx context.Context, w *walk, page int, began time.Time) error {
	newest, err := f.newestPage(ctx, 0, throttle.Feeds)
	switch {
	case err != nil && !regulator.IsPartial(err):
		w.interrupt(page)
	case len(w.unseen(newest.Rows)) > 0:
		w.interrupt(page)
		w.bounded = true
	default:
		w.finish(began)
	}
	return err
}

// takeNewest appends rows that a walk has not seen. It reports whether the walk ends
// with them.
func (f *feed) takeNewest(
	ctx context.Context, w *walk, rows []regulator.Row, received time.Time,
) (out store.Outcome, ended bool, err error) {
	if len(rows) == 0 {
		return out, false, nil
	}
	ended, err = f.isCompared(ctx, w, &rows[len(rows)-1])
	if err != nil {
		return out, false, err
	}
	out, err = f.takeList(ctx, f.series.name, rows, received, news)
	if regulator.IsMarkup(err) { // the others are stored
		err = nil
	}
	return out, ended, err
}

// isCompared reports whether a row was known before the last complete comparison
// began, so that the store has all older ones. Reports from before the first start
// are left to the rounds.
func (f *feed) isCompared(ctx context.Context, w *walk, row *regulator.Row) (bool, error) {
	if w.compared[row.Number] || f.isHistory(row) {
		return true, nil
	}
	known, err := f.Store.Reports(ctx, disclosure.ReportID(row.Type, row.Number))
	if err != nil {
		return false, store.Unavailable(err)
	}
	if len(known) == 0 {
		return false, nil
	}
	seen := known[0].FirstSeenAt
	round := f.Coverage.Time(roundClock(f.series.name))
	return precedes(seen, w.since) || precedes(seen, round), nil
}

// precedes reports whether a row was seen before a comparison began. A comparison in the
// future is from before the clock was set back: rows that were seen since would precede
// it too.
func precedes(seen, began time.Time) bool {
	began = began.Round(0) // the time of seen is from the store
	return seen.Before(began) && !began.After(time.Now().Round(0))
}

// isLast reports whether a page is the last of its list. The latest HR have only one.
func (f *feed) isLast(list *regulator.List, page int) bool {
	if f.series.name == disclosure.HR {
		return true
	}
	if list.Pages <= 1 { // without a pager, another page may follow a full one
		return len(list.Rows) < pageSize
	}
	return page+1 >= list.Pages
}

// hide compares rows of the list with what the feed showed.
func (f *feed) hide(c *comparison, rows []regulator.Row) {
	f.mu.Lock()
	cut := f.cut
	f.mu.Unlock()
	c.add(rows, f.series.newest.Load(), time.Now(), cut)
	f.assess(c)
}

// noteNewest logs what was found and records how the list could be read.
func (f *feed) noteNewest(ctx context.Context, began time.Time, broken error, found store.Outcome, stored error) {
	surface := health.List(f.series.name)
	if found.New > 0 {
		f.Logger.Info("new reports in the list", "type", f.series.name, "new", found.New, "seq", found.Seq)
	}
	switch {
	case broken == nil && stored != nil: // the store failed, not the list
	case broken == nil && f.series.listFailing.Load():
		f.monitor.Seen(surface) // another page of it fails
	default:
		_ = f.recordRead(ctx, surface, began, broken)
	}
}

// newestPage reads a page of the newest reports.
func (f *feed) newestPage(ctx context.Context, page int, p throttle.Priority) (regulator.List, error) {
	if f.series.name == disclosure.HR {
		list, _, err := f.latestHR(ctx, p)
		return list, err
	}
	today := disclosure.DayOf(time.Now())
	return f.Regulator.For(p).List(ctx, f.series.name, today-1, today, page)
}
