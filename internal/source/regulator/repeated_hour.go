package regulator

import (
	"cmp"
	"slices"
	"time"
)

// Neighbours is the distance in registration numbers within which ResolveTimes uses the
// times of other reports.
const Neighbours = 10

// ResolveTimes chooses one of the two readings of times in the hour that the last
// Sunday of October has twice. Numbers rise with time: the second reading is right
// if a lower number has a time after the first reading, and otherwise the first
// is. sure are rows of the same series whose time is certain.
func ResolveTimes(rows, sure []Row) []Row {
	rows = slices.Clone(rows)
	order := make([]*Row, len(rows))
	for n := range rows {
		order[n] = &rows[n]
		if rows[n].Later.IsZero() {
			sure = append(sure, Row{Number: rows[n].Number, At: rows[n].At})
		}
	}
	slices.SortStableFunc(order, func(a, b *Row) int { return cmp.Compare(a.Number, b.Number) })
	for _, row := range order {
		if row.Later.IsZero() {
			continue
		}
		if latestBelow(sure, row.Number).After(row.At.Truncate(time.Minute).Add(time.Minute)) {
			row.At = row.Later
		}
		row.Later = time.Time{}
		sure = append(sure, Row{Number: row.Number, At: row.At})
	}
	return rows
}

// latestBelow returns the latest time among the neighbours with a lower number.
func latestBelow(sure []Row, number int64) (latest time.Time) {
	for _, n := range sure {
		if n.Number < number && n.Number >= number-Neighbours && n.At.After(latest) {
			latest = n.At
		}
	}
	return latest
}
