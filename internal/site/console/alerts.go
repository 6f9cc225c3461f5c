package console

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"pregon/internal/account"
	"pregon/internal/auth/access"
	"pregon/internal/fault"
	"pregon/internal/push/alert"
	"pregon/internal/query"
)

// alertsPath is the page of alerts.
const alertsPath = "/account/alerts"

// alertsPage is what reaches a person: alerts, their channels, and the form of a new one.
type alertsPage struct {
	frame
	Alerts   []alertRow
	Channels []channelRow
	Kinds    []option            // that are offered and have an address that is typed, or a link
	Refused  []refusedKind       // that are not offered
	Lists    []account.Watchlist // that an alert may follow
	New      alertForm           // what a person entered
	Words    []string            // the filter of a new alert, if the address has one
	Rhythms  []option
	Weekdays []option
	Push     string // the key that this browser uses to subscribe, or ""
	Outbox   bool   // e-mails are shown on a page instead
	Link     string // where the person confirms a new channel, or ""
}

// alertRow is an alert as the page shows it.
type alertRow struct {
	account.Alert
	List     string // the name of its list, or ""
	Address  string // of the list
	Words    []string
	Receiver string // its channel
	State    string // of the channel
	When     string
	Rhythms  []option
	Weekdays []option
}

// Label names an alert.
func (a alertRow) Label() string {
	return nameOf(a.List, strings.Join(a.Words, ", "), a.ID)
}

// channelRow is a channel as the page shows it.
type channelRow struct {
	account.Channel
	Label     string
	KindText  string
	StateText string
	Languages []option
}

// QuietFrom and QuietTo are the quiet hours, or "".
func (c channelRow) QuietFrom() string { return c.quiet().From }
func (c channelRow) QuietTo() string   { return c.quiet().To }

func (c channelRow) quiet() account.QuietHours {
	if c.QuietHours == nil {
		return account.QuietHours{}
	}
	return *c.QuietHours
}

// refusedKind is a kind of channels that is not offered.
type refusedKind struct{ Name, Reason string }

// alertForm is what a person entered for a new alert.
type alertForm struct {
	Watchlist string // its id
	Filter    string // its parameters
	Channel   string // its id; empty for a new one
	Kind, To  string // of a new channel
	Rhythm    string
	At        string
	Weekday   string
}

// newAlertForm is an alert before anything was entered.
func (q *request) newAlertForm() alertForm {
	f := alertForm{
		Watchlist: q.URL.Query().Get("watchlist"),
		Rhythm:    string(alert.Grouped),
		At:        account.DefaultAt.String(),
		Weekday:   "friday",
		Kind:      string(alert.Email),
		To:        q.session.Account.Email,
	}
	if filter, err := searchOf(q.URL.RawQuery); err == nil {
		f.Filter = filter.Values().Encode()
	}
	return f
}

// enteredAlert is what a person entered.
func (q *request) enteredAlert() alertForm {
	get := func(name string) string { return strings.TrimSpace(q.PostForm.Get(name)) }
	return alertForm{
		Watchlist: get("watchlist"),
		Filter:    get("filter"),
		Channel:   get("channel"),
		Kind:      get("kind"),
		To:        get("to"),
		Rhythm:    get("rhythm"),
		At:        get("at"),
		Weekday:   get("weekday"),
	}
}

// alertFields are the fields of requests that the form has.
var alertFields = []string{"to", "at", "weekday", "rhythm"}

func (c *Console) listAlerts(q *request) (*reply, error) {
	return c.alertsReply(q, &alertsPage{New: q.newAlertForm()})
}

// alertsReply returns the page, with what data has already.
func (c *Console) alertsReply(q *request, data *alertsPage) (*reply, error) {
	problem := data.Problem
	data.frame = q.frame("alerts")
	data.Problem = problem
	channels, err := do(c, q, keepAlerts, c.Account.ListChannels)
	if err != nil {
		return nil, err
	}
	alerts, err := do(c, q, keepAlerts, c.Account.ListAlerts)
	if err != nil {
		return nil, err
	}
	lists, err := c.watchlists(q)
	if err != nil {
		return nil, err
	}
	data.Lists = lists.Data
	data.Outbox = c.Account.HasMailbox()
	for _, one := range channels.Data {
		data.Channels = append(data.Channels, q.channelRow(one))
	}
	for _, one := range alerts.Data {
		data.Alerts = append(data.Alerts, q.alertRow(one, lists.Data, data.Channels))
	}
	for _, one := range channels.Kinds {
		name := q.word("channel.kind.", one.Kind, one.Kind)
		switch {
		case !one.Offered:
			data.Refused = append(data.Refused, refusedKind{name, q.word("channel.why.", one.Code, textOf(one.Reason))})
		case one.Kind == string(alert.WebPush): // a browser subscribes by a script
			data.Push = textOf(one.PublicKey)
		default:
			data.Kinds = append(data.Kinds, option{one.Kind, name, one.Kind == data.New.Kind})
		}
	}
	data.Rhythms = q.rhythms(data.New.Rhythm)
	data.Weekdays = q.weekdays(data.New.Weekday)
	if filter, err := searchOf(data.New.Filter); err == nil {
		data.Words = q.filterWords(filter)
	}
	return q.page("alerts", data.Heading, data), nil
}

func (q *request) channelRow(c account.Channel) channelRow {
	kind := q.word("channel.kind.", c.Kind, c.Kind)
	return channelRow{
		Channel:   c,
		Label:     nameOf(c.Name, c.To, kind),
		KindText:  kind,
		StateText: q.word("channel.state.", c.State, c.State),
		Languages: []option{
			{"es", "Español", c.Language == "es"},
			{"en", "English", c.Language == "en"},
		},
	}
}

func (q *request) alertRow(a account.Alert, lists []account.Watchlist, channels []channelRow) alertRow {
	out := alertRow{
		Alert:    a,
		When:     q.rhythmText(a),
		Rhythms:  q.rhythms(a.Rhythm),
		Weekdays: q.weekdays(cmp.Or(textOf(a.Weekday), "friday")),
	}
	filter := a.Filter
	filter.Watchlist = ""
	out.Words = q.filterWords(filter)
	if id := textOf(a.Watchlist); id != "" {
		out.List = q.e.Text("alert.list.gone")
		if i := slices.IndexFunc(lists, func(l account.Watchlist) bool { return l.ID == id }); i >= 0 {
			out.List = lists[i].Name
			out.Address = q.e.Link(listPath(id))
		}
	}
	if i := slices.IndexFunc(channels, func(c channelRow) bool { return c.ID == a.Channel }); i >= 0 {
		out.Receiver = channels[i].Label
		out.State = channels[i].State
	}
	return out
}

// rhythmText says when messages of an alert are sent.
func (q *request) rhythmText(a account.Alert) string {
	out := q.word("rhythm.", a.Rhythm, a.Rhythm)
	if day := textOf(a.Weekday); day != "" {
		out += ", " + q.word("alert.day.", day, day)
	}
	if at := textOf(a.At); at != "" {
		out += ", " + at
	}
	return out
}

func (q *request) rhythms(selected string) (out []option) {
	for _, r := range alert.Rhythms() {
		out = append(out, option{string(r), q.e.Text("rhythm." + string(r)), string(r) == selected})
	}
	return out
}

func (q *request) weekdays(selected string) (out []option) {
	for _, day := range []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"} {
		out = append(out, option{day, q.e.Text("alert.day." + day), day == selected})
	}
	return out
}

// draft returns the request for the alert that a person entered.
func (f alertForm) draft(channel string) (account.AlertDraft, error) {
	out := account.AlertDraft{
		Channel: &account.ChannelChoice{ID: &channel},
		Rhythm:  &f.Rhythm,
	}
	out.At, out.Weekday = f.times()
	if f.Watchlist != "" {
		out.Filter = &query.FilterBody{Watchlist: f.Watchlist}
		return out, nil
	}
	filter, err := searchOf(f.Filter)
	out.Filter = &filter
	return out, err
}

// times returns the times that a rhythm has.
func (f alertForm) times() (at, weekday *string) {
	switch alert.Rhythm(f.Rhythm) {
	case alert.Daily:
		return &f.At, nil
	case alert.Weekly:
		return &f.At, &f.Weekday
	}
	return nil, nil
}

// createAlert makes an alert, and its channel if the person entered a new one.
func (c *Console) createAlert(q *request) (*reply, error) {
	entered := q.enteredAlert()
	done := "alert-made"
	link := ""
	if entered.Channel == "" {
		made, err := c.makeChannel(q, entered.Kind, entered.To)
		if err != nil {
			return c.alertRefused(q, err, entered)
		}
		entered.Channel = made.ID
		link = textOf(made.Link)
		if made.State == string(alert.Unconfirmed) {
			done = "alert-confirm"
		}
	}
	draft, err := entered.draft(entered.Channel)
	if err == nil {
		err = c.run(q, keepAlerts, func(ctx context.Context, by access.Principal) error {
			_, err := c.Account.CreateAlert(ctx, by, draft)
			return err
		})
	}
	if err != nil {
		return c.alertRefused(q, err, entered)
	}
	if link != "" {
		return c.alertsReply(q, &alertsPage{New: q.newAlertForm(), Link: link})
	}
	return q.back(alertsPath, done), nil
}

// makeChannel makes a channel whose messages are in the language of the page.
func (c *Console) makeChannel(q *request, kind, to string) (account.Channel, error) {
	language := string(q.e.Language)
	return do(c, q, sending, func(ctx context.Context, by access.Principal) (account.Channel, error) {
		return c.Account.CreateChannel(ctx, by, account.ChannelDraft{Kind: &kind, To: &to, Language: &language})
	})
}

// alertRefused shows the page with why a form was refused.
func (c *Console) alertRefused(q *request, err error, entered alertForm) (*reply, error) {
	refused, status, err := q.refusal(err, alertFields...)
	if err != nil {
		return nil, err
	}
	data := &alertsPage{New: entered}
	data.Problem = refused
	out, err := c.alertsReply(q, data)
	if err == nil {
		out.Status = status
	}
	return out, err
}

// changeAlert changes when an alert is sent, or switches it on or off.
func (c *Console) changeAlert(q *request) (*reply, error) {
	asked := account.AlertDraft{}
	if enabled := q.PostForm.Get("enabled"); enabled != "" {
		on := enabled == "true"
		asked.Enabled = &on
	} else {
		entered := q.enteredAlert()
		asked.Rhythm = &entered.Rhythm
		asked.At, asked.Weekday = entered.times()
	}
	err := c.run(q, keepAlerts, func(ctx context.Context, by access.Principal) error {
		_, err := c.Account.ChangeAlert(ctx, by, q.PathValue("id"), asked)
		return err
	})
	if err != nil {
		return c.alertRefused(q, err, q.newAlertForm())
	}
	return q.back(alertsPath, "alert-changed"), nil
}

func (c *Console) deleteAlert(q *request) (*reply, error) {
	err := c.run(q, keepAlerts, func(ctx context.Context, by access.Principal) error {
		return c.Account.DeleteAlert(ctx, by, q.PathValue("id"))
	})
	if err != nil {
		return nil, err
	}
	return q.back(alertsPath, "alert-deleted"), nil
}

// createChannel makes a channel without an alert: the browser of a person, for the script
// of the page.
func (c *Console) createChannel(q *request) (*reply, error) {
	made, err := c.makeChannel(q, q.PostForm.Get("kind"), q.PostForm.Get("to"))
	if err != nil {
		return c.alertRefused(q, err, q.newAlertForm())
	}
	if link := textOf(made.Link); link != "" {
		return c.alertsReply(q, &alertsPage{New: q.newAlertForm(), Link: link})
	}
	return q.back(alertsPath, "channel-made"), nil
}

// changeChannel changes a channel, or resumes it.
func (c *Console) changeChannel(q *request) (*reply, error) {
	asked := account.ChannelDraft{}
	if q.PostForm.Get("resume") != "" {
		active := string(alert.Active)
		asked.State = &active
	} else {
		name := q.PostForm.Get("name")
		language := q.PostForm.Get("language")
		asked.Name = &name
		asked.Language = &language
		asked.QuietHours = &account.QuietHours{From: q.PostForm.Get("from"), To: q.PostForm.Get("until")}
	}
	err := c.run(q, keepAlerts, func(ctx context.Context, by access.Principal) error {
		_, err := c.Account.ChangeChannel(ctx, by, q.PathValue("id"), asked)
		return err
	})
	if err != nil {
		return c.alertRefused(q, err, q.newAlertForm())
	}
	return q.back(alertsPath, "channel-changed"), nil
}

// confirmChannel sends the request to confirm a channel again, or shows its link.
func (c *Console) confirmChannel(q *request) (*reply, error) {
	asked, err := do(c, q, sending, func(ctx context.Context, by access.Principal) (account.Channel, error) {
		return c.Account.AskToConfirm(ctx, by, q.PathValue("id"))
	})
	if err != nil {
		return c.alertRefused(q, err, q.newAlertForm())
	}
	if link := textOf(asked.Link); link != "" {
		return c.alertsReply(q, &alertsPage{New: q.newAlertForm(), Link: link})
	}
	return q.back(alertsPath, "channel-asked"), nil
}

// testChannel sends a sample to a channel and says what became of it.
func (c *Console) testChannel(q *request) (*reply, error) {
	err := c.run(q, sending, func(ctx context.Context, by access.Principal) error {
		return c.Account.TestChannel(ctx, by, q.PathValue("id"))
	})
	if err != nil && fault.KindOf(err) != fault.NotFound { // the answer of the receiver is shown
		data := &alertsPage{New: q.newAlertForm()}
		data.Problem = &formProblem{Detail: q.messageOf(err)}
		return c.alertsReply(q, data)
	}
	if err != nil {
		return nil, err
	}
	return q.back(alertsPath, "channel-tested"), nil
}

func (c *Console) deleteChannel(q *request) (*reply, error) {
	err := c.run(q, keepAlerts, func(ctx context.Context, by access.Principal) error {
		return c.Account.DeleteChannel(ctx, by, q.PathValue("id"))
	})
	if err != nil {
		return nil, err
	}
	return q.back(alertsPath, "channel-deleted"), nil
}
