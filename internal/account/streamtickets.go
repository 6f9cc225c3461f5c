package account

import (
	"context"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/push/events"
	"pregon/internal/query"
)

// StreamTicket opens a stream in a browser: see package ticket.
type StreamTicket struct {
	Ticket    string    `json:"ticket"`
	URL       string    `json:"url"`        // of the stream, without the address of the service
	ExpiresAt time.Time `json:"expires_at"` // unless it is used before
	Warnings  []string  `json:"-"`          // as those of a Webhook
}

// CreateStreamTicket makes a ticket for a stream with a selection.
func (s *Service) CreateStreamTicket(
	ctx context.Context,
	by access.Principal,
	asked Selection,
) (StreamTicket, error) {
	now, err := s.o.Query.Snapshot()
	if err != nil {
		return StreamTicket{}, err
	}
	p := s.o.Query.NewParams(nil).For(by)
	selection := events.Selection{
		Events: p.Events(asked.Events),
		Filter: asked.Filter.KeepFilter(p, now),
	}
	p.CheckFilter(selection.Filter)
	p.CheckSelection(selection)
	if err := p.Err(); err != nil {
		return StreamTicket{}, err
	}
	if selection, err = query.PermittedSelection(by, selection); err != nil {
		return StreamTicket{}, err
	}
	return bounded(ctx, func(ctx context.Context) (StreamTicket, error) {
		made, text, err := s.o.Tickets.Create(ctx, by, selection)
		if err != nil {
			return StreamTicket{}, err
		}
		return StreamTicket{
			Ticket:    text,
			URL:       "/api/v1/stream?ticket=" + text,
			ExpiresAt: query.Madrid(made.Expires()),
			Warnings:  p.Warnings(),
		}, nil
	})
}
