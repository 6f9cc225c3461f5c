package channel

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"pregon/internal/fault"
	"pregon/internal/fault/outage"
	"pregon/internal/push/alert/message"
	"pregon/internal/retry"
	"pregon/internal/server/outbound"
	"pregon/internal/store"
)

// Bot is the bot of Telegram as people talk to it: they press a link that starts it with a
// token, and may stop it.
type Bot struct {
	telegram *telegram
	poller   *poster // waits for answers longer than the one that sends
	log      *slog.Logger
	name     atomic.Pointer[string] // in links
	helped   chatPace               // who got help lately
}

// Contact is a person's chat with the bot.
type Contact struct {
	Chat     string // the address of the channel
	Shown    string // for the account
	Language string // es or en
}

// Conversation is what the bot does when a person starts or stops it. An error means that
// it is to be tried again. The replies are plain text; empty ones are not sent.
type Conversation interface {
	Start(ctx context.Context, token string, from Contact) (reply string, err error)
	Stop(ctx context.Context, from Contact) (reply string, err error)
}

const (
	botLease     = "telegram"
	botLeaseTime = 30 * time.Second
	botRenew     = 10 * time.Second
	botPause     = 5 * time.Second // before the lease is asked for again

	pollTime     = 50 * time.Second // that Telegram waits for an update
	pollTimeout  = pollTime + postTimeout
	mostUpdates  = 20
	maxUpdates   = mostUpdates * 64 << 10 // bytes; a message has up to 4,096 characters
	mostFailures = 5                      // of one update, which is then left out
	longestPause = time.Minute
	helpEvery    = time.Minute // for each chat
)

func newBot(t *telegram, s Settings) *Bot {
	long := *t.poster
	client := *t.poster.client
	client.Timeout = pollTimeout
	if s.Client == nil {
		client = *outbound.NewClient(outbound.Options{AllowPrivate: s.AllowPrivate, Timeout: pollTimeout})
	}
	long.client = &client
	long.timeout = pollTimeout
	long.maxAnswer = maxUpdates
	return &Bot{
		telegram: t,
		poller:   &long,
		log:      s.Logger,
		helped:   chatPace{every: helpEvery},
	}
}

// Link returns the address at which a person starts the bot with a token, or "" if Telegram
// cannot be asked for the name of the bot.
func (b *Bot) Link(ctx context.Context, token string) string {
	name := b.name.Load()
	if name == nil {
		var me struct {
			Username string `json:"username"`
		}
		err := b.call(ctx, b.telegram.poster, "getMe", struct{}{}, &me)
		if err != nil || !telegramName.MatchString(me.Username) {
			return ""
		}
		name = &me.Username
		b.name.Store(name)
	}
	return "https://t.me/" + *name + "?start=" + token
}

// startToken is what Telegram lets a link pass to a bot.
var (
	startToken   = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	telegramName = regexp.MustCompile(`^[A-Za-z0-9_]{3,32}$`)
)

// Run reads what people tell the bot until the context ends, while this process has the
// lease: Telegram gives each update to one process only.
func (b *Bot) Run(ctx context.Context, leases store.Leases, process string, c Conversation) error {
	h := store.LeaseHolder{
		Leases:      leases,
		Name:        botLease,
		Holder:      process,
		TTL:         botLeaseTime,
		AcquireTime: botPause,
		ReleaseTime: botPause,
		RenewEvery:  botRenew,
		Shared:      true, // Telegram refuses the second one
	}
	failing := outage.Log{Logger: b.log}
	for ctx.Err() == nil {
		lease, err := h.Acquire(ctx)
		if err == nil {
			err = h.Hold(ctx, lease, func(ctx context.Context) error { return b.Poll(ctx, c) })
		}
		elsewhere := fault.KindOf(err) == fault.Conflict || errors.Is(err, store.ErrLeaseLost)
		if err != nil && ctx.Err() == nil && !elsewhere {
			failing.Failed("cannot run the Telegram bot", "err", err)
		}
		_ = retry.Sleep(ctx, retry.Jitter(botPause))
	}
	return ctx.Err()
}

// update is something that a person did.
type update struct {
	ID      int64 `json:"update_id"`
	Message *struct {
		Text string      `json:"text"`
		Chat chat        `json:"chat"`
		From telegramOne `json:"from"`
	} `json:"message"`
	Member *struct {
		Chat chat        `json:"chat"`
		From telegramOne `json:"from"`
		New  struct {
			Status string `json:"status"`
		} `json:"new_chat_member"`
	} `json:"my_chat_member"`
}

type chat struct {
	ID   int64  `json:"id"`
	Type string `json:"type"`
}

// telegramOne is a user of Telegram.
type telegramOne struct {
	Username string `json:"username"`
	Language string `json:"language_code"`
}

// Poll reads updates until the context ends. An update is confirmed to Telegram after it
// was processed, so that none is lost if the process dies; then it may come twice.
func (b *Bot) Poll(ctx context.Context, c Conversation) error {
	next := int64(0)
	failures := 0
	failing := outage.Log{Logger: b.log}
	for ctx.Err() == nil {
		updates, err := b.updates(ctx, next)
		if err == nil {
			next, err = b.processAll(ctx, c, next, updates, failures >= mostFailures)
		}
		switch {
		case ctx.Err() != nil:
		case err != nil:
			failures++
			failing.Failed("cannot process the updates of the Telegram bot", "err", err)
			_ = retry.Sleep(ctx, cmp.Or(pauseOf(err), retry.Backoff(failures, time.Second, longestPause)))
		default:
			failures = 0
			failing.Recovered("the updates of the Telegram bot are processed again")
		}
	}
	return ctx.Err()
}

// processAll processes updates in their order, and returns the number of the next one. An
// update that cannot be processed is tried again, unless it is to be left out.
func (b *Bot) processAll(ctx context.Context, c Conversation, next int64, all []update, leaveOut bool) (int64, error) {
	for _, u := range all {
		if err := b.process(ctx, c, u); err != nil && !leaveOut {
			return next, err
		}
		leaveOut = false
		next = u.ID + 1
	}
	return next, nil
}

// pauseError is an error of Telegram, which asks to wait.
type pauseError struct {
	error
	pause time.Duration
}

func pauseOf(err error) time.Duration {
	if p, ok := errors.AsType[*pauseError](err); ok {
		return p.pause
	}
	return 0
}

func (b *Bot) updates(ctx context.Context, next int64) ([]update, error) {
	var updates []update
	err := b.call(ctx, b.poller, "getUpdates", struct {
		Offset  int64    `json:"offset"`
		Timeout int      `json:"timeout"`
		Limit   int      `json:"limit"`
		Allowed []string `json:"allowed_updates"`
	}{
		Offset:  next,
		Timeout: int(pollTime / time.Second),
		Limit:   mostUpdates,
		Allowed: []string{"message", "my_chat_member"},
	}, &updates)
	return updates, err
}

// call calls a method of the Bot API. Its errors do not have the address, which has the
// token.
func (b *Bot) call(ctx context.Context, p *poster, method string, request, result any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.telegram.bot+"/"+method, strings.NewReader(string(body)))
	if err != nil {
		return errors.New("the address of the Bot API is not a URL")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", p.userAgent)
	got, err := p.exchange(req)
	if err != nil {
		return errors.New("the Bot API: " + p.describe(err))
	}
	if o := telegramOutcome(got); !o.OK {
		return &pauseError{errors.New("the Bot API: " + o.Error), o.RetryAfter}
	}
	var said telegramAnswer
	if json.Unmarshal(got.body, &said) != nil || json.Unmarshal(said.Result, result) != nil {
		return errors.New("the Bot API: the answer cannot be read")
	}
	return nil
}

// process does what a person asked for. Groups are ignored: in a group each member could
// stop the messages of all.
func (b *Bot) process(ctx context.Context, c Conversation, u update) error {
	switch {
	case u.Message != nil && u.Message.Chat.Type == "private":
		from := contactOf(u.Message.Chat, u.Message.From)
		command, argument, _ := strings.Cut(strings.TrimSpace(u.Message.Text), " ")
		argument = strings.TrimSpace(argument)
		switch {
		case command == "/start" && startToken.MatchString(argument):
			reply, err := c.Start(ctx, argument, from)
			return b.reply(ctx, from, reply, err)
		case command == "/stop":
			reply, err := c.Stop(ctx, from)
			return b.reply(ctx, from, reply, err)
		}
		if b.helped.reserve(from.Chat, time.Now(), 0) > 0 {
			return nil
		}
		return b.reply(ctx, from, helpOf(from.Language), nil)
	case u.Member != nil && u.Member.Chat.Type == "private" && u.Member.New.Status == "kicked":
		_, err := c.Stop(ctx, contactOf(u.Member.Chat, u.Member.From)) // blocked: no reply arrives
		return err
	}
	return nil
}

// reply answers a person after the state has changed. A reply that cannot be sent is not
// repeated. It is left out if the chat may not receive a message now: one person who
// writes a lot must not keep others waiting.
func (b *Bot) reply(ctx context.Context, to Contact, reply string, err error) error {
	if err != nil || reply == "" {
		return err
	}
	if o := b.telegram.sayNow(ctx, to.Chat, escapeTelegram.Replace(reply)); !o.OK {
		b.log.Debug("cannot reply in Telegram", "err", o.Error)
	}
	return nil
}

func helpOf(language string) string {
	if language == message.Spanish {
		return "Este bot envía avisos de Pregón. Para recibirlos aquí, siga el enlace de su cuenta. Con /stop dejan de llegar."
	}
	return "This bot sends alerts from Pregón. To receive them here, follow the link in your account. /stop ends them."
}

func contactOf(c chat, who telegramOne) Contact {
	id := strconv.FormatInt(c.ID, 10)
	contact := Contact{
		Chat:     id,
		Shown:    "Telegram …" + id[max(0, len(id)-3):],
		Language: message.English,
	}
	if telegramName.MatchString(who.Username) {
		contact.Shown = "@" + who.Username
	}
	if language, _, _ := strings.Cut(who.Language, "-"); language == message.Spanish {
		contact.Language = message.Spanish
	}
	return contact
}
