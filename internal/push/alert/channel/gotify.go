package channel

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"pregon/internal/fault"
	"pregon/internal/push/alert"
	"pregon/internal/push/alert/message"
)

// gotify sends to a server of Gotify. Its address has the token of an application, which
// is sent in a header, so that it is in no log of a proxy.
type gotify struct{ poster *poster }

var gotifyRule = &hookRule{
	service: "Gotify",
	example: "https://gotify.example.com/message?token=…",
	path:    regexp.MustCompile(`^((?:/[A-Za-z0-9._-]+)*/message)$`),
	query:   []string{"token"},
}

const (
	maxGotify      = 8 << 10 // bytes of a text, so that it can be read
	gotifyPriority = 5       // with sound, without covering the screen
)

// gotifyToken is the form of tokens.
var gotifyToken = regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}$`)

func (s *gotify) Check(address string) (Address, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err == nil && !strings.HasSuffix(u.Path, "/message") { // the address of the server
		u.Path = strings.TrimSuffix(u.Path, "/") + "/message"
		address = u.String()
	}
	u, err = gotifyRule.check(address, s.poster.allowPrivate)
	if err != nil {
		return Address{}, err
	}
	if !gotifyToken.MatchString(u.Query().Get("token")) {
		return Address{}, fault.New(fault.Invalid, "the address needs the token of an application of Gotify: %s", gotifyRule.example)
	}
	return Address{Value: u.String(), Shown: gotifyRule.shown(u)}, nil
}

func (s *gotify) Send(ctx context.Context, to alert.Channel, m *message.Message) Outcome {
	u, err := url.Parse(to.Address)
	if err != nil {
		return Outcome{Permanent: true, Error: "the stored address is not a URL"}
	}
	header := http.Header{
		"Content-Type": {"application/json"},
		"X-Gotify-Key": {u.Query().Get("token")},
	}
	u.RawQuery = ""
	form := func(n int) string { return plain.body(m, n) }
	body, err := json.Marshal(gotifyMessage{
		Title:    m.Subject(),
		Message:  fit(m, maxGotify, bytesOf, form),
		Priority: gotifyPriority,
		Extras: map[string]any{
			"client::display":      map[string]string{"contentType": "text/plain"},
			"client::notification": map[string]any{"click": map[string]string{"url": m.Target()}},
		},
	})
	if err != nil {
		return Outcome{Error: "the message could not be encoded"}
	}
	o, _ := s.poster.post(ctx, u.String(), header, body)
	return o
}

type gotifyMessage struct {
	Title    string         `json:"title"`
	Message  string         `json:"message"`
	Priority int            `json:"priority"`
	Extras   map[string]any `json:"extras"`
}
