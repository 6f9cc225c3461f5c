package token

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"

	"pregon/internal/server/ratelimit"
)

// The limits of the endpoints that clients call. Each request counts for its address,
// before anything of it is read. It counts for its client only when it certainly comes
// from that client, because a stranger could otherwise use up the limit of another:
//
//   - a client with a secret is counted when the secret is right;
//   - a client that signs is counted when its assertion is claimed, which is possible
//     once, and until then together with the address, since the assertion may be a copy;
//   - a client without authentication is counted together with the address. Its id is
//     public: anyone can send it, but only from their own network.

// countAddress counts a request for its address.
func (s *Server) countAddress(ctx context.Context, addr netip.Addr) *Refusal {
	if s.o.Addresses == nil {
		return nil
	}
	if v := s.o.Addresses.Take(ctx, ratelimit.Address(addr)); !v.OK {
		return TooMany(v, "token-address", "too many requests came from this address: wait as long as Retry-After says")
	}
	return nil
}

// countClient counts a request for a client, or for a client at an address.
func (s *Server) countClient(ctx context.Context, of ratelimit.Subject) error {
	if s.o.Clients == nil {
		return nil
	}
	return clientLimit(s.o.Clients.Take(ctx, of))
}

// checkClient returns the refusal of a request that is over the limit of its client,
// without counting it.
func (s *Server) checkClient(ctx context.Context, of ratelimit.Subject) error {
	if s.o.Clients == nil {
		return nil
	}
	return clientLimit(s.o.Clients.Peek(ctx, of))
}

func clientLimit(v ratelimit.Decision) error {
	if v.OK {
		return nil
	}
	return TooMany(v, "token-client", "this client sent too many requests: wait as long as Retry-After says")
}

// clientSubject returns what is counted for a client of an issuer. The issuer is empty
// for applications.
func clientSubject(issuer, id string) ratelimit.Subject {
	return ratelimit.Name("client\x00" + issuer + "\x00" + id)
}

// clientAtAddress returns what is counted for a client at an address.
func clientAtAddress(issuer, id string, addr netip.Addr) ratelimit.Subject {
	network := ratelimit.Address(addr)
	return ratelimit.Name("client at\x00" + string(network[:]) + issuer + "\x00" + id)
}

// auditLimit records that a client at an address exceeded a limit.
func (s *Server) auditLimit(ctx context.Context, addr netip.Addr, known Known, why *Refusal) {
	if why.status != http.StatusTooManyRequests {
		return
	}
	network := ratelimit.Address(addr)
	attrs := []slog.Attr{slog.String("client_ip", addr.String())}
	if known.Client != "" {
		attrs = append(attrs, slog.String("client_id", clip(known.Client)))
	}
	s.limits.Record(ctx, why.limit, known.Client+"\x00"+string(network[:]), attrs...)
}
