package console

import (
	"net/http"

	"pregon/internal/auth/access"
	"pregon/internal/fault"
)

// alertLinkPage is where a link in a message of an alert leads: a page with one button.
// Nothing happens without the button, because programs that check links open them too.
type alertLinkPage struct {
	Name    string // of its texts: confirm, end or allow
	Path    string // of the form
	Token   string
	To      string // where messages go, without secrets; empty if that is not known any more
	Done    bool
	Invalid bool // the link is not valid any more
}

// Where links in messages lead.
const (
	confirmPath = "/alerts/confirm"
	endPath     = "/alerts/end"
)

// toFollowLink is what the guard requires of those who follow a link in a message. It is
// not counted: a mail service ends the messages of many people from one address.
var toFollowLink = access.Requirement{Public: true, Uncounted: true}

// followLink checks that a link may be followed now, and returns its secret. The caller
// releases the slot.
func (c *Console) followLink(q *request) (token string, slot access.Slot, err error) {
	if _, err := c.Guard.Admit(q.w, q.Request, toFollowLink); err != nil {
		return "", access.Slot{}, err
	}
	if token = q.PostForm.Get("code"); token == "" {
		token = q.URL.Query().Get("code")
	}
	slot, err = c.Guard.AcquireSlot(q.Request, access.Principal{}, false)
	return token, slot, err
}

func (c *Console) confirmAlertsPage(q *request) (*reply, error) {
	token, slot, err := c.followLink(q)
	if err != nil {
		return nil, err
	}
	defer slot.Release()
	asked, err := c.Account.AskedChannel(q.Context(), token)
	return q.linkReply(err, &alertLinkPage{
		Name:  "confirm",
		Path:  confirmPath,
		Token: token,
		To:    asked.Shown,
	})
}

func (c *Console) confirmAlertsForm(q *request) (*reply, error) {
	token, slot, err := c.followLink(q)
	if err != nil {
		return nil, err
	}
	defer slot.Release()
	return q.linkReply(c.Account.ConfirmChannel(q.Context(), token), &alertLinkPage{
		Name: "confirm",
		Done: true,
	})
}

// endAlertsPage offers to end all messages, or to allow them again.
func (c *Console) endAlertsPage(q *request) (*reply, error) {
	token, slot, err := c.followLink(q)
	if err != nil {
		return nil, err
	}
	defer slot.Release()
	reached, refused, err := c.Account.ReachedChannel(q.Context(), token)
	data := &alertLinkPage{
		Name:  "end",
		Path:  endPath,
		Token: token,
		To:    reached.Shown,
	}
	if refused {
		data.Name = "allow"
	}
	return q.linkReply(err, data)
}

// endAlertsForm ends all messages. Programs of mail services send the same form with one
// click, so that it has no origin and no session: the token alone permits it.
func (c *Console) endAlertsForm(q *request) (*reply, error) {
	token, slot, err := c.followLink(q)
	if err != nil {
		return nil, err
	}
	defer slot.Release()
	if q.PostForm.Get("allow") != "" {
		err := c.Account.AllowChannel(q.Context(), token)
		return q.linkReply(err, &alertLinkPage{Name: "allow", Done: true})
	}
	err = c.Account.EndChannel(q.Context(), token)
	return q.linkReply(err, &alertLinkPage{Name: "end", Done: true})
}

func (q *request) linkReply(err error, data *alertLinkPage) (*reply, error) {
	out := q.page("alert-link", q.e.Text("alerts.title."+data.Name), data)
	if fault.KindOf(err) == fault.NotFound {
		data.Invalid = true
		out.Status = http.StatusNotFound
		return out, nil
	}
	return out, err
}
