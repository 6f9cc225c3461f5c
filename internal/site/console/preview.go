package console

import (
	"context"

	"pregon/internal/account"
	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/site/chart"
)

// preview is what a webhook would have sent.
type preview struct {
	Total   int
	Bars    *chart.Bars
	Samples []catalog.Report
	Problem *formProblem // why there is none, or nil
}

// preview returns what a selection would have sent in the last days. A filter that is
// refused has a preview that says why.
func (c *Console) preview(q *request, entered hookForm) (*preview, error) {
	found, err := do(c, q, previewing, func(ctx context.Context, by access.Principal) (account.Preview, error) {
		return c.Account.Preview(ctx, by, account.Selection{Events: entered.Events, Filter: entered.Filter})
	})
	if err != nil {
		refused, _, err := q.refusal(err)
		return &preview{Problem: refused}, err
	}
	out := &preview{Total: found.Total, Samples: found.Reports}
	var slots []chart.Slot
	for _, d := range found.Days {
		slot := q.daySlot(d.Date, d.Count)
		slot.Values = []int{d.Count}
		slots = append(slots, slot)
	}
	out.Bars = chart.NewBars(slots, []chart.Series{{Class: "first"}}, "")
	return out, nil
}
