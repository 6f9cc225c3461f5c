package channel

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"

	"pregon/internal/push/alert"
	"pregon/internal/push/alert/message"
)

// discord sends to webhooks of Discord: one embed with all items. No title can
// mention people.
type discord struct{ poster *poster }

var discordRule = &hookRule{
	service: "Discord",
	example: "https://discord.com/api/webhooks/…/…",
	hosts:   []string{"discord.com", "discordapp.com", "ptb.discord.com", "canary.discord.com"},
	path:    regexp.MustCompile(`^(/api/(?:v\d+/)?webhooks/\d+/)[A-Za-z0-9_-]+$`),
	query:   []string{"thread_id"},
}

// Limits of Discord, in UTF-16 units. All texts of the embeds may have 6,000 together.
const (
	maxDiscordTitle       = 256
	maxDiscordDescription = 4096
)

func (d *discord) Check(address string) (Address, error) {
	return discordRule.normal(address, d.poster.allowPrivate)
}

func (d *discord) Send(ctx context.Context, to alert.Channel, m *message.Message) Outcome {
	u, err := url.Parse(to.Address)
	if err != nil {
		return Outcome{Permanent: true, Error: "the stored address is not a URL"}
	}
	query := u.Query()
	query.Set("wait", "true") // else a message that cannot be stored is reported as sent
	u.RawQuery = query.Encode()
	o, got := d.poster.postJSON(ctx, u.String(), discordMessageOf(m))
	if got.status == http.StatusTooManyRequests {
		var limit struct {
			RetryAfter float64 `json:"retry_after"`
		}
		if json.Unmarshal(got.body, &limit) == nil {
			o.RetryAfter = max(o.RetryAfter, wait(limit.RetryAfter))
		}
	}
	return o
}

type discordMessage struct {
	Embeds          []discordEmbed  `json:"embeds"`
	AllowedMentions discordMentions `json:"allowed_mentions"`
}

type discordEmbed struct {
	Title       string `json:"title"`
	URL         string `json:"url,omitempty"`
	Description string `json:"description"`
}

type discordMentions struct {
	Parse []string `json:"parse"`
}

// discordMarkup is the Markdown of Discord. A backslash may precede any sign.
var discordMarkup = markup{
	escape: func(s string) string { return escape(s, "\\`*_{}[]()#+-.!<>~|@:", "") },
	bold:   func(s string) string { return "**" + s + "**" },
	link:   markdownLink,
}

func discordMessageOf(m *message.Message) discordMessage {
	form := func(n int) string { return discordMarkup.body(m, n) }
	title := discordMarkup.escape(m.Subject())
	if unitsOf(title) > maxDiscordTitle {
		title = discordMarkup.escape(m.Brief())
	}
	return discordMessage{
		Embeds: []discordEmbed{{
			Title:       title,
			URL:         m.Target(),
			Description: fit(m, maxDiscordDescription, unitsOf, form),
		}},
		AllowedMentions: discordMentions{Parse: []string{}},
	}
}
