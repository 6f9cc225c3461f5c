package main_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"pregon/internal/push/alert/channel/channeltest"
	"pregon/internal/test/longtest"
)

// alertTrial is a source, two services on one store, and a mail server.
type alertTrial struct {
	source
	store string
	serve []*service
	mail  *channeltest.MailServer
	key   string
}

func newAlertTrial(t *testing.T, store string) *alertTrial {
	t.Helper()
	a := &alertTrial{
		source: startSource(t),
		store:  store,
		mail:   channeltest.StartMail(t, channeltest.MailOptions{NoTLS: true}),
		serve:  make([]*service, 2),
	}
	for n := range a.serve {
		a.start(t, n)
	}
	a.key = pregon(t, store, "keys", "create", "--plan", "pro")
	return a
}

func (a *alertTrial) start(t *testing.T, n int) {
	t.Helper()
	a.serve[n] = startReplica(t, a.store, "--source", "cnmv", "--poll", "100ms", "--pace", "0",
		"--regulator-url", a.source.url, "--exchange-url", a.source.url, "--debug-listen", "127.0.0.1:0",
		"--smtp", "smtp://"+a.mail.Address, "--alerts-from", "Pregon <alerts@example.com>", "--smtp-rate", "1000")
}

// letters returns the letters whose subject has a word.
func (a *alertTrial) letters(word string) (found []channeltest.Letter) {
	for _, l := range a.mail.Letters() {
		if strings.Contains(l.Text, word) {
			found = append(found, l)
		}
	}
	return found
}

// each returns an error unless each of the words is in a letter, and how many letters
// there are beyond one for each word.
func (a *alertTrial) each(words []string) (more int, err error) {
	for _, w := range words {
		n := len(a.letters(w))
		if n == 0 {
			return 0, fmt.Errorf("no letter has %q", w)
		}
		more += n - 1
	}
	return more, nil
}

var linkInLetter = regexp.MustCompile(`http://[^\s>]+/alerts/[a-z]+\?[^\s>]+`)

// pressed sends the form of a page behind a link in a letter.
func pressed(t *testing.T, link string, form url.Values) int {
	t.Helper()
	u, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	if form == nil {
		form = url.Values{"code": u.Query()["code"]}
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, link, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

// TestAlertsByMail makes an alert, confirms its address with the link in the letter,
// receives what is published while both services are killed in turn, and ends it with one
// click.
func TestAlertsByMail(t *testing.T) {
	longtest.Skip(t, "it kills services while they send")
	t.Parallel()
	for engine, newStore := range engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			a := newAlertTrial(t, newStore(t))
			var made struct{ ID, Channel string }
			demand(t, a.serve[0].url, a.key, http.MethodPost, "/api/v1/account/alerts", map[string]any{
				"filter":  map[string]any{"search": "zanahoria"},
				"channel": map[string]any{"kind": "email", "to": "reader@example.com", "language": "en"},
				"rhythm":  "at_once",
			}, &made, http.StatusCreated)
			a.publish(t, `{"type":"oir","title":"zanahoria antes de confirmar"}`)

			asked := a.mail.Letters()
			if len(asked) != 1 || asked[0].To[0] != "reader@example.com" {
				t.Fatalf("got %+v, want one request to confirm", asked)
			}
			link := linkInLetter.FindString(asked[0].Text)
			if a.serve[1].status(t, strings.TrimPrefix(link, a.serve[0].url), "", "") != http.StatusOK {
				t.Fatalf("the page behind %s cannot be read", link)
			}
			if got := pressed(t, link, nil); got != http.StatusOK {
				t.Fatalf("confirming is answered with %d", got)
			}

			var words []string
			for n := range 4 {
				words = append(words, fmt.Sprintf("zanahoria número %d.", n))
				a.publish(t, `{"type":"oir","title":%q}`, words[n])
			}
			a.publish(t, `{"type":"oir","title":"patata"}`)
			eventually(t, func() error { _, err := a.each(words); return err })
			first := a.letters(words[0])[0]
			if !strings.Contains(first.Subject(), "[Simulación]") && !strings.Contains(first.Subject(), "Simulated") {
				t.Errorf("the subject %q does not say that the data is simulated", first.Subject())
			}
			if first.Header.Get("List-Unsubscribe") == "" || first.HTML == "" {
				t.Errorf("the header is %v, and the HTML has %d bytes", first.Header, len(first.HTML))
			}

			for n := range 30 {
				if n%10 == 5 {
					killed := n / 10 % 2
					_ = a.serve[killed].end(syscall.SIGKILL)
					a.start(t, killed)
				}
				words = append(words, fmt.Sprintf("zanahoria tarde %d.", n))
				a.publish(t, `{"type":"oir","title":%q}`, words[len(words)-1])
			}
			var more int
			eventually(t, func() (err error) { more, err = a.each(words); return err })
			if more > 3 { // one for each kill at most
				t.Errorf("%d reports were sent again, with 3 kills", more)
			}
			t.Logf("%d of %d reports were sent again after 3 kills", more, len(words))
			if got := a.letters("patata"); len(got) > 0 {
				t.Errorf("a report that no alert selects was sent: %s", got[0].Text)
			}

			oneClick := strings.Trim(strings.Split(first.Header.Get("List-Unsubscribe"), ",")[0], "<> ")
			u, err := url.Parse(oneClick)
			if err != nil {
				t.Fatal(err)
			}
			form := url.Values{"List-Unsubscribe": {"One-Click"}}
			if got := pressed(t, a.serve[1].url+u.RequestURI(), form); got != http.StatusOK {
				t.Fatalf("one click is answered with %d", got)
			}
			before := len(a.mail.Letters())
			a.publish(t, `{"type":"oir","title":"zanahoria después"}`)
			eventually(t, func() error {
				var found struct{ Total int }
				_, err := call(t.Context(), a.serve[0].url, "", http.MethodGet, "/api/v1/reports?search=despu%C3%A9s+zanahoria", nil, &found)
				if err == nil && found.Total == 0 {
					err = errors.New("the report is not there yet")
				}
				return err
			})
			var c struct{ State string }
			demand(t, a.serve[0].url, a.key, http.MethodGet, "/api/v1/account/channels/"+made.Channel, nil, &c, http.StatusOK)
			if c.State != "ended" || len(a.mail.Letters()) != before {
				t.Errorf("the channel is %s, and %d letters came after it ended", c.State, len(a.mail.Letters())-before)
			}
			listed := pregon(t, a.store, "alerts", "list")
			if !strings.Contains(listed, "ended") || !strings.Contains(listed, "reader@example.com") {
				t.Errorf("the list of channels is\n%s", listed)
			}
		})
	}
}
