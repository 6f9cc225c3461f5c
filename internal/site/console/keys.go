package console

import (
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"pregon/internal/account"
	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/site/render"
)

// keyRow is a key as pages show it.
type keyRow struct {
	account.Key
	Label     string
	StateText string
	ScopeText []string
	URL       string
	LastDay   *time.Time // on which it works
}

func (q *request) keyRow(k account.Key) keyRow {
	out := keyRow{
		Key:       k,
		Label:     k.Name,
		StateText: q.word("key.state.", k.State, k.State),
		ScopeText: q.shortScopes(k.Scopes),
	}
	if out.Label == "" {
		out.Label = q.e.Text("key.unnamed")
	}
	if k.ExpiresAt != nil {
		out.LastDay = new(k.ExpiresAt.Add(-time.Second))
	}
	out.URL = q.e.Link("/account/keys/" + url.PathEscape(k.ID) + q.otherQuery())
	return out
}

// keysPage is the list of keys, with the form for a new one.
type keysPage struct {
	frame
	Keys   []keyRow
	Form   keyForm
	Open   bool // the form was sent
	Scopes []scopeChoice
}

// keyForm is what a person entered.
type keyForm struct{ Name, Expires, Networks string }

type scopeChoice struct {
	Name, Text string
	Checked    bool
}

// keyFields are the fields of requests for which the forms have a place.
var keyFields = []string{"name", "scopes", "expires_at", "networks"}

func (c *Console) listKeys(q *request) (*reply, error) {
	data, err := c.newKeysPage(q, q.session.Scope.Names())
	if err != nil {
		return nil, err
	}
	return q.page("keys", data.Heading, data), nil
}

// newKeysPage returns the list, with a form in which some rights are checked.
func (c *Console) newKeysPage(q *request, checked []string) (*keysPage, error) {
	f, err := c.accountFrame(q, "keys")
	if err != nil {
		return nil, err
	}
	found, err := c.keys(q)
	if err != nil {
		return nil, err
	}
	data := &keysPage{frame: f}
	for _, k := range found {
		data.Keys = append(data.Keys, q.keyRow(k))
	}
	for _, name := range q.session.Scope.Names() {
		data.Scopes = append(data.Scopes,
			scopeChoice{name, q.scopes([]string{name})[0], slices.Contains(checked, name)})
	}
	return data, nil
}

func (c *Console) keys(q *request) ([]account.Key, error) {
	found, err := do(c, q, manage, func(ctx context.Context, by access.Principal) (account.KeyList, error) {
		return c.Account.ListKeys(ctx, by, q.other())
	})
	return found.Keys, err
}

// secretPage shows a secret once.
type secretPage struct {
	frame
	Lead    string
	Text    string
	Secret  string
	Example string // how it is used, or ""
	Back    string
}

// createKey makes a key. Its page is the only one that shows it.
func (c *Console) createKey(q *request) (*reply, error) {
	form := q.keyForm()
	if len(q.PostForm["scopes"]) == 0 { // which would mean all of them
		missing := render.Message{Text: q.e.Text("key.scopes.none")}
		return c.keyNotMade(q, form, &formProblem{
			Fields: map[string]render.Message{"scopes": missing},
		}, http.StatusBadRequest)
	}
	asked := account.NewKey{Name: &form.Name, Scopes: q.PostForm["scopes"]}
	if form.Networks != "" {
		asked.Networks = new(splitList(form.Networks))
	}
	if form.Expires != "" {
		asked.ExpiresAt = account.ExpiresAt(endOfDay(form.Expires))
	}
	made, err := do(c, q, manage, func(ctx context.Context, by access.Principal) (account.Key, error) {
		return c.Account.CreateKey(ctx, by, asked)
	})
	if err != nil {
		refused, status, err := q.refusal(err, keyFields...)
		if err != nil {
			return nil, err
		}
		return c.keyNotMade(q, form, refused, status)
	}
	return c.keySecret(q, q.e.Text("key.made", q.keyRow(made).Label), made.Text), nil
}

// keyNotMade shows the form again with why it was refused.
func (c *Console) keyNotMade(q *request, form keyForm, refused *formProblem, status int) (*reply, error) {
	data, err := c.newKeysPage(q, q.PostForm["scopes"])
	if err != nil {
		return nil, err
	}
	data.Form = form
	data.Open = true
	data.Problem = refused
	out := q.page("keys", data.Heading, data)
	out.Status = status
	return out, nil
}

// keySecret returns the page that shows a key.
func (c *Console) keySecret(q *request, lead, key string) *reply {
	data := &secretPage{
		frame:  q.frame("keys"),
		Lead:   lead,
		Text:   q.e.Text("key.once"),
		Secret: key,
		Back:   q.e.Link("/account/keys" + q.otherQuery()),
	}
	data.Example = `curl -H "X-API-Key: $KEY" ` + c.BaseURL + "/api/v1/reports"
	return q.page("secret", lead, data)
}

func (q *request) keyForm() keyForm {
	return keyForm{
		Name: strings.TrimSpace(q.PostForm.Get("name")), Expires: q.PostForm.Get("expires_at"), Networks: strings.TrimSpace(q.PostForm.Get("networks")),
	}
}

// splitList returns the entries of a list with commas, spaces or lines between them.
func splitList(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool {
		return r == ',' || r == ' ' || r == '\n' || r == '\r' ||
			r == '\t' || r == ';'
	})
}

// endOfDay returns the end of a day in Madrid as a time. It returns a text that is not a
// day unchanged, and the rules of keys refuse it.
func endOfDay(date string) string {
	if day, ok := disclosure.ParseDay(date); ok {
		return (day + 1).Start().Format(time.RFC3339)
	}
	return date
}

// dateOf returns a day as forms have it.
func dateOf(t *time.Time) string {
	if t == nil {
		return ""
	}
	return disclosure.DayOf(*t).String()
}

// keyPage is one key with its forms.
type keyPage struct {
	frame
	Key      keyRow
	Form     keyForm
	Overlaps []overlap
}

// overlap is how long the old secret works beside the new one.
type overlap struct {
	Value, Text string
	Selected    bool
	seconds     int
}

// overlaps are the choices: none, an hour, a day, a week.
var overlaps = []int{0, 3600, 86400, 604800}

func (q *request) overlaps() (out []overlap) {
	for _, seconds := range overlaps {
		value := strconv.Itoa(seconds)
		out = append(out, overlap{value, q.e.Text("overlap." + value), seconds == account.DefaultOverlap, seconds})
	}
	return out
}

func (c *Console) findKey(q *request) (*keyPage, error) {
	f, err := c.accountFrame(q, "keys")
	if err != nil {
		return nil, err
	}
	found, err := c.keys(q)
	if err != nil {
		return nil, err
	}
	for _, k := range found {
		if k.ID == q.PathValue("id") {
			data := &keyPage{frame: f, Key: q.keyRow(k)}
			data.Form = keyForm{k.Name, dateOf(data.Key.LastDay), networkList(k.Networks)}
			data.Heading = data.Key.Label
			data.Overlaps = q.overlaps()
			return data, nil
		}
	}
	return nil, fault.New(fault.NotFound, "You have no key with the id %s.", q.PathValue("id"))
}

func (c *Console) showKey(q *request) (*reply, error) {
	data, err := c.findKey(q)
	if err != nil {
		return nil, err
	}
	return q.page("key", data.Heading, data), nil
}

// networkList returns networks as the form has them.
func networkList(all []netip.Prefix) string {
	texts := make([]string, len(all))
	for i, network := range all {
		texts[i] = network.String()
	}
	return strings.Join(texts, ", ")
}

// changeKey changes what the person changed in the form.
func (c *Console) changeKey(q *request) (*reply, error) {
	data, err := c.findKey(q)
	if err != nil {
		return nil, err
	}
	old := data.Form
	data.Form = q.keyForm()
	var asked account.KeyChange
	if data.Form.Name != old.Name {
		asked.Name = &data.Form.Name
	}
	if data.Form.Expires != old.Expires {
		asked.ExpiresAt = account.Never()
		if data.Form.Expires != "" {
			asked.ExpiresAt = account.ExpiresAt(endOfDay(data.Form.Expires))
		}
	}
	if data.Form.Networks != old.Networks {
		asked.Networks = new(splitList(data.Form.Networks))
	}
	err = c.run(q, manage, func(ctx context.Context, by access.Principal) error {
		_, err := c.Account.ChangeKey(ctx, by, q.PathValue("id"), asked)
		return err
	})
	if err != nil {
		return q.keyRefused(data, err)
	}
	return q.back("/account/keys/"+url.PathEscape(data.Key.ID)+q.otherQuery(), "key-changed"), nil
}

func (q *request) keyRefused(data *keyPage, err error) (*reply, error) {
	refused, status, err := q.refusal(err, keyFields...)
	if err != nil {
		return nil, err
	}
	data.Problem = refused
	out := q.page("key", data.Heading, data)
	out.Status = status
	return out, nil
}

// rotateKey makes a new secret, which its page shows once.
func (c *Console) rotateKey(q *request) (*reply, error) {
	data, err := c.findKey(q)
	if err != nil {
		return nil, err
	}
	seconds := account.DefaultOverlap
	for _, o := range data.Overlaps {
		if q.PostForm.Get("overlap") == o.Value {
			seconds = o.seconds
		}
	}
	made, err := do(c, q, manage, func(ctx context.Context, by access.Principal) (account.Key, error) {
		return c.Account.RotateKey(ctx, by, q.PathValue("id"), account.KeyRotation{Overlap: seconds})
	})
	if err != nil {
		return q.keyRefused(data, err)
	}
	return c.keySecret(q, q.e.Text("key.rotated", data.Key.Label), made.Text), nil
}

func (c *Console) revokeKey(q *request) (*reply, error) {
	err := c.run(q, manage, func(ctx context.Context, by access.Principal) error {
		return c.Account.RevokeKey(ctx, by, q.PathValue("id"))
	})
	if err != nil {
		return nil, err
	}
	return q.back("/account/keys"+q.otherQuery(), "key-revoked"), nil
}
