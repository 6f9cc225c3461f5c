package channel

import (
	"net/mail"
	"strings"

	"golang.org/x/net/idna"

	"pregon/internal/fault"
)

// Sizes of an e-mail address, of RFC 5321.
const (
	maxMailbox   = 254
	maxLocalPart = 64
)

// checkMailAddress returns the normal form of an address that is one plain addr-spec: no
// name, no comment, no quotes, no list. Nothing else can get into the commands and headers
// of a message.
func checkMailAddress(address string) (string, error) {
	address = strings.TrimSpace(address)
	at := strings.LastIndexByte(address, '@')
	if at < 1 || len(address) > maxMailbox {
		return "", notAMailAddress()
	}
	local := address[:at]
	if len(local) > maxLocalPart || !isDotAtom(local) {
		return "", notAMailAddress()
	}
	domain, err := idna.Lookup.ToASCII(address[at+1:])
	if err != nil || !isMailDomain(domain) {
		return "", fault.New(fault.Invalid, "the part after the @ is not the name of a domain, such as example.com")
	}
	out := local + "@" + strings.ToLower(domain)
	parsed, err := mail.ParseAddress(out)
	if err != nil || parsed.Address != out || parsed.Name != "" || len(out) > maxMailbox {
		return "", notAMailAddress()
	}
	return out, nil
}

func notAMailAddress() error {
	return fault.New(fault.Invalid, "this is not one e-mail address of the form name@example.com")
}

// isDotAtom reports whether s is words of ASCII characters with dots between them.
func isDotAtom(s string) bool {
	for word := range strings.SplitSeq(s, ".") {
		if word == "" {
			return false
		}
		for _, r := range word {
			letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
			if !letter && !strings.ContainsRune("!#$%&'*+-/=?^_`{|}~", r) {
				return false
			}
		}
	}
	return true
}

// isMailDomain reports whether s is the full name of a domain, and not an address or a
// name of this network.
func isMailDomain(s string) bool {
	labels := strings.Split(s, ".")
	if len(labels) < 2 || len(s) > 253 {
		return false
	}
	for _, label := range labels {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, r := range label {
			ok := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-'
			if !ok {
				return false
			}
		}
	}
	last := labels[len(labels)-1]
	return strings.Trim(last, "0123456789") != ""
}
