package webhook

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/store"
)

const (
	recordSeenInterval = 24 * time.Hour     // how often the last use of an owner is written
	ownersInterval     = time.Minute        // how often uses written by other processes are read
	goneGrace          = 7 * 24 * time.Hour // after which the webhooks of a gone owner end
	maxDelay           = 4 * 24 * time.Hour // after which a due delivery is not sent any more
	seenPrefix         = "webhook-owner "   // of the store's marks
)

// OwnerStatus says whether an owner is served, and what it may read.
type OwnerStatus struct {
	Gone      string       // why it is not served; empty while it is
	Since     time.Time    // since when, if known
	Permanent bool         // it cannot return: its webhooks are removed
	Issuer    string       // of the token of a subject, which is also gone if unused for OwnerTimeout
	Scope     access.Scope // what it may read
}

// ownerStatus returns the status of an owner, including its last use.
func (m *Manager) ownerStatus(owner string) OwnerStatus {
	s := m.o.OwnerStatus(owner)
	if s.Issuer == "" {
		return s
	}
	m.owners.Lock()
	last, trusted := m.seen[owner], m.seen[s.Issuer]
	m.owners.Unlock()
	switch {
	case s.Gone != "":
		s.Since = trusted // day precision
	case m.o.OwnerTimeout > 0 && !last.IsZero() && time.Since(last) > m.o.OwnerTimeout:
		s.Gone, s.Since = "its owner was not seen since "+last.UTC().Format(time.DateOnly), last.Add(m.o.OwnerTimeout)
	}
	return s
}

// status returns whether a webhook is served: its owner must be valid, and the key with
// which it was made.
func (m *Manager) status(w *Webhook) OwnerStatus { return m.withKey(m.ownerStatus(w.Owner), w.Key) }

// withKey returns the status of a webhook that was made with a key, from the status of
// its owner. The owner can adopt the webhook, so that it is never removed for its key.
func (m *Manager) withKey(s OwnerStatus, key string) OwnerStatus {
	if key == "" || s.Gone != "" || m.o.Keys == nil {
		return s
	}
	k, known := m.o.Keys.State(key)
	if !known && k.Gone == "" {
		k.Gone = "it is not known" // perhaps not yet: another process may have created it a moment ago
	}
	s.Scope &= k.Scope
	if k.Gone != "" {
		s.Gone = fmt.Sprintf("the key %s with which it was made is not valid (%s): adopt the webhook to resume it", key, k.Gone)
		s.Since = k.Since
	}
	return s
}

// PausedReason returns why nothing is sent to a webhook, apart from being disabled. It
// is empty while the webhook is served.
func (m *Manager) PausedReason(w *Webhook) string { return m.status(w).Gone }

// mayRead reports whether an owner may receive an event.
func (s OwnerStatus) mayRead(event string) bool {
	if event == string(disclosure.IssuerUpdated) {
		return s.Scope.Has(access.ReadIssuers)
	}
	return s.Scope.Has(access.ReadReports)
}

// Seen records that an owner used the service. It writes at most once a day,
// for owners of webhooks only.
func (m *Manager) Seen(owner string) {
	if !m.known.Load().owners[owner] {
		return
	}
	now := time.Now()
	m.owners.Lock()
	defer m.owners.Unlock()
	if now.Sub(m.seen[owner]) > recordSeenInterval {
		m.seen[owner], m.unsaved[owner] = now, now
	}
}

// syncOwners writes when owners were seen and their issuers trusted, and reads
// the records of other processes. An owner without a record counts as seen now.
func (m *Manager) syncOwners(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	uses, err := m.o.Store.Uses(ctx)
	if err != nil {
		return err
	}
	m.owners.Lock()
	now := time.Now()
	record := func(name string, seenNow bool) {
		if last := uses[seenPrefix+name].Last; last.After(m.seen[name]) {
			m.seen[name] = last
		}
		if m.seen[name].IsZero() || seenNow && now.Sub(m.seen[name]) > recordSeenInterval {
			m.seen[name], m.unsaved[name] = now, now
		}
	}
	for owner := range m.known.Load().owners {
		if s := m.o.OwnerStatus(owner); s.Issuer != "" {
			record(owner, false)
			record(s.Issuer, s.Gone == "")
		}
	}
	unsaved := m.unsaved
	m.unsaved = map[string]time.Time{}
	m.owners.Unlock()
	for owner, at := range unsaved {
		if _, failed := m.o.Store.RecordUse(ctx, seenPrefix+owner, at); failed != nil {
			err = failed
			m.owners.Lock()
			m.unsaved[owner] = at
			m.owners.Unlock()
		}
	}
	return err
}

// removeGone ends the webhooks of owners that have been gone for goneGrace:
// they are removed if the owner cannot return, and disabled otherwise. Their
// pending deliveries are dropped.
func (m *Manager) removeGone(ctx context.Context) {
	for _, h := range m.known.Load().byID {
		s := m.status(&h.Webhook)
		if s.Gone == "" || s.Since.IsZero() || time.Since(s.Since) < goneGrace {
			continue
		}
		if s.Permanent {
			if err := m.remove(ctx, h.Webhook); err != nil {
				m.log.WarnContext(ctx, "cannot remove a webhook of a gone owner yet", "webhook", h.ID, "err", err)
				continue
			}
			m.audit(ctx, "webhook.removed", &h.Webhook, slog.String("reason", s.Gone))
		} else if h.Enabled && m.disable(ctx, h, s.Gone) {
			if err := m.o.Store.DropDeliveries(ctx, h.ID); err != nil {
				m.log.WarnContext(ctx, "cannot drop the deliveries of a disabled webhook", "webhook", h.ID, "err", err)
			}
		}
	}
}

// skipReason returns why a delivery is not sent to a webhook with a status, empty if it
// is.
func (s OwnerStatus) skipReason(d store.Delivery) string {
	switch {
	case !s.mayRead(d.Event):
		return "not sent: the owner of the webhook may not read it"
	case time.Since(d.DueAt) > maxDelay:
		return "not sent: it was due for more than four days; ask for it with redeliver"
	}
	return ""
}

// All returns every webhook with the state of its endpoint, ordered by owner
// and age, for operators.
func (m *Manager) All(ctx context.Context) ([]Webhook, map[string]store.Endpoint, error) {
	if err := m.Refresh(ctx); err != nil {
		return nil, nil, err
	}
	var all []Webhook
	var ids []string
	for id, h := range m.known.Load().byID {
		all, ids = append(all, h.Webhook), append(ids, id)
	}
	slices.SortFunc(all, func(a, b Webhook) int {
		return cmp.Or(strings.Compare(a.Owner, b.Owner), a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	endpoints := map[string]store.Endpoint{}
	for some := range slices.Chunk(ids, pageSize) {
		found, err := m.o.Store.Endpoints(ctx, some...)
		if err != nil {
			return nil, nil, err
		}
		maps.Copy(endpoints, found)
	}
	return all, endpoints, nil
}

// Owners returns how many webhooks each owner has.
func (m *Manager) Owners() map[string]int {
	n := map[string]int{}
	for _, h := range m.known.Load().byID {
		n[h.Owner]++
	}
	return n
}

// OwnerOf returns the owner of a webhook, for operators.
func (m *Manager) OwnerOf(ctx context.Context, id string) (string, error) {
	if err := m.Refresh(ctx); err != nil {
		return "", err
	}
	h := m.known.Load().byID[id]
	if h == nil {
		return "", fault.New(fault.NotFound, "there is no webhook %q: pregon webhooks list shows them", id)
	}
	return h.Owner, nil
}

// Disable disables a webhook for an operator. It does nothing if the webhook is
// disabled already.
func (m *Manager) Disable(ctx context.Context, id, reason string) error {
	owner, err := m.OwnerOf(ctx, id)
	if err != nil {
		return err
	}
	_, err = m.change(ctx, access.WholeAccount(owner), id, "webhook.disabled", func(w *Webhook, now time.Time) (bool, error) {
		was := w.Enabled
		w.Enabled = false
		w.setEnabled(now, reason)
		return was, nil
	})
	return err
}
