package cli

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"pregon/internal/auth/access"
	"pregon/internal/fault"
)

// Network is a flag: a network or one address.
type Network struct{ netip.Prefix }

// UnmarshalText implements encoding.TextUnmarshaler.
func (n *Network) UnmarshalText(text []byte) (err error) {
	n.Prefix, err = access.ParseNetwork(string(text))
	return err
}

// Rate is a flag: a number a minute, with or without "/min" after it.
type Rate float64

// UnmarshalText implements encoding.TextUnmarshaler.
func (r *Rate) UnmarshalText(text []byte) error {
	n, err := strconv.ParseFloat(strings.TrimSuffix(string(text), "/min"), 64)
	if err != nil || !(n >= 0 && n <= 6000) {
		return fault.New(fault.Invalid, "%q must be a number from 0 to 6000, such as 12 or 12/min", text)
	}
	*r = Rate(n)
	return nil
}

// CheckAddress checks the value of a flag that is a host and a port.
func CheckAddress(flag, address string) error {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		return fault.New(fault.Invalid, "%s %q must be a host and a port, such as 127.0.0.1:8080", flag, address)
	}
	return nil
}

// OneLine returns the text of an error as one line. A driver that tried several
// addresses returns a line for each; the last one is kept.
func OneLine(err error) string {
	if errors.Is(err, context.Canceled) {
		return "interrupted: " + err.Error()
	}
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	if len(lines) == 1 {
		return lines[0]
	}
	head, _, _ := strings.Cut(lines[0], ": ")
	return head + ": " + strings.TrimSpace(lines[len(lines)-1])
}
