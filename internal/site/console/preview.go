package console

import (
	"net/http"
	"time"

	"pregon/internal/query"
	"pregon/internal/site/chart"
)

// preview is what a webhook would have sent.
type preview struct {
	Total   int
	Bars    *chart.Bars
	Samples []sample
	Problem *formProblem // why there is none, or nil
}

// sample is a report that would have been sent, as the API returns it.
type sample struct {
	ID        string    `json:"id"`
	Company   string    `json:"company_name"`
	Type      string    `json:"type"`
	Title     string    `json:"title"`
	Published time.Time `json:"published_at"`
}

// preview asks the API what a selection would have sent in the last days. A filter
// that is refused has a preview that says why.
func (c *Console) preview(q *request, entered hookForm) (*preview, error) {
	body := struct {
		Events []string         `json:"events"`
		Filter query.FilterBody `json:"filter"`
	}{entered.Events, entered.Filter}
	var found struct {
		Total int
		Days  []struct {
			Date  string
			Count int
		}
		Samples []sample
	}
	if err := c.call(q, http.MethodPost, "/api/v1/webhooks/preview", body, &found); err != nil {
		refused, _, err := refusal(err)
		return &preview{Problem: refused}, err
	}
	out := &preview{Total: found.Total, Samples: found.Samples}
	var slots []chart.Slot
	for _, d := range found.Days {
		slot := q.daySlot(d.Date, d.Count)
		slot.Values = []int{d.Count}
		slots = append(slots, slot)
	}
	out.Bars = chart.NewBars(slots, []chart.Series{{Class: "first"}}, "")
	return out, nil
}
