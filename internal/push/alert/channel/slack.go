package channel

import (
	"context"
	"regexp"
	"strings"

	"pregon/internal/push/alert"
	"pregon/internal/push/alert/message"
)

// slack sends to incoming webhooks of Slack.
//
// The items are rich text without markup: neither a name nor a title can
// mention people or hide a link. Only the line for notifications is parsed, and is escaped.
type slack struct{ poster *poster }

var slackRule = &hookRule{
	service: "Slack",
	example: "https://hooks.slack.com/services/T…/B…/…",
	hosts:   []string{"hooks.slack.com", "hooks.slack-gov.com"},
	path:    regexp.MustCompile(`^(/services/T[A-Za-z0-9]+/B[A-Za-z0-9]+/)[A-Za-z0-9]+$`),
}

// maxSlackItems keeps a message below the 50 blocks that Slack accepts.
const maxSlackItems = 25

func (s *slack) Check(address string) (Address, error) {
	return slackRule.normal(address, s.poster.allowPrivate)
}

func (s *slack) Send(ctx context.Context, to alert.Channel, m *message.Message) Outcome {
	o, _ := s.poster.postJSON(ctx, to.Address, slackMessageOf(m))
	return o
}

type slackMessage struct {
	Text        string       `json:"text"` // for notifications
	Blocks      []slackBlock `json:"blocks"`
	UnfurlLinks bool         `json:"unfurl_links"`
	UnfurlMedia bool         `json:"unfurl_media"`
}

// slackBlock is a block of the type rich_text.
type slackBlock struct {
	Type     string         `json:"type"`
	Elements []slackSection `json:"elements"`
}

type slackSection struct {
	Type     string         `json:"type"`
	Elements []slackElement `json:"elements"`
}

// slackElement is text or a link.
type slackElement struct {
	Type  string      `json:"type"`
	Text  string      `json:"text"`
	URL   string      `json:"url,omitempty"`
	Style *slackStyle `json:"style,omitempty"`
}

type slackStyle struct {
	Bold bool `json:"bold,omitempty"`
}

// escapeSlack escapes the characters that control mrkdwn.
var escapeSlack = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

func slackMessageOf(m *message.Message) slackMessage {
	out := slackMessage{Text: escapeSlack.Replace(m.Subject())}
	add := func(elements ...slackElement) {
		out.Blocks = append(out.Blocks, slackBlock{
			Type:     "rich_text",
			Elements: []slackSection{{Type: "rich_text_section", Elements: elements}},
		})
	}
	if notice := m.Notice(); notice != "" {
		add(slackText(notice, true))
	}
	n := min(maxSlackItems, len(m.Items))
	for _, e := range m.Entries(n) {
		add(
			slackText(e.Issuer+"\n", true),
			slackLink(e.Title, e.URL),
			slackText("\n"+e.Detail(), false),
		)
	}
	if rest, ok := m.Rest(n); ok {
		add(slackLink(rest.Text, rest.URL))
	}
	for _, p := range m.Paragraphs() {
		add(slackText(p, false))
	}
	if action, ok := m.Action(); ok {
		add(slackLink(action.Text, action.URL))
	}
	var footer []slackElement
	for i, l := range m.Footer() {
		if i > 0 {
			footer = append(footer, slackText(" · ", false))
		}
		footer = append(footer, slackLink(l.Text, l.URL))
	}
	if len(footer) > 0 {
		add(footer...)
	}
	return out
}

func slackText(s string, bold bool) slackElement {
	e := slackElement{Type: "text", Text: s}
	if bold {
		e.Style = &slackStyle{Bold: true}
	}
	return e
}

func slackLink(s, address string) slackElement {
	if address == "" {
		return slackText(s, false)
	}
	return slackElement{Type: "link", Text: s, URL: address}
}
