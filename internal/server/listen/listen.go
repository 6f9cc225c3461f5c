// Package listen opens the address that a flag names, and says what to do when
// that is not possible.
package listen

import (
	"errors"
	"net"
	"strconv"
	"syscall"

	"pregon/internal/fault"
)

// TCP listens on the address that is the value of a flag, such as --listen.
func TCP(flag, address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fault.New(fault.Unavailable, "%s is in use, perhaps by another pregon: stop that, or choose "+
			"another address, such as %s %s", address, flag, next(address))
	}
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "cannot listen on %s; %s chooses another address", address, flag)
	}
	return l, nil
}

// next returns the address with the port after its own, or with port 0, which is
// any free one, if there is none after it.
func next(address string) string {
	host, service, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	port, err := net.LookupPort("tcp", service)
	if err != nil || port == 65535 {
		return net.JoinHostPort(host, "0")
	}
	return net.JoinHostPort(host, strconv.Itoa(port+1))
}
