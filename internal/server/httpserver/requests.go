package httpserver

import (
	"net/http"
	"net/netip"
	"sync"

	"pregon/internal/fault"
	"pregon/internal/server/ratelimit"
)

// acquire counts an active request, unless there are too many, in all or of its client.
// Health and readiness are not counted: a busy service must not be restarted.
func (r *recorder) acquire(req *http.Request, client netip.Addr) error {
	s := r.server
	if req.URL.Path == healthPath || req.URL.Path == readyPath {
		return nil
	}
	r.active = true
	s.received.Add(1)
	if n := s.active.Add(1); s.o.Limits.Requests > 0 && n > int64(s.o.Limits.Requests) {
		return fault.New(fault.Unavailable,
			"The service has reached its limit of concurrent requests. Try again in a few seconds.")
	}
	if s.isProxyItself(req, client) {
		return nil
	}
	if req.ContentLength != 0 {
		if !s.bodies.acquire(client) {
			return fault.New(fault.RateLimited, "The limit of %d requests with a body at the same time from "+
				"your network is reached. Try again when one is answered.", maxBodies)
		}
		r.sender = client
	}
	if !s.requests.acquire(client) {
		return fault.New(fault.RateLimited,
			"The limit of %d requests at the same time from your network is reached. Read the answers, and try again.", s.requests.max)
	}
	r.client = client
	return nil
}

// isProxyItself reports whether a request comes from a proxy or from this machine, and
// no other client is known. A client behind a proxy is counted, wherever it is.
func (s *Server) isProxyItself(req *http.Request, client netip.Addr) bool {
	if !s.o.Clients.isProxy(client) {
		return false
	}
	peer, err := netip.ParseAddrPort(req.RemoteAddr)
	return err != nil || peer.Addr().Unmap().WithZone("") == client
}

// Park uncounts a request that only waits from now on and that its surface counts.
func (r *recorder) Park() {
	if r.active {
		r.active = false
		r.server.active.Add(-1)
	}
	if r.sender.IsValid() {
		r.server.bodies.release(r.sender)
		r.sender = netip.Addr{}
	}
	if r.client.IsValid() {
		r.server.requests.release(r.client)
		r.client = netip.Addr{}
	}
}

// maxBodies is the number of active requests with a body per network. A body may take
// half a minute to arrive, and some are read before authentication. Otherwise a few
// networks could use up MaxRequests.
const maxBodies = 64

// clientShare is the part of MaxRequests that one network may have. A proxy opens a
// connection for each of them, so that this bounds the connections of a client behind
// a proxy as MaxPerAddress does without one.
const clientShare = 8

// maxOfClient returns how many active requests a network may have, 0 for no limit.
func maxOfClient(maxRequests int) int {
	if maxRequests == 0 {
		return 0
	}
	return max(maxBodies, maxRequests/clientShare)
}

// siteFactor is how many times the limit of a network the /48 network around it may
// have: it has 65,536 /64 networks, and one client may own them all.
const siteFactor = 2

// networkCounter counts requests by network. Networks of IPv6 are counted twice: as a
// /64, and as the /48 around it.
type networkCounter struct {
	max int // of one network; 0 is no limit

	mu sync.Mutex           // held for a few operations on memory
	of map[netip.Prefix]int // guarded by mu
}

func newNetworkCounter(most int) *networkCounter {
	return &networkCounter{
		max: most,
		of:  map[netip.Prefix]int{},
	}
}

// acquire counts a request of a client, and reports whether it is within the limits.
func (c *networkCounter) acquire(client netip.Addr) bool {
	network, site := ratelimit.Network(client), ratelimit.SiteNetwork(client)
	c.mu.Lock()
	defer c.mu.Unlock()
	if atLimit(c.of[network], c.max) || site.IsValid() && atLimit(c.of[site], siteFactor*c.max) {
		return false
	}
	c.of[network]++
	if site.IsValid() {
		c.of[site]++
	}
	return true
}

func (c *networkCounter) release(client netip.Addr) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, network := range []netip.Prefix{ratelimit.Network(client), ratelimit.SiteNetwork(client)} {
		if !network.IsValid() {
			continue
		}
		if c.of[network]--; c.of[network] == 0 {
			delete(c.of, network)
		}
	}
}
