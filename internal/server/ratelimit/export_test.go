package ratelimit

import "net"

var (
	Open     = open
	Ask      = (*Redis).acquire
	Answered = (*Redis).report
)

// Limit returns a connection whose replies are limited.
func Limit(conn net.Conn) net.Conn {
	return &limitedConn{Conn: conn, raw: conn, left: maxReply}
}

const LongestReply = maxReply

// Counted is a request that can be refunded.
type Counted = counted

func (w *Window) TakeCounted(s Subject) (Decision, Counted) { return w.decide(s, true) }

func (w *Window) GiveBack(c Counted) { w.refund(c) }

func (w *Window) SetCapacity(n int) { w.capacity = n }

// Room returns how many times the logs have room for.
func (w *Window) Room() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range w.recent {
		n += cap(l)
	}
	return n
}

// Endpoint is what a URL says, with values that can be compared.
type Endpoint struct {
	Network, Host      string
	Username, Password string
	Database           int
	Server             string // the name in the certificate; empty without TLS
	Unverified         bool
}

func ParseURL(text string) (Endpoint, error) {
	at, err := parseURL(text)
	out := Endpoint{
		Network:  at.network,
		Host:     at.host,
		Username: at.username,
		Password: at.password,
		Database: at.database,
	}
	if at.tls != nil {
		out.Server = at.tls.ServerName
		out.Unverified = at.tls.InsecureSkipVerify
	}
	return out, err
}
