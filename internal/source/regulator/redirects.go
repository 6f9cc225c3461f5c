package regulator

import (
	"net/url"
	"sync"
	"time"
)

// The number of cached redirects and their lifetime.
const (
	maxRedirects = 64
	redirectTTL  = time.Hour
)

// redirectCache remembers permanent redirects, so that a moved path costs one
// turn of the queue instead of two. It is safe for concurrent use.
type redirectCache struct {
	mu sync.Mutex
	to map[string]cachedRedirect // guarded by mu; by the old path
}

// cachedRedirect is a path that has moved. The query of a request is kept.
type cachedRedirect struct {
	path  string
	to    *url.URL // without a query
	query string   // of the new address, for requests without a query
	at    time.Time
}

func newRedirectCache() *redirectCache { return &redirectCache{to: map[string]cachedRedirect{}} }

// newCachedRedirect returns the cache entry of a redirect. It is not ok when the
// redirect changes the query: then it says nothing about other queries.
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

// resolve returns the current address, and the redirects that led there.
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

// remember stores redirects that led to a good answer and evicts the oldest. The
// answering address itself has not moved.
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

// forget drops redirects that did not lead to a good answer.
func (m *redirectCache) forget(taken []cachedRedirect) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, v := range taken {
		delete(m.to, v.path)
	}
}
