package channel_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/fault"
	"pregon/internal/push/alert"
	"pregon/internal/push/alert/channel"
	"pregon/internal/push/alert/channel/channeltest"
	"pregon/internal/push/alert/message"
	"pregon/internal/store"
	"pregon/internal/store/sqlite"
	"pregon/internal/test/waittest"
)

func telegramSenders(t *testing.T, api *channeltest.Telegram) *channel.Senders {
	t.Helper()
	return senders(t, channel.Settings{
		AllowPrivate: true,
		Telegram: channel.TelegramSettings{
			Token: channeltest.TelegramToken,
			API:   api.BaseURL,
		},
	})
}

// chatOf returns a channel to a chat of its own, so that tests do not wait for its turn.
func chatOf(n int) alert.Channel {
	return alert.Channel{Kind: alert.Telegram, Address: fmt.Sprint(4000 + n), Language: "es"}
}

// Every message is one that Telegram accepts, whatever is in it.
func TestTelegramAccepts(t *testing.T) {
	api := channeltest.StartTelegram(t)
	s := telegramSenders(t, api)
	var messages []*message.Message
	for _, items := range []int{0, 1, 500} {
		messages = append(messages, news(items))
		messages[len(messages)-1].More = 7
	}
	for _, text := range hostile {
		m := news(100)
		for i := range m.Items {
			m.Items[i].Title = text
			m.Items[i].Facts = text
			m.Items[i].Issuer = message.Issuer{ID: fmt.Sprint(i % 5), Name: text, Ticker: text}
			m.Items[i].Simulated = true
		}
		messages = append(messages, m)
	}
	confirmation := news(0)
	confirmation.Kind = message.Confirmation
	messages = append(messages, confirmation)
	for i, m := range messages {
		if o := s.Send(t.Context(), chatOf(i), m); !o.OK {
			t.Errorf("message %d: %+v, %q", i, o, api.Refused())
		}
	}
	sent := api.Sent()
	if len(sent) != len(messages) {
		t.Fatalf("%d messages, want %d", len(sent), len(messages))
	}
	first := sent[1]
	if !strings.Contains(first.Text, "Acuerdos de la Junta n.º 0 «ñandú» <b>&amp;") || first.Chat != "4001" ||
		!strings.Contains(first.HTML, `<a href="https://pregon.example.com/reports/oir-0?lang=es">`) {
		t.Errorf("%+v", first)
	}
	if strings.Contains(sent[3].HTML, "<!channel>") || !strings.Contains(sent[3].Text, "Datos simulados") {
		t.Errorf("%+v", sent[3])
	}
}

func TestTelegramAnswers(t *testing.T) {
	says := func(status int, description, parameters string) channeltest.Answer {
		return channeltest.Answer{
			Status: status,
			Body:   fmt.Sprintf(`{"ok":false,"error_code":%d,"description":%q,"parameters":{%s}}`, status, description, parameters),
		}
	}
	for i, test := range []struct {
		answer     channeltest.Answer
		permanent  bool
		retryAfter time.Duration
	}{
		{says(429, "Too Many Requests: retry after 5", `"retry_after":5`), false, 5 * time.Second},
		{says(403, "Forbidden: bot was blocked by the user", ""), true, 0},
		{says(400, "Bad Request: chat not found", ""), true, 0},
		{says(400, "Bad Request: group chat was upgraded to a supergroup chat", `"migrate_to_chat_id":-1001`), true, 0},
		{says(400, "Bad Request: can't parse entities", ""), false, 0},
		{says(401, "Unauthorized", ""), false, 0},
		{says(404, "Not Found", ""), false, 0},
		{says(502, "Bad Gateway", ""), false, 0},
		{channeltest.Answer{Status: 200, Body: "<html>"}, false, 0},
		{channeltest.Answer{Do: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }}, false, 0},
	} {
		s := telegramSenders(t, channeltest.StartTelegram(t, test.answer))
		o := s.Send(t.Context(), chatOf(i), news(1))
		if o.OK || o.Permanent != test.permanent || o.RetryAfter != test.retryAfter || o.Error == "" {
			t.Errorf("%+v: %+v", test.answer, o)
		}
		if strings.Contains(o.Error, "geheim") {
			t.Errorf("the error has the token: %s", o.Error)
		}
	}
	wrong := channeltest.StartTelegram(t)
	s := senders(t, channel.Settings{AllowPrivate: true, Telegram: channel.TelegramSettings{
		Token: "1:" + strings.Repeat("x", 30), API: wrong.BaseURL,
	}})
	if o := s.Send(t.Context(), chatOf(0), news(1)); o.OK || o.Permanent || !strings.Contains(o.Error, "token") {
		t.Errorf("a wrong token: %+v", o)
	}
}

func TestCheckTelegram(t *testing.T) {
	s := telegramSenders(t, channeltest.StartTelegram(t))
	if a, err := s.Check(alert.Telegram, "-100123456789"); err != nil || a.Value != "-100123456789" || a.Shown != "Telegram …789" {
		t.Errorf("%+v, %v", a, err)
	}
	for _, bad := range []string{"", "0", "@channel", "12 3", "1.5", strings.Repeat("1", 30)} {
		if _, err := s.Check(alert.Telegram, bad); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for _, token := range []string{"geheim", "1:x", "https://t.me/x"} {
		_, err := channel.New(channel.Settings{Telegram: channel.TelegramSettings{Token: token}})
		if fault.KindOf(err) != fault.Invalid || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%q: %v", token, err)
		}
	}
}

// conversation keeps what people said, and fails as often as it should.
type conversation struct {
	mu    sync.Mutex
	said  []string
	fails int
}

func (c *conversation) note(said string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fails > 0 {
		c.fails--
		return "", errors.New("the store is away")
	}
	c.said = append(c.said, said)
	return "Hecho <" + said + ">", nil
}

func (c *conversation) Start(_ context.Context, token string, from channel.Contact) (string, error) {
	return c.note("start " + token + " " + from.Chat + " " + from.Shown + " " + from.Language)
}

func (c *conversation) Stop(_ context.Context, from channel.Contact) (string, error) {
	return c.note("stop " + from.Chat)
}

func (c *conversation) all() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.said)
}

// People start and stop the bot; groups, other texts and what fails once are treated well.
func TestBot(t *testing.T) {
	api := channeltest.StartTelegram(t)
	s := telegramSenders(t, api)
	bot := s.Bot()
	if link := bot.Link(t.Context(), "alc_abc"); link != "https://t.me/pregon_test_bot?start=alc_abc" {
		t.Errorf("the link is %q", link)
	}
	api.Type(1, "private", "/start alc_abc")
	api.Type(2, "private", "/start")
	api.Type(3, "private", "hola "+strings.Repeat("😀", 4000))
	api.Type(-4, "group", "/stop")
	api.Type(5, "private", "/start ../../x")
	api.Type(6, "private", "/stop")
	api.Block(7)
	api.Add(`"poll": {"id": "1"}`)
	c := &conversation{fails: 1}
	db, err := sqlite.Open(t.Context(), t.TempDir()+"/store.db", sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	for _, replica := range []string{"a", "b"} {
		running.Go(func() {
			if err := bot.Run(ctx, store.Leases(db), replica, c); !errors.Is(err, context.Canceled) {
				t.Errorf("the bot ended with %v", err)
			}
		})
	}
	waittest.For(t, "the updates are confirmed", func() bool { return api.Waiting() == 0 })
	cancel()
	running.Wait()
	want := []string{"start alc_abc 1 @ana_1 es", "stop 6", "stop 7"}
	if got := c.all(); !slices.Equal(got, want) {
		t.Errorf("people said %q, want %q", got, want)
	}
	var replies []string
	for _, m := range api.Sent() {
		replies = append(replies, m.Chat+": "+m.Text)
	}
	help := ": Este bot envía avisos de Pregón. Para recibirlos aquí, siga el enlace de su cuenta. Con /stop dejan de llegar."
	want = []string{"1: Hecho <start alc_abc 1 @ana_1 es>", "2" + help, "3" + help, "5" + help, "6: Hecho <stop 6>"}
	if !slices.Equal(replies, want) {
		t.Errorf("the bot said %q, want %q", replies, want)
	}
	if problems := api.Refused(); len(problems) > 0 {
		t.Errorf("refused: %q", problems)
	}
}

// An update that always fails is left out after some attempts.
func TestBotPoison(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		offsets := []string{}
		transport := transportFunc(func(r *http.Request) (string, error) {
			body := make([]byte, 200)
			n, _ := r.Body.Read(body)
			mu.Lock()
			defer mu.Unlock()
			offsets = append(offsets, string(body[:n]))
			if strings.Contains(string(body[:n]), `"offset":8`) {
				<-r.Context().Done()
				return "", r.Context().Err()
			}
			return `{"ok":true,"result":[{"update_id":7,"message":{"text":"/stop","chat":{"id":1,"type":"private"}}}]}`, nil
		})
		s := senders(t, channel.Settings{
			Client:   &http.Client{Transport: transport},
			Telegram: channel.TelegramSettings{Token: channeltest.TelegramToken},
		})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		_ = s.Bot().Poll(ctx, &conversation{fails: 1000})
		if len(offsets) < 6 || !strings.Contains(offsets[6], `"offset":8`) {
			t.Errorf("%d requests: %q", len(offsets), offsets)
		}
	})
}

// One person who writes without pause does not keep another one waiting: what is asked is
// done at once, replies that have no turn are left out, and help comes once a minute.
func TestBotIsFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const flood = 200
		began := time.Now()
		var stopped time.Duration
		replies := map[string]int{}
		next := 0
		transport := transportFunc(func(r *http.Request) (string, error) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return "", err
			}
			if strings.HasSuffix(r.URL.Path, "/sendMessage") {
				replies[regexp.MustCompile(`"chat_id":"(\d+)"`).FindStringSubmatch(string(body))[1]]++
				return `{"ok":true,"result":{}}`, nil
			}
			var updates []string
			for ; len(updates) < 20 && next <= flood; next++ {
				text, chat := []string{"/stop", "hola"}[next%2], 1
				if next == flood {
					text, chat = "/stop", 2
				}
				updates = append(updates, fmt.Sprintf(
					`{"update_id":%d,"message":{"text":%q,"chat":{"id":%d,"type":"private"}}}`, next+1, text, chat))
			}
			if len(updates) == 0 {
				stopped = time.Since(began)
				<-r.Context().Done()
				return "", r.Context().Err()
			}
			return `{"ok":true,"result":[` + strings.Join(updates, ",") + `]}`, nil
		})
		s := senders(t, channel.Settings{
			Client:   &http.Client{Transport: transport},
			Telegram: channel.TelegramSettings{Token: channeltest.TelegramToken},
		})
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		c := &conversation{}
		_ = s.Bot().Poll(ctx, c)
		if said := c.all(); len(said) != flood/2+1 || said[flood/2] != "stop 2" {
			t.Errorf("%d commands were followed, want %d", len(said), flood/2+1)
		}
		if replies["1"] != 1 || replies["2"] != 1 {
			t.Errorf("replies by chat are %v, want one each", replies)
		}
		if stopped > time.Second {
			t.Errorf("the last one waited for %v", stopped)
		}
	})
}

// Help comes again after a minute.
func TestBotHelps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		polls, helps := 0, 0
		transport := transportFunc(func(r *http.Request) (string, error) {
			if strings.HasSuffix(r.URL.Path, "/sendMessage") {
				helps++
				return `{"ok":true,"result":{}}`, nil
			}
			select {
			case <-time.After(10 * time.Second):
			case <-r.Context().Done():
				return "", r.Context().Err()
			}
			polls++
			return fmt.Sprintf(`{"ok":true,"result":[{"update_id":%d,"message":{"text":"?","chat":{"id":1,"type":"private"}}}]}`, polls), nil
		})
		s := senders(t, channel.Settings{
			Client:   &http.Client{Transport: transport},
			Telegram: channel.TelegramSettings{Token: channeltest.TelegramToken},
		})
		ctx, cancel := context.WithTimeout(t.Context(), 125*time.Second)
		defer cancel()
		_ = s.Bot().Poll(ctx, &conversation{})
		if polls != 12 || helps != 2 {
			t.Errorf("%d texts in two minutes were answered with help %d times, want twice", polls, helps)
		}
	})
}

// One chat gets one message a second, and the bot sends 30.
func TestTelegramPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		transport := transportFunc(func(*http.Request) (string, error) { return `{"ok":true,"result":{}}`, nil })
		s := senders(t, channel.Settings{
			Client:   &http.Client{Transport: transport},
			Telegram: channel.TelegramSettings{Token: channeltest.TelegramToken},
		})
		began := time.Now()
		for range 4 {
			if o := s.Send(t.Context(), chatOf(0), news(1)); !o.OK {
				t.Fatalf("%+v", o)
			}
		}
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("four messages to a chat took %v, want 3s", took)
		}
		began = time.Now()
		var group sync.WaitGroup
		for i := range 61 {
			group.Go(func() {
				if o := s.Send(t.Context(), chatOf(1+i), news(1)); !o.OK {
					t.Errorf("%+v", o)
				}
			})
		}
		group.Wait()
		if took := time.Since(began).Round(100 * time.Millisecond); took != 2*time.Second {
			t.Errorf("61 messages took %v, want 2s", took)
		}
		var mu sync.Mutex
		var last channel.Outcome
		for range 100 {
			group.Go(func() {
				if o := s.Send(t.Context(), chatOf(100), news(1)); !o.OK {
					mu.Lock()
					defer mu.Unlock()
					last = o
				}
			})
		}
		group.Wait()
		if last.Permanent || last.RetryAfter <= 0 {
			t.Errorf("messages beyond the turns that can be waited for: %+v", last)
		}
	})
}

// transportFunc answers requests in the process.
type transportFunc func(*http.Request) (body string, err error)

func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := f(r)
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: http.StatusOK,
		Header:     http.Header{},
		Body:       io.NopCloser(strings.NewReader(body)),
		Request:    r,
	}, nil
}
