package ingest

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/retry"
	"pregon/internal/source/health"
	"pregon/internal/source/regulator"
	"pregon/internal/source/throttle"
)

// feed is what is remembered of a feed.
type feed struct {
	series disclosure.Type

	mu       sync.Mutex
	digest   [32]byte                // guarded by mu: of the newest answer that was kept
	asked    time.Time               // guarded by mu: for that one
	rows     map[int64]regulator.Row // guarded by mu: what it told
	failures int                     // guarded by mu: in a row
	read     time.Time               // guarded by mu: when the newest look that went well began
	news     time.Time               // guarded by mu: when it last showed something new
	cut      time.Time               // guarded by mu: when it last dropped something
}

func newFeed(t disclosure.Type) *feed {
	return &feed{series: t, rows: map[int64]regulator.Row{}}
}

// overlap is how many looks at a feed may be under way at once: one that stalls
// must not blind us.
const overlap = 3

// pollFeed looks at a feed at every tick. While nothing of it can be read it is
// asked for less often.
func (s *session) pollFeed(ctx context.Context, f *feed) error {
	slots := make(chan struct{}, overlap)
	var looks sync.WaitGroup
	defer looks.Wait()
	for {
		select {
		case slots <- struct{}{}:
			looks.Go(func() {
				defer func() { <-slots }()
				s.look(ctx, f)
			})
		default: // as many as may be are under way
		}
		if err := retry.Sleep(ctx, s.untilNext(f)); err != nil {
			return err
		}
	}
}

// untilNext returns the time to the next look.
func (s *session) untilNext(f *feed) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failures < 2 {
		return s.pollOf(f.series)
	}
	return max(s.Poll, min(s.backoff(f.failures-2), s.intervals.slowest))
}

// pollOf returns the time between two looks at a feed that is well. While pages
// or documents wait for a turn, the feeds other than that of inside information
// leave them some of theirs: three feeds every second take three turns of four,
// and a report needs two.
func (s *session) pollOf(t disclosure.Type) time.Duration {
	if t == disclosure.IP || s.Regulator.Waiting(throttle.Permalinks)+s.Regulator.Waiting(throttle.Documents) == 0 {
		return s.Poll
	}
	return s.Poll * 3 / 2
}

// look reads a feed once and appends what is new in it.
func (s *session) look(ctx context.Context, f *feed) {
	f.mu.Lock()
	digest, asked := f.digest, time.Now()
	f.mu.Unlock()
	answer, err := s.Regulator.Feed(ctx, f.series, digest)
	f.mu.Lock()
	late := asked.Before(f.asked) // it stalled, and a later one has told more
	f.mu.Unlock()
	if !late && (len(answer.Rows) > 0 || err == nil && !answer.Same) { // also rows that came whole in an answer that did not
		kept := s.keep(ctx, f, answer)
		if _, markup := errors.AsType[*regulator.MarkupError](kept); markup {
			err = kept
		} else if kept != nil {
			_ = s.note(ctx, health.Feed(f.series), err) // the feed is well, and will be read again
			return
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if s.note(ctx, health.Feed(f.series), err) != nil {
		if f.failures++; partly(err) { // one odd item is no reason to look less often
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

// keep appends the rows that the feed did not tell before in these words.
func (s *session) keep(ctx context.Context, f *feed, answer regulator.Feed) error {
	f.mu.Lock()
	var fresh []regulator.Row
	told := map[int64]bool{}
	for _, row := range answer.Rows {
		told[row.Number] = true
		if before, ok := f.rows[row.Number]; !ok || !reflect.DeepEqual(before, row) {
			fresh = append(fresh, row)
		}
	}
	f.mu.Unlock()
	out, err := s.take(ctx, fresh, answer.Received, news)
	if err != nil {
		return err
	}
	if out.New > 0 {
		s.Logger.Info("filings seen", "type", f.series, "new", out.New, "seq", out.Seq)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(fresh) > 0 {
		f.news = time.Now()
	}
	for _, row := range fresh {
		f.rows[row.Number] = row
		s.newest[f.series].Store(max(s.newest[f.series].Load(), row.Number)) // f.mu is held
		s.enriching.add(disclosure.ReportID(row.Type, row.Number))
	}
	for number := range f.rows {
		if !told[number] {
			// The feed forgets what was before the last close. What came just
			// before it may never have been shown: the lists know.
			delete(f.rows, number)
			f.cut = time.Now()
			s.ask(f.series)
		}
	}
	return nil
}

// ask asks for the lists of a series to be read soon.
func (s *session) ask(t disclosure.Type) {
	select {
	case s.wake[t] <- struct{}{}:
	default:
	}
}

// newestOf reads the part of the lists that returns what the feed should.
func (s *session) newestOf(ctx context.Context, t disclosure.Type) (regulator.List, error) {
	if t == disclosure.HR {
		list, _, err := s.latestHR(ctx, throttle.Feeds)
		return list, err
	}
	today := disclosure.DayOf(time.Now())
	return s.Regulator.For(throttle.Feeds).List(ctx, t, today-1, today, 0)
}
