package ratelimit

import (
	"cmp"
	"crypto/tls"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"pregon/internal/fault"
)

// address is where a Redis is, and how to sign in there.
type address struct {
	network  string
	host     string // with the port, or the path of a socket
	username string
	password string
	database int
	tls      *tls.Config // nil without TLS
}

// ignored are parameters that some programs accept in such a URL. They have no effect
// here: requests wait for Redis, so this package chooses the timeouts.
var ignored = []string{
	"client_name", "dial_timeout", "read_timeout", "write_timeout", "pool_timeout", "pool_size", "max_retries",
	"protocol",
}

// CheckURL returns an error for an invalid URL. It does not connect.
func CheckURL(text string) error {
	_, err := parseURL(text)
	return err
}

// parseURL parses a redis://, rediss:// or unix:// URL. Errors do not quote it: a part of
// a password that was not escaped may be anywhere.
func parseURL(text string) (address, error) {
	u, err := url.Parse(text)
	if err != nil || splitsPassword(text, u) {
		return address{}, errURL
	}
	password, _ := u.User.Password()
	out := address{
		network:  "tcp",
		host:     net.JoinHostPort(cmp.Or(u.Hostname(), "localhost"), cmp.Or(u.Port(), "6379")),
		username: u.User.Username(),
		password: password,
	}
	database := strings.Trim(u.Path, "/")
	switch u.Scheme {
	case "redis":
	case "rediss":
		out.tls = &tls.Config{
			ServerName: cmp.Or(u.Hostname(), "localhost"),
			MinVersion: tls.VersionTLS12,
		}
	case "unix":
		if database == "" {
			return address{}, errURL
		}
		out.network = "unix"
		out.host = u.Path
		database = ""
	default:
		return address{}, errURL
	}
	for name, values := range u.Query() {
		switch {
		case len(values) != 1:
			return address{}, errURL
		case name == "db":
			database = values[0]
		case name == "skip_verify" && out.tls != nil:
			out.tls.InsecureSkipVerify, err = strconv.ParseBool(values[0])
			if err != nil {
				return address{}, errURL
			}
		case !slices.Contains(ignored, name):
			return address{}, errURL
		}
	}
	if database == "" {
		return out, nil
	}
	out.database, err = strconv.Atoi(database)
	if err != nil || out.database < 0 {
		return address{}, errURL
	}
	return out, nil
}

var errURL = fault.New(fault.Invalid,
	"the URL of Redis cannot be read: it is like redis://user:password@host:6379/0, "+
		"rediss:// with TLS, or unix:///path/of/socket?db=0, and special characters of the password "+
		"are percent-encoded")

// splitsPassword reports whether a character in the password ended it too early, so
// that the rest was read as another part of the URL.
func splitsPassword(text string, u *url.URL) bool {
	return strings.Contains(text, "#") || strings.Contains(u.RawQuery, "@") || u.Scheme == "unix" && u.Host != ""
}
