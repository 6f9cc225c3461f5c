package webhook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/idna"

	"pregon/internal/auth/access"
	authsecret "pregon/internal/auth/secret"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/push/events"
	"pregon/internal/server/outbound"
	"pregon/internal/store"
)

const (
	idPrefix = "wh_"
	idLength = 16
)

func newID() string { return idPrefix + authsecret.RandomText(idLength) }

// Create adds a webhook and returns it with its secret, which is never returned
// again.
func (m *Manager) Create(ctx context.Context, by access.Reach, d Draft) (w Webhook, secret string, err error) {
	owner := by.Account()
	if err := m.check(ctx, &d); err != nil {
		return Webhook{}, "", err
	}
	if err := m.Refresh(ctx); err != nil {
		return Webhook{}, "", err
	}
	if m.count(owner) >= maxPerOwner {
		return Webhook{}, "", tooMany()
	}
	if err := m.checkFilters(owner, "", d.Filter); err != nil {
		return Webhook{}, "", err
	}
	now := time.Now().UTC().Truncate(time.Second)
	w = Webhook{
		ID:        newID(),
		Owner:     owner,
		Key:       by.Maker(),
		Draft:     d,
		CreatedAt: now,
		UpdatedAt: now,
	}
	w.setEnabled(now, "its owner has not enabled it yet")
	if secret, err = w.addSecret(m.o.Sealer, now); err != nil {
		return Webhook{}, "", err
	}
	if w, err = m.put(ctx, w, true); err != nil {
		return Webhook{}, "", err
	}
	if m.count(owner) > maxPerOwner { // others were created at the same time
		if err := m.remove(ctx, w); err != nil {
			return Webhook{}, "", err
		}
		return Webhook{}, "", tooMany()
	}
	m.Seen(owner)
	m.audit(ctx, "webhook.created", &w)
	return w, secret, nil
}

func tooMany() error {
	return fault.New(fault.Conflict, "The account has %d webhooks, which is as many as it may have: delete one.", maxPerOwner)
}

// checkFilters rejects a filter if all filters of the owner are too long
// together, since each is matched with every change.
func (m *Manager) checkFilters(owner, id string, f disclosure.Filter) error {
	n := events.FilterLength(f)
	for _, h := range m.known.Load().byID {
		if h.Owner == owner && h.ID != id {
			n += events.FilterLength(h.Filter)
		}
	}
	if n <= maxFilters {
		return nil
	}
	return invalid("filter", f.Search, fmt.Sprintf(
		"makes %d characters in the filters of all your webhooks, which may have %d together: shorten some, or delete a webhook", n, maxFilters))
}

func (m *Manager) count(owner string) (n int) {
	for _, h := range m.known.Load().byID {
		if h.Owner == owner {
			n++
		}
	}
	return n
}

// setEnabled records when and why the webhook was enabled or disabled.
func (w *Webhook) setEnabled(now time.Time, reason string) {
	if w.Enabled {
		w.EnabledAt = now
		w.DisabledAt = time.Time{}
		w.DisabledReason = ""
	} else {
		w.DisabledAt, w.DisabledReason = now, reason
	}
}

// put writes a webhook. If it starts, its first change is the one after the
// newest change, and after those whose deliveries were created before the
// record was written.
func (m *Manager) put(ctx context.Context, w Webhook, starts bool) (Webhook, error) {
	var err error
	if starts {
		if w.StartsAfter, err = m.o.Store.Newest(ctx); err != nil {
			return Webhook{}, err
		}
	}
	if w, err = m.write(ctx, w); err != nil {
		return Webhook{}, err
	}
	if starts {
		fanned, err := m.o.Store.Fanned(ctx)
		if err != nil {
			return Webhook{}, err
		}
		if fanned > w.StartsAfter {
			w.StartsAfter = fanned
			if again, err := m.write(ctx, w); err == nil {
				w = again
			} else if fault.KindOf(err) != fault.Conflict { // a later update has its own start
				return Webhook{}, err
			}
		}
	}
	_ = m.Refresh(ctx) // the webhook is written in any case
	return w, nil
}

func (m *Manager) write(ctx context.Context, w Webhook) (Webhook, error) {
	body, err := w.body()
	if err != nil {
		return Webhook{}, err
	}
	r, err := store.PutRecord(ctx, m.o.Store, store.Record{
		Kind:     kind,
		ID:       w.ID,
		Body:     body,
		Revision: w.revision,
	})
	if err != nil {
		return Webhook{}, err
	}
	w.revision = r.Revision
	return w, nil
}

// check validates a draft and resolves its host. The address is checked again
// at every delivery, but the owner learns of a wrong one at once.
func (m *Manager) check(ctx context.Context, d *Draft) error {
	if err := d.check(m.o.AllowPrivate); err != nil {
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
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	addrs, err := m.resolver.LookupNetIP(ctx, "ip", host)
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
		return invalid("url", withoutQuery(d.URL), "the host "+host+" was not found")
	}
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "The host %s could not be looked up: try again.", host)
	}
	for _, a := range addrs {
		literal := net.JoinHostPort(a.Unmap().String(), cmp.Or(u.Port(), "443"))
		if err := outbound.Check(u.Scheme+"://"+literal, m.o.AllowPrivate); err != nil {
			return invalid("url", withoutQuery(d.URL), "the name "+host+" does not lead to a public address") // the address itself is not revealed
		}
	}
	return nil
}

// List returns the webhooks within a reach, oldest first.
func (m *Manager) List(ctx context.Context, by access.Reach) ([]Webhook, error) {
	if err := m.Refresh(ctx); err != nil {
		return nil, err
	}
	var all []Webhook
	for _, h := range m.known.Load().byID {
		if by.Has(h.Owner, h.Key) {
			all = append(all, h.Webhook)
		}
	}
	slices.SortFunc(all, func(a, b Webhook) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	return all, nil
}

// find returns a webhook within a reach. It does not reveal that there is one beyond.
func (m *Manager) find(ctx context.Context, by access.Reach, id string) (*hook, error) {
	if err := m.Refresh(ctx); err != nil {
		return nil, err
	}
	h := m.known.Load().byID[id]
	if h == nil || !by.Has(h.Owner, h.Key) {
		return nil, fault.New(fault.NotFound, "You have no webhook %q.", id)
	}
	return h, nil
}

// Get returns a webhook and the state of its endpoint.
func (m *Manager) Get(ctx context.Context, by access.Reach, id string) (Webhook, store.Endpoint, error) {
	h, err := m.find(ctx, by, id)
	if err != nil {
		return Webhook{}, store.Endpoint{}, err
	}
	endpoints, err := m.o.Store.Endpoints(ctx, id)
	return h.Webhook, endpoints[id], err
}

// change updates a webhook unless the function reports no change. It starts
// over if the webhook was changed concurrently.
func (m *Manager) change(ctx context.Context, by access.Reach, id, event string, change func(*Webhook, time.Time) (bool, error)) (Webhook, error) {
	for {
		h, err := m.find(ctx, by, id)
		if err != nil {
			return Webhook{}, err
		}
		w, now := h.Webhook, time.Now().UTC().Truncate(time.Second)
		w.Events = slices.Clone(w.Events)
		if changed, err := change(&w, now); err != nil || !changed {
			return w, err
		}
		w.UpdatedAt = now
		w, err = m.put(ctx, w, w.Enabled && !h.Enabled)
		if err == nil {
			m.audit(ctx, event, &w)
			return w, nil
		}
		if fault.KindOf(err) != fault.Conflict {
			return Webhook{}, err
		}
	}
}

// Update changes the draft of a webhook. A webhook that is enabled again starts
// with the next change.
func (m *Manager) Update(ctx context.Context, by access.Reach, id string, change func(*Draft) error) (Webhook, error) {
	return m.change(ctx, by, id, "webhook.changed", func(w *Webhook, now time.Time) (bool, error) {
		d := w.Draft
		d.Events = slices.Clone(d.Events)
		if err := change(&d); err != nil {
			return false, err
		}
		if err := d.check(m.o.AllowPrivate); err != nil {
			return false, err
		}
		if d.URL != w.URL {
			if err := m.check(ctx, &d); err != nil {
				return false, err
			}
		}
		if d.Filter != w.Filter {
			if err := m.checkFilters(w.Owner, id, d.Filter); err != nil {
				return false, err
			}
		}
		same := d.URL == w.URL && d.Description == w.Description && d.Filter == w.Filter && d.Enabled == w.Enabled && slices.Equal(d.Events, w.Events)
		toggled := d.Enabled != w.Enabled
		w.Draft = d
		if toggled {
			w.setEnabled(now, "its owner disabled it")
		}
		return !same, nil
	})
}

// Adopt makes a webhook belong to the caller, who may see it already: to the account, or
// to the caller's key. If it was paused because of its key, it continues as after any
// other pause. It does nothing if the webhook belongs to the caller already.
//
// A holder of the key may change the address until the moment of the adoption. So the
// caller may say which address it saw: with another one the error is a conflict. A nil
// address is not compared.
func (m *Manager) Adopt(ctx context.Context, by access.Reach, id string, address *string) (Webhook, error) {
	return m.change(ctx, by, id, "webhook.adopted", func(w *Webhook, _ time.Time) (bool, error) {
		if address != nil && *address != w.URL {
			return false, fault.New(fault.Conflict, "The webhook was changed meanwhile: check its address again.")
		}
		same := w.Key == by.Maker()
		w.Key = by.Maker()
		return !same, nil
	})
}

// Rotate adds a new secret to a webhook. The previous one signs too for a day.
func (m *Manager) Rotate(ctx context.Context, by access.Reach, id string) (w Webhook, secret string, err error) {
	w, err = m.change(ctx, by, id, "webhook.rotated", func(w *Webhook, now time.Time) (bool, error) {
		secret, err = w.addSecret(m.o.Sealer, now)
		return true, err
	})
	if err != nil {
		return Webhook{}, "", err
	}
	return w, secret, nil
}

// Delete removes a webhook and its deliveries.
func (m *Manager) Delete(ctx context.Context, by access.Reach, id string) error {
	for {
		h, err := m.find(ctx, by, id)
		if err != nil {
			return err
		}
		if err = m.remove(ctx, h.Webhook); err == nil {
			m.audit(ctx, "webhook.deleted", &h.Webhook)
			return nil
		}
		if fault.KindOf(err) != fault.Conflict {
			return err
		}
	}
}

// remove deletes a webhook. Deliveries that remain are dropped by prune.
func (m *Manager) remove(ctx context.Context, w Webhook) error {
	if _, err := store.PutRecord(ctx, m.o.Store, store.Record{Kind: kind, ID: w.ID, Revision: w.revision}); err != nil {
		return err
	}
	if err := m.o.Store.DropDeliveries(ctx, w.ID); err != nil {
		m.log.WarnContext(ctx, "the deliveries of a deleted webhook could not be dropped yet", "webhook", w.ID, "err", err)
	}
	return m.Refresh(ctx)
}

// disable disables a webhook, unless its owner has changed its URL, enabled it again
// or adopted it meanwhile. It reports whether it did.
func (m *Manager) disable(ctx context.Context, h *hook, reason string) (done bool) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	_, err := m.change(ctx, access.WholeAccount(h.Owner), h.ID, "webhook.disabled", func(w *Webhook, now time.Time) (bool, error) {
		done = w.Enabled && w.URL == h.URL && w.Key == h.Key && w.EnabledAt.Equal(h.EnabledAt)
		if done {
			w.Enabled = false
			w.setEnabled(now, reason)
		}
		return done, nil
	})
	if err != nil { // the next failed attempt tries again
		m.log.WarnContext(ctx, "a webhook could not be disabled", "webhook", h.ID, "reason", reason, "err", err)
		return false
	}
	if done {
		m.log.WarnContext(ctx, "a webhook was disabled", "webhook", h.ID, "reason", reason)
	}
	return done
}

func (m *Manager) audit(ctx context.Context, event string, w *Webhook, more ...slog.Attr) {
	attrs := []slog.Attr{
		slog.String("webhook", w.ID), slog.String("owner", w.Owner),
		slog.String("host", hostOf(w.URL)), slog.Bool("enabled", w.Enabled),
	}
	if w.Key != "" {
		attrs = append(attrs, slog.String("key", w.Key))
	}
	if w.DisabledReason != "" {
		attrs = append(attrs, slog.String("reason", w.DisabledReason))
	}
	m.o.Audit(ctx, event, append(attrs, more...)...)
}
