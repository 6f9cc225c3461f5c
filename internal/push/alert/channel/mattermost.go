package channel

import (
	"context"
	"regexp"

	"pregon/internal/push/alert"
	"pregon/internal/push/alert/message"
)

// mattermost sends to incoming webhooks of Mattermost.
type mattermost struct{ poster *poster }

var mattermostRule = &hookRule{
	service: "Mattermost",
	example: "https://mattermost.example.com/hooks/…",
	path:    regexp.MustCompile(`^((?:/[A-Za-z0-9._-]+)*/hooks/)[A-Za-z0-9]+$`),
}

// maxMattermost is the number of characters of a post. Newer servers accept more.
const maxMattermost = 4000

func (s *mattermost) Check(address string) (Address, error) {
	return mattermostRule.normal(address, s.poster.allowPrivate)
}

func (s *mattermost) Send(ctx context.Context, to alert.Channel, m *message.Message) Outcome {
	form := func(n int) string { return mattermostMarkup.body(m, n) }
	o, _ := s.poster.postJSON(ctx, to.Address, mattermostPost{
		Text:  fit(m, maxMattermost, unitsOf, form),
		Props: mattermostProps{DisableMentions: true},
	})
	return o
}

type mattermostPost struct {
	Text  string          `json:"text"`
	Props mattermostProps `json:"props"`
}

type mattermostProps struct {
	DisableMentions bool `json:"disable_mentions"`
}

// mattermostMarkup is Markdown that mentions nobody. Mattermost finds the names of
// people and channels without regard to backslashes, so that a character without width
// separates the sign from the name.
var mattermostMarkup = markup{
	escape: func(s string) string { return escape(s, "\\`*_{}[]()+-.!>|", "@~#:<") },
	bold:   func(s string) string { return "**" + s + "**" },
	link:   markdownLink,
}
