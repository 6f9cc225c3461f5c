package delivery

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"pregon/internal/push/alert"
	"pregon/internal/push/queue"
	"pregon/internal/store"
)

// isWanted reports whether one of the alerts that selected an event still exists, is
// enabled, and may read the event. The events of an account without access are wanted: they
// wait with their channel.
func (s *Service) isWanted(d *store.Delivery) bool {
	return s.hasCause(d, func(a *alert.Alert) bool {
		if s.o.Alerts.Access(a.Account, "").Gone != "" {
			return true
		}
		with := s.o.Alerts.Access(a.Account, a.Key)
		return with.Behind || with.Gone == "" && with.MayRead(d.Event)
	})
}

// isKnown reports whether an event is wanted for certain, with the present state of keys.
func (s *Service) isKnown(d *store.Delivery) bool {
	return s.hasCause(d, func(a *alert.Alert) bool {
		return s.o.Alerts.Serves(a.Account, a.Key) && s.o.Alerts.Access(a.Account, a.Key).MayRead(d.Event)
	})
}

// hasCause reports whether one of the alerts that selected an event is enabled and
// accepted by a function.
func (s *Service) hasCause(d *store.Delivery, accepted func(*alert.Alert) bool) bool {
	known := s.o.Alerts.Known()
	return slices.ContainsFunc(strings.Fields(d.Cause), func(id string) bool {
		a := known.Alerts[id]
		return a != nil && a.Enabled && accepted(&a.Alert)
	})
}

// errKeys is the reason why deliveries of alerts that were made with a key wait.
var errKeys = errors.New("the keys that are valid now could not be read")

// refreshWanted loads the newest alerts and keys, which decide whether an event is wanted:
// another process may have changed them.
func (s *Service) refreshWanted(ctx context.Context) error {
	return errors.Join(s.o.Alerts.Refresh(ctx), s.o.Alerts.RefreshAccess(ctx))
}

// admits reports whether an event may be sent, as far as that is known: it is checked
// again before it is sent. An account or a channel without access may have it again before
// the event is too old. The key of an alert never changes.
func (s *Service) admits(a *alert.Alert, to *alert.Channel, event string, now time.Time) bool {
	soon := func(since time.Time) bool { return since.IsZero() || now.Sub(since) < queue.MaxDelay }
	if account := s.o.Alerts.Access(a.Account, ""); account.Gone != "" {
		return soon(account.Since)
	}
	if made := s.o.Alerts.Access(to.Account, to.Key); made.Gone != "" && !soon(made.Since) {
		return false
	}
	with := s.o.Alerts.Access(a.Account, a.Key)
	if with.Gone != "" {
		return with.Since.IsZero() // perhaps another process created the key a moment ago
	}
	return with.MayRead(event)
}
