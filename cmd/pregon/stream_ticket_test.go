package main_test

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
)

// TestStreamTickets opens the stream of a ticket on two replicas: the newer connection ends the
// older one, a revoked key ends both the stream and the ticket, and neither log has the ticket.
func TestStreamTickets(t *testing.T) {
	t.Parallel()
	for engine, newStore := range engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			store := newStore(t)
			one, other := startReplica(t, store, "--source", "none"), startReplica(t, store, "--source", "none")
			owner := pregon(t, store, "keys", "create", "--plan", "pro")
			var key struct{ ID, Key string }
			demand(t, one.url, owner, http.MethodPost, "/api/v1/account/keys", map[string]any{"name": "page"}, &key, http.StatusCreated)
			var made struct{ Ticket, URL string }
			demand(t, one.url, key.Key, http.MethodPost, "/api/v1/stream/tickets", map[string]any{}, &made, http.StatusCreated)
			first, second := openTicket(t, one.url+made.URL), openTicket(t, other.url+made.URL)
			if rest, err := io.ReadAll(first); err != nil || !strings.Contains(string(rest), "a newer connection was opened") {
				t.Errorf("the older connection ended with %q, %v", rest, err)
			}
			demand(t, one.url, owner, http.MethodDelete, "/api/v1/account/keys/"+key.ID, nil, nil, http.StatusNoContent)
			if rest, err := io.ReadAll(second); err != nil || !strings.Contains(string(rest), "no longer valid") {
				t.Errorf("the stream of a revoked key ended with %q, %v", rest, err)
			}
			for _, s := range []*service{one, other} {
				eventually(t, func() error {
					if s.status(t, made.URL, "Accept", "text/event-stream") != http.StatusUnauthorized {
						return errors.New("the ticket of a revoked key is valid")
					}
					return nil
				})
				if err := s.end(syscall.SIGTERM); err != nil {
					t.Error(err)
				}
				log := s.log.String()
				if !strings.Contains(log, "/api/v1/stream") || strings.Contains(log, made.Ticket[:12]) {
					t.Errorf("the log has the ticket, or no request for the stream:\n%s", log)
				}
			}
		})
	}
}

// openTicket opens a stream and reads its first event.
func openTicket(t *testing.T, url string) io.Reader {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	lines := bufio.NewReader(resp.Body)
	for {
		line, err := lines.ReadString('\n')
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%d, %v", resp.StatusCode, err)
		}
		if line == "event: hello\n" {
			return lines
		}
	}
}
