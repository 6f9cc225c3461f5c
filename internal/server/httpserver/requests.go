package httpserver

import (
	"net/http"
	"net/netip"
	"sync"

	"pregon/internal/auth/ratelimit"
	"pregon/internal/fault"
)

// acquire counts an active request, unless there are too many. Health and readiness
// are not counted: a busy service must not be restarted.
func (r *recorder) acquire(req *http.Request, from netip.Addr) error {
	s := r.server
	if req.URL.Path == healthPath || req.URL.Path == readyPath {
		return nil
	}
	r.active = true
	if n := s.active.Add(1); s.o.MaxRequests > 0 && n > int64(s.o.MaxRequests) {
		return fault.New(fault.Unavailable, "The service has as many requests in work as it takes. Try again in a few seconds.")
	}
	if req.ContentLength == 0 || s.o.isProxy(from) {
		return nil
	}
	if network := ratelimit.Network(from); s.bodies.acquire(network) {
		r.sender = network
		return nil
	}
	return fault.New(fault.Unavailable, "Your network is sending %d requests with a body already, and may not send more at once. Try again when one is answered.", maxBodies)
}

// Park uncounts a request that only waits from now on and that its surface counts.
func (r *recorder) Park() {
	if r.active {
		r.active = false
		r.server.active.Add(-1)
	}
	if r.sender.IsValid() {
		r.server.bodies.release(r.sender)
		r.sender = netip.Prefix{}
	}
}

// maxBodies is the number of active requests with a body per network. A body may take
// half a minute to arrive, and some are read before authentication. Otherwise a few
// networks could use up MaxRequests.
const maxBodies = 64

// bodies counts requests with a body by network.
type bodies struct {
	mu sync.Mutex
	of map[netip.Prefix]int // guarded by mu
}

// acquire counts a request, and reports whether it is within the limit.
func (b *bodies) acquire(network netip.Prefix) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.of[network] >= maxBodies {
		return false
	}
	if b.of == nil {
		b.of = map[netip.Prefix]int{}
	}
	b.of[network]++
	return true
}

func (b *bodies) release(network netip.Prefix) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.of[network]--; b.of[network] == 0 {
		delete(b.of, network)
	}
}
