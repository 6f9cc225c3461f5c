package ingest

import (
	"context"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/retry"
	"pregon/internal/source/health"
	"pregon/internal/source/regulator"
	"pregon/internal/source/throttle"
)

// feed polls the feed of one series and compares it with the list.
type feed struct {
	*lists
	series  *series
	walking atomic.Bool // several pages of the list are read in its place

	mu       sync.Mutex
	digest   [32]byte                // guarded by mu: of the newest answer that was stored
	asked    time.Time               // guarded by mu: when that answer was requested
	rows     map[int64]regulator.Row // guarded by mu: in the newest answer, by number
	failures int                     // guarded by mu: in a row
	read     time.Time               // guarded by mu: when the newest successful poll began
	news     time.Time               // guarded by mu: when it last showed a new row
	cut      time.Time               // guarded by mu: when it last dropped a row
}

func newFeed(s *series, l *lists) *feed {
	return &feed{lists: l, series: s, rows: map[int64]regulator.Row{}}
}

// overlap is the number of polls of a feed that may be under way at once, so that
// one that stalls does not stop the others.
const overlap = 3

// poll polls the feed until the context ends. While it fails it is polled less
// often.
func (f *feed) poll(ctx context.Context) error {
	slots := make(chan struct{}, overlap)
	var polls sync.WaitGroup
	defer polls.Wait()
	for {
		select {
		case slots <- struct{}{}:
			polls.Go(func() {
				defer func() { <-slots }()
				f.pollOnce(ctx)
			})
		default: // all slots are taken
		}
		if err := retry.Sleep(ctx, f.untilNext()); err != nil {
			return err
		}
	}
}

// untilNext returns the time until the next poll.
func (f *feed) untilNext() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failures < 2 {
		return f.interval()
	}
	return max(f.Poll, min(f.backoff(f.failures-2), f.intervals.slowest))
}

// interval returns the time between two polls of a feed that does not fail.
// Three feeds every second take three of four requests that the throttle grants,
// and a report needs two. So while pages or documents wait, the feeds other than
// that of inside information are polled less often, and also while back-fill has half
// of the requests. So is a feed whose list is read in its place.
func (f *feed) interval() time.Duration {
	if f.walking.Load() {
		return 3 * f.Poll
	}
	newReports := f.Regulator.Waiting(throttle.Permalinks)+f.Regulator.Waiting(throttle.Documents) > 0
	switch {
	case f.series.name == disclosure.IP:
		return f.Poll
	case newReports:
		return f.Poll * 3 / 2
	case f.Regulator.Shared():
		return 2 * f.Poll
	}
	return f.Poll
}

// pollOnce reads the feed once and appends what is new.
func (f *feed) pollOnce(ctx context.Context) {
	surface := health.Feed(f.series.name)
	f.mu.Lock()
	digest, asked := f.digest, time.Now()
	f.mu.Unlock()
	answer, err := f.Regulator.Feed(ctx, f.series.name, digest)
	f.mu.Lock()
	late := asked.Before(f.asked) // it stalled, and a later poll was faster
	f.mu.Unlock()
	// an answer that was cut off may have complete rows
	if !late && (len(answer.Rows) > 0 || err == nil && !answer.Same) {
		stored := f.store(ctx, answer)
		if regulator.IsMarkup(stored) {
			err = stored
		} else if stored != nil {
			_ = f.recordRead(ctx, surface, asked, err) // the store failed, not the feed: the answer is read again
			return
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.recordRead(ctx, surface, asked, err) != nil {
		if f.failures++; regulator.IsPartial(err) { // one bad item does not slow down the polls
			f.failures = 0
		}
		return
	}
	f.failures = 0
	if asked.After(f.read) {
		f.read = asked
	}
	if !answer.Same && asked.After(f.asked) {
		f.digest, f.asked = answer.Digest, asked
	}
}

// store appends the rows that are new or have changed since the last answer.
func (f *feed) store(ctx context.Context, answer regulator.Feed) error {
	f.mu.Lock()
	var fresh []regulator.Row
	shown := map[int64]bool{}
	for _, row := range answer.Rows {
		shown[row.Number] = true
		if before, ok := f.rows[row.Number]; !ok || !reflect.DeepEqual(before, row) {
			fresh = append(fresh, row)
		}
	}
	f.mu.Unlock()
	out, err := f.take(ctx, fresh, answer.Received, news)
	if err != nil {
		return err
	}
	if out.New > 0 {
		f.Logger.Info("new reports in the feed", "type", f.series.name, "new", out.New, "seq", out.Seq)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(fresh) > 0 {
		f.news = time.Now()
	}
	for _, row := range fresh {
		f.rows[row.Number] = row
		f.series.newest.Store(max(f.series.newest.Load(), row.Number)) // f.mu is held
		f.queue.Add(disclosure.ReportID(row.Type, row.Number))
	}
	for number := range f.rows {
		if !shown[number] {
			// At the close the feed drops the day. Reports published just before may
			// never have been in it: the lists show them.
			delete(f.rows, number)
			f.cut = time.Now()
			f.series.requestLists()
		}
	}
	return nil
}
