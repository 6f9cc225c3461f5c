package console

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"pregon/internal/query"
)

// hook is a webhook as the API returns it.
type hook struct {
	ID             string           `json:"id"`
	Key            string           `json:"key"`
	URL            string           `json:"url"`
	Description    string           `json:"description"`
	Events         []string         `json:"events"`
	Filter         query.FilterBody `json:"filter"`
	Enabled        bool             `json:"enabled"`
	DisabledAt     *time.Time       `json:"disabled_at"`
	DisabledReason string           `json:"disabled_reason"`
	PausedReason   string           `json:"paused_reason"`
	CreatedAt      time.Time        `json:"created_at"`
	Secret         string           `json:"secret"` // once
	Endpoint       *struct {
		FailingSince  *time.Time `json:"failing_since"`
		LastSuccessAt *time.Time `json:"last_success_at"`
		LastFailureAt *time.Time `json:"last_failure_at"`
		Pending       int        `json:"pending"`
		Dead          int        `json:"dead"`
	} `json:"endpoint"`
}

// hookRow is a webhook as pages show it.
type hookRow struct {
	hook
	Label     string
	Address   string
	Selection []string // what it selects, in words
	Adoptable bool     // it was made with another key than that of the session, if any
}

func (q *request) hookRow(h hook) hookRow {
	return hookRow{
		hook:      h,
		Label:     nameOf(h.Description, hostOf(h.URL), h.ID),
		Address:   q.e.Link(hookPath(h.ID)),
		Selection: q.filterWords(h.Filter),
		Adoptable: h.Key != "" && h.Key != q.session.Key,
	}
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

// hookPath is the page of a webhook, and below /api/v1/webhooks/ it is its resource.
func hookPath(id string) string { return "/account/webhooks/" + url.PathEscape(id) }

func hookResource(q *request) string { return "/api/v1/webhooks/" + url.PathEscape(q.PathValue("id")) }

// filterWords returns the conditions of a filter.
func (q *request) filterWords(f query.FilterBody) (out []string) {
	if f.Type != "" {
		out = append(out, q.word("type.", f.Type, f.Type))
	}
	if f.Issuer != "" {
		out = append(out, q.e.Text("filter.issuer")+": "+f.Issuer)
	}
	if f.Kind != "" {
		out = append(out, q.word("kinds.", f.Kind, f.Kind))
	}
	if f.Category != "" {
		out = append(out, f.Category)
	}
	if f.Market != "" {
		out = append(out, q.e.Text("filter.market")+": "+f.Market)
	}
	if f.Search != "" {
		out = append(out, "“"+f.Search+"”")
	}
	if f.Without != "" {
		out = append(out, q.e.Text("filter.without"))
	}
	return out
}

// hooksPage is the list of webhooks.
type hooksPage struct {
	frame
	Hooks []hookRow
}

func (c *Console) listWebhooks(q *request) (*reply, error) {
	var found struct{ Data []hook }
	if err := c.call(q, http.MethodGet, "/api/v1/webhooks", nil, &found); err != nil {
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
	Events     []string // in words
	Test       *attempt // the result of a test, or nil
	Changed    bool     // it was not adopted, because it had another address
	States     []stateChoice
	Deliveries []delivery
	Older      string // address of the older ones, or ""
	Newest     string
}

// stateChoice is a link to the deliveries in a state.
type stateChoice struct {
	Text, URL string
	Selected  bool
}

// attempt is an attempt to deliver, as the API returns it.
type attempt struct {
	At      time.Time `json:"at"`
	OK      bool      `json:"ok"`
	Status  int       `json:"status"`
	Latency int       `json:"latency_ms"`
	Error   string    `json:"error"`
	Excerpt string    `json:"excerpt"`
}

// delivery is a delivery as the API returns it.
type delivery struct {
	ID        string     `json:"id"`
	Seq       int64      `json:"seq"`
	Event     string     `json:"event"`
	State     string     `json:"state"`
	Attempts  int        `json:"attempts"`
	CreatedAt time.Time  `json:"created_at"`
	DueAt     *time.Time `json:"due_at"`
	DoneAt    *time.Time `json:"done_at"`
	History   []attempt  `json:"history"`

	StateText string `json:"-"`
}

// Last returns the last attempt, or nil.
func (d delivery) Last() *attempt {
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
	values := url.Values{"limit": {strconv.Itoa(deliveriesShown)}, "state": {state}, "before": {before}}
	var found struct{ Data []delivery }
	if err := c.call(q, http.MethodGet, hookResource(q)+"/deliveries?"+values.Encode(), nil, &found); err != nil {
		return err
	}
	for _, d := range found.Data {
		d.StateText = q.word("delivery.state.", d.State, d.State)
		data.Deliveries = append(data.Deliveries, d)
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

func (c *Console) webhook(q *request) (hook, error) {
	var h hook
	err := c.call(q, http.MethodGet, hookResource(q), nil, &h)
	return h, err
}

// testWebhook sends a test and shows its result, which is stored nowhere.
func (c *Console) testWebhook(q *request) (*reply, error) {
	var result attempt
	if err := c.call(q, http.MethodPost, hookResource(q)+"/test", nil, &result); err != nil {
		return nil, err
	}
	return c.hookReply(q, &hookPage{Test: &result})
}

// enableWebhook enables or disables a webhook.
func (c *Console) enableWebhook(q *request) (*reply, error) {
	enabled, done := q.PostForm.Get("enabled") == "true", "webhook-disabled"
	if enabled {
		done = "webhook-enabled"
	}
	if err := c.call(q, http.MethodPatch, hookResource(q), map[string]any{"enabled": enabled}, nil); err != nil {
		return nil, err
	}
	return q.back(hookPath(q.PathValue("id")), done), nil
}

// adoptWebhook makes a webhook belong to the person, or to the key of the session, unless
// it has another address than the one that was shown.
func (c *Console) adoptWebhook(q *request) (*reply, error) {
	err := c.call(q, http.MethodPost, hookResource(q)+"/adopt", map[string]any{"url": q.PostForm.Get("url")}, nil)
	if failed, ok := errors.AsType[*apiError](err); ok && failed.Status == http.StatusConflict {
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
	if err := c.call(q, http.MethodPost, hookResource(q)+"/redeliver", map[string]any{"seq": seq}, nil); err != nil {
		return nil, err
	}
	return q.back(hookPath(q.PathValue("id")), "redelivered"), nil
}

// rotateWebhook makes a new secret, which its page shows once.
func (c *Console) rotateWebhook(q *request) (*reply, error) {
	var h hook
	if err := c.call(q, http.MethodPost, hookResource(q)+"/rotate", nil, &h); err != nil {
		return nil, err
	}
	return q.hookSecret(h, "webhook.rotated"), nil
}

// hookSecret returns the page that shows the secret of a webhook.
func (q *request) hookSecret(h hook, lead string) *reply {
	data := &secretPage{
		frame:  q.frame("webhooks"),
		Lead:   q.e.Text(lead),
		Text:   q.e.Text("webhook.once"),
		Secret: h.Secret,
		Back:   q.e.Link(hookPath(h.ID)),
	}
	data.Heading = q.hookRow(h).Label
	return q.page("secret", data.Lead, data)
}

func (c *Console) deleteWebhook(q *request) (*reply, error) {
	if err := c.call(q, http.MethodDelete, hookResource(q), nil, nil); err != nil {
		return nil, err
	}
	return q.back("/account/webhooks", "webhook-deleted"), nil
}
