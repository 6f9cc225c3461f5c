package channel_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pregon/internal/fault"
	"pregon/internal/push/alert"
	"pregon/internal/push/alert/channel"
	"pregon/internal/push/alert/channel/channeltest"
	"pregon/internal/push/alert/message"
)

// With a recorder nothing is sent, whatever the kind, and addresses are still checked.
func TestJournal(t *testing.T) {
	server := channeltest.StartMail(t, channeltest.MailOptions{})
	hook := channeltest.StartChat(t, alert.Mattermost)
	var written strings.Builder
	s := senders(t, channel.Settings{
		AllowPrivate: true,
		Email:        channel.EmailSettings{Server: "smtp://" + server.Address, From: sender},
		Instead:      channel.NewJournal(&written),
	})
	to := hookTo(t, s, hook)
	to.Shown = "https://chat.example.com/hooks/…"
	mail := mailTo("ana@example.com")
	mail.Shown = mail.Address
	for _, to := range []alert.Channel{mail, to} {
		if o := s.Send(t.Context(), to, news(2)); !o.OK {
			t.Errorf("%+v", o)
		}
	}
	if len(server.Letters())+len(hook.Received())+len(hook.Refused()) > 0 {
		t.Error("a message was sent")
	}
	lines := strings.Split(strings.TrimSuffix(written.String(), "\n"), "\n")
	if len(lines) != 2 || strings.Contains(written.String(), "geheim") {
		t.Fatalf("%d lines: %s", len(lines), &written)
	}
	var line struct {
		Kind, To, About, Subject, Text string
		Events                         int
	}
	if err := json.Unmarshal([]byte(lines[0]), &line); err != nil {
		t.Fatal(err)
	}
	m := news(2)
	if line.Kind != "email" || line.To != "ana@example.com" || line.About != "news" || line.Events != 2 ||
		line.Subject != m.Subject() || line.Text != m.Text() {
		t.Errorf("%+v", line)
	}
	if _, err := s.Check(alert.Email, "ana@example.com, eva@example.com"); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a list of addresses: %v", err)
	}
	failing := senders(t, channel.Settings{Instead: channel.NewJournal(full{})})
	if o := failing.Send(t.Context(), mail, news(1)); o.OK || o.Permanent || !strings.Contains(o.Error, "disk") {
		t.Errorf("%+v", o)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("the disk is full") }

// The outbox keeps the newest messages of each account, and offers e-mail without a server.
func TestOutbox(t *testing.T) {
	var box channel.Outbox
	s := senders(t, channel.Settings{Instead: &box, Off: []alert.Kind{alert.Slack}})
	post := func(account string, n int) {
		for i := range n {
			to := mailTo("ana@example.com")
			to.Account = account
			m := news(1)
			m.Items[0].Title = fmt.Sprintf("Título %d", i)
			if o := s.Send(t.Context(), to, m); !o.OK {
				t.Fatalf("%+v", o)
			}
		}
	}
	post("a", 60)
	post("b", 3)
	a, b := box.Messages("a"), box.Messages("b")
	if len(a) != 50 || len(b) != 3 || len(box.Messages("c")) != 0 {
		t.Fatalf("%d and %d messages", len(a), len(b))
	}
	if !strings.HasSuffix(a[0].Subject, "Título 59") || !strings.HasSuffix(a[49].Subject, "Título 10") || a[0].About != message.News {
		t.Errorf("from %s to %s", a[0].Subject, a[49].Subject)
	}
	for i := range 20 {
		post(fmt.Sprint("account ", i), 50)
	}
	if n := len(box.Messages("a")) + len(box.Messages("b")); n != 0 {
		t.Errorf("%d old messages are kept beside 500 newer ones", n)
	}
	if n := len(box.Messages("account 19")); n != 50 {
		t.Errorf("%d messages of the newest account", n)
	}
	for _, o := range s.Offers() {
		want := o.Kind != alert.Slack && o.Kind != alert.Telegram && o.Kind != alert.WebPush
		if o.Offered != want {
			t.Errorf("%+v", o)
		}
	}
}
