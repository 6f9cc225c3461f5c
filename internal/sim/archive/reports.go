package archive

import (
	"slices"
	"time"

	"pregon/internal/disclosure"
)

// reports finds reports by day, number, issuer and document.
type reports struct {
	days   map[dayKey][]*Report // newest first
	byID   map[string]*Report   // the last one of each number
	filed  map[string][]*Report // by issuer, newest first
	byGUID map[string]*Report   // by the document's identifier
	next   [3]int64             // the next numbers; zero for a series without reports
	last   disclosure.Day       // the last day with reports
}

type dayKey struct {
	series disclosure.Type
	day    disclosure.Day
}

func newReports() *reports {
	return &reports{
		days:   map[dayKey][]*Report{},
		byID:   map[string]*Report{},
		filed:  map[string][]*Report{},
		byGUID: map[string]*Report{},
	}
}

// add adds a report.
func (rs *reports) add(r *Report) {
	s, d := r.Type.Index(), disclosure.DayOf(r.PublishedAt)
	key := dayKey{r.Type, d}
	rs.days[key] = inserted(rs.days[key], r)
	rs.byID[r.ID] = r
	if r.Issuer != nil {
		rs.filed[r.Issuer.ID] = inserted(rs.filed[r.Issuer.ID], r)
	}
	if guid := r.guid(); guid != "" {
		rs.byGUID[guid] = r
	}
	rs.next[s] = max(rs.next[s], r.Number+1)
	rs.last = max(rs.last, d)
}

// inserted returns a list, newest first, with another report before equal ones.
func inserted(list []*Report, r *Report) []*Report {
	n, _ := slices.BinarySearchFunc(list, r, newestFirst)
	return slices.Insert(list, n, r)
}

func newestFirst(x, y *Report) int { return disclosure.CompareReports(&x.Report, &y.Report) }

// before returns the last report that the issuer of a report filed before it and
// before a time, or nil.
func (rs *reports) before(r *Report, until time.Time) *Report {
	for _, earlier := range rs.filed[r.Issuer.ID] {
		if earlier.PublishedAt.Before(r.PublishedAt) && earlier.PublishedAt.Before(until) && r.mayRelate(earlier.Type) {
			return earlier
		}
	}
	return nil
}
