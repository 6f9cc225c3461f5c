package channel

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/mail"
	"net/url"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"

	"pregon/internal/fault"
	"pregon/internal/push/alert"
	"pregon/internal/push/alert/message"
)

// EmailSettings configure the mail server through which e-mails are sent.
type EmailSettings struct {
	// Server is smtp://HOST:PORT, where the server must offer STARTTLS unless it is on
	// loopback, or smtps://HOST:PORT. The ports may be left out: 587 and 465.
	Server   string
	User     string // or ""
	Password string
	// From is the sender, such as Pregón <alerts@example.com>.
	From string
	// MessagesPerSecond is how many are sent in a second: at least 1, or 0 for no limit.
	MessagesPerSecond float64
	RootCAs           *x509.CertPool // nil: the system's
}

// mailTimeout bounds the sending of one e-mail, with connecting, after it had its turn.
const mailTimeout = 45 * time.Second

// email sends e-mails.
type email struct {
	from  *mail.Address
	conns *mailConns
	pace  *pace
	log   *slog.Logger
}

// newEmail returns the sender of e-mails.
func newEmail(s EmailSettings, log *slog.Logger) (*email, error) {
	server, err := parseMailServer(s.Server)
	if err != nil {
		return nil, err
	}
	from, err := mail.ParseAddress(s.From)
	if err != nil {
		return nil, fault.New(fault.Invalid, "the sender of alerts must be an e-mail address, such as Pregón <alerts@example.com>")
	}
	if from.Address, err = checkMailAddress(from.Address); err != nil {
		return nil, fmt.Errorf("the sender of alerts: %w", err)
	}
	if (s.User == "") != (s.Password == "") {
		return nil, fault.New(fault.Invalid, "the mail server needs both a user and a password, or neither")
	}
	if s.MessagesPerSecond != 0 && !(s.MessagesPerSecond >= 1) {
		return nil, fault.New(fault.Invalid, "the number of e-mails in a second must be 1 or more, or 0 for no limit")
	}
	return &email{
		from:  from,
		conns: newMailConns(server, s),
		pace:  perSecond(s.MessagesPerSecond),
		log:   log,
	}, nil
}

// Check accepts one plain address.
func (e *email) Check(address string) (Address, error) {
	normal, err := checkMailAddress(address)
	if err != nil {
		return Address{}, err
	}
	return Address{Value: normal, Shown: normal}, nil
}

// Send sends one e-mail to one address.
func (e *email) Send(ctx context.Context, to alert.Channel, m *message.Message) Outcome {
	address, err := checkMailAddress(to.Address)
	if err != nil {
		return Outcome{Permanent: true, Error: "the stored address is not an e-mail address"}
	}
	letter, err := e.compose(address, m)
	if err != nil {
		e.log.Error("cannot compose an e-mail", "err", err)
		return Outcome{Error: "the e-mail could not be composed"}
	}
	turn, endTurn := context.WithTimeout(ctx, longestTurn)
	defer endTurn()
	if o, ok := e.pace.wait(turn); !ok {
		return o
	}
	release, ok := e.conns.acquire(turn)
	if !ok {
		return Outcome{Untried: true, Error: "the mail server has too many messages to take"}
	}
	defer release()
	ctx, cancel := context.WithTimeout(ctx, mailTimeout)
	defer cancel()
	err = e.conns.send(ctx, letter)
	if err == nil || letter.IsDelivered() { // what failed after that does not concern the message
		return Outcome{OK: true, Status: 250}
	}
	e.log.Debug("cannot send an e-mail", "err", describeMailError(err))
	return mailOutcome(err)
}

// Close closes the idle connections.
func (e *email) Close() { e.conns.close() }

// compose writes the headers and both forms of a message.
func (e *email) compose(to string, m *message.Message) (*gomail.Msg, error) {
	letter := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	letter.FromMailAddress(e.from)
	if err := letter.EnvelopeFrom(e.from.Address); err != nil {
		return nil, err
	}
	letter.ToMailAddress(&mail.Address{Address: to})
	letter.Subject(m.Subject())
	at := m.At
	if at.IsZero() {
		at = time.Now()
	}
	letter.SetDateWithValue(at)
	_, domain, _ := strings.Cut(e.from.Address, "@")
	letter.SetMessageIDWithValue(messageID(m.ID) + "@" + domain)
	letter.SetGenHeader("Auto-Submitted", "auto-generated")
	letter.SetGenHeader("X-Auto-Response-Suppress", "All")
	if err := addUnsubscribe(letter, m.Links); err != nil {
		return nil, err
	}
	letter.SetBodyString(gomail.TypeTextPlain, m.Text())
	if page := m.HTML(); page != "" {
		letter.AddAlternativeString(gomail.TypeTextHTML, page)
	}
	return letter, nil
}

// addUnsubscribe adds the headers of RFC 2369 and RFC 8058, which mail clients show as a
// button. A POST to the address must end everything, so it is never that of a page.
func addUnsubscribe(letter *gomail.Msg, links message.Links) error {
	switch {
	case strings.HasPrefix(links.OneClick, "https://"):
		return letter.SetListUnsubscribeOneClick(links.OneClick)
	case links.End != "":
		if u, err := url.Parse(links.End); err == nil && u.Host != "" {
			letter.SetListUnsubscribe(u.String())
		}
	}
	return nil
}

// messageID returns the part of a Message-ID that is the same when a message is sent again.
func messageID(id string) string {
	if id != "" && len(id) <= maxLocalPart && isDotAtom(id) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:16])
}

// mailOutcome classifies a failure. Only a refusal of the address is permanent. If the
// server refuses the sender or the message, the operator must act, and all channels fail.
func mailOutcome(err error) Outcome {
	o := Outcome{Error: describeMailError(err)}
	failure, ok := errors.AsType[*gomail.SendError](err)
	if !ok {
		return o
	}
	o.Status = failure.ErrorCode()
	refused := o.Status >= 500 && o.Status < 600
	code := failure.EnhancedStatusCode()
	aboutAddress := strings.HasPrefix(code, "5.1.") || strings.HasPrefix(code, "5.2.")
	switch failure.Reason {
	case gomail.ErrSMTPRcptTo:
		aboutUs := strings.HasPrefix(code, "5.5.") || strings.HasPrefix(code, "5.7.") || o.Status == 503 || o.Status == 530
		o.Permanent = refused && !aboutUs
	case gomail.ErrSMTPData, gomail.ErrSMTPDataClose:
		o.Permanent = refused && aboutAddress
	}
	return o
}

// describeMailError describes a failure without the words of the server, which may repeat
// an address or a password.
func describeMailError(err error) string {
	if failure, ok := errors.AsType[*gomail.SendError](err); ok && failure.ErrorCode() > 0 {
		stage := "the mail server refused the message"
		switch failure.Reason {
		case gomail.ErrSMTPMailFrom:
			stage = "the mail server refused the sender"
		case gomail.ErrSMTPRcptTo:
			stage = "the mail server refused the address"
		}
		code := cmp.Or(failure.EnhancedStatusCode(), "")
		return strings.TrimSpace(fmt.Sprintf("%s: %d %s", stage, failure.ErrorCode(), code))
	}
	if stage, ok := errors.AsType[*mailConnError](err); ok {
		return stage.Error()
	}
	return "the connection to the mail server was lost"
}
