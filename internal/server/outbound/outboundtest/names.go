// Package outboundtest has names lead where a test wants, and elsewhere a
// moment later.
package outboundtest

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// Names is a server of the DNS, in which every name has the same addresses, or
// does not exist while there are none.
type Names struct {
	mu    sync.Mutex
	addrs []string // guarded by mu
}

// Set gives all names these addresses.
func (n *Names) Set(addrs ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.addrs = addrs
}

// Resolver starts the server, and returns what asks it.
func (n *Names) Resolver(t *testing.T) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		buf := make([]byte, 1500)
		for {
			size, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			if answer, err := n.answer(buf[:size]); err == nil {
				_, _ = conn.WriteTo(answer, from)
			}
		}
	})
	t.Cleanup(func() {
		conn.Close()
		wg.Wait()
	})
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp4", conn.LocalAddr().String())
	}}
}

func (n *Names) answer(query []byte) ([]byte, error) {
	var m dnsmessage.Message
	if err := m.Unpack(query); err != nil {
		return nil, err
	}
	m.Response = true
	m.Authoritative = true
	m.Additionals = nil
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.addrs) == 0 {
		m.RCode = dnsmessage.RCodeNameError
	}
	for _, q := range m.Questions {
		h := dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, Type: q.Type}
		for _, s := range n.addrs {
			a := netip.MustParseAddr(s)
			switch {
			case a.Is4() && q.Type == dnsmessage.TypeA:
				m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AResource{A: a.As4()}})
			case a.Is6() && q.Type == dnsmessage.TypeAAAA:
				m.Answers = append(m.Answers,
					dnsmessage.Resource{Header: h, Body: &dnsmessage.AAAAResource{AAAA: a.As16()}})
			}
		}
	}
	return m.Pack()
}
