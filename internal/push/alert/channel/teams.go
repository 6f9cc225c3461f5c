package channel

import (
	"context"
	"encoding/json"
	"net/url"
	"regexp"
	"strings"

	"pregon/internal/fault"
	"pregon/internal/push/alert"
	"pregon/internal/push/alert/message"
)

// teams sends Adaptive Cards to workflows of Microsoft Teams. The texts are runs of rich
// text, in which nothing is markup.
type teams struct{ poster *poster }

var teamsRule = &hookRule{
	service: "a workflow of Microsoft Teams",
	example: "https://….environment.api.powerplatform.com/…/triggers/manual/paths/invoke?…",
	hosts:   []string{".logic.azure.com", ".logic.azure.us", ".powerplatform.com", ".powerautomate.com"},
	path:    regexp.MustCompile(`^/[A-Za-z0-9._~/-]*workflows/[A-Za-z0-9._~/-]+$`),
	query:   []string{"api-version", "sp", "sv", "sig"},
}

// maxTeams is the size of a card in bytes. Teams accepts 28 KB with what surrounds it.
const maxTeams = 25 << 10

func (s *teams) Check(address string) (Address, error) {
	if u, err := url.Parse(strings.TrimSpace(address)); err == nil {
		host := strings.ToLower(u.Hostname())
		if strings.HasSuffix(host, ".webhook.office.com") || host == "outlook.office.com" || host == "outlook.office365.com" {
			return Address{}, fault.New(fault.Invalid, "this is the address of a connector, which Microsoft has retired: "+
				"create a workflow «Send webhook alerts to a channel» in Teams and use its address")
		}
	}
	return teamsRule.normal(address, s.poster.allowPrivate)
}

func (s *teams) Send(ctx context.Context, to alert.Channel, m *message.Message) Outcome {
	form := func(n int) string { return teamsMessageOf(m, n) }
	body := fit(m, maxTeams, bytesOf, form)
	o, _ := s.poster.postJSON(ctx, to.Address, json.RawMessage(body))
	return o
}

// teamsMessageOf returns the JSON of a message with a card.
func teamsMessageOf(m *message.Message, n int) string {
	var body []any
	add := func(runs ...teamsRun) {
		body = append(body, teamsParagraph{Type: "RichTextBlock", Inlines: runs})
	}
	add(teamsRun{
		Type:   "TextRun",
		Text:   m.Subject(),
		Weight: "Bolder",
		Size:   "Medium",
	})
	if notice := m.Notice(); notice != "" {
		add(teamsRun{Type: "TextRun", Text: notice, Weight: "Bolder"})
	}
	for _, section := range m.Sections(n) {
		if section.Issuer != "" {
			add(teamsRun{Type: "TextRun", Text: section.Issuer, Weight: "Bolder"})
		}
		for _, e := range section.Entries {
			add(teamsLink(e.Title, e.URL))
			add(teamsRun{Type: "TextRun", Text: e.Detail(), IsSubtle: true})
		}
	}
	if rest, ok := m.Rest(n); ok {
		add(teamsLink(rest.Text, rest.URL))
	}
	for _, p := range m.Paragraphs() {
		add(teamsRun{Type: "TextRun", Text: p})
	}
	var actions []teamsAction
	if action, ok := m.Action(); ok {
		actions = append(actions, teamsAction{Type: "Action.OpenUrl", Title: action.Text, URL: action.URL})
	}
	for _, l := range m.Footer() {
		actions = append(actions, teamsAction{Type: "Action.OpenUrl", Title: l.Text, URL: l.URL})
	}
	out, err := json.Marshal(teamsMessage{
		Type: "message",
		Attachments: []teamsAttachment{{
			ContentType: "application/vnd.microsoft.card.adaptive",
			Content: teamsCard{
				Schema:  "http://adaptivecards.io/schemas/adaptive-card.json",
				Type:    "AdaptiveCard",
				Version: "1.4",
				Body:    body,
				Actions: actions,
			},
		}},
	})
	if err != nil {
		return "" // cannot happen: it is made of strings
	}
	return string(out)
}

type teamsMessage struct {
	Type        string            `json:"type"`
	Attachments []teamsAttachment `json:"attachments"`
}

type teamsAttachment struct {
	ContentType string    `json:"contentType"`
	ContentURL  *string   `json:"contentUrl"`
	Content     teamsCard `json:"content"`
}

type teamsCard struct {
	Schema  string        `json:"$schema"`
	Type    string        `json:"type"`
	Version string        `json:"version"`
	Body    []any         `json:"body"`
	Actions []teamsAction `json:"actions,omitempty"`
}

type teamsParagraph struct {
	Type    string     `json:"type"`
	Inlines []teamsRun `json:"inlines"`
}

type teamsRun struct {
	Type         string       `json:"type"`
	Text         string       `json:"text"`
	Weight       string       `json:"weight,omitempty"`
	Size         string       `json:"size,omitempty"`
	IsSubtle     bool         `json:"isSubtle,omitempty"`
	SelectAction *teamsAction `json:"selectAction,omitempty"`
}

type teamsAction struct {
	Type  string `json:"type"`
	Title string `json:"title,omitempty"`
	URL   string `json:"url"`
}

func teamsLink(s, address string) teamsRun {
	run := teamsRun{Type: "TextRun", Text: s}
	if address != "" {
		run.SelectAction = &teamsAction{Type: "Action.OpenUrl", URL: address}
	}
	return run
}
