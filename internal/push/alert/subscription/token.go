package subscription

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"strings"

	authsecret "pregon/internal/auth/secret"
	"pregon/internal/fault"
)

// Tokens name a channel and prove that who presents them received a message of it. They
// consist of letters, digits and underscores, which links of all services carry.
const (
	confirmPrefix = "alc_"
	endPrefix     = "ale_"
	secretLength  = 32
)

// newToken returns a token for a channel.
func newToken(prefix, channel string) string {
	return prefix + strings.TrimPrefix(channel, channelPrefix) + authsecret.RandomText(secretLength)
}

// channelOf returns the id of the channel that a token names.
func channelOf(prefix, token string) (id string, ok bool) {
	rest, ok := strings.CutPrefix(token, prefix)
	if !ok || len(rest) != idLength+secretLength {
		return "", false
	}
	return channelPrefix + rest[:idLength], true
}

// digest returns what is compared of a token.
func digest(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// matches reports whether a token has a digest.
func matches(token, want string) bool {
	return want != "" && subtle.ConstantTimeCompare([]byte(digest(token)), []byte(want)) == 1
}

// errToken is the error for a link that does not lead to a channel any more.
func errToken() error {
	return fault.New(fault.NotFound, "This link is not valid: it was used, it has expired, or there is a newer one.")
}
