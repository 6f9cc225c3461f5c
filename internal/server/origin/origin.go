// Package origin handles web origins: a scheme, a host and a port. It also parses
// addresses that begin with one.
package origin

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// Valid reports whether s is http:// or https:// and a host, with nothing after
// it but an optional port and slash.
func Valid(s string) bool {
	u, ok := ParseHTTP(s)
	return ok && strings.Trim(u.Path, "/") == "" && !strings.ContainsAny(s, "?#")
}

// ParseHTTP parses the address of a service. ok is false unless it is http or https
// with a host and without a password. It may have a path, a query and a fragment.
func ParseHTTP(address string) (u *url.URL, ok bool) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return nil, false
	}
	return u, u.Host != "" && u.User == nil
}

// IsLocal reports whether an origin is on this machine.
func IsLocal(s string) bool {
	u, err := url.Parse(s)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// Canonical returns the form of an origin that browsers send and that tokens and
// documents repeat: lower case, ASCII, without a default port and without a
// trailing dot. The error completes a sentence that begins with the origin.
func Canonical(s string) (string, error) {
	u, err := url.Parse(s)
	if err != nil || !Valid(s) {
		return "", errors.New("must be http:// or https:// and a host, with nothing after it")
	}
	host, err := canonicalHost(u.Hostname())
	if err != nil {
		return "", err
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if u.Port() == "" {
		return u.Scheme + "://" + host, nil
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	switch {
	case err != nil || port == 0:
		return "", fmt.Errorf("has the port %s: a port is a number from 1 to 65535", u.Port())
	case u.Scheme == "http" && port == 80 || u.Scheme == "https" && port == 443:
		return u.Scheme + "://" + host, nil
	}
	return fmt.Sprintf("%s://%s:%d", u.Scheme, host, port), nil
}

var (
	// hostName allows underscores, which are common in local networks.
	hostName = regexp.MustCompile(`^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$`)
	// numberEnd matches names that browsers parse as IPv4 addresses.
	numberEnd = regexp.MustCompile(`(^|\.)([0-9]+|0x[0-9a-f]*)$`)
)

func canonicalHost(host string) (string, error) {
	name := strings.ToLower(host)
	if strings.ContainsFunc(host, func(r rune) bool { return r > '~' }) || strings.Contains(name, "xn--") {
		var err error
		if name, err = idna.Lookup.ToASCII(host); err != nil {
			return "", fmt.Errorf("has the host %q, which cannot be written in ASCII (%w)", host, err)
		}
	}
	name = strings.TrimSuffix(name, ".")
	if ip, err := netip.ParseAddr(name); err == nil {
		if ip.Zone() != "" {
			return "", fmt.Errorf("has the zone %q, which is valid on this machine only: use an address without one", ip.Zone())
		}
		return ip.String(), nil
	}
	if len(name) > 253 || !hostName.MatchString(name) || numberEnd.MatchString(name) {
		return "", fmt.Errorf("has the host %q, which is neither a name nor an address", host)
	}
	return name, nil
}

// PlainHost reports whether the host of a URL, if it has one, is written in ASCII and
// without percent-encoding. url.Parse decodes a host, so that %D1%81laude.ai would be
// shown with a letter that looks like another one.
func PlainHost(rawURL string) bool {
	_, rest, _ := strings.Cut(rawURL, ":")
	rest, ok := strings.CutPrefix(rest, "//")
	if !ok {
		return true
	}
	if end := strings.IndexAny(rest, `/?#\`); end >= 0 {
		rest = rest[:end]
	}
	return !strings.ContainsFunc(rest, func(r rune) bool { return r <= ' ' || r > '~' || r == '%' })
}

// ASCIIHost returns a host, with or without a port, as it may be shown: letters that
// could be taken for others are in the form with xn--, or escaped if there is none.
func ASCIIHost(host string) string {
	if !strings.ContainsFunc(host, func(r rune) bool { return r < ' ' || r > '~' }) {
		return host
	}
	name, port, found := strings.Cut(host, ":")
	if ascii, err := idna.Lookup.ToASCII(name); err == nil {
		if found {
			ascii += ":" + port
		}
		host = ascii
	}
	quoted := strconv.QuoteToASCII(host)
	return quoted[1 : len(quoted)-1]
}
