package subscription

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"pregon/internal/document"
	"pregon/internal/push/events"
	"pregon/internal/store/follow"
)

// Snapshot is a set of webhooks that never changes.
type Snapshot struct {
	Hooks    map[string]*Hook // by id
	Revision int64            // of the newest record
	Epoch    string           // of the catalogue when they were read; empty before the first read

	accounts map[string]bool // that have webhooks
}

// Hook is a webhook with its compiled filter and its decrypted secrets.
type Hook struct {
	Webhook
	signing     []openSecret     // the newest last
	selector    *events.Selector // nil if the filter is too long
	filterError string           // why selector is nil
}

// Selects reports whether the webhook selects an event, apart from the words of its
// document.
func (h *Hook) Selects(e *events.Event) bool { return h.selector != nil && h.selector.Match(e) }

// InDocument reports whether the webhook searches in documents, now.
func (h *Hook) InDocument() bool { return h.selector != nil && h.selector.InDocument() }

// NeedsText reports whether the words of its document decide about an event that the webhook
// selects.
func (h *Hook) NeedsText(e *events.Event) bool { return h.selector.NeedsText(e) }

// SelectsText reports whether the document of an event has the words that the webhook searches
// for. It is for webhooks that select the event.
func (h *Hook) SelectsText(e *events.Event, content *document.Content) bool {
	return h.selector.MatchText(e, content)
}

// Revision returns the revision of the stored record, which is another after each change.
func (h *Hook) Revision() int64 { return h.revision }

// Listening returns the enabled webhooks, sorted by account and key.
func (s *Snapshot) Listening() (out []*Hook) {
	for _, h := range s.Hooks {
		if h.Enabled {
			out = append(out, h)
		}
	}
	slices.SortFunc(out, func(a, b *Hook) int {
		return cmp.Or(strings.Compare(a.Account, b.Account), strings.Compare(a.Key, b.Key))
	})
	return out
}

// HasAccount reports whether an account has webhooks.
func (s *Snapshot) HasAccount(account string) bool { return s.accounts[account] }

// update returns the snapshot that follows s. The caller adds the records of the update.
func (s *Snapshot) update(u follow.Update) *Snapshot {
	next := &Snapshot{Hooks: map[string]*Hook{}, Epoch: u.Epoch}
	if !u.Reload {
		maps.Copy(next.Hooks, s.Hooks)
		next.Revision = s.Revision
	}
	return next
}

// indexAccounts sets which accounts have webhooks.
func (s *Snapshot) indexAccounts() {
	s.accounts = map[string]bool{}
	for _, h := range s.Hooks {
		s.accounts[h.Account] = true
	}
}
