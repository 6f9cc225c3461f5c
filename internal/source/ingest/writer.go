package ingest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/retry"
	"pregon/internal/source/docfetch"
	"pregon/internal/source/regulator"
	"pregon/internal/store"
)

// writer appends what the loops read to the store, under the lease.
type writer struct {
	*term
	queue      *retry.Queue      // reports whose page is to be read
	documents  *docfetch.Fetcher // nil: documents are not read
	claimed    atomic.Bool       // the store is marked as the source's
	newIssuers sync.Map          // keys of issuers that were appended and that Known may lack
}

// history selects how reports that were not known are announced.
type history bool

const (
	news history = false // as published, except those from before the first start
	old  history = true  // as back-filled
)

// take appends the rows of a surface. Reports from before the first start are
// history, on any surface. All others are news, however late they are found.
func (w *writer) take(ctx context.Context, rows []regulator.Row, seen time.Time, h history) (store.Outcome, error) {
	var published, backfilled []disclosure.Report
	var broken error
	for n := range rows {
		r := rows[n].Report(seen)
		if err := r.Validate(); err != nil {
			broken = &regulator.MarkupError{Surface: string(rows[n].Surface), Detail: err.Error()}
			continue
		}
		if h == old || w.isHistory(&rows[n]) {
			backfilled = append(backfilled, r)
		} else {
			published = append(published, r)
		}
	}
	out, err := w.append(ctx, disclosure.Published, published)
	if err != nil {
		return out, err
	}
	more, err := w.append(ctx, disclosure.Backfilled, backfilled)
	return out.Add(more), errors.Join(err, broken)
}

// takeList appends rows of a list. It queues new reports whose page may add
// something.
func (w *writer) takeList(
	ctx context.Context,
	t disclosure.Type,
	rows []regulator.Row,
	received time.Time,
	h history,
) (store.Outcome, error) {
	rows, err := w.resolveTimes(ctx, t, rows)
	if err != nil {
		return store.Outcome{}, err
	}
	out, err := w.take(ctx, rows, received, h)
	if err != nil || h == old || out.New == 0 {
		return out, err
	}
	for n := range rows {
		if !w.isHistory(&rows[n]) {
			w.queue.Add(disclosure.ReportID(t, rows[n].Number))
		}
	}
	return out, nil
}

// resolveTimes decides ambiguous times of rows with the times of their neighbours in the
// store.
func (w *writer) resolveTimes(ctx context.Context, t disclosure.Type, rows []regulator.Row) ([]regulator.Row, error) {
	var ids []string
	for _, row := range rows {
		if row.Later.IsZero() {
			continue
		}
		for n := row.Number - regulator.Neighbours; n <= row.Number+regulator.Neighbours; n++ {
			ids = append(ids, disclosure.ReportID(t, n))
		}
	}
	if len(ids) == 0 {
		return rows, nil
	}
	reports, err := w.Store.Reports(ctx, ids...)
	if err != nil {
		return nil, store.Unavailable(err)
	}
	var sure []regulator.Row
	for _, r := range reports {
		if r.TimeFrom != disclosure.FromList {
			sure = append(sure, regulator.Row{Number: r.Number, At: r.PublishedAt})
		}
	}
	return regulator.ResolveTimes(rows, sure), nil
}

// takePage appends a report as its own page shows it.
func (w *writer) takePage(ctx context.Context, row regulator.Row) error {
	rows, err := w.resolveTimes(ctx, row.Type, []regulator.Row{row})
	if err != nil {
		return err
	}
	_, err = w.take(ctx, rows, time.Now(), news)
	return err
}

// isHistory reports whether a report was published before the first start. A
// report of the minute of the start is news.
func (w *writer) isHistory(row *regulator.Row) bool {
	at := row.At
	if row.Surface == disclosure.FromList {
		at = at.Add(time.Minute)
	}
	return at.Before(w.series[row.Type].since)
}

// append appends reports, their issuers, and the reports that they refer to.
func (w *writer) append(
	ctx context.Context,
	event disclosure.Event,
	reports []disclosure.Report,
) (store.Outcome, error) {
	if len(reports) == 0 {
		return store.Outcome{}, nil
	}
	if err := w.claim(ctx); err != nil {
		return store.Outcome{}, err
	}
	var known []disclosure.Report
	if ids := disclosure.RelatedIDs(reports); len(ids) > 0 {
		var err error
		if known, err = w.Store.Reports(ctx, ids...); err != nil {
			return store.Outcome{}, w.recordStore(ctx, store.Unavailable(err))
		}
	}
	related := disclosure.Relate(reports, known)
	issuers := w.issuersOf(reports)
	out, err := w.Store.Append(ctx, store.Batch{
		Issuers: issuers,
		Reports: reports,
		Aside:   related,
		New:     event,
		Lease:   w.lease,
	})
	if err := w.recordAppend(ctx, store.Unavailable(err)); err != nil {
		return out, err
	}
	out.New -= out.NewIssuers + out.NewPositions // only reports are counted here
	out.NewIssuers = 0
	out.NewPositions = 0
	for _, i := range issuers {
		w.newIssuers.Store(disclosure.IssuerKey(i.NIF), true)
	}
	for _, r := range reports {
		w.monitor.Published(r.ListedAt())
	}
	if event == disclosure.Published && out.New > 0 {
		w.Regulator.Published()
	}
	if event == disclosure.Published && out.New+out.Updated > 0 && w.documents != nil {
		w.documents.Add(reports)
	}
	return out, nil
}

// appendIssuers appends issuers of the directory.
func (w *writer) appendIssuers(ctx context.Context, issuers []disclosure.Issuer) error {
	if err := w.claim(ctx); err != nil {
		return err
	}
	_, err := w.Store.Append(ctx, store.Batch{Issuers: issuers, Lease: w.lease})
	return w.recordAppend(ctx, store.Unavailable(err))
}

// errUnanswered is not a failure of the store: nothing was written.
var errUnanswered = fault.New(fault.Unavailable,
	"the regulator has not answered yet: the source is not identified, so nothing is stored")

// claim marks the store before the first append. The regulator must have
// answered by then: only its answers show whether it is simulated.
func (w *writer) claim(ctx context.Context) error {
	if w.claimed.Load() {
		return nil
	}
	if !w.Regulator.Answered() { // the exchange may have answered first
		return errUnanswered
	}
	if err := store.BindSource(ctx, w.Store, w.Regulator.Simulated()); err != nil {
		return w.recordStore(ctx, store.Unavailable(err))
	}
	w.claimed.Store(true)
	return nil
}

// issuersOf returns the issuers of reports that the directory lacks. Known
// issuers stay as they are: a report may spell a name in any way.
func (w *writer) issuersOf(reports []disclosure.Report) []disclosure.Issuer {
	var out []disclosure.Issuer
	for _, r := range reports {
		key := disclosure.IssuerKey(r.NIF)
		if key == "" || slices.ContainsFunc(out,
			func(i disclosure.Issuer) bool { return disclosure.IssuerKey(i.NIF) == key }) {
			continue
		}
		if _, known := w.Known.Issuer(key); known {
			w.newIssuers.Delete(key) // so that it holds only what Known lacks
			continue
		}
		if _, appended := w.newIssuers.Load(key); appended {
			continue
		}
		i := disclosure.Issuer{ID: key, Name: r.CompanyName, NIF: r.NIF}
		if named, ok := w.Known.Named(r.CompanyName); ok && named.NIF == "" {
			i.ID, i.Name = named.ID, named.Name // the report adds the NIF to a known issuer
		}
		if strings.HasPrefix(key, "V") {
			i.Kind = disclosure.Fund // V is the letter of entities without legal personality
		}
		if i.Validate() == nil {
			out = append(out, i)
		}
	}
	return out
}

// resolve searches for reports that refer to a report which was not known when
// they were stored. A back-fill, for example, stores the later of two first.
func (s *session) resolve(ctx context.Context) error {
	const recent, all = 7 * 24 * time.Hour, time.Hour
	resolved := -1 // number of reports at the last search
	var last time.Time
	for {
		if err := retry.Sleep(ctx, s.intervals.unresolved); err != nil {
			return err
		}
		n := s.Recent.Len()
		if n == resolved {
			continue
		}
		since := time.Now().Add(-recent)
		if time.Since(last) > all {
			since, last = time.Time{}, time.Now()
		}
		if s.resolveSince(ctx, since) == nil {
			resolved = n
		}
	}
}

// resolveSince appends every unresolved report since an instant once more, as it
// is known. append then finds the reports that it refers to.
func (w *writer) resolveSince(ctx context.Context, since time.Time) error {
	unresolved, err := w.Known.Unresolved(ctx, since)
	if err != nil {
		return err
	}
	for some := range slices.Chunk(unresolved, 100) {
		for n := range some {
			some[n].ForgetDocument() // which may have changed since
		}
		if _, err := w.append(ctx, disclosure.Published, some); err != nil {
			return err
		}
	}
	return nil
}
