// Package alerttest provides channels and alerts over a store for tests, with senders that
// keep what they are given.
package alerttest

import (
	"context"
	"strings"
	"sync"
	"testing"

	"pregon/internal/auth/secret"
	"pregon/internal/fault"
	"pregon/internal/push/alert"
	"pregon/internal/push/alert/subscription"
)

// BaseURL is the address of the service in links.
const BaseURL = "https://pregon.invalid"

// New returns a registry on a store.
func New(t testing.TB, db subscription.Store) (*subscription.Registry, *Senders) {
	t.Helper()
	box, err := secret.NewBox("a key of thirty-two bytes for tests")
	if err != nil {
		t.Fatal(err)
	}
	senders := &Senders{}
	r := subscription.New(subscription.Options{
		Store:   db,
		Sealer:  box,
		Senders: senders,
		Link:    func(path string) string { return BaseURL + path },
	})
	if err := r.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r, senders
}

// Senders offer e-mail, Telegram and browsers.
type Senders struct {
	mu    sync.Mutex
	links []string // of requests to confirm
	tests []string // channels
	fails error
}

// Offered implements subscription.Senders.
func (s *Senders) Offered(k alert.Kind) string {
	if k == alert.Email || k == alert.Telegram || k == alert.WebPush {
		return ""
	}
	return "unconfigured"
}

// Check implements subscription.Senders.
func (s *Senders) Check(_ context.Context, _ alert.Kind, address string) (normal, shown string, err error) {
	name, host, ok := strings.Cut(address, "@")
	if !ok {
		return "", "", fault.New(fault.Invalid, "must be an address")
	}
	return name + "@" + strings.ToLower(host), "…@" + host, nil
}

// Invites implements subscription.Senders.
func (s *Senders) Invites(k alert.Kind) bool { return k == alert.Telegram }

// Invite implements subscription.Senders.
func (s *Senders) Invite(_ context.Context, _ alert.Kind, token string) (string, error) {
	return "https://chat.invalid/bot?start=" + token, nil
}

// Confirm implements subscription.Senders.
func (s *Senders) Confirm(_ context.Context, _ alert.Channel, link string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.links = append(s.links, link)
	return s.fails
}

// Test implements subscription.Senders.
func (s *Senders) Test(_ context.Context, c alert.Channel) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tests = append(s.tests, c.ID)
	return s.fails
}

// Fail makes sending fail from now on, or succeed if err is nil.
func (s *Senders) Fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails = err
}

// Links returns the links of the requests to confirm.
func (s *Senders) Links() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.links
}

// Code returns the secret of the newest request to confirm.
func (s *Senders) Code(t testing.TB) string {
	t.Helper()
	links := s.Links()
	if len(links) == 0 {
		t.Fatal("nobody was asked to confirm")
	}
	_, code, _ := strings.Cut(links[len(links)-1], "code=")
	return code
}
