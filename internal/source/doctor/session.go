package doctor

import (
	"fmt"
	"net/url"
	"regexp"
)

// sessionForm is the token of a session in an address of the regulator's registers. A
// token leads to what its visitor looked at, so that a bundle does not have it.
var sessionForm = regexp.MustCompile(`(?i)\bqS=([^&#"'<>\s]+)`)

// withoutSessions replaces each token by a number. The same token has the same number,
// so that a bundle can be played. t.mu is not held.
func (t *Tape) withoutSessions(b []byte) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return sessionForm.ReplaceAllFunc(b, func(found []byte) []byte {
		token := string(found[len("qS="):])
		if plain, err := url.QueryUnescape(token); err == nil {
			token = plain
		}
		n, known := t.sessions[token]
		if !known {
			if t.sessions == nil {
				t.sessions = map[string]int{}
			}
			n = len(t.sessions) + 1
			t.sessions[token] = n
		}
		return fmt.Appendf(nil, "qS=%%7Bsession-%d%%7D", n)
	})
}
