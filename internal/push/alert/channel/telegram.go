package channel

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"pregon/internal/fault"
	"pregon/internal/push/alert"
	"pregon/internal/push/alert/message"
	"pregon/internal/retry"
)

// TelegramSettings configure the bot that sends messages.
type TelegramSettings struct {
	Token string // of the bot, as BotFather gave it
	// API is the address of the Bot API, or "" for Telegram's own.
	API string
}

const (
	telegramAPI = "https://api.telegram.org"

	// Limits of Telegram: https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this
	telegramPerSecond  = 30
	telegramChatEvery  = time.Second
	maxTelegram        = 4096                   // UTF-16 units of a text
	shortTurn          = 200 * time.Millisecond // that a reply waits behind alerts, a few places
	maxTelegramChats   = 10000                  // of which the last message is remembered
	telegramTokenError = "Telegram does not accept the token of this service's bot"
)

// telegram sends messages as a bot.
type telegram struct {
	poster *poster
	bot    string // the address of its methods: a secret
	pace   *pace
	chats  chatPace
}

var (
	telegramToken = regexp.MustCompile(`^\d{1,20}:[A-Za-z0-9_-]{20,100}$`)
	telegramChat  = regexp.MustCompile(`^-?[1-9]\d{0,19}$`)
)

func newTelegram(s TelegramSettings, p *poster) (*telegram, error) {
	token := strings.TrimSpace(s.Token)
	if !telegramToken.MatchString(token) {
		return nil, fault.New(fault.Invalid, "the token of the Telegram bot does not have the form 123456789:ABC…, which BotFather gives")
	}
	api := strings.TrimSuffix(s.API, "/")
	if api == "" {
		api = telegramAPI
	}
	return &telegram{
		poster: p,
		bot:    api + "/bot" + token,
		pace:   perSecond(telegramPerSecond),
		chats:  chatPace{every: telegramChatEvery},
	}, nil
}

// Check accepts the number of a chat. People do not type it: the bot learns it from them.
func (t *telegram) Check(address string) (Address, error) {
	if !telegramChat.MatchString(address) {
		return Address{}, fault.New(fault.Invalid, "a chat of Telegram is confirmed in Telegram: follow the link to the bot")
	}
	return Address{Value: address, Shown: "Telegram …" + address[max(0, len(address)-3):]}, nil
}

func (t *telegram) Send(ctx context.Context, to alert.Channel, m *message.Message) Outcome {
	if !telegramChat.MatchString(to.Address) {
		return Outcome{Error: "the chat of Telegram is not known: follow the link to the bot"}
	}
	form := func(n int) string { return telegramMarkup.body(m, n) }
	return t.say(ctx, to.Address, fit(m, maxTelegram, unitsOf, form))
}

// say sends a text in the HTML of Telegram to a chat, when it is its turn.
func (t *telegram) say(ctx context.Context, chat, html string) Outcome {
	if delay := t.chats.reserve(chat, time.Now(), longestTurn); delay > longestTurn {
		return Outcome{Untried: true, RetryAfter: delay, Error: "too many messages at once for this chat"}
	} else if err := retry.Sleep(ctx, delay); err != nil {
		return Outcome{Untried: true, Error: "the message was not sent: the time for it was over"}
	}
	if o, ok := t.pace.wait(ctx); !ok {
		return o
	}
	return t.send(ctx, chat, html)
}

// sayNow sends a text to a chat if its turn is now: who waits for a chat keeps all others
// waiting.
func (t *telegram) sayNow(ctx context.Context, chat, html string) Outcome {
	if delay := t.chats.reserve(chat, time.Now(), 0); delay > 0 {
		return Outcome{RetryAfter: delay, Error: "too many messages at once for this chat"}
	}
	if o, ok := t.pace.waitAtMost(ctx, shortTurn); !ok {
		return o
	}
	return t.send(ctx, chat, html)
}

func (t *telegram) send(ctx context.Context, chat, html string) Outcome {
	o, got := t.poster.postJSON(ctx, t.bot+"/sendMessage", telegramText{
		Chat:      chat,
		Text:      html,
		ParseMode: "HTML",
		Preview:   telegramPreview{Disabled: true},
	})
	if got.status == 0 {
		return o
	}
	return telegramOutcome(got)
}

type telegramText struct {
	Chat      string          `json:"chat_id"`
	Text      string          `json:"text"`
	ParseMode string          `json:"parse_mode"`
	Preview   telegramPreview `json:"link_preview_options"`
}

type telegramPreview struct {
	Disabled bool `json:"is_disabled"`
}

// telegramAnswer is what every method answers.
type telegramAnswer struct {
	OK          bool            `json:"ok"`
	Description string          `json:"description"`
	Result      json.RawMessage `json:"result"`
	Parameters  struct {
		RetryAfter float64 `json:"retry_after"`
	} `json:"parameters"`
}

// telegramOutcome classifies an answer. Only what is said of the chat is permanent: a token
// that is not accepted concerns the operator.
func telegramOutcome(got answer) Outcome {
	var said telegramAnswer
	decoded := json.Unmarshal(got.body, &said) == nil
	o := outcomeOf(got)
	switch got.status {
	case http.StatusOK:
		if !decoded || !said.OK {
			return Outcome{Status: got.status, Error: "the answer is not one of Telegram"}
		}
	case http.StatusTooManyRequests:
		o.RetryAfter = max(o.RetryAfter, wait(said.Parameters.RetryAfter))
	case http.StatusUnauthorized, http.StatusNotFound:
		o.Permanent = false
		o.Error = telegramTokenError
	case http.StatusBadRequest:
		o.Permanent = goneChat(said.Description)
		if o.Permanent {
			o.Error = "the chat of Telegram does not exist any more"
		}
	case http.StatusForbidden:
		o.Error = "the bot was blocked or removed in Telegram"
	}
	return o
}

// goneChat reports whether a description says that there is no such chat. Other bad requests
// concern the message.
func goneChat(description string) bool {
	for _, words := range []string{
		"chat not found", "user not found", "PEER_ID_INVALID", "chat was upgraded", "chat was deleted", "user is deactivated",
	} {
		if strings.Contains(description, words) {
			return true
		}
	}
	return false
}

// telegramMarkup is the HTML that Telegram accepts.
var telegramMarkup = markup{
	escape: escapeTelegram.Replace,
	bold:   func(s string) string { return "<b>" + s + "</b>" },
	link: func(s, address string) string {
		if address == "" {
			return s
		}
		return `<a href="` + escapeTelegram.Replace(address) + `">` + s + "</a>"
	},
}

var escapeTelegram = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

// chatPace spaces the messages of each chat.
type chatPace struct {
	every time.Duration

	mu   sync.Mutex // held for operations on memory only
	next map[string]time.Time
}

// reserve takes the next turn of a chat: see pace.reserve.
func (c *chatPace) reserve(chat string, now time.Time, longest time.Duration) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next == nil {
		c.next = map[string]time.Time{}
	}
	if len(c.next) >= maxTelegramChats {
		for name, at := range c.next {
			if at.Before(now) {
				delete(c.next, name)
			}
		}
	}
	at := c.next[chat]
	if at.Before(now) {
		at = now
	}
	delay := at.Sub(now)
	if delay <= longest && len(c.next) < maxTelegramChats {
		c.next[chat] = at.Add(c.every)
	}
	return delay
}
