package console

import (
	"context"
	"strings"
	"time"

	"pregon/internal/account"
	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/catalog/position"
	"pregon/internal/disclosure"
	"pregon/internal/site/chart"
	"pregon/internal/site/render"
)

// preview is what a webhook would have sent.
type preview struct {
	Total   int
	Bars    *chart.Bars
	Samples []reportSample

	Positions []positionSample
	Problem   *formProblem // why there is none, or nil
}

// reportSample is a report in a preview, as lists show it.
type reportSample struct {
	ID, Type, Company, Title string
	At                       time.Time
}

func newReportSample(r catalog.Report) reportSample {
	return reportSample{
		ID:      r.ID(),
		Type:    string(r.Type()),
		Company: disclosure.DisplayName(r.CompanyName()),
		Title:   strings.TrimPrefix(r.Title(), render.SimulatedPrefix),
		At:      r.Published(),
	}
}

// positionSample is a position in a preview.
type positionSample struct {
	Kind   string
	Issuer string
	Day    string
	Text   string // who, and how much
}

func (q *request) positionSample(e position.Entry) positionSample {
	p := e.Decode()
	out := positionSample{
		Kind:   q.e.Text("builder.position." + string(p.Kind)),
		Issuer: p.IssuerName,
		Day:    p.Day(),
		Text:   p.Name,
	}
	if i := e.Issuer(); i != nil {
		out.Issuer = i.Name
	}
	out.Issuer = disclosure.DisplayName(out.Issuer)
	amount, currency := p.Amount()
	switch {
	case p.Percent != "":
		out.Text += " · " + p.Percent + " %"
	case amount != "":
		out.Text += " · " + amount + " " + currency
	}
	return out
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
	out := &preview{Total: found.Total}
	for _, r := range found.Reports {
		out.Samples = append(out.Samples, newReportSample(r))
	}
	for _, e := range found.Positions {
		out.Positions = append(out.Positions, q.positionSample(e))
	}
	var slots []chart.Slot
	for _, d := range found.Days {
		slot := q.daySlot(d.Date, d.Count)
		slot.Values = []int{d.Count}
		slots = append(slots, slot)
	}
	out.Bars = chart.NewBars(slots, []chart.Series{{Class: "first"}}, "")
	return out, nil
}
