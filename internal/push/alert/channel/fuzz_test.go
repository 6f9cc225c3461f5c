package channel_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"pregon/internal/push/alert"
	"pregon/internal/push/alert/channel"
	"pregon/internal/push/alert/channel/channeltest"
	"pregon/internal/push/alert/message"
)

// Whatever a title, a name or a fact is, every service accepts the message, and no text
// becomes a link: the only addresses are ours.
func FuzzMarkup(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	f.Add("](https://evil.example.com) [x")
	f.Add("\\](https://evil.example.com)")
	f.Fuzz(func(t *testing.T, text string) {
		m := news(1)
		m.Items[0].Title = text
		m.Items[0].Facts = text
		m.Items[0].Note = text
		m.Items[0].Issuer = message.Issuer{Name: text, Ticker: text}
		for _, kind := range append(hooks, alert.Telegram) {
			markup := acceptedBy(t, kind, m)
			if kind == alert.Discord || kind == alert.Mattermost {
				for rest := markup; ; {
					before, after, found := strings.Cut(rest, "](")
					if !found {
						break
					}
					if !strings.HasSuffix(before, "\\") && !strings.HasPrefix(after, "https://pregon.example.com/") {
						t.Errorf("%s: %q makes a link of %q", kind, text, after)
					}
					rest = after
				}
			}
		}
	})
}

// acceptedBy sends a message to a stand-in within the process, and returns its text.
func acceptedBy(t *testing.T, kind alert.Kind, m *message.Message) string {
	t.Helper()
	chat := &channeltest.Chat{Kind: kind, BaseURL: "http://chat.example.com"}
	telegram := channeltest.NewTelegram()
	var handler http.Handler = chat
	to := alert.Channel{Kind: kind, Address: chat.Address()}
	if kind == alert.Telegram {
		handler = telegram
		to.Address = "1"
	}
	s, err := channel.New(channel.Settings{
		AllowPrivate: true,
		Client:       &http.Client{Transport: inProcess{handler}},
		Telegram:     channel.TelegramSettings{Token: channeltest.TelegramToken},
	})
	if err != nil {
		t.Fatal(err)
	}
	if o := s.Send(t.Context(), to, m); !o.OK {
		t.Fatalf("%s: %+v, %q %q", kind, o, chat.Refused(), telegram.Refused())
	}
	if kind == alert.Telegram {
		return telegram.Sent()[0].Text
	}
	return chat.Received()[0].Shown
}

// inProcess answers requests by a handler, without a network.
type inProcess struct{ handler http.Handler }

func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.RequestURI = r.URL.RequestURI()
	recorder := httptest.NewRecorder()
	p.handler.ServeHTTP(recorder, r)
	return recorder.Result(), nil
}
