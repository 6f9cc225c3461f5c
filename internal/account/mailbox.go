package account

import (
	"pregon/internal/auth/access"
	"pregon/internal/fault"
	"pregon/internal/push/alert/channel"
)

// HasMailbox reports whether e-mails of alerts are kept and shown instead of sent.
func (s *Service) HasMailbox() bool { return s.o.Mailbox != nil }

// Mailbox returns the newest e-mails to channels of the caller's account, the newest
// first, in a service that keeps them.
func (s *Service) Mailbox(by access.Principal) ([]channel.Posted, error) {
	if !s.HasMailbox() {
		return nil, fault.New(fault.NotFound, "This service does not keep the e-mails that it sends.")
	}
	if err := by.CheckWhole("E-mails"); err != nil {
		return nil, err
	}
	return s.o.Mailbox.Messages(by.ID), nil
}

// PushKey returns the public key that browsers use to subscribe to alerts, or "" if they
// cannot.
func (s *Service) PushKey() string { return s.o.PushKey }
