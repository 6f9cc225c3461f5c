package ingest

import (
	"cmp"
	"context"
	"slices"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/source/coverage"
	"pregon/internal/source/regulator"
	"pregon/internal/store"
)

// neighbours is the distance in registration numbers within which reports with a
// certain time are searched.
const neighbours = 10

// settle chooses one of the two readings of times in the hour that the last
// Sunday of October has twice.
func (w *writer) settle(ctx context.Context, t disclosure.Type, rows []regulator.Row) ([]regulator.Row, error) {
	var ids []string
	for _, row := range rows {
		if row.Later.IsZero() {
			continue
		}
		for n := row.Number - neighbours; n <= row.Number+neighbours; n++ {
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
	var sure []coverage.Numbered
	for _, r := range reports {
		if r.TimeFrom != disclosure.FromList {
			sure = append(sure, coverage.Numbered{Number: r.Number, At: r.PublishedAt})
		}
	}
	return settle(rows, sure), nil
}

// settle uses the order of the series: numbers rise with time. The second reading
// is right if a lower number has a time after the first reading; otherwise the
// first is. sure are reports whose time is certain.
func settle(rows []regulator.Row, sure []coverage.Numbered) []regulator.Row {
	rows = slices.Clone(rows)
	order := make([]*regulator.Row, len(rows))
	for n := range rows {
		order[n] = &rows[n]
		if rows[n].Later.IsZero() {
			sure = append(sure, coverage.Numbered{Number: rows[n].Number, At: rows[n].At})
		}
	}
	slices.SortStableFunc(order, func(a, b *regulator.Row) int { return cmp.Compare(a.Number, b.Number) })
	for _, row := range order {
		if row.Later.IsZero() {
			continue
		}
		if latestBelow(sure, row.Number).After(row.At.Truncate(time.Minute).Add(time.Minute)) {
			row.At = row.Later
		}
		row.Later = time.Time{}
		sure = append(sure, coverage.Numbered{Number: row.Number, At: row.At})
	}
	return rows
}

// latestBelow returns the latest time among the neighbours with a lower number.
func latestBelow(sure []coverage.Numbered, number int64) (latest time.Time) {
	for _, n := range sure {
		if n.Number < number && n.Number >= number-neighbours && n.At.After(latest) {
			latest = n.At
		}
	}
	return latest
}
