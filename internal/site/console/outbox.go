package console

import (
	"context"
	"strings"

	"pregon/internal/auth/access"
	"pregon/internal/push/alert/channel"
	"pregon/internal/site/render"
)

// pushWorker is the script that shows messages to a browser. Its address stays, since
// browsers know it by that.
func (c *Console) pushWorker(*request) (*reply, error) {
	return &reply{Page: render.Page{
		Body:        embedded("assets/push-worker.js"),
		ContentType: "text/javascript; charset=utf-8",
	}}, nil
}

// outboxPage is the messages that the demo would have sent to a person.
type outboxPage struct {
	frame
	Messages []postedRow
}

// postedRow is a message as the page shows it.
type postedRow struct {
	channel.Posted
	Pieces []piece
}

// piece is a part of the text of a message: an address of this service, or other text.
type piece struct{ Text, URL string }

// outbox shows the messages of a person. There is none but in the demo.
func (c *Console) outbox(q *request) (*reply, error) {
	if !c.Account.HasMailbox() {
		return nil, errNoPage
	}
	posted, err := do(c, q, keepAlerts, func(_ context.Context, by access.Principal) ([]channel.Posted, error) {
		return c.Account.Mailbox(by)
	})
	if err != nil {
		return nil, err
	}
	data := &outboxPage{frame: q.frame("alerts")}
	data.Heading = q.e.Text("outbox.title")
	for _, m := range posted {
		data.Messages = append(data.Messages, postedRow{m, c.pieces(m.Text)})
	}
	return q.page("outbox", data.Heading, data), nil
}

// pieces divides a text at the addresses of this service, which become links.
func (c *Console) pieces(text string) (out []piece) {
	for {
		at := strings.Index(text, c.BaseURL+"/")
		if at < 0 {
			return append(out, piece{Text: text})
		}
		end := strings.IndexAny(text[at:], " \t\r\n<>\"")
		if end < 0 {
			end = len(text) - at
		}
		out = append(out, piece{Text: text[:at]}, piece{URL: text[at : at+end]})
		text = text[at+end:]
	}
}
