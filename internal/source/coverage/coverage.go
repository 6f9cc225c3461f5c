// Package coverage is what the service knows of its source beside the reports:
// which days it compared with the source's lists, which numbers were never
// published, how well the source is seen, and what is still to be fetched. It
// is kept in the store's notes, so that all processes know it.
//
// A Ledger answers from memory and is brought up to date by Follow; its own
// writes it knows at once. Whoever writes holds the lease of ingest, but for
// asking for a back-fill.
package coverage

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/source/health"
	"pregon/internal/store"
)

// Ledger is a view of the store's notes.
type Tracker struct {
	notes store.Notes

	mu       sync.RWMutex
	known    map[string]string // guarded by mu: text by name
	jobs     map[string]string // guarded by mu: those among them that are jobs, by id
	revision int64             // guarded by mu
	told     time.Time         // guarded by mu: when the status was last told anew, by our clock
	began    time.Time
	reading  sync.Mutex // one reader at a time, so that notes are taken in order
	epoch    func() string
	readIn   string // guarded by reading: the epoch in which notes were read
}

// New returns a ledger that knows nothing until Refresh.
func New(notes store.Notes) *Tracker {
	return &Tracker{notes: notes, known: map[string]string{}, jobs: map[string]string{}, began: time.Now()}
}

// Epoch sets what returns the epoch of the log. When it is another, a backup was
// restored, which has the notes of its time and their revisions: Refresh reads all
// anew. It is set before anything else is called.
func (l *Tracker) Epoch(epoch func() string) { l.epoch = epoch }

// Refresh takes in what others wrote.
func (l *Tracker) Refresh(ctx context.Context) error {
	l.reading.Lock()
	defer l.reading.Unlock()
	l.mu.RLock()
	revision := l.revision
	l.mu.RUnlock()
	epoch := l.readIn
	if l.epoch != nil {
		epoch = l.epoch()
	}
	anew := epoch != l.readIn
	if anew {
		revision = 0
	}
	notes, err := l.notes.NotesSince(ctx, revision)
	if err != nil || len(notes) == 0 && !anew {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if anew {
		l.readIn, l.revision = epoch, 0
		clear(l.known)
		clear(l.jobs)
	}
	for _, n := range notes {
		l.know(n)
		l.revision = n.Revision
	}
	return nil
}

const (
	look     = time.Second      // how often the notes are looked at
	readTime = 10 * time.Second // for reading them: whoever wants to write waits meanwhile
)

// Follow refreshes until the context ends. While the store does not answer,
// what is known stands.
func (l *Tracker) Follow(ctx context.Context) error {
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		reading, cancel := context.WithTimeout(ctx, readTime)
		_ = l.Refresh(reading) // the catalogue, which reads the same store, tells of its failures
		cancel()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

func (l *Tracker) text(name string) string {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.known[name]
}

// set writes notes and knows them at once.
func (l *Tracker) set(ctx context.Context, lease *store.Lease, notes ...store.Note) error {
	l.reading.Lock() // else an older text that is being read would replace them
	defer l.reading.Unlock()
	if err := l.notes.SetNotes(ctx, lease, notes...); err != nil {
		return fmt.Errorf("writing notes: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, n := range notes {
		l.know(n)
	}
	return nil
}

// know takes a note in. l.mu is held.
func (l *Tracker) know(n store.Note) {
	if id, ok := strings.CutPrefix(n.Name, jobPrefix); ok {
		l.jobs[id] = n.Text
	}
	before := l.known[n.Name]
	if l.known[n.Name] = n.Text; n.Name != statusNote || n.Text == before {
		return
	}
	l.told = time.Now()
	if before == "" { // it may be old: only its own word tells
		if s, ok := parseStatus(n.Text); ok && s.At.Before(l.told) {
			l.told = s.At
		}
	}
}

func instant(text string) time.Time {
	if seconds, err := strconv.ParseInt(text, 10, 64); err == nil {
		return time.Unix(seconds, 0).UTC()
	}
	return time.Time{}
}

func seconds(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) }

func coverName(t disclosure.Type, day disclosure.Day) string {
	return "covered/" + string(t) + "/" + day.String()
}

// Covered returns when a day of a series was last compared with the whole of
// the source's list, zero for never.
func (l *Tracker) Covered(t disclosure.Type, day disclosure.Day) time.Time {
	return instant(l.text(coverName(t, day)))
}

// Cover notes that the days from one to another were compared at a moment.
func (l *Tracker) Cover(ctx context.Context, lease *store.Lease, t disclosure.Type, from, to disclosure.Day, at time.Time) error {
	var notes []store.Note
	for day := from; day <= to; day++ {
		notes = append(notes, store.Note{Name: coverName(t, day), Text: seconds(at)})
	}
	return l.set(ctx, lease, notes...)
}

func absentName(t disclosure.Type, number int64) string {
	return "absent/" + string(t) + "/" + strconv.FormatInt(number, 10)
}

// Absent returns when a number was looked for and not found, zero when it was
// not looked for.
func (l *Tracker) Absent(t disclosure.Type, number int64) time.Time {
	return instant(l.text(absentName(t, number)))
}

// SetAbsent notes that the source has no report of that number.
func (l *Tracker) SetAbsent(ctx context.Context, lease *store.Lease, t disclosure.Type, number int64, at time.Time) error {
	return l.set(ctx, lease, store.Note{Name: absentName(t, number), Text: seconds(at)})
}

// Clock returns when something that is done now and then was done last.
func (l *Tracker) Time(name string) time.Time { return instant(l.text("clock/" + name)) }

// SetClock notes that it was done.
func (l *Tracker) SetTime(ctx context.Context, lease *store.Lease, name string, at time.Time) error {
	return l.set(ctx, lease, store.Note{Name: "clock/" + name, Text: seconds(at)})
}

func liveClock(t disclosure.Type) string { return "live/" + string(t) }

// Live returns since when a series is read as it comes, zero for never.
func (l *Tracker) Live(t disclosure.Type) time.Time { return l.Time(liveClock(t)) }

// SetLive notes since when it is.
func (l *Tracker) SetLive(ctx context.Context, lease *store.Lease, t disclosure.Type, at time.Time) error {
	return l.SetTime(ctx, lease, liveClock(t), at)
}

// Memo returns a text that a part of ingest keeps for itself.
func (l *Tracker) Value(name string) string { return l.text("memo/" + name) }

// SetMemo keeps such a text.
func (l *Tracker) SetValue(ctx context.Context, lease *store.Lease, name, text string) error {
	return l.set(ctx, lease, store.Note{Name: "memo/" + name, Text: text})
}

const statusNote = "status"

// Status returns how well the source is seen, as the process that reads it
// told last; ok is false when none ever did.
func (l *Tracker) Status() (s health.Status, ok bool) { return parseStatus(l.text(statusNote)) }

func parseStatus(text string) (s health.Status, ok bool) {
	return s, text != "" && json.Unmarshal([]byte(text), &s) == nil
}

// silence is how long the process that reads the source may say nothing.
const silence = 20 * time.Second

// Seen returns how well the source is seen at this moment. Whoever reads it
// tells so every few seconds, and who has not told for a while is gone: that is
// measured by our own clock, since another machine's may be wrong. reads tells
// whether this process would read it, or stands by to.
func (l *Tracker) SourceStatus(reads bool) health.Status {
	s, told := l.Status()
	l.mu.RLock()
	silent := time.Since(l.told) >= silence
	l.mu.RUnlock()
	switch {
	case told && !silent:
		return s
	case !told && reads:
		return health.Status{State: health.Blind, Since: l.began, Reasons: []health.Reason{
			{Surface: health.Service, Text: "no process has read the source yet", Since: l.began},
		}}
	case !told:
		return health.Status{State: health.Off}
	case !reads:
		return health.Status{State: health.Off, Since: s.At, At: s.At, Surfaces: s.Surfaces}
	}
	return health.Status{State: health.Blind, Since: s.At, At: s.At, Surfaces: s.Surfaces, Reasons: []health.Reason{
		{Surface: health.Service, Text: "no process has read the source since", Since: s.At},
	}}
}

// SetStatus tells the others.
func (l *Tracker) SetStatus(ctx context.Context, lease *store.Lease, s health.Status) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return l.set(ctx, lease, store.Note{Name: statusNote, Text: string(text)})
}
