package token

import (
	"crypto/sha256"
	"sync"
)

// generationSize is the number of tokens in a generation.
const generationSize = 10_000

// tokenCache holds verified tokens by their hash, in two generations. When the young
// one is full it replaces the old one; tokens used meanwhile are in the young one.
type tokenCache struct {
	mu         sync.RWMutex
	young, old map[[sha256.Size]byte]*cachedToken // guarded by mu
}

type cachedToken struct {
	token Token
	kid   string
}

func (m *tokenCache) get(sum [sha256.Size]byte) (t Token, kid string, ok bool) {
	m.mu.RLock()
	r := m.young[sum]
	aged := r == nil
	if aged {
		r = m.old[sum]
	}
	m.mu.RUnlock()
	if r == nil {
		return Token{}, "", false
	}
	if aged {
		m.put(sum, r)
	}
	return r.token, r.kid, true
}

func (m *tokenCache) add(sum [sha256.Size]byte, t Token, kid string) {
	m.put(sum, &cachedToken{token: t, kid: kid})
}

func (m *tokenCache) put(sum [sha256.Size]byte, r *cachedToken) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.young) >= generationSize {
		m.old, m.young = m.young, nil
	}
	if m.young == nil {
		m.young = map[[sha256.Size]byte]*cachedToken{}
	}
	m.young[sum] = r
}
