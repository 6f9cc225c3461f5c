package outbound

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/idna"

	"pregon/internal/fault"
)

// Check returns an error if an address must not be used. An address that passes
// may still be refused when it is dialled, since its name is not resolved here.
func Check(rawURL string, allowPrivate bool) error {
	u, err := url.Parse(rawURL)
	if err != nil { // err would repeat the address, which may contain a password
		return fault.New(fault.Invalid, "the address is not a URL")
	}
	if strings.Contains(rawURL, "#") { // u does not distinguish an empty fragment from none
		return hasFragment()
	}
	if err := check(u, allowPrivate); err != nil {
		return err
	}
	return nil
}

func hasFragment() *fault.Error {
	return fault.New(fault.Invalid, "the address must not have a fragment (#…): it would not be sent")
}

func check(u *url.URL, allowPrivate bool) *fault.Error {
	switch {
	case u.Scheme != "https" && u.Scheme != "http":
		return fault.New(fault.Invalid, "the address must begin with https://")
	case u.Scheme == "http" && !allowPrivate:
		return fault.New(fault.Invalid, "the address must begin with https://, not http://")
	case u.Opaque != "" || u.Hostname() == "":
		return fault.New(fault.Invalid, "the address has no host: it must begin with https://HOST")
	case u.User != nil:
		return fault.New(fault.Invalid, "the address must not contain a user or a password")
	case u.Fragment != "":
		return hasFragment()
	}
	if err := checkPort(u.Port(), allowPrivate); err != nil || allowPrivate {
		return err
	}
	return checkHost(u.Hostname())
}

func checkPort(port string, allowPrivate bool) *fault.Error {
	if port == "" {
		return nil
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return fault.New(fault.Invalid, "the address has the port %s, which is not a port number", port)
	}
	if port != "443" && port != "8443" && !allowPrivate {
		return fault.New(fault.Invalid, "the address has the port %s, but only 443 and 8443 are allowed", port)
	}
	return nil
}

// privateNames are domains of this machine or its network, whatever they resolve
// to.
var privateNames = []string{"localhost", "local", "internal", "localdomain", "home.arpa"}

// checkHost checks the host of an address that must be public.
func checkHost(host string) *fault.Error {
	if a, err := netip.ParseAddr(host); err == nil {
		if kind, public := kindOf(a); !public {
			return fault.New(fault.Invalid, "the host %s is %s", host, kind)
		}
		return nil
	}
	// Other characters than ASCII are mapped first, as the transport does: they
	// may spell an address or a private name.
	name, err := toASCII(host)
	if err != nil || !isName(name) {
		return fault.New(fault.Invalid, "the host %q is not a valid host name", host)
	}
	for _, private := range privateNames {
		if name == private || strings.HasSuffix(name, "."+private) {
			return fault.New(fault.Invalid, "the host %s is a name of a private network", host)
		}
	}
	last := name[strings.LastIndexByte(name, '.')+1:]
	switch {
	case '0' <= last[0] && last[0] <= '9': // a resolver may read 2130706433 or 0x7f.1 as 127.0.0.1; no top-level domain begins with a digit
		return fault.New(fault.Invalid, "the host %s is neither a name nor an address as a.b.c.d", host)
	case last == name:
		return fault.New(fault.Invalid, "the host %s is not a full name, such as www.example.com", host)
	}
	return nil
}

func toASCII(host string) (string, error) {
	for _, r := range host {
		if r >= 0x80 {
			return idna.Lookup.ToASCII(host)
		}
	}
	return strings.ToLower(host), nil
}

// isName reports whether s is a DNS name in lower case and without a final dot, so
// that no host has two spellings.
func isName(s string) bool {
	if len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, r := range label {
			// underscores are invalid, but in use
			ok := 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '-' || r == '_'
			if !ok {
				return false
			}
		}
	}
	return true
}
