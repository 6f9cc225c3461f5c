package outbound

import "net/http"

// Passing returns options whose client stops at an address that passed the
// check, with the error of f, if any, and before a packet is sent.
func (o Options) Passing(f func(address string) error) Options {
	o.passed = f
	return o
}

// Inner is the transport of a client.
func Inner(c *http.Client) *http.Transport { return c.Transport.(*guard).next }

var Judge = judge
