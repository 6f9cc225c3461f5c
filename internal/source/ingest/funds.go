package ingest

import (
	"cmp"
	"context"
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

// funds reads the lists of HR issuer by issuer: HR has no list by date.
type funds struct{ *writer }

// run reads the HR of one fund after another, for reports that the latest pages
// did not show. A fund that cannot be read waits for the next cycle.
func (f *funds) run(ctx context.Context) error {
	const cursor = "hr/sweep"
	for {
		wait := f.intervals.sweep
		if f.monitor.Failing(health.HREntities) { // to notice that they recover
			wait = min(wait, 2*f.intervals.retry)
		}
		if err := retry.Sleep(ctx, wait); err != nil {
			return err
		}
		issuer, ok := after(f.Coverage.Value(cursor), byID(f.Known.Issuers(disclosure.Fund, disclosure.Manager)))
		if !ok {
			continue
		}
		_ = f.recordRead(ctx, health.HREntities, time.Now(), f.sweep(ctx, issuer))
		_ = f.Coverage.SetValue(ctx, f.lease, cursor, issuer.ID) // if this fails, it is read again
	}
}

// sweep reads the HR of an issuer, newest first, as far as there is something
// new. It appends the oldest first: if it is interrupted, the next sweep still
// finds what is missing.
func (f *funds) sweep(ctx context.Context, i disclosure.Issuer) error {
	var found []regulator.List
	broken := f.eachPage(ctx, throttle.Registers, regulator.Funds, i, func(list regulator.List) (more bool, err error) {
		known, err := f.knowsAll(ctx, list.Rows)
		if err != nil || known {
			return false, err
		}
		found = append(found, list)
		return true, nil
	})
	if broken != nil && !regulator.IsPartial(broken) {
		return broken
	}
	for _, list := range slices.Backward(found) {
		if _, err := f.takeList(ctx, disclosure.HR, list.Rows, list.Received, news); err != nil {
			return err
		}
	}
	return broken
}

// eachPage calls fn for the pages of an issuer's HR in a division, as pagesUnder
// does. The site finds an issuer by one spelling of its NIF only, so the other
// spelling is tried if the known one has no rows.
func (f *funds) eachPage(
	ctx context.Context,
	p throttle.Priority,
	d regulator.Division,
	i disclosure.Issuer,
	fn func(regulator.List) (more bool, err error),
) error {
	found := false
	count := func(list regulator.List) (bool, error) {
		found = found || len(list.Rows) > 0
		return fn(list)
	}
	first := f.pagesUnder(ctx, p, d, i.NIF, count)
	other, ok := disclosure.OtherSpelling(i.NIF)
	if found || !ok || first != nil && !regulator.IsMarkup(first) {
		return first
	}
	second := f.pagesUnder(ctx, p, d, other, count)
	if found || second != nil {
		return second
	}
	return first
}

// pagesUnder calls fn for the pages of an issuer's HR, newest first, each with
// the rows that the pages before did not have, until there are no more pages or
// fn wants no more. Rows that cannot be read do not hide the rows after them. An
// issuer that the source does not know has no HR.
func (f *funds) pagesUnder(
	ctx context.Context,
	p throttle.Priority,
	d regulator.Division,
	nif string,
	fn func(regulator.List) (more bool, err error),
) error {
	seen := map[int64]bool{}
	var broken error
	for page := 0; page < mostPages; page++ {
		list, err := f.Regulator.For(p).EntityHR(ctx, d, nif, page)
		if fault.KindOf(err) == fault.NotFound {
			break
		}
		if err != nil && !regulator.IsPartial(err) {
			return err
		}
		broken = cmp.Or(broken, err)
		list.Rows = unseen(list.Rows, seen)
		more, err := fn(list)
		if err != nil {
			return err
		}
		if !more || len(list.Rows) == 0 || page+1 >= list.Pages {
			break
		}
	}
	return broken
}

// knowsAll reports whether the store has all of the reports.
func (f *funds) knowsAll(ctx context.Context, rows []regulator.Row) (bool, error) {
	var ids []string
	for _, row := range rows {
		ids = append(ids, disclosure.ReportID(row.Type, row.Number))
	}
	known, err := f.Store.Reports(ctx, ids...)
	return len(known) == len(ids), store.Unavailable(err)
}

// byID sorts issuers by id and drops those without a NIF, by which the source
// finds them.
func byID(issuers []disclosure.Issuer) []disclosure.Issuer {
	issuers = slices.DeleteFunc(issuers, func(i disclosure.Issuer) bool { return i.NIF == "" })
	slices.SortFunc(issuers, func(a, b disclosure.Issuer) int { return cmp.Compare(a.ID, b.ID) })
	return issuers
}

// after returns the first issuer after an id, or the first of all if that was the
// last.
func after(id string, issuers []disclosure.Issuer) (disclosure.Issuer, bool) {
	for _, i := range issuers {
		if i.ID > id {
			return i, true
		}
	}
	if len(issuers) == 0 {
		return disclosure.Issuer{}, false
	}
	return issuers[0], true
}

// lastIssuersDay is the last day on which issuers of securities published HR.
var lastIssuersDay, _ = disclosure.ParseDay("2020-02-08")

// readIssuer reads the HR of an issuer for a step of a back-fill. HR that it
// published as an issuer of securities, until 2020, is in a separate division.
func (f *funds) readIssuer(ctx context.Context, st *step) error {
	divisions := []regulator.Division{regulator.Funds}
	if st.from <= lastIssuersDay {
		divisions = append(divisions, regulator.Issuers)
	}
	var broken error
	for _, d := range divisions {
		err := f.eachPage(ctx, throttle.Backfill, d, st.issuer, func(list regulator.List) (more bool, err error) {
			wanted, reached := st.within(list.Rows)
			out, err := f.takeList(ctx, disclosure.HR, wanted, list.Received, old)
			st.outcome = st.outcome.Add(out)
			return !reached, err
		})
		if err != nil && !regulator.IsPartial(err) {
			return err
		}
		broken = cmp.Or(broken, err)
	}
	return broken
}
