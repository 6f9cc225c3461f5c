package registers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/retry"
	"pregon/internal/source/health"
	"pregon/internal/source/regulator"
	"pregon/internal/source/throttle"
	"pregon/internal/store"
)

const (
	// dealingHistory is how many days of dealings are loaded.
	dealingHistory = MaxRetention
	// dealingWindow is how many days of the past are read at once.
	dealingWindow = 30
	// dealingOverlap is how many days before the last complete read are read again.
	dealingOverlap = 3
	// mostDealingPages bounds the pages of a window.
	mostDealingPages = 2000
)

// dealingsKey is the key under which the state of the register is stored.
const dealingsKey = "registers/dealings"

// dealingsState is how far the register was read.
type dealingsState struct {
	Whole disclosure.Day `json:"whole"` // of the last complete read; 0 before the first
	From  disclosure.Day `json:"from"`  // everything since this day is loaded; 0 if nothing is
	Swept disclosure.Day `json:"swept"` // since the last sweep began, everything since this day was read again
}

func (r *Reader) dealingsState() (s dealingsState) {
	_ = json.Unmarshal([]byte(r.Coverage.Value(dealingsKey)), &s) // what cannot be read is read anew
	return s
}

// changeDealings changes the state. Two loops do so.
func (r *Reader) changeDealings(ctx context.Context, change func(*dealingsState)) error {
	if err := r.dealingsLock.Acquire(ctx); err != nil {
		return err
	}
	defer r.dealingsLock.Release()
	s := r.dealingsState()
	change(&s)
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return store.Unavailable(r.Coverage.SetValue(ctx, r.Lease, dealingsKey, string(text)))
}

func (r *Reader) followDealings(ctx context.Context) error {
	return r.repeat(ctx, health.Dealings, r.intervals.forDealings, r.readNewDealings)
}

// readNewDealings reads the list of the last days. The first time, everything it has is
// history.
func (r *Reader) readNewDealings(ctx context.Context) error {
	start := time.Now()
	state := r.dealingsState()
	today := disclosure.DayOf(start)
	from := today - dealingOverlap
	event := disclosure.Backfilled
	if state.Whole > 0 {
		from = max(min(from, state.Whole-dealingOverlap), r.firstDealing())
		event = disclosure.Published
	}
	unreadable, err := r.readDealings(ctx, throttle.Registers, from, today, event)
	if err != nil {
		return err
	}
	err = r.changeDealings(ctx, func(s *dealingsState) {
		s.Whole = today
		if s.From == 0 {
			s.From = from
		}
	})
	if err = errors.Join(err, unreadable); err != nil {
		return err
	}
	return r.setRegister(ctx, string(Dealings), start, r.Known.CountPositions(disclosure.Dealing))
}

// firstDealing is the first day of the dealings that are loaded.
func (r *Reader) firstDealing() disclosure.Day {
	return disclosure.DayOf(time.Now()) - dealingHistory
}

// loadDealings loads the history, the newest first. When it is loaded, its windows are read
// again, one after the other: the register may rectify and remove old notices.
func (r *Reader) loadDealings(ctx context.Context) error {
	for failures := 0; ; {
		wait, err := r.readOldDealings(ctx)
		if err != nil && ctx.Err() == nil {
			r.Logger.Debug("old dealings were not read", "err", err, "cause", regulator.Cause(err))
			wait = retry.Backoff(failures, r.intervals.firstRetry, r.intervals.longestRetry)
			failures++
		} else {
			failures = 0
		}
		if err := retry.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// readOldDealings reads one window of the past and returns the time until the next.
func (r *Reader) readOldDealings(ctx context.Context) (wait time.Duration, err error) {
	state := r.dealingsState()
	first := r.firstDealing()
	switch {
	case state.From == 0: // the list of the last days was not read yet
		return r.intervals.next, nil
	case state.From > first:
		from := max(first, state.From-dealingWindow)
		err := r.readWindow(ctx, throttle.Backfill, from, state.From-1, disclosure.Backfilled)
		if err != nil {
			return 0, err
		}
		return r.intervals.pause, r.changeDealings(ctx, func(s *dealingsState) { s.From = from })
	}
	to := state.Swept - 1
	if to < first {
		to = disclosure.DayOf(time.Now())
	}
	from := max(first, to-dealingWindow+1)
	if err := r.readWindow(ctx, throttle.Refresh, from, to, disclosure.Published); err != nil {
		return 0, err
	}
	return r.intervals.sweep, r.changeDealings(ctx, func(s *dealingsState) { s.Swept = from })
}

// readWindow reads a window of the past. Rows that cannot be read are reported, and do not
// keep the windows before from being read.
func (r *Reader) readWindow(
	ctx context.Context,
	priority throttle.Priority,
	from, to disclosure.Day,
	event disclosure.Event,
) error {
	start := time.Now()
	unreadable, err := r.readDealings(ctx, priority, from, to, event)
	if unreadable != nil {
		_ = r.RecordRead(ctx, health.Dealings, start, unreadable)
	}
	return err
}

// readDealings reads all notices of a window and stores what changed. It returns apart what
// is wrong with rows that cannot be read.
func (r *Reader) readDealings(
	ctx context.Context,
	priority throttle.Priority,
	from, to disclosure.Day,
	event disclosure.Event,
) (unreadable, err error) {
	if err := r.Known.CatchUp(ctx); err != nil {
		return nil, err
	}
	known := r.knownDealings(from, to)
	rows, unreadable, err := r.walkDealings(ctx, priority, from, to)
	if len(rows) > 0 {
		if err := r.takeDealings(ctx, rows, known, event); err != nil {
			return nil, err
		}
	}
	missing := missingDealings(known, rows, from, to)
	if err != nil || unreadable != nil || len(missing) == 0 {
		return unreadable, err
	}
	// The list may have changed while it was read, so that a row was on neither page.
	rows, unreadable, err = r.walkDealings(ctx, priority, from, to)
	if err != nil || unreadable != nil {
		return unreadable, err
	}
	return nil, r.withdrawDealings(ctx, missingDealings(known, rows, from, to), len(rows))
}

// knownDealings returns the known notices of a window, by number.
func (r *Reader) knownDealings(from, to disclosure.Day) map[string]*disclosure.Position {
	known := map[string]*disclosure.Position{}
	for p := range r.Known.Positions(disclosure.Dealing) { // the newest first
		day := dayOf(p.RegisteredOn)
		if day < from {
			break
		}
		if day <= to {
			known[p.Number] = p
		}
	}
	return known
}

// walkDealings reads all pages of a window. A notice that is registered meanwhile moves the
// others to later places, where they are read twice. What is wrong with rows that cannot be
// read is returned apart.
func (r *Reader) walkDealings(
	ctx context.Context,
	priority throttle.Priority,
	from, to disclosure.Day,
) (rows []regulator.Dealing, unreadable, err error) {
	client := r.Regulator.For(priority)
	seen := map[int64]bool{}
	for page := 0; ; page++ {
		got, err := client.Dealings(ctx, from, to, page)
		switch {
		case regulator.IsPartial(err):
			unreadable = err
		case err != nil:
			return rows, unreadable, err
		}
		for _, row := range got.Rows {
			if !seen[row.Number] {
				seen[row.Number] = true
				rows = append(rows, row)
			}
		}
		if page+1 >= got.Pages {
			return rows, unreadable, nil
		}
		if page+1 >= mostDealingPages {
			return rows, unreadable, fault.New(fault.Unavailable, "the list of dealings has more than %d pages", mostDealingPages)
		}
	}
}

// takeDealings stores the notices that are new or have changed.
func (r *Reader) takeDealings(
	ctx context.Context,
	rows []regulator.Dealing,
	known map[string]*disclosure.Position,
	event disclosure.Event,
) error {
	var fresh, changed []disclosure.Position
	by := rectifiedBy(rows)
	for n := range rows {
		row := &rows[n]
		p := r.dealing(row)
		for _, number := range by[p.Number] {
			if !slices.Contains(p.RectifiedBy, number) {
				p.RectifiedBy = append(p.RectifiedBy, number)
			}
		}
		before := known[p.Number]
		isRectified := len(p.RectifiedBy) > 0 || before != nil && len(before.RectifiedBy) > 0
		if isRectified {
			p.State = disclosure.StateRectified
		}
		if before == nil {
			if !r.isExpired(row.Declarant, row.RegisteredOn) {
				fresh = append(fresh, p)
			}
			continue
		}
		if _, fields := before.Merge(p); len(fields) > 0 {
			changed = append(changed, p)
		}
	}
	changed = append(changed, r.rectified(rows, by)...)
	slices.Reverse(fresh) // the oldest first, as they were registered
	if err := r.append(ctx, event, fresh); err != nil {
		return err
	}
	if err := r.append(ctx, disclosure.Published, changed); err != nil {
		return err
	}
	slices.Reverse(fresh)
	r.queueDocuments(fresh)
	return nil
}

// dealing returns the position of a row.
func (r *Reader) dealing(row *regulator.Dealing) disclosure.Position {
	number := numberOf(row.Number)
	return disclosure.Position{
		ID:           disclosure.PositionID(disclosure.Dealing, number, 1),
		Kind:         disclosure.Dealing,
		Issuer:       r.issuerID(row.NIF),
		IssuerName:   row.Name,
		NIF:          row.NIF,
		Name:         row.Declarant,
		State:        disclosure.StateCurrent,
		Number:       number,
		RegisteredOn: row.RegisteredOn.String(),
		Relation:     row.Relation,
		Rectifies:    numbersOf(row.Rectifies),
		RectifiedBy:  numbersOf(row.RectifiedBy),
		SourceURL:    r.Regulator.IssuerDealingsURL(row.NIF),
		DocumentURL:  row.DocumentURL,
	}
}

// rectifiedBy returns the numbers of the notices that rectify others, by the numbers of
// these. The row of the earlier one need not say so.
func rectifiedBy(rows []regulator.Dealing) map[string][]string {
	by := map[string][]string{}
	for n := range rows {
		for _, number := range numbersOf(rows[n].Rectifies) {
			by[number] = append(by[number], numberOf(rows[n].Number))
		}
	}
	return by
}

// listed returns the numbers of rows.
func listed(rows []regulator.Dealing) map[string]bool {
	numbers := map[string]bool{}
	for n := range rows {
		numbers[numberOf(rows[n].Number)] = true
	}
	return numbers
}

// rectified returns the known notices that rows rectify, as rectifiedBy says, and that are
// on none of the pages that were read.
func (r *Reader) rectified(
	rows []regulator.Dealing,
	rectifying map[string][]string,
) (out []disclosure.Position) {
	read := listed(rows)
	for number, by := range rectifying {
		p, ok := r.Known.Position(disclosure.PositionID(disclosure.Dealing, number, 1))
		if !ok || read[number] || p.State == disclosure.StateAnnulled {
			continue
		}
		changed := withState(p, disclosure.StateRectified)
		changed.RectifiedBy = by
		if _, fields := p.Merge(changed); len(fields) > 0 {
			out = append(out, changed)
		}
	}
	return out
}

func numbersOf(numbers []int64) (out []string) {
	for _, n := range numbers {
		out = append(out, numberOf(n))
	}
	return out
}

// missingDealings returns the known notices of a window that are not in the list.
func missingDealings(
	known map[string]*disclosure.Position,
	rows []regulator.Dealing,
	from, to disclosure.Day,
) (missing []*disclosure.Position) {
	read := listed(rows)
	for number, p := range known {
		day := dayOf(p.RegisteredOn)
		if !read[number] && day >= from && day <= to && p.State != disclosure.StateAnnulled {
			missing = append(missing, p)
		}
	}
	return missing
}

// A list that lacks more of the known notices than this is taken for one that is not
// whole.
const (
	mostMissing    = 3
	missingPercent = 20
)

// withdrawDealings marks notices that the register does not show any more, and erases the
// names of natural persons in them.
func (r *Reader) withdrawDealings(ctx context.Context, missing []*disclosure.Position, listed int) error {
	if len(missing) > mostMissing && len(missing)*100 > (listed+len(missing))*missingPercent {
		return &regulator.MarkupError{
			Surface: "list of dealings",
			Detail:  fmt.Sprintf("it lacks %d of %d notices that it had before", len(missing), listed+len(missing)),
		}
	}
	var withdrawn []disclosure.Position
	var ids []string
	for _, p := range missing {
		withdrawn = append(withdrawn, withState(p, disclosure.StateAnnulled))
		ids = append(ids, p.ID)
	}
	if err := r.eraseNames(ctx, ids); err != nil { // first: a process may be killed between the two
		return err
	}
	return r.append(ctx, disclosure.Published, withdrawn)
}
