// Package attacktest is a caller that tries to stop a service for others, and a caller
// that must not notice. Both are for services on this machine.
package attacktest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// Path is a way to a service, on which callers are distinguished by their addresses.
// The service must trust X-Forwarded-For from 127.0.0.1.
type Path struct {
	Name string
	// HTTP1 and HTTP2 are the addresses for the two protocols, without TLS.
	HTTP1, HTTP2 string
	// Direct means that there is no proxy, so that callers state their addresses
	// themselves.
	Direct bool
}

// caller is where requests come from.
type caller struct {
	host   string // address of this machine from which it connects to a proxy
	stated string // address that it states where there is none
}

var (
	attacker = caller{"127.0.0.2", "192.0.2.66"}
	reader   = caller{"127.0.0.3", "198.51.100.7"}
)

// dial connects as a caller.
func (p Path) dial(ctx context.Context, c caller, address string) (net.Conn, error) {
	from := c.host
	if p.Direct {
		from = "127.0.0.1"
	}
	d := net.Dialer{
		LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)},
		Timeout:   10 * time.Second,
	}
	return d.DialContext(ctx, "tcp", address)
}

// dialUnread connects as the attacker, with a small buffer for what is not read.
func (p Path) dialUnread(ctx context.Context, address string) (net.Conn, error) {
	c, err := p.dial(ctx, attacker, address)
	if err != nil {
		return nil, err
	}
	return c, c.(*net.TCPConn).SetReadBuffer(4096)
}

// unread1 sends requests for targets over HTTP/1 and reads no answer.
func (p Path) unread1(ctx context.Context, targets []string) (net.Conn, error) {
	c, err := p.dialUnread(ctx, p.HTTP1)
	if err != nil {
		return nil, err
	}
	var wire strings.Builder
	for _, target := range targets {
		fmt.Fprintf(&wire, "GET %s HTTP/1.1\r\nHost: pregon.example\r\nAccept: text/html\r\nX-Forwarded-For: %s\r\n\r\n", target, attacker.stated)
	}
	_, err = io.WriteString(c, wire.String())
	return c, err
}

// unread2 does the same over HTTP/2, with a window of 0 for the answers.
func (p Path) unread2(ctx context.Context, targets []string) (net.Conn, error) {
	c, err := p.dialUnread(ctx, p.HTTP2)
	if err != nil {
		return nil, err
	}
	var wire, block bytes.Buffer
	wire.WriteString(http2.ClientPreface)
	frames := http2.NewFramer(&wire, nil)
	_ = frames.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	_ = frames.WriteSettingsAck()
	header := hpack.NewEncoder(&block)
	for n, target := range targets {
		block.Reset()
		for _, f := range []hpack.HeaderField{
			{Name: ":method", Value: "GET"},
			{Name: ":scheme", Value: "http"},
			{Name: ":path", Value: target},
			{Name: ":authority", Value: "pregon.example"},
			{Name: "accept", Value: "text/html"},
			{Name: "x-forwarded-for", Value: attacker.stated},
		} {
			_ = header.WriteField(f)
		}
		_ = frames.WriteHeaders(http2.HeadersFrameParam{
			StreamID:      uint32(2*n + 1),
			BlockFragment: block.Bytes(),
			EndStream:     true,
			EndHeaders:    true,
		})
	}
	_, err = c.Write(wire.Bytes())
	return c, err
}

// Sizes of the attack. The requests for one page are more than a service has in work.
const (
	slowReaders   = 80
	pageRequests  = 2100
	onAConnection = 15 // requests
)

// Attack fills the slots of the attacker with slow readers of a large answer, and then
// asks many times for one page that is not cached. It returns when all is sent; stop
// closes the connections. Those that are refused are left out.
func (p Path) Attack(ctx context.Context, large, page string) (stop func()) {
	var conns []net.Conn
	send := func(over func(context.Context, []string) (net.Conn, error), target string, times int) {
		if c, _ := over(ctx, slices.Repeat([]string{target}, times)); c != nil {
			conns = append(conns, c)
		}
	}
	for range slowReaders {
		send(p.unread1, large, onAConnection) // the first ones fill the buffers
	}
	for range slowReaders / onAConnection {
		send(p.unread2, large, onAConnection)
	}
	for range pageRequests / onAConnection {
		send(p.unread1, page, onAConnection)
		send(p.unread2, page, onAConnection)
	}
	return func() {
		for _, c := range conns {
			_ = c.Close()
		}
	}
}

// Reader is the caller that must not notice.
type Reader struct {
	path   Path
	client *http.Client
	took   []time.Duration
}

// Reader returns a reader that waits for an answer no longer than the timeout.
func (p Path) Reader(timeout time.Duration) *Reader {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) { return p.dial(ctx, reader, p.HTTP1) }
	return &Reader{
		path: p,
		client: &http.Client{
			Transport: &http.Transport{DialContext: dial},
			Timeout:   timeout,
		},
	}
}

// Get requests a target, and returns an error unless it is answered with status 200.
func (r *Reader) Get(ctx context.Context, target string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+r.path.HTTP1+target, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "text/html, */*;q=0.5")
	req.Header.Set("X-Forwarded-For", reader.stated)
	start := time.Now()
	resp, err := r.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	r.took = append(r.took, time.Since(start))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s is answered %d: %.200s", target, resp.StatusCode, body)
	}
	return err
}

// Close closes the connections.
func (r *Reader) Close() { r.client.CloseIdleConnections() }

// P99 returns the time within which 99 of 100 answers came.
func (r *Reader) P99() time.Duration {
	slices.Sort(r.took)
	return r.took[len(r.took)*99/100]
}
