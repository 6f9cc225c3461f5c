package console

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
)

// key is a key as the API returns it.
type key struct {
	ID           string     `json:"id"`
	Name         string     `json:"name"`
	Plan         string     `json:"plan"`
	State        string     `json:"state"`
	Scopes       []string   `json:"scopes"`
	Networks     []string   `json:"networks"`
	CreatedAt    time.Time  `json:"created_at"`
	ExpiresAt    *time.Time `json:"expires_at"`
	OverlapUntil *time.Time `json:"overlap_until"`
	RevokedAt    *time.Time `json:"revoked_at"`
	LastUsedAt   *time.Time `json:"last_used_at"`
	Parent       string     `json:"parent"`
	Key          string     `json:"key"` // the secret, once
}

// keyRow is a key as pages show it.
type keyRow struct {
	key
	Label     string
	StateText string
	ScopeText []string
	URL       string
	LastDay   *time.Time // on which it works
}

func (q *request) keyRow(k key) keyRow {
	out := keyRow{
		key:       k,
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
	out.URL = q.e.Link("/account/keys/" + url.PathEscape(k.ID) + q.ownerQuery())
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

// keyFields are the fields of the API for which the forms have a place.
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
	f, err := c.ownerFrame(q, "keys")
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
		data.Scopes = append(data.Scopes, scopeChoice{name, q.scopes([]string{name})[0], slices.Contains(checked, name)})
	}
	return data, nil
}

func (c *Console) keys(q *request) ([]key, error) {
	var found struct{ Keys []key }
	err := c.call(q, http.MethodGet, "/api/v1/account/keys"+q.ownerQuery(), nil, &found)
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
	if len(q.PostForm["scopes"]) == 0 { // for the API this would mean all of them
		missing := q.e.Text("key.scopes.none")
		return c.keyNotMade(q, form, &formProblem{Detail: missing, Fields: map[string]string{"scopes": missing}}, http.StatusBadRequest)
	}
	body := map[string]any{"name": form.Name, "scopes": q.PostForm["scopes"]}
	if form.Networks != "" {
		body["networks"] = splitList(form.Networks)
	}
	if form.Expires != "" {
		body["expires_at"] = endOfDay(form.Expires)
	}
	var made key
	if err := c.call(q, http.MethodPost, "/api/v1/account/keys", body, &made); err != nil {
		refused, status, err := refusal(err, keyFields...)
		if err != nil {
			return nil, err
		}
		return c.keyNotMade(q, form, refused, status)
	}
	return c.keySecret(q, q.e.Text("key.made", q.keyRow(made).Label), made.Key), nil
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
		Back:   q.e.Link("/account/keys" + q.ownerQuery()),
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
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\r' || r == '\t' || r == ';' })
}

// endOfDay returns the end of a day in Madrid. The API rejects invalid
// dates.
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

const usualOverlap = 86400

func (q *request) overlaps() (out []overlap) {
	for _, seconds := range overlaps {
		value := strconv.Itoa(seconds)
		out = append(out, overlap{value, q.e.Text("overlap." + value), seconds == usualOverlap, seconds})
	}
	return out
}

func (c *Console) findKey(q *request) (*keyPage, error) {
	f, err := c.ownerFrame(q, "keys")
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
			data.Form = keyForm{k.Name, dateOf(data.Key.LastDay), strings.Join(k.Networks, ", ")}
			data.Heading, data.Overlaps = data.Key.Label, q.overlaps()
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

func (q *request) keyPath() string {
	return "/api/v1/account/keys/" + url.PathEscape(q.PathValue("id"))
}

// changeKey changes what the person changed in the form.
func (c *Console) changeKey(q *request) (*reply, error) {
	data, err := c.findKey(q)
	if err != nil {
		return nil, err
	}
	old := data.Form
	data.Form = q.keyForm()
	body := map[string]any{}
	if data.Form.Name != old.Name {
		body["name"] = data.Form.Name
	}
	if data.Form.Expires != old.Expires {
		body["expires_at"] = nil
		if data.Form.Expires != "" {
			body["expires_at"] = endOfDay(data.Form.Expires)
		}
	}
	if data.Form.Networks != old.Networks {
		body["networks"] = append([]string{}, splitList(data.Form.Networks)...)
	}
	if err := c.call(q, http.MethodPatch, q.keyPath()+q.ownerQuery(), body, nil); err != nil {
		return q.keyRefused(data, err)
	}
	return q.back("/account/keys/"+url.PathEscape(data.Key.ID)+q.ownerQuery(), "key-changed"), nil
}

func (q *request) keyRefused(data *keyPage, err error) (*reply, error) {
	refused, status, err := refusal(err, keyFields...)
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
	seconds := usualOverlap
	for _, o := range data.Overlaps {
		if q.PostForm.Get("overlap") == o.Value {
			seconds = o.seconds
		}
	}
	var made key
	if err := c.call(q, http.MethodPost, q.keyPath()+"/rotate"+q.ownerQuery(), map[string]any{"overlap_seconds": seconds}, &made); err != nil {
		return q.keyRefused(data, err)
	}
	return c.keySecret(q, q.e.Text("key.rotated", data.Key.Label), made.Key), nil
}

func (c *Console) revokeKey(q *request) (*reply, error) {
	if err := c.call(q, http.MethodDelete, q.keyPath()+q.ownerQuery(), nil, nil); err != nil {
		return nil, err
	}
	return q.back("/account/keys"+q.ownerQuery(), "key-revoked"), nil
}
