package console

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"pregon/internal/account"
	"pregon/internal/auth/access"
	"pregon/internal/fault"
	"pregon/internal/query"
)

// hookRow is a webhook as pages show it.
type hookRow struct {
	account.Webhook
	Label     string
	Address   string
	Selection []string // what it selects, in words
	Adoptable bool     // it was made with another key than that of the session, if any
}

func (q *request) hookRow(h account.Webhook) hookRow {
	key := textOf(h.Key)
	return hookRow{
		Webhook:   h,
		Label:     nameOf(h.Description, hostOf(h.URL), h.ID),
		Address:   q.e.Link(hookPath(h.ID)),
		Selection: q.filterWords(h.Filter),
		Adoptable: key != "" && key != q.session.Key,
	}
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

// hookPath is the page of a webhook.
func hookPath(id string) string { return "/account/webhooks/" + url.PathEscape(id) }

// filterWords returns the conditions of a filter.
func (q *request) filterWords(f query.FilterBody) (out []string) {
	if f.Type != "" {
		out = append(out, q.word("type.", f.Type, f.Type))
	}
	if f.Watchlist != "" {
		out = append(out, q.e.Text("filter.watchlist")+": "+f.Watchlist)
	}
	if f.Issuer != "" {
		out = append(out, q.e.Text("filter.issuer")+": "+f.Issuer)
	}
	if f.Kind != "" {
		out = append(out, q.word("kinds.", f.Kind, f.Kind))
	}
	if f.Category != "" {
		out = append(out, q.e.CategoryCondition(f.Category))
	}
	if f.Market != "" {
		out = append(out, q.e.Text("filter.market")+": "+f.Market)
	}
	if f.Sector != "" {
		out = append(out, q.e.Text("filter.sector")+": "+f.Sector)
	}
	if f.Fact != "" {
		out = append(out, q.e.Text("filter.fact")+": "+q.word("factkind.", f.Fact, f.Fact))
	}
	if f.MinAmount != "" {
		out = append(out, q.e.Text("builder.amount", f.Currency)+": "+f.MinAmount)
	}
	if f.Position != "" {
		names := []string{}
		for kind := range strings.SplitSeq(f.Position, ",") {
			names = append(names, q.word("builder.position.", kind, kind))
		}
		out = append(out, strings.Join(names, ", "))
	}
	if f.HeldBy != "" {
		out = append(out, q.e.Text("builder.holder")+": "+f.HeldBy)
	}
	if f.MinPercent != "" {
		out = append(out, q.e.Text("builder.percent")+": "+f.MinPercent)
	}
	if f.Side != "" {
		out = append(out, q.e.Text("builder.side")+": "+q.word("builder.side.", f.Side, f.Side))
	}
	if f.Search != "" {
		out = append(out, "“"+f.Search+"”")
	}
	if f.In != "" {
		out = append(out, q.e.Text("builder.indocuments"))
	}
	if f.Without != "" {
		out = append(out, q.e.Text("filter.without")+": "+q.word("filter.without.", f.Without, f.Without))
	}
	return out
}

// hooksPage is the list of webhooks.
type hooksPage struct {
	frame
	Hooks []hookRow
}

func (c *Console) listWebhooks(q *request) (*reply, error) {
	found, err := do(c, q, keepWebhooks, c.Account.ListWebhooks)
	if err != nil {
		return nil, err
	}
	data := &hooksPage{frame: q.frame("webhooks")}
	for _, h := range found.Data {
		data.Hooks = append(data.Hooks, q.hookRow(h))
	}
	return q.page("webhooks", q.e.Text("heading.webhooks"), data), nil
}

// hookPage is one webhook with its deliveries.
type hookPage struct {
	frame
	Hook       hookRow
	Events     []string         // in words
	Test       *account.Attempt // the result of a test, or nil
	Changed    bool             // it was not adopted, because it had another address
	States     []stateChoice
	Deliveries []deliveryRow
	Older      string // address of the older ones, or ""
	Newest     string
}

// stateChoice is a link to the deliveries in a state.
type stateChoice struct {
	Text, URL string
	Selected  bool
}

// deliveryRow is a delivery as the page shows it.
type deliveryRow struct {
	account.Delivery
	StateText string
}

// Last returns the last attempt, or nil.
func (d deliveryRow) Last() *account.Attempt {
	if len(d.History) == 0 {
		return nil
	}
	return &d.History[len(d.History)-1]
}

const deliveriesShown = 20

func (c *Console) showWebhook(q *request) (*reply, error) { return c.hookReply(q, &hookPage{}) }

// hookReply returns the page of a webhook, with what data has already.
func (c *Console) hookReply(q *request, data *hookPage) (*reply, error) {
	h, err := c.webhook(q)
	if err != nil {
		return nil, err
	}
	data.frame = q.frame("webhooks")
	data.Hook = q.hookRow(h)
	data.Heading = data.Hook.Label
	for _, e := range h.Events {
		data.Events = append(data.Events, q.word("event.", e, e))
	}
	if err := c.addDeliveries(q, data); err != nil {
		return nil, err
	}
	return q.page("webhook", data.Heading, data), nil
}

// addDeliveries adds the deliveries in the state that the address names, from the one
// before which it asks.
func (c *Console) addDeliveries(q *request, data *hookPage) error {
	path, asked := hookPath(data.Hook.ID), q.URL.Query()
	link := func(state, before string) string {
		values := url.Values{}
		for name, value := range map[string]string{"state": state, "before": before} {
			if value != "" {
				values.Set(name, value)
			}
		}
		address := path
		if len(values) > 0 {
			address += "?" + values.Encode()
		}
		return q.e.Link(address) + "#deliveries"
	}
	state, before := asked.Get("state"), asked.Get("before")
	p := query.NewParams(url.Values{"limit": {strconv.Itoa(deliveriesShown)}, "state": {state}, "before": {before}})
	page := account.ReadDeliveryPage(p)
	if err := p.Err(); err != nil {
		return err
	}
	found, err := do(c, q, keepWebhooks, func(ctx context.Context, by access.Principal) (account.DeliveryList, error) {
		return c.Account.ListDeliveries(ctx, by, q.PathValue("id"), page)
	})
	if err != nil {
		return err
	}
	for _, d := range found.Data {
		data.Deliveries = append(data.Deliveries, deliveryRow{d, q.word("delivery.state.", d.State, d.State)})
	}
	data.States = []stateChoice{{q.e.Text("delivery.all"), link("", ""), state == ""}}
	for _, one := range []string{"pending", "delivered", "dead"} {
		data.States = append(data.States, stateChoice{q.e.Text("delivery." + one), link(one, ""), state == one})
	}
	if n := len(found.Data); n == deliveriesShown {
		data.Older = link(state, strconv.FormatInt(found.Data[n-1].Seq, 10))
	}
	if before != "" {
		data.Newest = link(state, "")
	}
	return nil
}

func (c *Console) webhook(q *request) (account.Webhook, error) {
	return do(c, q, keepWebhooks, func(ctx context.Context, by access.Principal) (account.Webhook, error) {
		return c.Account.Webhook(ctx, by, q.PathValue("id"))
	})
}

// changeHook changes a webhook.
func (c *Console) changeHook(q *request, asked account.WebhookDraft) error {
	return c.run(q, keepWebhooks, func(ctx context.Context, by access.Principal) error {
		_, err := c.Account.ChangeWebhook(ctx, by, q.PathValue("id"), asked)
		return err
	})
}

// testWebhook sends a test and shows its result, which is stored nowhere.
func (c *Console) testWebhook(q *request) (*reply, error) {
	result, err := do(c, q, keepWebhooks, func(ctx context.Context, by access.Principal) (account.Attempt, error) {
		return c.Account.TestWebhook(ctx, by, q.PathValue("id"))
	})
	if err != nil {
		return nil, err
	}
	return c.hookReply(q, &hookPage{Test: &result})
}

// enableWebhook enables or disables a webhook.
func (c *Console) enableWebhook(q *request) (*reply, error) {
	enabled := q.PostForm.Get("enabled") == "true"
	done := "webhook-disabled"
	if enabled {
		done = "webhook-enabled"
	}
	if err := c.changeHook(q, account.WebhookDraft{Enabled: &enabled}); err != nil {
		return nil, err
	}
	return q.back(hookPath(q.PathValue("id")), done), nil
}

// adoptWebhook makes a webhook belong to the person, or to the key of the session, unless
// it has another address than the one that was shown.
func (c *Console) adoptWebhook(q *request) (*reply, error) {
	seen := q.PostForm.Get("url")
	err := c.run(q, keepWebhooks, func(ctx context.Context, by access.Principal) error {
		_, err := c.Account.AdoptWebhook(ctx, by, q.PathValue("id"), account.Adoption{URL: &seen})
		return err
	})
	if fault.KindOf(err) == fault.Conflict {
		out, err := c.hookReply(q, &hookPage{Changed: true})
		if err != nil {
			return nil, err
		}
		out.Status = http.StatusConflict
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	return q.back(hookPath(q.PathValue("id")), "webhook-adopted"), nil
}

// redeliver sends a delivery again.
func (c *Console) redeliver(q *request) (*reply, error) {
	seq, err := strconv.ParseInt(q.PostForm.Get("seq"), 10, 64)
	if err != nil {
		return nil, errNoPage
	}
	err = c.run(q, redelivery, func(ctx context.Context, by access.Principal) error {
		_, err := c.Account.Redeliver(ctx, by, q.PathValue("id"), account.Redelivery{Seq: &seq})
		return err
	})
	if err != nil {
		return nil, err
	}
	return q.back(hookPath(q.PathValue("id")), "redelivered"), nil
}

// rotateWebhook makes a new secret, which its page shows once.
func (c *Console) rotateWebhook(q *request) (*reply, error) {
	h, err := do(c, q, keepWebhooks, func(ctx context.Context, by access.Principal) (account.Webhook, error) {
		return c.Account.RotateWebhook(ctx, by, q.PathValue("id"))
	})
	if err != nil {
		return nil, err
	}
	return q.hookSecret(h, "webhook.rotated"), nil
}

// hookSecret returns the page that shows the secret of a webhook.
func (q *request) hookSecret(h account.Webhook, lead string) *reply {
	data := &secretPage{
		frame:  q.frame("webhooks"),
		Lead:   q.e.Text(lead),
		Text:   q.e.Text("webhook.once"),
		Secret: textOf(h.Secret),
		Back:   q.e.Link(hookPath(h.ID)),
	}
	data.Heading = q.hookRow(h).Label
	return q.page("secret", data.Lead, data)
}

func (c *Console) deleteWebhook(q *request) (*reply, error) {
	err := c.run(q, keepWebhooks, func(ctx context.Context, by access.Principal) error {
		return c.Account.DeleteWebhook(ctx, by, q.PathValue("id"))
	})
	if err != nil {
		return nil, err
	}
	return q.back("/account/webhooks", "webhook-deleted"), nil
}
