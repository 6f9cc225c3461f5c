package regulator

import (
	"net/url"
	"sync"
	"time"
)

// How many permanent redirects are remembered, and for how long.
const (
	maxRedirects = 64
	redirectTTL  = time.Hour
)

// moves remembers the paths that the site said have moved for good, so that
// the way there costs one turn and not two. It may be used concurrently.
type redirectCache struct {
	mu sync.Mutex
	to map[string]cachedRedirect // guarded by mu: by the path that has moved
}

// move is a path that has moved. The query of an address goes with it.
type cachedRedirect struct {
	path  string
	to    *url.URL // without its query
	query string   // that the new path has of its own, for addresses without one
	at    time.Time
}

func newRedirectCache() *redirectCache { return &redirectCache{to: map[string]cachedRedirect{}} }

// moved returns the move that a redirect tells of. Where the query has become
// another it tells nothing of other queries.
func newCachedRedirect(from, to *url.URL) (m cachedRedirect, ok bool) {
	target := *to
	target.RawQuery = ""
	m = cachedRedirect{path: from.EscapedPath(), to: &target, at: time.Now()}
	if from.RawQuery == "" {
		m.query = to.RawQuery
		return m, true
	}
	return m, from.Query().Encode() == to.Query().Encode()
}

// resolve returns where an address has moved to, and the moves it took.
func (m *redirectCache) resolve(u *url.URL) (*url.URL, []cachedRedirect) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var taken []cachedRedirect
	for range maxHops {
		v, ok := m.to[u.EscapedPath()]
		if ok && time.Since(v.at) >= redirectTTL {
			delete(m.to, v.path)
			ok = false
		}
		if !ok || u.RawQuery != "" && v.query != "" {
			break
		}
		next := *v.to
		if next.RawQuery = u.RawQuery; u.RawQuery == "" {
			next.RawQuery = v.query
		}
		u, taken = &next, append(taken, v)
	}
	return u, taken
}

// remember keeps moves that have led to a good answer. The oldest make room,
// and the address that answered has not moved.
func (m *redirectCache) remember(learned []cachedRedirect, answered *url.URL) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, v := range learned {
		m.to[v.path] = v
	}
	if path := answered.EscapedPath(); m.to[path].query == "" {
		delete(m.to, path)
	}
	for len(m.to) > maxRedirects {
		var first cachedRedirect
		for _, v := range m.to {
			if first.path == "" || v.at.Before(first.at) {
				first = v
			}
		}
		delete(m.to, first.path)
	}
}

// forget drops moves that did not lead to a good answer.
func (m *redirectCache) forget(taken []cachedRedirect) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, v := range taken {
		delete(m.to, v.path)
	}
}
