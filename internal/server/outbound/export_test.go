package outbound

import "net/http"

// Passing returns options whose client calls f with an address that passed the
// check, before it is dialled. An error of f ends the dial.
func (o Options) Passing(f func(address string) error) Options {
	o.passed = f
	return o
}

// Inner returns the transport of a client.
func Inner(c *http.Client) *http.Transport { return c.Transport.(*guard).next }

var CheckDial = checkDial
