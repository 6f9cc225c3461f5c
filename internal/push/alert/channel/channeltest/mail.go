// Package channeltest has receivers of messages for tests: a mail server that others
// wrote, with a mailbox, and stand-ins for the services of chats.
package channeltest

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/http"
	"net/http/httptest"
	"net/mail"
	"strings"
	"sync"
	"testing"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// MailOptions say how a mail server behaves.
type MailOptions struct {
	NoTLS    bool // STARTTLS is not offered
	Implicit bool // TLS from the first byte
	User     string
	Password string

	// Each may refuse with an *smtp.SMTPError, or wait.
	OnMail func(from string) error
	OnRcpt func(to string) error
	OnData func(data []byte) error
}

// MailServer is a mail server on loopback that keeps what it receives.
type MailServer struct {
	Address string // of the listener
	RootCAs *x509.CertPool

	options  MailOptions
	server   *smtp.Server
	listener net.Listener

	mu          sync.Mutex
	letters     []Letter
	connections int
}

// Letter is a received e-mail.
type Letter struct {
	From   string
	To     []string
	Header mail.Header
	Text   string
	HTML   string
	Raw    string
	TLS    bool
	User   string // who had signed in
}

// StartMail starts a mail server that ends with the test.
func StartMail(t testing.TB, o MailOptions) *MailServer {
	t.Helper()
	certificate := httptest.NewTLSServer(http.NotFoundHandler()) // for 127.0.0.1 and example.com
	certificate.Close()
	s := &MailServer{options: o, RootCAs: x509.NewCertPool()}
	s.RootCAs.AddCert(certificate.Certificate())
	s.server = smtp.NewServer(smtp.BackendFunc(s.newSession))
	s.server.Domain = "mail.example.com"
	s.server.MaxRecipients = 1
	s.server.MaxMessageBytes = 1 << 20
	s.server.AllowInsecureAuth = true
	s.server.ErrorLog = quiet{}
	config := &tls.Config{Certificates: certificate.TLS.Certificates}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.Address = listener.Addr().String()
	switch {
	case o.Implicit:
		listener = tls.NewListener(listener, config)
	case !o.NoTLS:
		s.server.TLSConfig = config
	}
	s.listener = listener
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.server.Serve(listener) // ends when it is closed
	}()
	t.Cleanup(func() {
		s.Close()
		<-done
	})
	return s
}

// quiet drops the log of the server.
type quiet struct{}

func (quiet) Printf(string, ...any) {}
func (quiet) Println(...any)        {}

// Close ends the server and its connections.
func (s *MailServer) Close() {
	_ = s.server.Close()
	_ = s.listener.Close() // the server does not know it yet if it has just begun
}

// Letters returns what was received.
func (s *MailServer) Letters() []Letter {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Letter(nil), s.letters...)
}

// Connections returns how many connections were opened.
func (s *MailServer) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.connections
}

func (s *MailServer) newSession(c *smtp.Conn) (smtp.Session, error) {
	s.mu.Lock()
	s.connections++
	s.mu.Unlock()
	return &mailSession{server: s, conn: c}, nil
}

// mailSession is one connection.
type mailSession struct {
	server *MailServer
	conn   *smtp.Conn
	user   string
	from   string
	to     []string
}

func (m *mailSession) AuthMechanisms() []string {
	if m.server.options.User == "" {
		return nil
	}
	return []string{sasl.Plain}
}

func (m *mailSession) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != m.server.options.User || password != m.server.options.Password {
			return smtp.ErrAuthFailed
		}
		m.user = user
		return nil
	}), nil
}

func (m *mailSession) Mail(from string, _ *smtp.MailOptions) error {
	if m.server.options.User != "" && m.user == "" {
		return smtp.ErrAuthRequired
	}
	m.from = from
	if check := m.server.options.OnMail; check != nil {
		return check(from)
	}
	return nil
}

func (m *mailSession) Rcpt(to string, _ *smtp.RcptOptions) error {
	if check := m.server.options.OnRcpt; check != nil {
		if err := check(to); err != nil {
			return err
		}
	}
	m.to = append(m.to, to)
	return nil
}

func (m *mailSession) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if check := m.server.options.OnData; check != nil {
		if err := check(raw); err != nil {
			return err
		}
	}
	letter, err := parseLetter(string(raw))
	if err != nil {
		return &smtp.SMTPError{Code: 554, Message: "cannot be parsed: " + err.Error()}
	}
	_, letter.TLS = m.conn.TLSConnectionState()
	letter.From = m.from
	letter.To = m.to
	letter.User = m.user
	m.server.mu.Lock()
	defer m.server.mu.Unlock()
	m.server.letters = append(m.server.letters, letter)
	return nil
}

func (m *mailSession) Reset() {
	m.from = ""
	m.to = nil
}

func (m *mailSession) Logout() error { return nil }

// parseLetter reads the headers and both parts of a message.
func parseLetter(raw string) (Letter, error) {
	parsed, err := mail.ReadMessage(strings.NewReader(raw))
	if err != nil {
		return Letter{}, err
	}
	letter := Letter{Header: parsed.Header, Raw: raw}
	kind, parameters, err := mime.ParseMediaType(parsed.Header.Get("Content-Type"))
	if err != nil {
		return Letter{}, err
	}
	if kind != "multipart/alternative" {
		return Letter{}, errors.New("it is " + kind)
	}
	parts := multipart.NewReader(parsed.Body, parameters["boundary"])
	for {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			return letter, nil
		}
		if err != nil {
			return Letter{}, err
		}
		if encoding := part.Header.Get("Content-Transfer-Encoding"); encoding != "quoted-printable" {
			return Letter{}, errors.New("a part is encoded as " + encoding)
		}
		body, err := io.ReadAll(quotedprintable.NewReader(part))
		if err != nil {
			return Letter{}, err
		}
		text := strings.ReplaceAll(string(body), "\r\n", "\n")
		switch part.Header.Get("Content-Type") {
		case "text/plain; charset=UTF-8":
			letter.Text = text
		case "text/html; charset=UTF-8":
			letter.HTML = text
		default:
			return Letter{}, errors.New("a part is " + part.Header.Get("Content-Type"))
		}
	}
}

// Subject returns the decoded subject.
func (l *Letter) Subject() string {
	decoded, err := new(mime.WordDecoder).DecodeHeader(l.Header.Get("Subject"))
	if err != nil {
		return "not decoded: " + l.Header.Get("Subject")
	}
	return decoded
}
