package query

import (
	"cmp"
	"context"
	"slices"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/disclosure/headline"
)

// maxOrdered is the number of reports of the days of a page that Important puts in order.
const maxOrdered = 2000

// Important returns a page of a list of reports like Reports, the newest day first, but the
// reports of a day by their importance: inside information, then by the most important fact
// that a report states, and routine reports last. Of reports that are equally important
// the newest is first, so that the order depends on the reports alone.
//
// ordered is false if the days of the page have more than maxOrdered reports. They are then
// in the order of Reports.
func (q *Service) Important(
	ctx context.Context, s *catalog.Snapshot, l List,
) (page catalog.Page, ordered bool, err error) {
	page, err = q.Reports(ctx, s, l)
	if err != nil || len(page.Reports) == 0 {
		return page, true, err
	}
	first := disclosure.DayOf(page.Reports[0].Listed())
	last := disclosure.DayOf(page.Reports[len(page.Reports)-1].Listed())
	days := l
	days.Page = 1
	days.Limit = maxOrdered
	days.Filter.From = last
	days.Filter.To = first
	whole, err := q.Reports(ctx, s, days)
	if err != nil || whole.Total > maxOrdered {
		return page, false, err
	}
	before, err := q.countAfter(ctx, s, l, first)
	if err != nil {
		return page, false, err
	}
	sortByImportance(whole.Reports)
	from := (l.Page-1)*l.Limit - before
	page.Reports = whole.Reports[from : from+len(page.Reports)]
	return page, true, nil
}

// countAfter returns the number of reports of a list after a day.
func (q *Service) countAfter(ctx context.Context, s *catalog.Snapshot, l List, day disclosure.Day) (int, error) {
	if l.Filter.To != 0 && l.Filter.To <= day {
		return 0, nil
	}
	l.Filter.From = day + 1
	l.Page, l.Limit = 1, 1
	page, err := q.Reports(ctx, s, l)
	return page.Total, err
}

// sortByImportance orders reports that are in the order of a list.
func sortByImportance(reports []catalog.Report) {
	type key struct {
		day        disclosure.Day
		importance int
	}
	keys := make(map[string]key, len(reports))
	for _, r := range reports {
		keys[r.ID()] = key{
			day:        disclosure.DayOf(r.Listed()),
			importance: importance(r.Decode()),
		}
	}
	slices.SortStableFunc(reports, func(a, b catalog.Report) int {
		x, y := keys[a.ID()], keys[b.ID()]
		return cmp.Or(cmp.Compare(y.day, x.day), cmp.Compare(x.importance, y.importance))
	})
}

// importance returns the rank of a report among those of a day, 0 for the most important.
func importance(r *disclosure.Report) int {
	rank := headline.Rank(r.Facts)
	switch {
	case r.Type == disclosure.IP:
		return rank
	case r.IsRoutine():
		return 2*(headline.MaxRank+1) + rank
	}
	return headline.MaxRank + 1 + rank
}
