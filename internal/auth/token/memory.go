package token

import (
	"crypto/sha256"
	"sync"
)

// generation is how many tokens are kept before the oldest are let go.
const generation = 10_000

// memory keeps tokens whose signature was right, by their hash. It has two
// generations: when the young one is full, it becomes the old one, which is
// forgotten but for those that were used again meanwhile.
type memory struct {
	mu         sync.RWMutex
	young, old map[[sha256.Size]byte]*remembered // guarded by mu
}

type remembered struct {
	token Token
	kid   string
}

func (m *memory) recall(sum [sha256.Size]byte) (t Token, kid string, ok bool) {
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

func (m *memory) keep(sum [sha256.Size]byte, t Token, kid string) {
	m.put(sum, &remembered{token: t, kid: kid})
}

func (m *memory) put(sum [sha256.Size]byte, r *remembered) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.young) >= generation {
		m.old, m.young = m.young, nil
	}
	if m.young == nil {
		m.young = map[[sha256.Size]byte]*remembered{}
	}
	m.young[sum] = r
}
