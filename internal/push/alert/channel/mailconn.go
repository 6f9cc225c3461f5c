package channel

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"net/textproto"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	gomail "github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"

	"pregon/internal/fault"
)

const (
	maxMailConns    = 4                // at once
	mailIdle        = 10 * time.Second // after which a connection is closed
	mailStepTimeout = 20 * time.Second // of connecting, and of one message on a connection
)

// mailServer is where e-mails are sent to.
type mailServer struct {
	host     string
	port     int
	implicit bool // TLS from the first byte
	loopback bool
}

// parseMailServer reads smtp://HOST:PORT and smtps://HOST:PORT.
func parseMailServer(address string) (mailServer, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "smtp" && u.Scheme != "smtps" || u.Hostname() == "" {
		return mailServer{}, fault.New(fault.Invalid, "the mail server must be smtp://HOST:PORT or smtps://HOST:PORT")
	}
	if u.User != nil {
		return mailServer{}, fault.New(fault.Invalid, "the address of the mail server must not contain a user or a password: "+
			"they have settings of their own")
	}
	if strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return mailServer{}, fault.New(fault.Invalid, "the address of the mail server must end after the port")
	}
	s := mailServer{
		host:     u.Hostname(),
		port:     587,
		implicit: u.Scheme == "smtps",
		loopback: isLoopback(u.Hostname()),
	}
	if s.implicit {
		s.port = 465
	}
	if u.Port() != "" {
		port, err := strconv.ParseUint(u.Port(), 10, 16)
		if err != nil || port == 0 {
			return mailServer{}, fault.New(fault.Invalid, "the port of the mail server must be from 1 to 65535")
		}
		s.port = int(port)
	}
	return s, nil
}

func isLoopback(host string) bool {
	if a, err := netip.ParseAddr(host); err == nil {
		return a.IsLoopback()
	}
	return host == "localhost"
}

// mailConn is a connection to the server.
type mailConn struct {
	client *gomail.Client
	smtp   *smtp.Client
	raw    net.Conn    // closing it ends every wait of the other two
	timer  *time.Timer // of an idle connection
}

func (c *mailConn) close() {
	_ = c.raw.SetDeadline(time.Now().Add(time.Second)) // QUIT is a courtesy
	_ = c.client.CloseWithSMTPClient(c.smtp)
	_ = c.raw.Close()
}

// mailConns are the connections to the server. A burst of messages uses the same ones.
type mailConns struct {
	server   mailServer
	settings EmailSettings
	slots    chan struct{} // a wait for one ends with the message

	mu     sync.Mutex // held for operations on memory only
	idle   []*mailConn
	closed bool
}

func newMailConns(server mailServer, s EmailSettings) *mailConns {
	return &mailConns{
		server:   server,
		settings: s,
		slots:    make(chan struct{}, maxMailConns),
	}
}

// mailConnError is the failure of a connection, on which nothing was sent.
type mailConnError struct{ reason string }

func (e *mailConnError) Error() string { return e.reason }

// acquire waits for the turn of a message, until the context ends. ok is false if it does
// not come; otherwise release must be called.
func (p *mailConns) acquire(ctx context.Context) (release func(), ok bool) {
	select {
	case p.slots <- struct{}{}:
		return func() { <-p.slots }, true
	case <-ctx.Done():
		return nil, false
	}
}

// send sends a message on an idle connection, or else on a new one.
func (p *mailConns) send(ctx context.Context, letter *gomail.Msg) error {
	for c := p.take(); c != nil; c = p.take() {
		err := p.sendOn(ctx, c, letter)
		if !wasClosed(err) {
			return err
		}
	}
	c, err := p.dial(ctx)
	if err != nil {
		return err
	}
	return p.sendOn(ctx, c, letter)
}

// wasClosed reports whether the server had closed an idle connection before anything of
// the message was sent.
func wasClosed(err error) bool {
	failure, ok := errors.AsType[*gomail.SendError](err)
	return ok && failure.Reason == gomail.ErrConnCheck
}

func (p *mailConns) sendOn(ctx context.Context, c *mailConn, letter *gomail.Msg) error {
	stop := context.AfterFunc(ctx, func() { _ = c.raw.Close() })
	err := c.client.SendWithSMTPClient(c.smtp, letter)
	refused, isRefusal := errors.AsType[*gomail.SendError](err)
	usable := err == nil || isRefusal && refused.ErrorCode() >= 400 && refused.ErrorCode() != 421
	if stop() && usable {
		p.put(c)
	} else {
		c.close()
	}
	return err
}

// take returns an idle connection, or nil.
func (p *mailConns) take() *mailConn {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle) == 0 {
		return nil
	}
	last := len(p.idle) - 1
	c := p.idle[last]
	p.idle = p.idle[:last]
	c.timer.Stop()
	return c
}

// put keeps a connection for the next message.
func (p *mailConns) put(c *mailConn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		go c.close()
		return
	}
	c.timer = time.AfterFunc(mailIdle, func() {
		if p.remove(c) {
			c.close()
		}
	})
	p.idle = append(p.idle, c)
}

// remove removes an idle connection, and reports whether it was there.
func (p *mailConns) remove(c *mailConn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := len(p.idle)
	p.idle = slices.DeleteFunc(p.idle, func(other *mailConn) bool { return other == c })
	return len(p.idle) < before
}

func (p *mailConns) close() {
	p.mu.Lock()
	idle := p.idle
	p.idle = nil
	p.closed = true
	p.mu.Unlock()
	for _, c := range idle {
		c.timer.Stop()
		c.close()
	}
}

// dial connects, encrypts and signs in.
func (p *mailConns) dial(ctx context.Context) (*mailConn, error) {
	c := &mailConn{}
	stop := func() bool { return true }
	options := []gomail.Option{
		gomail.WithPort(p.server.port),
		gomail.WithTimeout(mailStepTimeout),
		gomail.WithTLSConfig(p.tlsConfig()),
		gomail.WithDialContextFunc(func(step context.Context, network, address string) (net.Conn, error) {
			raw, err := (&net.Dialer{}).DialContext(step, network, address)
			if err != nil {
				return nil, err
			}
			c.raw = raw
			stop = context.AfterFunc(ctx, func() { _ = raw.Close() })
			return p.encrypt(step, raw)
		}),
	}
	switch {
	case p.server.implicit:
		options = append(options, gomail.WithSSL())
	case p.server.loopback:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSOpportunistic))
	default:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSMandatory))
	}
	if p.settings.User != "" {
		options = append(options,
			gomail.WithUsername(p.settings.User),
			gomail.WithPassword(p.settings.Password),
			// Without TLS, the last two send the password to loopback only.
			gomail.WithOpportunisticSMTPAuth(gomail.SMTPAuthSCRAMSHA256, gomail.SMTPAuthSCRAMSHA1,
				gomail.SMTPAuthPlain, gomail.SMTPAuthLogin),
		)
	}
	client, err := gomail.NewClient(p.server.host, options...)
	if err != nil {
		return nil, &mailConnError{"the settings of the mail server are not valid"}
	}
	c.client = client
	c.smtp, err = client.DialToSMTPClientWithContext(ctx)
	if err == nil && !stop() {
		err = ctx.Err()
	}
	if err != nil {
		if c.raw != nil {
			_ = c.raw.Close()
		}
		return nil, connError(err)
	}
	return c, nil
}

// encrypt is the handshake with a server that expects it at once.
func (p *mailConns) encrypt(ctx context.Context, raw net.Conn) (net.Conn, error) {
	if !p.server.implicit {
		return raw, nil
	}
	encrypted := tls.Client(raw, p.tlsConfig())
	if err := encrypted.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	return encrypted, nil
}

func (p *mailConns) tlsConfig() *tls.Config {
	return &tls.Config{
		ServerName: p.server.host,
		RootCAs:    p.settings.RootCAs,
		MinVersion: tls.VersionTLS12,
		// A mail server on this machine has a certificate for another name, and nobody is
		// between.
		InsecureSkipVerify: p.server.loopback && !p.server.implicit,
	}
}

// connError says why there is no connection, without what the server said.
func connError(err error) *mailConnError {
	if refusal, ok := errors.AsType[*textproto.Error](err); ok {
		return &mailConnError{"the mail server refused the connection or the user: " + strconv.Itoa(refusal.Code)}
	}
	certificate, isCertificate := errors.AsType[*tls.CertificateVerificationError](err)
	var timeout net.Error
	switch {
	case isCertificate:
		return &mailConnError{"the certificate of the mail server is not valid: " + certificate.Err.Error()}
	case strings.Contains(err.Error(), "does not support STARTTLS"):
		return &mailConnError{"the mail server does not offer STARTTLS, which is required except on loopback"}
	case strings.Contains(err.Error(), "AUTH"):
		return &mailConnError{"the mail server does not offer a way to sign in that is safe on this connection"}
	case errors.As(err, &timeout) && timeout.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return &mailConnError{"the mail server did not answer in time"}
	}
	return &mailConnError{"the mail server cannot be reached"}
}
