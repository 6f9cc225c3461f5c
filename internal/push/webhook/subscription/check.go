package subscription

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/push/events"
	"pregon/internal/server/outbound"
)

const (
	maxPerAccount  = 50
	maxURL         = 2000
	maxDescription = 500
	maxFilters     = 10_000 // characters in the filters of an account's webhooks together

	lookupTimeout = 5 * time.Second // of the host of an address
)

// check validates a draft and sets the default events.
func (d *Draft) check(allowPrivate bool) error {
	if err := checkURL(d.URL, allowPrivate); err != nil {
		return err
	}
	switch {
	case utf8.RuneCountInString(d.Description) > maxDescription:
		return fault.InvalidField("description", "", "may have %d characters at most", maxDescription)
	case !utf8.ValidString(d.Description) || strings.ContainsFunc(d.Description, unicode.IsControl):
		return fault.InvalidField("description", "", "must be plain text on one line")
	}
	if reason := events.FilterError(d.Filter); reason.Format != "" {
		return fault.InvalidField("filter", d.Filter.Search, "%s", reason)
	}
	for _, e := range d.Events {
		if !slices.Contains(events.AllEvents, e) {
			return fault.InvalidField("events", string(e), "use %s", events.EventNames(events.AllEvents))
		}
	}
	if len(d.Events) == 0 {
		d.Events = events.DefaultEvents
	}
	// Normalize the set: the order of events.AllEvents, each once.
	named := d.Events
	d.Events = slices.DeleteFunc(slices.Clone(events.AllEvents), func(e disclosure.Event) bool {
		return !slices.Contains(named, e)
	})
	return nil
}

func checkURL(raw string, allowPrivate bool) error {
	if len(raw) > maxURL {
		return fault.InvalidField("url", "", "may have %d characters at most", maxURL)
	}
	if err := outbound.Check(raw, allowPrivate); err != nil {
		return fault.InvalidField("url", withoutQuery(raw), "%v", err)
	}
	return nil
}

// check validates a draft and resolves its host. The address is checked again
// at every delivery, but the account learns of a wrong one at once.
func (r *Registry) check(ctx context.Context, d *Draft) error {
	if err := d.check(r.o.AllowPrivate); err != nil {
		return err
	}
	u, err := url.Parse(d.URL)
	if err != nil {
		return err
	}
	host := u.Hostname()
	if _, err := netip.ParseAddr(host); err == nil {
		return nil // checked already
	}
	if name, err := idna.Lookup.ToASCII(host); err == nil {
		host = name
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	addrs, err := r.o.Resolver.LookupNetIP(ctx, "ip", host)
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
		return fault.InvalidField("url", withoutQuery(d.URL), "the host %s was not found", host)
	}
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "The host %s could not be looked up: try again.", host)
	}
	for _, a := range addrs {
		literal := net.JoinHostPort(a.Unmap().String(), cmp.Or(u.Port(), "443"))
		if err := outbound.Check(u.Scheme+"://"+literal, r.o.AllowPrivate); err != nil {
			// The address itself is not revealed.
			return fault.InvalidField("url", withoutQuery(d.URL), "the name %s does not lead to a public address", host)
		}
	}
	return nil
}

func tooMany() error {
	return fault.New(fault.Conflict, "The limit of %d webhooks for an account is reached: delete one.", maxPerAccount)
}

// checkFilters rejects a filter if all filters of the account are too long
// together, since each is matched with every change.
func (r *Registry) checkFilters(account, id string, f disclosure.Filter) error {
	n := events.FilterLength(f)
	for _, h := range r.Known().Hooks {
		if h.Account == account && h.ID != id {
			n += events.FilterLength(h.Filter)
		}
	}
	if n <= maxFilters {
		return nil
	}
	return fault.InvalidField("filter", f.Search, "brings the filters of all your webhooks to %d characters, and "+
		"%d are allowed: shorten some, or delete a webhook", n, maxFilters)
}

func (r *Registry) count(account string) (n int) {
	for _, h := range r.Known().Hooks {
		if h.Account == account {
			n++
		}
	}
	return n
}

// withoutQuery returns a URL without its query, which may contain a password.
func withoutQuery(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return (&url.URL{
		Scheme:  u.Scheme,
		Host:    u.Host,
		Path:    u.Path,
		RawPath: u.RawPath,
	}).String()
}
