package channel

import (
	"context"
	"net/url"
	"regexp"
	"strings"

	"pregon/internal/push/alert"
	"pregon/internal/push/alert/message"
)

// ntfy publishes to a topic of a server of ntfy, as JSON to the server's address.
type ntfy struct{ poster *poster }

var ntfyRule = &hookRule{
	service: "ntfy",
	example: "https://ntfy.sh/TOPIC",
	path:    regexp.MustCompile(`^((?:/[A-Za-z0-9._-]+)*/[A-Za-z0-9_-]{0,3})[A-Za-z0-9_-]{1,61}$`),
	query:   []string{"auth"},
}

// maxNtfy is the size of a text in bytes. A longer one would become an attachment.
const maxNtfy = 4096

func (s *ntfy) Check(address string) (Address, error) {
	return ntfyRule.normal(address, s.poster.allowPrivate)
}

func (s *ntfy) Send(ctx context.Context, to alert.Channel, m *message.Message) Outcome {
	u, err := url.Parse(to.Address)
	if err != nil {
		return Outcome{Permanent: true, Error: "the stored address is not a URL"}
	}
	slash := strings.LastIndexByte(u.Path, '/')
	topic := u.Path[slash+1:]
	u.Path = u.Path[:slash+1]
	form := func(n int) string { return plain.body(m, n) }
	o, _ := s.poster.postJSON(ctx, u.String(), ntfyMessage{
		Topic:   topic,
		Title:   m.Subject(),
		Message: fit(m, maxNtfy, bytesOf, form),
		Click:   m.Target(),
	})
	return o
}

type ntfyMessage struct {
	Topic   string `json:"topic"`
	Title   string `json:"title"`
	Message string `json:"message"`
	Click   string `json:"click,omitempty"`
}
