package channel_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"pregon/internal/fault"
	"pregon/internal/push/alert"
	"pregon/internal/push/alert/channel"
	"pregon/internal/push/alert/channel/channeltest"
	"pregon/internal/push/alert/message"
)

const sender = "Pregón <alertas@example.com>"

// news returns a message with some items.
func news(items int) *message.Message {
	m := &message.Message{
		ID:       "msg_0123456789",
		Kind:     message.News,
		Language: "es",
		At:       time.Date(2026, 11, 19, 9, 30, 15, 0, time.UTC),
		Links: message.Links{
			Site:     "https://pregon.example.com/",
			All:      "https://pregon.example.com/following",
			Confirm:  "https://pregon.example.com/alerts/confirm?token=abc",
			Manage:   "https://pregon.example.com/account/alerts",
			End:      "https://pregon.example.com/alerts/end?token=abc",
			OneClick: "https://pregon.example.com/alerts/end?token=abc&now=1",
		},
	}
	for i := range items {
		m.Items = append(m.Items, message.Item{
			Issuer: message.Issuer{ID: "A1", Name: "Aceros del Cantábrico, S.A.", Ticker: "ACC"},
			Label:  "Otra información relevante",
			Title:  fmt.Sprintf("Acuerdos de la Junta n.º %d «ñandú» <b>&amp;", i),
			Facts:  "0,25 € · ex 15 dic",
			At:     m.At,
			Exact:  true,
			URL:    fmt.Sprintf("https://pregon.example.com/reports/oir-%d?lang=es", i),
		})
	}
	return m
}

// senders returns the senders of settings.
func senders(t *testing.T, s channel.Settings) *channel.Senders {
	t.Helper()
	out, err := channel.New(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(out.Close)
	return out
}

// mailer returns the senders for a mail server.
func mailer(t *testing.T, server *channeltest.MailServer, change func(*channel.EmailSettings)) *channel.Senders {
	t.Helper()
	settings := channel.EmailSettings{
		Server:  "smtp://" + server.Address,
		From:    sender,
		RootCAs: server.RootCAs,
	}
	if change != nil {
		change(&settings)
	}
	return senders(t, channel.Settings{Email: settings})
}

func mailTo(address string) alert.Channel {
	return alert.Channel{ID: "ch_1", Kind: alert.Email, Address: address, Language: "es"}
}

// An e-mail arrives with both forms and all headers, over STARTTLS and with a sign-in.
func TestEmail(t *testing.T) {
	server := channeltest.StartMail(t, channeltest.MailOptions{User: "pregon", Password: "geheim"})
	s := mailer(t, server, func(e *channel.EmailSettings) {
		e.User = "pregon"
		e.Password = "geheim"
	})
	m := news(1)
	m.Items[0].Simulated = true
	for range 2 { // the second time it is the same message, sent again
		if o := s.Send(t.Context(), mailTo("ana@example.com"), m); !o.OK || o.Permanent || o.Error != "" {
			t.Fatalf("%+v", o)
		}
	}
	letters := server.Letters()
	if len(letters) != 2 {
		t.Fatalf("%d letters", len(letters))
	}
	l := letters[0]
	if !l.TLS || l.User != "pregon" || l.From != "alertas@example.com" || len(l.To) != 1 || l.To[0] != "ana@example.com" {
		t.Errorf("the envelope is %v %v %v %v", l.TLS, l.User, l.From, l.To)
	}
	for name, want := range map[string]string{
		"To":                    "<ana@example.com>",
		"Message-Id":            "<msg_0123456789@example.com>",
		"Auto-Submitted":        "auto-generated",
		"List-Unsubscribe":      "<https://pregon.example.com/alerts/end?token=abc&now=1>",
		"List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
		"Mime-Version":          "1.0",
		"Cc":                    "",
		"Bcc":                   "",
	} {
		if got := l.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if at, err := l.Header.Date(); err != nil || !at.Equal(m.At) {
		t.Errorf("the date is %v, %v", at, err)
	}
	from, err := mail.ParseAddress(l.Header.Get("From"))
	if err != nil || from.Name != "Pregón" || from.Address != "alertas@example.com" {
		t.Errorf("the sender is %v, %v", from, err)
	}
	if l.Subject() != m.Subject() || !strings.HasPrefix(l.Subject(), "[Simulación] Aceros del Cantábrico, S.A. (ACC): ") {
		t.Errorf("the subject is %q", l.Subject())
	}
	if l.Text != m.Text() || l.HTML != m.HTML() {
		t.Errorf("the text is\n%s\nand the page is\n%s", l.Text, l.HTML)
	}
	if letters[1].Header.Get("Message-Id") != l.Header.Get("Message-Id") {
		t.Error("the message has another id when it is sent again")
	}
}

// A burst of messages uses the same connections, and a later one after the server has
// closed them opens a new one.
func TestEmailConnections(t *testing.T) {
	server := channeltest.StartMail(t, channeltest.MailOptions{})
	s := mailer(t, server, nil)
	for range 20 {
		if o := s.Send(t.Context(), mailTo("ana@example.com"), news(1)); !o.OK {
			t.Fatalf("%+v", o)
		}
	}
	if n := server.Connections(); n > 2 { // one, and the session after STARTTLS
		t.Errorf("%d connections for a burst", n)
	}
	var group sync.WaitGroup
	for range 30 {
		group.Go(func() {
			if o := s.Send(t.Context(), mailTo("ana@example.com"), news(1)); !o.OK {
				t.Errorf("%+v", o)
			}
		})
	}
	group.Wait()
	if n := len(server.Letters()); n != 50 {
		t.Errorf("%d letters, want 50", n)
	}
	if n := server.Connections(); n > 8 {
		t.Errorf("%d connections at once", n)
	}
	s.Close()
	if o := s.Send(t.Context(), mailTo("ana@example.com"), news(1)); !o.OK {
		t.Errorf("after closing the idle connections: %+v", o)
	}
}

// smtps encrypts at once. Without STARTTLS nothing is sent, except on loopback.
func TestEmailEncryption(t *testing.T) {
	implicit := channeltest.StartMail(t, channeltest.MailOptions{Implicit: true, User: "u", Password: "p"})
	s := mailer(t, implicit, func(e *channel.EmailSettings) {
		e.Server = "smtps://" + implicit.Address
		e.User = "u"
		e.Password = "p"
	})
	if o := s.Send(t.Context(), mailTo("ana@example.com"), news(1)); !o.OK || !implicit.Letters()[0].TLS {
		t.Errorf("smtps: %+v", o)
	}
	s = mailer(t, implicit, func(e *channel.EmailSettings) {
		e.Server = "smtps://" + implicit.Address
		e.RootCAs = nil
	})
	if o := s.Send(t.Context(), mailTo("ana@example.com"), news(1)); o.OK || o.Permanent || !strings.Contains(o.Error, "certificate") {
		t.Errorf("a certificate of a stranger: %+v", o)
	}
	plain := channeltest.StartMail(t, channeltest.MailOptions{NoTLS: true})
	s = mailer(t, plain, nil)
	if o := s.Send(t.Context(), mailTo("ana@example.com"), news(1)); !o.OK {
		t.Errorf("loopback: %+v", o)
	}
	s = mailer(t, plain, nil)
	channel.NotOnLoopback(s)
	if o := s.Send(t.Context(), mailTo("ana@example.com"), news(1)); o.OK || o.Permanent || !strings.Contains(o.Error, "STARTTLS") {
		t.Errorf("elsewhere: %+v", o)
	}
	if n := len(plain.Letters()); n != 1 {
		t.Errorf("%d letters without TLS", n)
	}
}

// Refusals of an address are permanent. Those that concern the operator, and all that may
// be over later, are not.
func TestEmailRefusals(t *testing.T) {
	refuse := func(code int, class, subject, detail int) error {
		return &smtp.SMTPError{
			Code:         code,
			EnhancedCode: smtp.EnhancedCode{class, subject, detail},
			Message:      "no: ana@example.com geheim",
		}
	}
	for _, test := range []struct {
		name             string
		mail, rcpt, data error
		permanent        bool
		status           int
		says             string
	}{
		{"unknown user", nil, refuse(550, 5, 1, 1), nil, true, 550, "the mail server refused the address: 550 5.1.1"},
		{"mailbox disabled", nil, refuse(554, 5, 2, 1), nil, true, 554, "refused the address"},
		{"full", nil, refuse(452, 4, 2, 2), nil, false, 452, "refused the address: 452 4.2.2"},
		{"greylisted", nil, refuse(451, 4, 7, 1), nil, false, 451, "refused the address"},
		{"relaying denied", nil, refuse(554, 5, 7, 1), nil, false, 554, "refused the address"},
		{"sender refused", refuse(550, 5, 7, 1), nil, nil, false, 550, "refused the sender"},
		{"content refused", nil, nil, refuse(554, 5, 7, 1), false, 554, "refused the message"},
		{"unknown after data", nil, nil, refuse(550, 5, 1, 1), true, 550, "refused the message"},
		{"later", nil, nil, refuse(421, 4, 3, 2), false, 421, "refused the message"},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := channeltest.StartMail(t, channeltest.MailOptions{
				OnMail: func(string) error { return test.mail },
				OnRcpt: func(string) error { return test.rcpt },
				OnData: func([]byte) error { return test.data },
			})
			s := mailer(t, server, nil)
			for range 2 { // the second time on the same connection
				o := s.Send(t.Context(), mailTo("ana@example.com"), news(1))
				if o.OK || o.Permanent != test.permanent || o.Status != test.status || !strings.Contains(o.Error, test.says) {
					t.Errorf("%+v", o)
				}
				if strings.Contains(o.Error, "ana@") || strings.Contains(o.Error, "geheim") {
					t.Errorf("the error repeats what the server said: %s", o.Error)
				}
			}
		})
	}
}

// A server that cannot be reached, hangs, or refuses the password is a failure that may end.
func TestEmailUnreachable(t *testing.T) {
	closed := channeltest.StartMail(t, channeltest.MailOptions{})
	closed.Close()
	s := mailer(t, closed, nil)
	if o := s.Send(t.Context(), mailTo("ana@example.com"), news(1)); o.OK || o.Permanent || o.Error != "the mail server cannot be reached" {
		t.Errorf("closed: %+v", o)
	}
	strict := channeltest.StartMail(t, channeltest.MailOptions{User: "u", Password: "right"})
	s = mailer(t, strict, func(e *channel.EmailSettings) {
		e.User = "u"
		e.Password = "wrong-password"
	})
	o := s.Send(t.Context(), mailTo("ana@example.com"), news(1))
	if o.OK || o.Permanent || !strings.Contains(o.Error, "535") || strings.Contains(o.Error, "wrong-password") {
		t.Errorf("wrong password: %+v", o)
	}
	hanging, err := net.Listen("tcp", "127.0.0.1:0") // accepts, and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer hanging.Close()
	s = senders(t, channel.Settings{Email: channel.EmailSettings{Server: "smtp://" + hanging.Addr().String(), From: sender}})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	if o := s.Send(ctx, mailTo("ana@example.com"), news(1)); o.OK || o.Permanent || time.Since(began) > 5*time.Second {
		t.Errorf("hanging: %+v after %v", o, time.Since(began))
	}
}

// A message to a server that hangs while it takes the message ends with the context.
func TestEmailHangsInData(t *testing.T) {
	release := make(chan struct{})
	server := channeltest.StartMail(t, channeltest.MailOptions{OnData: func([]byte) error {
		<-release
		return errors.New("too late")
	}})
	defer close(release)
	s := mailer(t, server, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	began := time.Now()
	if o := s.Send(ctx, mailTo("ana@example.com"), news(1)); o.OK || o.Permanent || time.Since(began) > 5*time.Second {
		t.Errorf("%+v after %v", o, time.Since(began))
	}
}

// A message for which no connection is free was not tried, which is no failure of its own.
func TestEmailWithoutTurn(t *testing.T) {
	const connections = 4
	taken := make(chan struct{}, connections)
	release := make(chan struct{})
	server := channeltest.StartMail(t, channeltest.MailOptions{OnData: func([]byte) error {
		taken <- struct{}{}
		<-release
		return nil
	}})
	s := mailer(t, server, nil)
	var sending sync.WaitGroup
	for range connections {
		sending.Go(func() {
			if o := s.Send(t.Context(), mailTo("ana@example.com"), news(1)); !o.OK || o.Untried {
				t.Errorf("with a turn: %+v", o)
			}
		})
	}
	for range connections {
		<-taken
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if o := s.Send(ctx, mailTo("ana@example.com"), news(1)); o.OK || !o.Untried || o.Permanent {
		t.Errorf("without a turn: %+v", o)
	}
	close(release)
	sending.Wait()
}

func TestCheckEmail(t *testing.T) {
	server := channeltest.StartMail(t, channeltest.MailOptions{})
	s := mailer(t, server, nil)
	for address, want := range map[string]string{
		"ana@example.com":                         "ana@example.com",
		" Ana.B+x@EXAMPLE.com\t":                  "Ana.B+x@example.com",
		"o'neil@correo.example.com":               "o'neil@correo.example.com",
		"ana@españa.example.com":                  "ana@xn--espaa-rta.example.com",
		"ana@example.com\r\nBcc: eva@example.com": "",
		"ana@example.com,eva@example.com":         "",
		"ana@example.com, eva@example.com":        "",
		"Ana <ana@example.com>":                   "",
		"<ana@example.com>":                       "",
		"\"a b\"@example.com":                     "",
		"ana(comment)@example.com":                "",
		"ana@localhost":                           "",
		"ana@[127.0.0.1]":                         "",
		"ana@127.0.0.1":                           "",
		"ana@example..com":                        "",
		"ana@-example.com":                        "",
		"ana@example.com.":                        "",
		".ana@example.com":                        "",
		"ana@":                                    "",
		"@example.com":                            "",
		"ana":                                     "",
		"":                                        "",
		"añá@example.com":                         "",
		"ana@exam ple.com":                        "",
		"ana\x00@example.com":                     "",
		"mailto:ana@example.com?cc=eva@example.com":      "",
		"ana@example.com> SIZE=1\r\nRCPT TO:<eva@x.com":  "",
		strings.Repeat("a", 65) + "@example.com":         "",
		"ana@" + strings.Repeat("abcdefgh.", 40) + "com": "",
		strings.Repeat("a", 3000) + "@example.com":       "",
	} {
		got, err := s.Check(alert.Email, address)
		switch {
		case want == "" && fault.KindOf(err) != fault.Invalid:
			t.Errorf("%q: %q, %v", address, got, err)
		case want != "" && (err != nil || got.Value != want || got.Shown != want):
			t.Errorf("%q: %q, %v, want %q", address, got, err, want)
		}
		if want == "" {
			if o := s.Send(t.Context(), mailTo(address), news(1)); o.OK || !o.Permanent {
				t.Errorf("%q was sent to: %+v", address, o)
			}
		}
	}
	if n := len(server.Letters()); n != 0 {
		t.Errorf("%d letters", n)
	}
}

func TestEmailSettings(t *testing.T) {
	for _, e := range []channel.EmailSettings{
		{Server: "mail.example.com:25", From: sender},
		{Server: "http://mail.example.com", From: sender},
		{Server: "smtp://", From: sender},
		{Server: "smtp://user:geheim@mail.example.com", From: sender},
		{Server: "smtp://mail.example.com/x", From: sender},
		{Server: "smtp://mail.example.com:99999", From: sender},
		{Server: "smtp://mail.example.com", From: ""},
		{Server: "smtp://mail.example.com", From: "a@example.com, b@example.com"},
		{Server: "smtp://mail.example.com", From: sender, MessagesPerSecond: 0.5},
		{Server: "smtp://mail.example.com", From: sender, MessagesPerSecond: -1},
		{Server: "smtp://mail.example.com", From: sender, User: "u"},
		{Server: "smtp://mail.example.com", From: sender, Password: "geheim"},
	} {
		if _, err := channel.New(channel.Settings{Email: e}); fault.KindOf(err) != fault.Invalid || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%+v: %v", e, err)
		}
	}
}
