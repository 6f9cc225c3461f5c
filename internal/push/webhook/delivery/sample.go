package delivery

import (
	"context"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/auth/secret"
	"pregon/internal/fault"
	"pregon/internal/server/ratelimit"
	"pregon/internal/store"
)

// Test sends a sample now and returns the attempt. Nothing is stored.
func (s *Service) Test(ctx context.Context, by access.Reach, id string) (store.Attempt, error) {
	h, err := s.hooks.Find(ctx, by, id)
	if err != nil {
		return store.Attempt{}, err
	}
	if err := s.tests.allow(ctx, h.Account, h.ID); err != nil {
		return store.Attempt{}, err
	}
	a := s.sender.send(ctx, h, h.ID+".test-"+secret.RandomText(16), sample(time.Now()))
	if a.canceled {
		return store.Attempt{}, ctx.Err()
	}
	return a.Attempt, nil
}

// Tests are sent on demand to an address that the caller chose. These are the
// limits of each process.
var (
	testsOfWebhook = ratelimit.Policy{Name: "webhook-test", Limit: 5, Window: time.Minute}
	testsOfAccount = ratelimit.Policy{Name: "webhook-tests", Limit: 20, Window: time.Minute}
)

// testLimits counts the tests of webhooks.
type testLimits struct {
	ofWebhook *ratelimit.Window
	ofAccount *ratelimit.Window
}

func newTestLimits() *testLimits {
	return &testLimits{
		ofWebhook: ratelimit.NewWindow(testsOfWebhook),
		ofAccount: ratelimit.NewWindow(testsOfAccount),
	}
}

// allow counts a test of a webhook, and returns an error if there were too many.
func (l *testLimits) allow(ctx context.Context, account, id string) error {
	v, policy := l.ofWebhook.Take(ctx, ratelimit.Name(id)), testsOfWebhook
	what := "a webhook"
	if v.OK {
		v = l.ofAccount.Take(ctx, ratelimit.Name(account))
		policy = testsOfAccount
		what = "all webhooks of an owner together"
	}
	if v.OK {
		return nil
	}
	refused := fault.New(fault.RateLimited, "The limit for %s is %d tests per minute. Wait for the time in Retry-After.",
		what, policy.Limit)
	refused.RetryAfter = max(v.Reset, time.Second)
	return refused
}
