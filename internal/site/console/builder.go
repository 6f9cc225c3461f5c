package console

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"pregon/internal/account"
	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/push/events"
	"pregon/internal/query"
)

// builderPage is the form of a webhook with what it would have sent.
type builderPage struct {
	frame
	ID         string // of the webhook; empty for a new one
	Action     string
	URL        string
	Text       string // description
	Events     []eventChoice
	Filter     query.FilterBody
	Types      []option
	Kinds      []option
	Facts      []option
	Positions  []option // kinds
	Sides      []option
	Lists      []option // watchlists
	Currency   string   // of the least amount
	Categories []option // the names that a filter takes, with those of the page
	Markets    []string
	Sectors    []string
	Preview    *preview
}

type eventChoice struct {
	Name, Text string
	Checked    bool
}

type option struct {
	Value, Text string
	Selected    bool
}

// eventNames are the events that a webhook may select: first the default ones.
var eventNames = []string{
	"report.published", "report.updated", "report.corrected", "issuer.updated",
	"report.backfilled",
	"position.published", "position.updated", "position.withdrawn", "position.backfilled",
}

// hookFields are the fields of requests for which the form has a place.
var hookFields = []string{
	"url", "description", "events", "search", "type", "issuer", "category", "kind", "market", "sector", "fact", "min_amount",
	"position", "holder", "min_percent", "side", "watchlist",
}

// hookForm is what a person entered.
type hookForm struct {
	URL         string
	Description string
	Events      []string
	Filter      query.FilterBody
}

// draft returns the request for the webhook that the person entered.
func (f hookForm) draft() account.WebhookDraft {
	return account.WebhookDraft{
		URL:         &f.URL,
		Description: &f.Description,
		Events:      &f.Events,
		Filter:      &f.Filter,
	}
}

func (q *request) hookForm() hookForm {
	get := func(name string) string { return strings.TrimSpace(q.PostForm.Get(name)) }
	form := hookForm{
		URL:         get("url"),
		Description: get("description"),
		Events:      append([]string{}, q.PostForm["events"]...),
		Filter: query.FilterBody{
			Search:   get("search"),
			Type:     get("type"),
			Issuer:   get("issuer"),
			From:     get("from"),
			To:       get("to"),
			Category: get("category"),
			Kind:     get("kind"),
			Market:   get("market"),
			Sector:   get("sector"),
			Without:  get("without"),
			In:       get("in"),

			Fact:      get("fact"),
			MinAmount: get("min_amount"),
			Currency:  get("currency"),

			Position:   strings.Join(q.PostForm["position"], ","),
			HeldBy:     get("holder"),
			MinPercent: get("min_percent"),
			Side:       get("side"),

			Watchlist: get("watchlist"),
		},
	}
	if form.Filter.MinAmount == "" {
		form.Filter.Currency = "" // the form keeps it for the amount, which the person removed
	}
	return form
}

// builder returns the form with what a person entered.
func (c *Console) builder(q *request, id string, entered hookForm) *builderPage {
	data := &builderPage{
		frame:  q.frame("webhooks"),
		ID:     id,
		URL:    entered.URL,
		Text:   entered.Description,
		Filter: entered.Filter,
		Action: q.e.Link("/account/webhooks"),
	}
	data.Heading = q.e.Text("webhook.new")
	if id != "" {
		data.Heading, data.Action = q.e.Text("webhook.edit"), q.e.Link(hookPath(id))
	}
	for _, name := range eventNames {
		data.Events = append(data.Events,
			eventChoice{name, q.e.Text("event." + name), slices.Contains(entered.Events, name)})
	}
	for _, value := range []string{"", "IP", "OIR", "HR"} {
		data.Types = append(data.Types, option{value, q.any(value, "type."), value == entered.Filter.Type})
	}
	for _, value := range []string{"", "company", "fund", "manager", "other"} {
		data.Kinds = append(data.Kinds, option{value, q.any(value, "kinds."), value == entered.Filter.Kind})
	}
	data.Facts = append(data.Facts, option{"", q.e.Text("any"), entered.Filter.Fact == ""})
	for _, kind := range disclosure.FactKinds() {
		name := string(kind)
		data.Facts = append(data.Facts, option{name, q.e.Text("factkind." + name), name == entered.Filter.Fact})
	}
	kinds := strings.Split(entered.Filter.Position, ",")
	for _, kind := range disclosure.PositionKinds {
		name := string(kind)
		data.Positions = append(data.Positions,
			option{name, q.e.Text("builder.position." + name), slices.Contains(kinds, name)})
	}
	data.Sides = append(data.Sides, option{"", q.e.Text("any"), entered.Filter.Side == ""})
	for _, side := range disclosure.Sides {
		name := string(side)
		data.Sides = append(data.Sides, option{name, q.e.Text("builder.side." + name), name == entered.Filter.Side})
	}
	data.Currency = cmp.Or(entered.Filter.Currency, "EUR")
	c.addNames(q, data)
	c.addLists(q, data)
	return data
}

// addLists adds the watchlists of the account. One that the webhook has and that is gone stays
// in the form, so that saving the form does not make the webhook select everything.
func (c *Console) addLists(q *request, data *builderPage) {
	chosen := data.Filter.Watchlist
	data.Lists = []option{{"", q.e.Text("any"), chosen == ""}}
	found, err := do(c, q, readWatchlists, c.Account.ListWatchlists)
	if err == nil {
		for _, l := range found.Data {
			data.Lists = append(data.Lists, option{l.ID, l.Name, l.ID == chosen})
		}
	}
	if !slices.ContainsFunc(data.Lists, func(o option) bool { return o.Selected }) {
		data.Lists = append(data.Lists, option{chosen, chosen, true})
	}
}

// addNames adds categories, markets and sectors that help to fill in the form. A person
// who may not read the analytics gets none.
func (c *Console) addNames(q *request, data *builderPage) {
	figures, err := do(c, q, suggestNames, func(context.Context, access.Principal) (*catalog.Analytics, error) {
		now, err := c.Query.Snapshot()
		if err != nil {
			return nil, err
		}
		return now.Analytics(time.Now()), nil
	})
	if err != nil {
		return
	}
	for _, one := range figures.Categories {
		data.Categories = append(data.Categories, option{Value: one.Category, Text: q.e.Category(one.Category)})
	}
	for _, one := range figures.Markets {
		data.Markets = append(data.Markets, one.Market)
	}
	for _, one := range figures.Sectors {
		data.Sectors = append(data.Sectors, one.Sector)
	}
}

// any returns the name of a value, or that it may be any.
func (q *request) any(value, prefix string) string {
	if value == "" {
		return q.e.Text("any")
	}
	return q.e.Text(prefix + value)
}

func (c *Console) newWebhook(q *request) (*reply, error) {
	asked := q.URL.Query()
	entered := hookForm{
		Filter: query.FilterBody{
			Issuer:   asked.Get("issuer"),
			Type:     asked.Get("type"),
			Search:   asked.Get("search"),
			Position: asked.Get("position"),

			HeldBy:     asked.Get("holder"),
			MinPercent: asked.Get("min_percent"),
			Side:       asked.Get("side"),

			Watchlist: asked.Get("watchlist"),
		},
	}
	for _, e := range defaultEvents(entered.Filter) {
		entered.Events = append(entered.Events, string(e))
	}
	return c.builderReply(q, c.builder(q, "", entered), entered)
}

// defaultEvents are the events that a new webhook with a filter has.
func defaultEvents(f query.FilterBody) []disclosure.Event {
	if f.Position+f.HeldBy+f.MinPercent+f.Side == "" {
		return events.DefaultEvents
	}
	return []disclosure.Event{
		disclosure.PositionPublished,
		disclosure.PositionUpdated,
		disclosure.PositionWithdrawn,
	}
}

func (c *Console) editWebhook(q *request) (*reply, error) {
	h, err := c.webhook(q)
	if err != nil {
		return nil, err
	}
	entered := hookForm{h.URL, h.Description, h.Events, h.Filter}
	return c.builderReply(q, c.builder(q, h.ID, entered), entered)
}

// builderReply returns the form with its preview.
func (c *Console) builderReply(q *request, data *builderPage, entered hookForm) (*reply, error) {
	var err error
	if data.Preview, err = c.preview(q, entered); err != nil {
		return nil, err
	}
	if data.Problem != nil && data.Preview.Problem != nil {
		data.Preview.Problem = &formProblem{} // the form says it already
	}
	return q.page("builder", data.Heading, data), nil
}

func (c *Console) createWebhook(q *request) (*reply, error) {
	entered := q.hookForm()
	made, err := do(c, q, keepWebhooks, func(ctx context.Context, by access.Principal) (account.Webhook, error) {
		return c.Account.CreateWebhook(ctx, by, entered.draft())
	})
	if err != nil {
		return c.builderRefused(q, "", entered, err)
	}
	return q.hookSecret(made, "webhook.made"), nil
}

func (c *Console) changeWebhook(q *request) (*reply, error) {
	entered := q.hookForm()
	before, err := c.webhook(q)
	if err != nil {
		return nil, err
	}
	if err := c.changeHook(q, entered.changes(before)); err != nil {
		return c.builderRefused(q, q.PathValue("id"), entered, err)
	}
	return q.back(hookPath(q.PathValue("id")), "webhook-changed"), nil
}

// changes returns the request that changes a webhook. A filter that stays is left out,
// because one that is sent is read anew: an old one would mean something else.
func (f hookForm) changes(before account.Webhook) account.WebhookDraft {
	out := f.draft()
	if f.Filter == before.Filter {
		out.Filter = nil
	}
	return out
}

// builderRefused shows the form again with why it was refused.
func (c *Console) builderRefused(q *request, id string, entered hookForm, err error) (*reply, error) {
	refused, status, err := q.refusal(err, hookFields...)
	if err != nil {
		return nil, err
	}
	data := c.builder(q, id, entered)
	data.Problem = refused
	out, err := c.builderReply(q, data, entered)
	if err == nil {
		out.Status = status
	}
	return out, err
}

// previewWebhook shows what a webhook would have sent: in the form, or alone for the
// script of the page.
func (c *Console) previewWebhook(q *request) (*reply, error) {
	entered := q.hookForm()
	if q.PostForm.Get("fragment") != "" {
		found, err := c.preview(q, entered)
		return q.page("fragment-preview", "", found), err
	}
	return c.builderReply(q, c.builder(q, q.PostForm.Get("id"), entered), entered)
}
