package channel

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"pregon/internal/fault"
	"pregon/internal/server/outbound"
)

// hookRule is the form of the incoming addresses of a service.
type hookRule struct {
	service string // its name
	example string
	// hosts are those of the service, and with a dot in front all below a name. nil: it
	// runs on hosts of its users.
	hosts []string
	path  *regexp.Regexp // the first group, if any, is shown, since it is not a secret
	query []string       // parameters that are kept
}

// check returns the parsed address if it has the form. The hosts of a service are not
// required where private addresses are allowed: its stand-in may have any.
func (r *hookRule) check(address string, allowPrivate bool) (*url.URL, error) {
	address = strings.TrimSpace(address)
	if err := outbound.Check(address, allowPrivate); err != nil {
		return nil, err
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, r.refuse()
	}
	if !allowPrivate && !r.isHost(strings.ToLower(u.Hostname())) || !r.path.MatchString(u.EscapedPath()) {
		return nil, r.refuse()
	}
	kept := url.Values{}
	for _, name := range r.query {
		if v := u.Query().Get(name); v != "" {
			kept.Set(name, v)
		}
	}
	u.RawQuery = kept.Encode()
	u.Host = strings.ToLower(u.Host)
	return u, nil
}

func (r *hookRule) refuse() error {
	return fault.New(fault.Invalid, "this is not an incoming address of %s, such as %s", r.service, r.example)
}

func (r *hookRule) isHost(host string) bool {
	return r.hosts == nil || isAmong(r.hosts, host)
}

// isAmong reports whether a host is one of some. A name with a dot in front stands for all
// below it.
func isAmong(hosts []string, host string) bool {
	return slices.ContainsFunc(hosts, func(h string) bool {
		return host == h || strings.HasPrefix(h, ".") && strings.HasSuffix(host, h)
	})
}

// shown returns an address without its secrets.
func (r *hookRule) shown(u *url.URL) string {
	public := "/"
	if groups := r.path.FindStringSubmatch(u.EscapedPath()); len(groups) > 1 && groups[1] != "" {
		public = groups[1]
	}
	return u.Scheme + "://" + u.Host + public + "…"
}

// normal returns both forms of an address.
func (r *hookRule) normal(address string, allowPrivate bool) (Address, error) {
	u, err := r.check(address, allowPrivate)
	if err != nil {
		return Address{}, err
	}
	return Address{Value: u.String(), Shown: r.shown(u)}, nil
}
