package rest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/push/events"
	"pregon/internal/query"
)

const (
	defaultChanges = 100
	maxChanges     = 1000
	maxWait        = 25 // seconds
	maxScanned     = 20_000
	maxScanTime    = 2 * time.Second
)

// listChanges returns the changes after a cursor, oldest first. A long poll is
// answered as soon as there is a change.
func (a *API) listChanges(r *http.Request, s *catalog.Snapshot) (response, error) {
	p := a.listParams(r)
	selection := p.selection(s, events.AllEvents)
	asked := p.cursor("after")
	after, _ := disclosure.ParseCursor(asked)
	limit := p.Integer("limit", defaultChanges, 1, maxChanges)
	wait := p.Integer("wait", 0, 0, maxWait)
	if err := p.Err(); err != nil {
		return response{}, err
	}
	principal := access.FromContext(r.Context())
	var err error
	if selection, err = query.PermittedSelection(principal, selection); err != nil {
		return response{}, err
	}
	ctx := r.Context()
	ahead := !a.Events.Has(after) // Locate waits for it
	if ahead {
		var stop context.CancelFunc
		ctx, stop = a.untilStopping(ctx)
		defer stop()
	}
	if wait > 0 || ahead {
		release, err := a.Conns.Acquire(principal.ID, events.MaxOpen)
		if err != nil {
			return response{}, err
		}
		defer release()
	}
	end := time.Now().Add(time.Duration(wait) * time.Second)
	place, err := a.Events.Locate(ctx, after, time.Until(end))
	if errors.Is(context.Cause(ctx), errStopping) {
		return response{}, errStopping
	}
	if err != nil {
		return response{}, err
	}
	if place.Ahead {
		p.Reject("after", asked, events.AheadReason)
		return response{}, p.Err()
	}
	found, err := a.changes(r, place, limit, selection.Compile(a.Query.Lists()), end)
	return response{body: found}.warn(p.Warnings()).widen(selection.Filter), err
}

// changes collects events until the limit is reached, or there are some and no
// more, or the time is over. If the filter matches little, it stops after a
// while and returns the cursor to continue from.
func (a *API) changes(
	r *http.Request,
	place events.Position,
	limit int,
	selector *events.Selector,
	end time.Time,
) ([]byte, error) {
	ctx := r.Context()
	scan := time.Duration(0)
	after := place.After
	if place.Reset != nil {
		end = time.Now() // the client should learn it at once
	}
	b := []byte(`{"data":[`)
	found, scanned := 0, 0
	for found < limit && scanned < maxScanned && scan < maxScanTime {
		alive, changed := a.Guard.StillValid(access.FromContext(ctx))
		if !alive {
			break // the next request is refused
		}
		start := time.Now()
		_, wake, inMemory := a.Events.Since(after, 0) // before reading, so that no event is missed
		// The slot is released before waiting. All long polls of a caller wake
		// at the same moment and find new events in memory.
		slot, err := a.Guard.AcquireSlot(r, access.FromContext(ctx), !inMemory)
		if err != nil {
			return nil, err
		}
		events, err := a.Events.After(ctx, after, batchSize)
		if err != nil {
			slot.Release()
			return nil, err
		}
		for _, e := range events {
			if found == limit || selector.InDocument() && scan+time.Since(start) > maxScanTime {
				break
			}
			matched, failed := a.match(ctx, selector, e)
			if failed != nil && found == 0 {
				slot.Release()
				return nil, failed
			}
			if failed != nil {
				scan = maxScanTime // the next request continues here
				break
			}
			after.Seq = e.Seq
			scanned++
			if matched {
				if found > 0 {
					b = append(b, ',')
				}
				b = append(b, e.JSON...)
				found++
			}
		}
		slot.Release()
		scan += time.Since(start)
		left := time.Until(end)
		if len(events) > 0 {
			continue
		}
		if found > 0 || left <= 0 || after.Epoch != a.Events.Head().Epoch { // the next request reports the reset
			break
		}
		select {
		case <-wake:
		case <-changed:
		case <-time.After(left):
		case <-ctx.Done():
		case <-a.Stopping:
			end = time.Now()
		}
		if ctx.Err() != nil {
			break
		}
	}
	newest := max(after.Seq, a.Events.Newest())
	b = strconv.AppendInt(append(b, `],"next_after":`...), after.Seq, 10)
	b = strconv.AppendInt(append(b, `,"newest":`...), newest, 10)
	b = strconv.AppendBool(append(b, `,"more":`...), after.Seq < newest)
	b = append(b, `,"ahead":false`...) // for older clients: such a cursor is refused
	b = after.Append(append(b, `,"next":"`...))
	reset, err := json.Marshal(place.Reset)
	if err != nil {
		return nil, err
	}
	b = append(append(b, `","reset":`...), reset...)
	return append(b, '}'), nil
}

// match reports whether an event is selected. It waits a while for the text of a
// document.
func (a *API) match(ctx context.Context, selector *events.Selector, e *events.Event) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, textWait)
	defer cancel()
	matched, err := a.Events.Match(ctx, selector, e)
	if err != nil {
		return false, fault.Wrap(fault.Unavailable, err,
			"The text of a document cannot be read now. Try again in a few seconds.")
	}
	return matched, nil
}
