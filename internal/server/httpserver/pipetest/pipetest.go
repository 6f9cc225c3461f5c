// Package pipetest serves HTTP on connections within the program, on which time
// can be made up (testing/synctest), unlike on those of a network.
package pipetest

import (
	"context"
	"net"
	"sync"
)

// Pipes is a listener.
type Pipes struct {
	conns  chan net.Conn
	done   chan struct{}
	closes sync.Once
}

// New returns a listener without connections.
func New() *Pipes { return &Pipes{conns: make(chan net.Conn), done: make(chan struct{})} }

// Accept implements net.Listener.
func (p *Pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (p *Pipes) Close() error { p.closes.Do(func() { close(p.done) }); return nil }

// Addr implements net.Listener.
func (p *Pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }

// Dial calls the listener, for http.Transport.
func (p *Pipes) Dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	p.conns <- server
	return client, nil
}
