package events

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/document"
	"pregon/internal/retry"
)

// kept is the number of events that the hub keeps in memory: some minutes of the
// busiest day, which is more than a listener needs after a reconnect.
const kept = 4096

// Log is the part of the store from which older changes and the texts of documents
// are read.
type Log interface {
	document.Pages
	Changes(ctx context.Context, after int64, limit int) ([]disclosure.Change, error)
	Head(ctx context.Context) (disclosure.Head, error)
}

// Hub keeps the newest events.
type Hub struct {
	catalog *catalog.Catalog
	log     Log
	texts   *document.Contents
	primary primaryHead

	mu     sync.RWMutex
	recent []*lazy         // guarded by mu: without a gap, up to the head
	head   disclosure.Head // guarded by mu: as the catalogue shows it
	wake   chan struct{}   // guarded by mu: closed when the head or the state changes
	state  atomic.Pointer[State]
	heard  atomic.Bool
}

// lazy is an event that is encoded on first use: a flood of history costs nothing
// while there are no listeners.
type lazy struct {
	change disclosure.Change
	once   sync.Once
	event  *Event
}

// NewHub returns a hub that receives changes from the catalogue, so that a change
// is in the snapshot before listeners receive it.
func NewHub(c *catalog.Catalog, log Log) *Hub {
	h := &Hub{
		catalog: c,
		log:     log,
		texts:   document.NewContents(log),
		primary: primaryHead{store: log, lock: retry.NewLock()},
		wake:    make(chan struct{}),
	}
	c.Notify(h.add)
	return h
}

// SetPrimary sets the store that has the whole log, for a hub whose log is a copy that
// may be behind. It must be called before the hub is used.
func (h *Hub) SetPrimary(p Primary) { h.primary.store = p }

// add adds changes. An empty list means that the catalogue was reloaded.
func (h *Hub) add(changes []disclosure.Change) {
	h.wakeAll(func() { h.take(changes) })
}

// wakeAll calls change with the lock held, and wakes the listeners after it has
// released the lock, which all of them need.
func (h *Hub) wakeAll(change func()) {
	h.mu.Lock()
	change()
	wake := h.wake
	h.wake = make(chan struct{})
	h.mu.Unlock()
	close(wake)
}

// take adds changes to the recent ones. h.mu is held.
func (h *Hub) take(changes []disclosure.Change) {
	if len(changes) == 0 || changes[0].Seq != h.head.Seq+1 {
		h.recent = nil // the changes between are in the log
	}
	for _, c := range changes {
		h.recent = append(h.recent, &lazy{change: c})
	}
	if more := len(h.recent) - kept; more > 0 {
		h.recent = append([]*lazy(nil), h.recent[more:]...)
	}
	h.forgetNames(changes)
	h.head = h.catalog.Snapshot().Head()
	h.heard.Store(true)
}

// forgetNames removes the names that changes erase from the events in memory, as the store
// has removed them from the log. h.mu is held.
func (h *Hub) forgetNames(changes []disclosure.Change) {
	erased := map[string]bool{}
	for i := range changes {
		if p := changes[i].Position; p != nil && p.Erased {
			erased[p.ID] = true
		}
	}
	if len(erased) == 0 {
		return
	}
	for i, l := range h.recent {
		p := l.change.Position
		if p == nil || !erased[p.ID] || p.Name == "" {
			continue
		}
		nameless := *p
		nameless.Name = ""
		nameless.Erased = true
		change := l.change
		change.Position = &nameless
		h.recent[i] = &lazy{change: change}
	}
}

// Ready reports whether the hub has been notified by the catalogue.
func (h *Hub) Ready() bool { return h.heard.Load() }

// Newest returns the seq of the newest change that the catalogue shows.
func (h *Hub) Newest() int64 { return h.Head().Seq }

// Head returns the end of the log as the catalogue shows it.
func (h *Hub) Head() disclosure.Head {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.head
}

// Seen returns the end of the log in the snapshot that Encode uses, and the mark
// of its newest change.
func (h *Hub) Seen() (disclosure.Head, disclosure.Mark) {
	s := h.catalog.Snapshot()
	return s.Head(), s.Last()
}

// Since returns up to limit events after a cursor, in order, from memory. The
// channel wake is closed when there are newer events or the state changes. ok is
// false if the cursor is older than the events in memory, in which case Read
// may return them, if it is beyond the end of the log, or if it has another epoch.
func (h *Hub) Since(after disclosure.Cursor, limit int) (events []*Event, wake <-chan struct{}, ok bool) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	missing := h.head.Seq - after.Seq
	if missing < 0 || missing > int64(len(h.recent)) || after.Epoch != h.head.Epoch {
		return nil, h.wake, false
	}
	start := len(h.recent) - int(missing)
	end := min(len(h.recent), start+limit)
	for _, l := range h.recent[start:end] {
		events = append(events, h.ready(l))
	}
	return events, h.wake, true
}

// Read returns up to limit events after a cursor from the log. It returns no
// change that is not in the catalogue yet.
func (h *Hub) Read(ctx context.Context, after disclosure.Cursor, limit int) ([]*Event, error) {
	head := h.Head()
	if after.Epoch != head.Epoch || after.Seq >= head.Seq {
		return nil, nil
	}
	changes, err := h.log.Changes(ctx, after.Seq, int(min(head.Seq-after.Seq, int64(limit))))
	if err != nil {
		return nil, fmt.Errorf("reading changes after %v: %w", after, err)
	}
	events := make([]*Event, 0, len(changes))
	for i := range changes {
		events = append(events, h.Encode(&changes[i]))
	}
	return events, nil
}

// After returns up to limit events after a cursor, from memory or from the log.
func (h *Hub) After(ctx context.Context, after disclosure.Cursor, limit int) ([]*Event, error) {
	if events, _, ok := h.Since(after, limit); ok {
		return events, nil
	}
	return h.Read(ctx, after, limit)
}

// Match reports whether an event is selected. For a selector that is InDocument it
// loads the text, once for all listeners. An error means that the text could not be
// loaded: the caller must try again, and must not pass the event over.
func (h *Hub) Match(ctx context.Context, s *Selector, e *Event) (bool, error) {
	selected := s.Match(e)
	if !selected || !s.NeedsText(e) {
		return selected, nil
	}
	if e.document() == "" { // the watchlist has changed since Match
		return false, nil
	}
	content, err := h.Text(ctx, e)
	return err == nil && s.MatchText(e, content), err
}

// Text returns the words of the document of an event that a selector with
// InDocument matches.
func (h *Hub) Text(ctx context.Context, e *Event) (*document.Content, error) {
	return h.texts.Get(ctx, e.document())
}

// ready encodes an event on first use. h.mu is held: the events in memory have the
// epoch of the head.
func (h *Hub) ready(l *lazy) *Event {
	l.once.Do(func() { l.event = newEvent(&l.change, h.catalog.Snapshot().Directory(), h.head.Epoch) })
	return l.event
}

// Encode returns the event of a change, joined with the current directory.
func (h *Hub) Encode(c *disclosure.Change) *Event {
	s := h.catalog.Snapshot()
	return newEvent(c, s.Directory(), s.Head().Epoch)
}

// State is the health of the source, as listeners receive it.
type State struct {
	Name string
	JSON []byte
}

const pollInterval = time.Second // between two polls of the state

// Watch polls the state until the context ends. It wakes the listeners when the
// name of the state changes.
func (h *Hub) Watch(ctx context.Context, poll func() State) {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		if s := poll(); s.Name != h.State().Name {
			h.wakeAll(func() { h.state.Store(&s) })
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// State returns the state of the last poll, or the zero State before the first.
func (h *Hub) State() State {
	if s := h.state.Load(); s != nil {
		return *s
	}
	return State{}
}
