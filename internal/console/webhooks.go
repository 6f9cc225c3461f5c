package console

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"pregon/internal/query"
)

// hook is a webhook as the API returns it.
type hook struct {
	ID             string           `json:"id"`
	URL            string           `json:"url"`
	Description    string           `json:"description"`
	Events         []string         `json:"events"`
	Filter         query.FilterBody `json:"filter"`
	Enabled        bool             `json:"enabled"`
	DisabledAt     *time.Time       `json:"disabled_at"`
	DisabledReason string           `json:"disabled_reason"`
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
}

func (q *request) hookRow(h hook) hookRow {
	out := hookRow{hook: h, Label: nameOf(h.Description, hostOf(h.URL), h.ID), Address: q.e.Link(hookPath(h.ID)), Selection: q.filterWords(h.Filter)}
	return out
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

func (c *Console) showWebhook(q *request) (*reply, error) { return c.hookReply(q, nil) }

func (c *Console) hookReply(q *request, test *attempt) (*reply, error) {
	h, err := c.webhook(q)
	if err != nil {
		return nil, err
	}
	data := &hookPage{frame: q.frame("webhooks"), Hook: q.hookRow(h), Test: test}
	data.Heading = data.Hook.Label
	for _, e := range h.Events {
		data.Events = append(data.Events, q.word("event.", e, e))
	}
	asked := q.URL.Query()
	values := url.Values{"limit": {strconv.Itoa(deliveriesShown)}}
	for _, name := range []string{"state", "before"} {
		if v := asked.Get(name); v != "" {
			values.Set(name, v)
		}
	}
	var found struct{ Data []delivery }
	if err := c.call(q, http.MethodGet, hookResource(q)+"/deliveries?"+values.Encode(), nil, &found); err != nil {
		return nil, err
	}
	for _, d := range found.Data {
		d.StateText = q.word("delivery.state.", d.State, d.State)
		data.Deliveries = append(data.Deliveries, d)
	}
	path := hookPath(h.ID)
	for _, state := range []string{"", "pending", "delivered", "dead"} {
		address, text := path, q.e.Text("delivery.all")
		if state != "" {
			address, text = path+"?state="+state, q.e.Text("delivery."+state)
		}
		data.States = append(data.States, stateChoice{text, q.e.Link(address) + "#deliveries", state == asked.Get("state")})
	}
	if len(found.Data) == deliveriesShown {
		values.Del("limit")
		values.Set("before", strconv.FormatInt(found.Data[deliveriesShown-1].Seq, 10))
		data.Older = q.e.Link(path+"?"+values.Encode()) + "#deliveries"
	}
	if asked.Get("before") != "" {
		data.Newest = q.e.Link(path) + "#deliveries"
	}
	return q.page("webhook", data.Heading, data), nil
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
	return c.hookReply(q, &result)
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
	data := &secretPage{frame: q.frame("webhooks"), Lead: q.e.Text(lead), Text: q.e.Text("webhook.once"), Secret: h.Secret, Back: q.e.Link(hookPath(h.ID))}
	data.Heading = q.hookRow(h).Label
	return q.page("secret", data.Lead, data)
}

func (c *Console) deleteWebhook(q *request) (*reply, error) {
	if err := c.call(q, http.MethodDelete, hookResource(q), nil, nil); err != nil {
		return nil, err
	}
	return q.back("/account/webhooks", "webhook-deleted"), nil
}

// --- the form for what a webhook selects

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
	Categories []string
	Markets    []string
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

// events are those that a webhook may select. All but the last are the default.
var eventNames = []string{"report.published", "report.updated", "report.corrected", "issuer.updated", "report.backfilled"}

// hookFields are the fields of the API for which the form has a place.
var hookFields = []string{"url", "description", "events", "search", "type", "issuer", "category", "kind", "market"}

// hookForm is what a person entered, as the body for the API.
type hookForm struct {
	URL         string           `json:"url"`
	Description string           `json:"description"`
	Events      []string         `json:"events"`
	Filter      query.FilterBody `json:"filter"`
}

func (q *request) hookForm() hookForm {
	get := func(name string) string { return strings.TrimSpace(q.PostForm.Get(name)) }
	return hookForm{
		URL: get("url"), Description: get("description"), Events: append([]string{}, q.PostForm["events"]...),
		Filter: query.FilterBody{
			Search: get("search"), Type: get("type"), Issuer: get("issuer"), From: get("from"), To: get("to"), Category: get("category"), Kind: get("kind"),
			Market: get("market"), Without: get("without"), In: get("in"),
		},
	}
}

// builder returns the form with what a person entered.
func (c *Console) builder(q *request, id string, entered hookForm) *builderPage {
	data := &builderPage{
		frame: q.frame("webhooks"), ID: id, URL: entered.URL, Text: entered.Description, Filter: entered.Filter, Action: q.e.Link("/account/webhooks"),
	}
	data.Heading = q.e.Text("webhook.new")
	if id != "" {
		data.Heading, data.Action = q.e.Text("webhook.edit"), q.e.Link(hookPath(id))
	}
	for _, name := range eventNames {
		data.Events = append(data.Events, eventChoice{name, q.e.Text("event." + name), slices.Contains(entered.Events, name)})
	}
	for _, value := range []string{"", "IP", "OIR", "HR"} {
		data.Types = append(data.Types, option{value, q.any(value, "type."), value == entered.Filter.Type})
	}
	for _, value := range []string{"", "company", "fund", "manager", "other"} {
		data.Kinds = append(data.Kinds, option{value, q.any(value, "kinds."), value == entered.Filter.Kind})
	}
	var figures struct {
		Categories []struct{ Category string }
		Markets    []struct{ Market string }
	}
	if c.call(q, http.MethodGet, "/api/v1/analytics", nil, &figures) == nil { // they only help to fill in the form
		for _, one := range figures.Categories {
			data.Categories = append(data.Categories, one.Category)
		}
		for _, one := range figures.Markets {
			data.Markets = append(data.Markets, one.Market)
		}
	}
	return data
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
	entered := hookForm{Events: eventNames[:len(eventNames)-1], Filter: query.FilterBody{Issuer: asked.Get("issuer"), Type: asked.Get("type"), Search: asked.Get("search")}}
	return c.builderReply(q, c.builder(q, "", entered), entered)
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
	return q.page("builder", data.Heading, data), nil
}

func (c *Console) createWebhook(q *request) (*reply, error) {
	entered := q.hookForm()
	var made hook
	if err := c.call(q, http.MethodPost, "/api/v1/webhooks", entered, &made); err != nil {
		return c.builderRefused(q, "", entered, err)
	}
	return q.hookSecret(made, "webhook.made"), nil
}

func (c *Console) changeWebhook(q *request) (*reply, error) {
	entered := q.hookForm()
	if err := c.call(q, http.MethodPatch, hookResource(q), entered, nil); err != nil {
		return c.builderRefused(q, q.PathValue("id"), entered, err)
	}
	return q.back(hookPath(q.PathValue("id")), "webhook-changed"), nil
}

// builderRefused shows the form again with why it was refused.
func (c *Console) builderRefused(q *request, id string, entered hookForm, err error) (*reply, error) {
	refused, status, err := refusal(err, hookFields...)
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
