package channel_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"pregon/internal/fault"
	"pregon/internal/push/alert"
	"pregon/internal/push/alert/channel"
	"pregon/internal/push/alert/channel/channeltest"
	"pregon/internal/push/alert/message"
)

// hooks are the kinds that have an incoming address.
var hooks = []alert.Kind{alert.Slack, alert.Discord, alert.Teams, alert.Mattermost, alert.Ntfy, alert.Gotify}

// hookTo checks the address of a stand-in and returns a channel to it.
func hookTo(t *testing.T, s *channel.Senders, chat *channeltest.Chat) alert.Channel {
	t.Helper()
	address, err := s.Check(chat.Kind, chat.Address())
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(address.Shown, "geheim") {
		t.Errorf("%s shows its secret: %s", chat.Kind, address.Shown)
	}
	return alert.Channel{ID: "ch_1", Kind: chat.Kind, Address: address.Value, Language: "es"}
}

// forEachHook runs a test for each kind, with a stand-in.
func forEachHook(t *testing.T, test func(t *testing.T, s *channel.Senders, chat *channeltest.Chat)) {
	t.Helper()
	for _, kind := range hooks {
		t.Run(string(kind), func(t *testing.T) {
			test(t, senders(t, channel.Settings{AllowPrivate: true}), channeltest.StartChat(t, kind))
		})
	}
}

// hostile are texts of strangers.
var hostile = []string{
	"*b* _i_ ~s~ `c` [text](https://evil.example.com) <!channel> <@U123> @everyone @all #general :smile: **x** ~~y~~",
	"</b><a href=\"https://evil.example.com\">x</a> & &amp; \\*",
	"line\r\none\x00\x1b[31m\u202e\u200b",
	"\xff\xfe",
	"# heading\n> quote\n- list\n1. one\n```\ncode",
	strings.Repeat("[(*_~`\\<>&\"", 400),
	strings.Repeat("𝔘", 3000),
}

// Every message is one that the service accepts, whatever is in it, and says what it should.
func TestHooksAccept(t *testing.T) {
	forEachHook(t, func(t *testing.T, s *channel.Senders, chat *channeltest.Chat) {
		to := hookTo(t, s, chat)
		var messages []*message.Message
		for _, items := range []int{0, 1, 2, 40, 500} {
			m := news(items)
			m.More = 7 * items
			if items == 0 {
				m.More = 3
			}
			messages = append(messages, m)
		}
		for _, text := range hostile {
			for _, items := range []int{1, 100} {
				m := news(items)
				for i := range m.Items {
					m.Items[i].Title = text
					m.Items[i].Facts = text
					m.Items[i].Issuer = message.Issuer{ID: fmt.Sprint(i % 5), Name: text, Ticker: text}
					m.Items[i].Simulated = true
				}
				messages = append(messages, m)
			}
		}
		for _, kind := range []message.Kind{message.Confirmation, message.Test} {
			m := news(0)
			m.Kind = kind
			messages = append(messages, m)
		}
		for i, m := range messages {
			if o := s.Send(t.Context(), to, m); !o.OK || o.Status/100 != 2 {
				t.Errorf("message %d: %+v, %q", i, o, chat.Refused())
			}
		}
		for i, got := range chat.Received() {
			m := messages[i]
			if m.Simulated() && (!strings.Contains(got.Shown, "Simulaci") || !strings.Contains(got.Shown, "Datos simulados")) {
				t.Errorf("message %d does not say that it is simulated: %.300s", i, got.Shown)
			}
			if m.Kind == message.Confirmation && !strings.Contains(got.Shown, "/alerts/confirm?token=abc") {
				t.Errorf("the confirmation lacks its link: %s", got.Shown)
			}
			if m.Kind == message.News && len(m.Items) == 500 && !strings.Contains(got.Shown, " más") {
				t.Errorf("message %d does not say that there are more: %.300s", i, got.Shown)
			}
			if !strings.Contains(got.Shown, "/alerts/end?token=abc") {
				t.Errorf("message %d cannot be ended: %.300s", i, got.Shown)
			}
		}
	})
}

// A text of a stranger is no markup, mentions nobody and makes no link.
func TestHooksEscape(t *testing.T) {
	shown := map[alert.Kind]string{}
	forEachHook(t, func(t *testing.T, s *channel.Senders, chat *channeltest.Chat) {
		m := news(1)
		m.Items[0].Title = hostile[0]
		if o := s.Send(t.Context(), hookTo(t, s, chat), m); !o.OK {
			t.Fatalf("%+v", o)
		}
		shown[chat.Kind] = chat.Received()[0].Shown
	})
	for kind, want := range map[alert.Kind][]string{
		alert.Slack: {"&lt;!channel&gt; &lt;@U123&gt;", "\n" + hostile[0] + "\n"}, // the line for notifications, and rich text
		alert.Discord: {
			`[\*b\* \_i\_ \~s\~ \` + "`c" + `\` + "`" + ` \[text\]\(https\://evil\.example\.com\) \<\!channel\> \<\@U123\> \@everyone`,
			`\*\*x\*\* \~\~y\~\~](https://pregon.example.com/reports/oir-0?lang=es)`,
		},
		alert.Mattermost: {"<\u200b\\!channel\\> <\u200b@\u200bU123\\> @\u200beveryone @\u200ball #\u200bgeneral :\u200bsmile:\u200b"},
		alert.Teams:      {"\n" + hostile[0] + "\n"}, // a run
		alert.Ntfy:       {"\n" + hostile[0] + "\n"}, // plain
		alert.Gotify:     {"\n" + hostile[0] + "\n"}, // plain
	} {
		for _, w := range want {
			if !strings.Contains(shown[kind], w) {
				t.Errorf("%s: %s\ndoes not have\n%s", kind, shown[kind], w)
			}
		}
	}
}

// What services answer decides whether there is another attempt, and when.
func TestHookAnswers(t *testing.T) {
	huge := func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusOK)
		for range 1000 {
			if _, err := io.WriteString(w, strings.Repeat("x", 64<<10)); err != nil {
				return
			}
		}
	}
	closes := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	for _, test := range []struct {
		name       string
		answer     channeltest.Answer
		ok         bool
		permanent  bool
		retryAfter time.Duration
	}{
		{"too many", channeltest.Answer{Status: 429, Header: map[string]string{"Retry-After": "17"}}, false, false, 17 * time.Second},
		{"too many for long", channeltest.Answer{Status: 429, Header: map[string]string{"Retry-After": "1e9"}}, false, false, 24 * time.Hour},
		{"odd wait", channeltest.Answer{Status: 429, Header: map[string]string{"Retry-After": "NaN"}}, false, false, 0},
		{"unavailable", channeltest.Answer{Status: 503, Header: map[string]string{"Retry-After": "5"}}, false, false, 5 * time.Second},
		{"failure", channeltest.Answer{Status: 500}, false, false, 0},
		{"timeout", channeltest.Answer{Status: 408}, false, false, 0},
		{"gone", channeltest.Answer{Status: 410}, false, true, 0},
		{"unknown", channeltest.Answer{Status: 404}, false, true, 0},
		{"forbidden", channeltest.Answer{Status: 403, Body: "geheim"}, false, true, 0},
		{"unauthorized", channeltest.Answer{Status: 401}, false, true, 0},
		{"refused", channeltest.Answer{Status: 400}, false, true, 0},
		{"elsewhere", channeltest.Answer{Status: 307, Header: map[string]string{"Location": "http://169.254.169.254/"}}, false, true, 0},
		{"huge", channeltest.Answer{Do: huge}, true, false, 0},
		{"closed", channeltest.Answer{Do: closes}, false, false, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			forEachHook(t, func(t *testing.T, s *channel.Senders, chat *channeltest.Chat) {
				chat.Then(test.answer)
				o := s.Send(t.Context(), hookTo(t, s, chat), news(1))
				if o.OK != test.ok || o.Permanent != test.permanent || o.RetryAfter != test.retryAfter {
					t.Errorf("%+v", o)
				}
				if o.OK == (o.Error != "") || strings.Contains(o.Error, "geheim") || strings.Contains(o.Error, chat.BaseURL) {
					t.Errorf("the error is %q", o.Error)
				}
				if n := len(chat.Received()); n != 0 {
					t.Errorf("%d messages were sent in the same attempt", n)
				}
			})
		})
	}
}

// Discord says in the body how long to wait.
func TestDiscordWait(t *testing.T) {
	s := senders(t, channel.Settings{AllowPrivate: true})
	chat := channeltest.StartChat(t, alert.Discord, channeltest.Answer{
		Status: 429,
		Header: map[string]string{"Content-Type": "application/json"},
		Body:   `{"message": "You are being rate limited.", "retry_after": 64.57, "global": false}`,
	})
	o := s.Send(t.Context(), hookTo(t, s, chat), news(1))
	if o.OK || o.Permanent || o.RetryAfter != 64570*time.Millisecond {
		t.Errorf("%+v", o)
	}
}

// A service that hangs ends with the context.
func TestHookHangs(t *testing.T) {
	forEachHook(t, func(t *testing.T, s *channel.Senders, chat *channeltest.Chat) {
		chat.Then(channeltest.Answer{Do: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }})
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if o := s.Send(ctx, hookTo(t, s, chat), news(1)); o.OK || o.Permanent || o.Error == "" {
			t.Errorf("%+v", o)
		}
	})
}

// Addresses on private networks are refused when they are added and when they are used.
func TestHooksRefusePrivateAddresses(t *testing.T) {
	internal := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("a private address was called")
	}))
	defer internal.Close()
	s := senders(t, channel.Settings{})
	for _, kind := range hooks {
		path := (&channeltest.Chat{Kind: kind}).Address()
		for _, base := range []string{internal.URL, "https://127.0.0.1", "https://169.254.169.254", "https://localhost", "http://example.com"} {
			if _, err := s.Check(kind, base+path); fault.KindOf(err) != fault.Invalid {
				t.Errorf("%s accepts %s: %v", kind, base, err)
			}
			o := s.Send(t.Context(), alert.Channel{Kind: kind, Address: base + path}, news(1))
			if o.OK || !strings.Contains(o.Error, "refused: ") {
				t.Errorf("%s sends to %s: %+v", kind, base, o)
			}
		}
	}
}

func TestCheckHooks(t *testing.T) {
	s := senders(t, channel.Settings{})
	for _, test := range []struct {
		kind           alert.Kind
		address        string
		value, visible string // empty: refused
	}{
		{
			alert.Slack, " https://hooks.slack.com/services/T01/B02/abcDEF\n",
			"https://hooks.slack.com/services/T01/B02/abcDEF", "https://hooks.slack.com/services/T01/B02/…",
		},
		{alert.Slack, "https://hooks.slack.com.evil.example.com/services/T01/B02/abc", "", ""},
		{alert.Slack, "https://example.com/services/T01/B02/abc", "", ""},
		{alert.Slack, "https://hooks.slack.com/workflows/x", "", ""},
		{alert.Slack, "https://user:pw@hooks.slack.com/services/T01/B02/abc", "", ""},
		{alert.Slack, "https://hooks.slack.com/services/T01/B02/abc#x", "", ""},
		{
			alert.Discord, "https://discord.com/api/webhooks/123/a_b-c?thread_id=9&wait=false",
			"https://discord.com/api/webhooks/123/a_b-c?thread_id=9", "https://discord.com/api/webhooks/123/…",
		},
		{alert.Discord, "https://discord.com/api/webhooks/123/abc/slack", "", ""},
		{alert.Discord, "https://discord.com/../x", "", ""},
		{
			alert.Teams, "https://prod-1.westeurope.logic.azure.com:443/workflows/0a/triggers/manual/paths/invoke?api-version=1&sp=%2F&sv=1.0&sig=x&y=z",
			"https://prod-1.westeurope.logic.azure.com:443/workflows/0a/triggers/manual/paths/invoke?api-version=1&sig=x&sp=%2F&sv=1.0",
			"https://prod-1.westeurope.logic.azure.com:443/…",
		},
		{alert.Teams, "https://x.webhook.office.com/webhookb2/abc", "", ""},
		{alert.Teams, "https://logic.azure.com/workflows/0a/x", "", ""},
		{alert.Mattermost, "https://chat.example.com/team/hooks/abc123", "https://chat.example.com/team/hooks/abc123", "https://chat.example.com/team/hooks/…"},
		{alert.Mattermost, "https://chat.example.com/hooks/", "", ""},
		{alert.Mattermost, "https://chat.example.com/api/v4/users", "", ""},
		{alert.Ntfy, "https://ntfy.sh/mytopic", "https://ntfy.sh/mytopic", "https://ntfy.sh/myt…"},
		{alert.Ntfy, "https://ntfy.sh/x", "https://ntfy.sh/x", "https://ntfy.sh/…"},
		{alert.Ntfy, "https://ntfy.example.com/push/mytopic?auth=abc&x=1", "https://ntfy.example.com/push/mytopic?auth=abc", "https://ntfy.example.com/push/myt…"},
		{alert.Ntfy, "https://ntfy.sh/", "", ""},
		{alert.Ntfy, "https://ntfy.sh/a b", "", ""},
		{alert.Ntfy, "ntfy.sh/mytopic", "", ""},
		{alert.Gotify, "https://push.example.com/?token=A.b-c_d", "https://push.example.com/message?token=A.b-c_d", "https://push.example.com/message…"},
		{alert.Gotify, "https://push.example.com/gotify/message?token=A&x=1", "https://push.example.com/gotify/message?token=A", "https://push.example.com/gotify/message…"},
		{alert.Gotify, "https://push.example.com/message", "", ""},
		{alert.Gotify, "https://push.example.com/message?token=A%0d%0aX:1", "", ""},
		{alert.Gotify, "%zz", "", ""},
		{alert.Kind("fax"), "123", "", ""},
		{alert.Email, "ana@example.com", "", ""}, // not configured
		{alert.Ntfy, "https://ntfy.sh/" + strings.Repeat("a", 3000), "", ""},
	} {
		got, err := s.Check(test.kind, test.address)
		switch {
		case test.value == "" && fault.KindOf(err) != fault.Invalid:
			t.Errorf("%s %s: %+v, %v", test.kind, test.address, got, err)
		case test.value != "" && (err != nil || got.Value != test.value || got.Shown != test.visible):
			t.Errorf("%s %s: %+v, %v", test.kind, test.address, got, err)
		}
		if again, err := s.Check(test.kind, got.Value); test.value != "" && (err != nil || again != got) {
			t.Errorf("%s: the normal form of %s is not normal: %+v, %v", test.kind, test.address, again, err)
		}
	}
}

// Kinds can be turned off, and those without settings are not offered.
func TestOffers(t *testing.T) {
	s := senders(t, channel.Settings{Off: []alert.Kind{alert.Slack, alert.Email}})
	want := map[alert.Kind]channel.Reason{
		alert.Email:    channel.Off,
		alert.Telegram: channel.Unconfigured,
		alert.Slack:    channel.Off,
		alert.WebPush:  channel.Unconfigured,
	}
	offers := s.Offers()
	if len(offers) != len(alert.Kinds()) {
		t.Errorf("%d offers", len(offers))
	}
	for _, o := range offers {
		if o.Reason != want[o.Kind] || o.Offered != (want[o.Kind] == "") {
			t.Errorf("%+v", o)
		}
		if !o.Offered {
			if got := s.Send(t.Context(), alert.Channel{Kind: o.Kind, Address: "x"}, news(1)); got.OK || got.Permanent {
				t.Errorf("%s: %+v", o.Kind, got)
			}
		}
	}
	if _, err := channel.New(channel.Settings{Off: []alert.Kind{"fax"}}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("an unknown kind: %v", err)
	}
}
