package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/mcp/quote"
	"pregon/internal/push/events"
	"pregon/internal/query"
)

// URIs of the resources that list reports and positions.
const (
	LatestURI    = "pregon://reports/latest"
	SearchURI    = "pregon://reports/search"
	PositionsURI = "pregon://positions/search"
)

// PositionEvents are the events of positions that are news. An alert for positions has them.
var PositionEvents = []disclosure.Event{
	disclosure.PositionPublished,
	disclosure.PositionUpdated,
	disclosure.PositionWithdrawn,
}

// MaxURI is the size in bytes of a resource that has subscriptions.
const MaxURI = 500

const (
	alertDays   = 90
	maxReceiver = 500 // bytes of the receiver's address, so that newResult never cuts it
)

// proposal is an alert that a person may subscribe to.
type proposal struct {
	Filter   query.FilterBody  `json:"filter"`
	Days     int               `json:"days"`
	Total    int               `json:"total"`
	Weeks    []int             `json:"weeks"`
	Samples  []json.RawMessage `json:"samples"`
	Request  restRequest       `json:"request"`
	Resource *string           `json:"resource"` // for subscriptions/listen, if the filter is short enough
}

// restRequest is a request of the REST API.
type restRequest struct {
	Method  string            `json:"method"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	Body    map[string]any    `json:"body"`
}

// proposeAlert returns what a filter would have selected, and the request that
// subscribes to it. A person has to send the request: a model that was misled by a
// report must not be able to send data elsewhere.
func (s *Service) proposeAlert(ctx context.Context, snapshot *catalog.Snapshot, p *query.Params) (Result, error) {
	filter := p.LiveFilter(snapshot)
	p.CheckFilter(filter)
	receiver := p.LimitedText("url", maxReceiver)
	if u, err := url.Parse(receiver); receiver != "" && (err != nil || u.Scheme != "https" || u.Host == "") {
		p.Reject("url", receiver, "must be an address that begins with https://")
	}
	if err := p.Err(); err != nil {
		return Result{}, err
	}
	if receiver == "" {
		receiver = "https://RECEIVER.example/reports"
	}
	selection := events.Selection{Filter: filter}
	body := query.NewFilterBody(filter)
	webhook := map[string]any{"url": receiver, "filter": body}
	if filter.ForPositions() {
		if by := access.FromContext(ctx); !by.MayRead(access.ReadIssuers) {
			return Result{}, by.MissingScope(access.ReadIssuers, "An alert for positions")
		}
		selection.Events = PositionEvents
		webhook["events"] = PositionEvents
	}
	preview, err := s.Query.Preview(ctx, snapshot, selection, alertDays)
	if err != nil {
		return Result{}, err
	}
	out := proposal{
		Filter:   body,
		Days:     alertDays,
		Total:    preview.Total,
		Weeks:    weeks(preview.Days),
		Samples:  preview.Samples,
		Resource: resourceOf(filter),
		Request: restRequest{
			"POST", s.BaseURL + "/api/v1/webhooks",
			map[string]string{
				"Authorization": "Bearer YOUR_KEY",
				"Content-Type":  "application/json",
			},
			webhook,
		},
	}
	for i, row := range out.Samples {
		out.Samples[i] = shrink(row, maxRow/2)
	}
	b, err := query.Encode(out)
	if err != nil {
		return Result{}, err
	}
	text, err := s.alertText(out, preview)
	return newResult(b, text), err
}

// weeks adds up days. The last week ends today; the first may be incomplete.
func weeks(days []query.DayCount) []int {
	out := make([]int, (len(days)+6)/7)
	for i, day := range days {
		out[len(out)-1-(len(days)-1-i)/7] += day.Count
	}
	return out
}

// resourceOf returns the resource whose subscribers are notified of the same reports or
// positions, nil if it would be too long.
func resourceOf(f disclosure.Filter) *string {
	at := SearchURI
	if f.ForPositions() {
		at = PositionsURI
	}
	body := query.NewFilterBody(f)
	body.From = ""
	body.To = ""
	q := body.Values()
	if len(q) == 0 {
		return new(LatestURI)
	}
	uri := at + "?" + q.Encode()
	if len(uri) > MaxURI {
		return nil
	}
	return &uri
}

func (s *Service) alertText(p proposal, preview query.Preview) (string, error) {
	var b strings.Builder
	thing := "report"
	if p.Request.Body["events"] != nil {
		thing = "position"
	}
	fmt.Fprintf(&b, "%sIn the last %d days %s would have been sent. %s\n", s.Simulated(), p.Days,
		counted(p.Total, thing), quote.Notice)
	for _, f := range preview.Reports {
		b.Write(append(s.appendLine(nil, f), '\n'))
	}
	for _, e := range preview.Positions {
		row, err := readPosition(query.AppendPosition(nil, e))
		if err != nil {
			return "", err
		}
		b.Write(append(s.appendPositionLine(nil, &row, true), '\n'))
	}
	body, _ := query.Encode(p.Request.Body) // it was encoded before
	fmt.Fprintf(&b, "Nothing was created. To subscribe, a person sends this with a key:\ncurl %s -H "+
		"'Authorization: Bearer YOUR_KEY' -H 'Content-Type: application/json' -d '%s'",
		p.Request.URL, strings.ReplaceAll(string(body), "'", `'\''`))
	return b.String(), nil
}
