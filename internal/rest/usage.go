package rest

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/store"
)

// Usage knows how often owners used operations.
type Usage interface {
	// Counts returns the counts of an owner on the days from first to last.
	Counts(ctx context.Context, owner string, first, last disclosure.Day) ([]store.Count, error)
}

// Bounds of the days in a response.
const (
	defaultUsageDays = 30
	maxUsageDays     = 400
)

// usageBody is how often an owner used what.
type usageBody struct {
	From       string          `json:"from"`
	To         string          `json:"to"`
	Total      int64           `json:"total"`
	Days       []usageDay      `json:"days"`
	Operations []operationBody `json:"operations"`
}

type usageDay struct {
	Date       string           `json:"date"`
	Total      int64            `json:"total"`
	Operations map[string]int64 `json:"operations"`
}

type operationBody struct {
	Operation string `json:"operation"`
	Total     int64  `json:"total"`
}

func (a *API) getUsage(r *http.Request, _ *catalog.Snapshot) (response, error) {
	p := a.readParams(r)
	first, last := p.usageDays()
	owner, err := p.wholeSubject(r, allUsage)
	if err != nil {
		return response{}, err
	}
	counts, err := a.Usage.Counts(r.Context(), owner, first, last)
	if err != nil {
		return response{}, err
	}
	return encode(newUsageBody(counts, first, last))
}

// usageDays reads the period.
func (p *params) usageDays() (first, last disclosure.Day) {
	first, last = p.Day("from"), p.Day("to")
	if last == 0 {
		last = disclosure.DayOf(time.Now())
	}
	if first == 0 {
		first = max(last-defaultUsageDays+1, 1)
	}
	if n := last - first + 1; n < 1 || n > maxUsageDays {
		p.Reject("from", first.String(), "must be from 1 to "+strconv.Itoa(maxUsageDays)+" days before the end of "+last.String())
	}
	return first, last
}

func newUsageBody(counts []store.Count, first, last disclosure.Day) usageBody {
	out := usageBody{From: first.String(), To: last.String(), Operations: []operationBody{}}
	for day := first; day <= last; day++ {
		out.Days = append(out.Days, usageDay{Date: day.String(), Operations: map[string]int64{}})
	}
	byOperation := map[string]int64{}
	for _, c := range counts {
		day := &out.Days[c.Day-first]
		day.Operations[c.Operation] += c.N
		day.Total += c.N
		out.Total += c.N
		byOperation[c.Operation] += c.N
	}
	for operation, n := range byOperation {
		out.Operations = append(out.Operations, operationBody{operation, n})
	}
	slices.SortFunc(out.Operations, func(x, y operationBody) int {
		return cmp.Or(cmp.Compare(y.Total, x.Total), strings.Compare(x.Operation, y.Operation))
	})
	return out
}
