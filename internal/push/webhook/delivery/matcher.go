package delivery

import (
	"iter"
	"maps"
	"sync"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/push/webhook/subscription"
	"pregon/internal/store"
)

// matcher compares changes with the webhooks that listen, and measures the time that
// this takes for each account.
type matcher struct {
	hooks *subscription.Registry
	costs costs
}

func newMatcher(hooks *subscription.Registry) *matcher {
	return &matcher{hooks: hooks, costs: costs{byAccount: map[string]time.Duration{}}}
}

// selected returns the deliveries of a change to the webhooks, which are sorted as by
// Listening, that the function matches. It adds the time that this took to cost.
func (m *matcher) selected(
	hooks []*subscription.Hook, c *disclosure.Change, cost map[string]time.Duration,
	match func(*subscription.Hook) bool,
) (out []store.Delivery) {
	for of := range byAccount(hooks) {
		began := time.Now()
		account := m.hooks.AccountStatus(of[0].Account)
		status := account
		for i, h := range of {
			if i == 0 || h.Key != of[i-1].Key {
				status = m.hooks.WithKey(account, h.Key)
			}
			// The scope of a gone account or key is unknown. It is checked again before
			// a delivery is sent.
			may := status.Gone != "" || status.MayRead(string(c.Event))
			if may && c.Seq > h.StartsAfter && match(h) {
				out = append(out, store.Delivery{Webhook: h.ID, Seq: c.Seq, Event: string(c.Event)})
			}
		}
		cost[of[0].Account] += time.Since(began)
	}
	return out
}

// byAccount yields the webhooks of each account. They are sorted by account.
func byAccount(hooks []*subscription.Hook) iter.Seq[[]*subscription.Hook] {
	return func(yield func([]*subscription.Hook) bool) {
		for len(hooks) > 0 {
			n := 1
			for n < len(hooks) && hooks[n].Account == hooks[0].Account {
				n++
			}
			if !yield(hooks[:n]) {
				return
			}
			hooks = hooks[n:]
		}
	}
}

// costs is the time that matching took.
type costs struct {
	// mu guards the fields below: the fan-out and the goroutine that compares documents
	// add to them, and Stats reads them. It is held for sums in memory only.
	mu        sync.Mutex
	byAccount map[string]time.Duration
	total     time.Duration // also for accounts without webhooks
}

// add adds the time that matching took, and drops accounts without webhooks.
func (c *costs) add(known *subscription.Snapshot, cost map[string]time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for account, took := range cost {
		c.byAccount[account] += took
		c.total += took
	}
	if len(c.byAccount) > 2*len(known.Hooks)+100 {
		maps.DeleteFunc(c.byAccount, func(account string, _ time.Duration) bool { return !known.HasAccount(account) })
	}
}

// sums returns the time that matching took for all accounts, and for the account with
// the longest.
func (c *costs) sums() (total, most time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, took := range c.byAccount {
		most = max(most, took)
	}
	return c.total, most
}
