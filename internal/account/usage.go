package account

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/query"
	"pregon/internal/store"
)

// Bounds of the days in an answer.
const (
	defaultUsageDays = 30
	maxUsageDays     = 400
)

// Usage is how often an account used what.
type Usage struct {
	From       string           `json:"from"`
	To         string           `json:"to"`
	Total      int64            `json:"total"`
	Days       []UsageDay       `json:"days"`
	Operations []OperationUsage `json:"operations"`
}

// UsageDay is the use on a day.
type UsageDay struct {
	Date       string           `json:"date"`
	Total      int64            `json:"total"`
	Operations map[string]int64 `json:"operations"`
}

// OperationUsage is the use of an operation on all days.
type OperationUsage struct {
	Operation string `json:"operation"`
	Total     int64  `json:"total"`
}

// Period is a request for the use on some days, the last ones unless it says more.
type Period struct {
	First, Last disclosure.Day
}

// ReadPeriod reads a period from parameters.
func ReadPeriod(p *query.Params) Period {
	out := Period{First: p.Day("from"), Last: p.Day("to")}
	if out.Last == 0 {
		out.Last = disclosure.DayOf(time.Now())
	}
	if out.First == 0 {
		out.First = max(out.Last-defaultUsageDays+1, 1)
	}
	if n := out.Last - out.First + 1; n < 1 || n > maxUsageDays {
		p.Reject("from", out.First.String(), "must be from 1 to %d days before the end of %s", maxUsageDays, out.Last)
	}
	return out
}

// LatestUsage returns the period that is usual.
func LatestUsage() Period { return ReadPeriod(query.NewParams(nil)) }

// UsageOf returns the use of an account: of the caller's own for an empty id.
func (s *Service) UsageOf(ctx context.Context, by access.Principal, account string, asked Period) (Usage, error) {
	id, err := wholeSubject(by, account, allUsage)
	if err != nil {
		return Usage{}, err
	}
	counts, err := bounded(ctx, func(ctx context.Context) ([]store.Count, error) {
		return s.o.Usage.Counts(ctx, id, asked.First, asked.Last)
	})
	if err != nil {
		return Usage{}, err
	}
	return newUsage(counts, asked), nil
}

func newUsage(counts []store.Count, asked Period) Usage {
	out := Usage{From: asked.First.String(), To: asked.Last.String(), Operations: []OperationUsage{}}
	for day := asked.First; day <= asked.Last; day++ {
		out.Days = append(out.Days, UsageDay{Date: day.String(), Operations: map[string]int64{}})
	}
	byOperation := map[string]int64{}
	for _, c := range counts {
		day := &out.Days[c.Day-asked.First]
		day.Operations[c.Operation] += c.N
		day.Total += c.N
		out.Total += c.N
		byOperation[c.Operation] += c.N
	}
	for operation, n := range byOperation {
		out.Operations = append(out.Operations, OperationUsage{operation, n})
	}
	slices.SortFunc(out.Operations, func(x, y OperationUsage) int {
		return cmp.Or(cmp.Compare(y.Total, x.Total), strings.Compare(x.Operation, y.Operation))
	})
	return out
}
