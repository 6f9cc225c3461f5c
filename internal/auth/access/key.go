package access

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"net/netip"
	"slices"
	"strings"
	"time"
	"unicode"

	"pregon/internal/auth/secret"
	"pregon/internal/fault"
)

// A key is the prefix, 32 random characters and a checksum. The checksum detects
// typing errors without a lookup, and helps scanners of leaked secrets.
const (
	keyPrefix    = "pregon_live_"
	randomLength = 32
	checkLength  = 6
	keyLength    = len(keyPrefix) + randomLength + checkLength
	idPrefix     = "key_"
	idLength     = 12
	longestName  = 100
	mostNetworks = 50
	maxSecrets   = 5 // of a key at the same time
	maxDepth     = 4 // of keys that were made with keys
)

// OperatorPlan is the plan of keys with which the service is operated.
const OperatorPlan = "operator"

// Plans are the plans of keys.
var Plans = []string{"pro", "enterprise", OperatorPlan}

// Key is the stored record of an API key. It never contains the key itself.
type Key struct {
	ID        string         `json:"id"`
	Name      string         `json:"name,omitempty"`
	AccountID string         `json:"owner,omitempty"`  // the account it belongs to; empty: it is an account of its own
	Parent    string         `json:"parent,omitempty"` // the key with which it was made, without which it is not valid
	Plan      string         `json:"plan"`
	Scopes    Scope          `json:"scopes"`
	Networks  []netip.Prefix `json:"networks,omitempty"` // allowed client networks; all when empty
	CreatedAt time.Time      `json:"created_at"`
	ExpiresAt time.Time      `json:"expires_at,omitzero"`
	RevokedAt time.Time      `json:"revoked_at,omitzero"`
	Secrets   []Secret       `json:"secrets"` // newest last; several while a rotation overlaps

	revision int64
}

// Secret is the digest of one key text.
type Secret struct {
	Digest    Digest    `json:"sha256"`
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at,omitzero"` // set when it was replaced
}

// Account returns the id of the account that the key belongs to.
func (k *Key) Account() string { return cmp.Or(k.AccountID, k.ID) }

// State returns active, expired or revoked.
func (k *Key) State(now time.Time) string {
	switch {
	case !k.RevokedAt.IsZero():
		return "revoked"
	case reached(k.ExpiresAt, now):
		return "expired"
	}
	return "active"
}

// endedAt returns when a key that is not active ended.
func (k *Key) endedAt() time.Time {
	if !k.RevokedAt.IsZero() {
		return k.RevokedAt
	}
	return k.ExpiresAt
}

// OverlapEnds returns when the last replaced secret stops working, or zero.
func (k *Key) OverlapEnds(now time.Time) (until time.Time) {
	for _, s := range k.Secrets {
		if !reached(s.ExpiresAt, now) && s.ExpiresAt.After(until) {
			until = s.ExpiresAt
		}
	}
	return until
}

// reached reports whether a time has come. A zero time never comes.
func reached(t, now time.Time) bool { return !t.IsZero() && !now.Before(t) }

// allows reports whether the key may be used from an address.
func (k *Key) allows(from netip.Addr) bool {
	return len(k.Networks) == 0 || slices.ContainsFunc(k.Networks,
		func(n netip.Prefix) bool { return n.Contains(from) })
}

// ParseNetwork reads a network from which a key may be used, or one address.
func ParseNetwork(s string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(s); err == nil {
		a = a.Unmap()
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	network, err := netip.ParsePrefix(s)
	if err != nil || network.Addr().Is4In6() { // addresses are never compared in that form
		return netip.Prefix{}, fault.New(fault.Invalid,
			"%q must be a network, such as 203.0.113.0/24, or an address", s)
	}
	return network.Masked(), nil
}

// validate returns an error for a key that must not be created.
func (k *Key) validate(now time.Time) error {
	switch {
	case !slices.Contains(Plans, k.Plan):
		return fault.New(fault.Invalid, "there is no plan %q: use %s", k.Plan, strings.Join(Plans, ", "))
	case k.Scopes == 0:
		return fault.New(fault.Invalid, "a key needs a scope: use %s", strings.Join(AllScopes.Names(), ", "))
	case len(k.Name) > longestName || strings.ContainsFunc(k.Name,
		func(c rune) bool { return c < ' ' || c == 0x7f || unicode.Is(unicode.Bidi_Control, c) }):
		return fault.New(fault.Invalid, "the name may have %d bytes, on one line and without characters that "+
			"change the direction of writing", longestName)
	case reached(k.ExpiresAt, now):
		return fault.New(fault.Invalid, "the key would have expired already, at %s", k.ExpiresAt.Format(time.RFC3339))
	case len(k.Networks) > mostNetworks:
		return fault.New(fault.Invalid, "a key may have %d networks at most", mostNetworks)
	}
	return nil
}

// IsKeyID reports whether the id of a principal is the id of a key.
func IsKeyID(id string) bool { return strings.HasPrefix(id, idPrefix) }

// newSecret returns a new key and its stored form.
func newSecret(now time.Time) (raw string, s Secret) {
	raw = keyPrefix + secret.RandomText(randomLength)
	raw += checksum(raw)
	return raw, Secret{Digest: digestOf(raw), CreatedAt: now}
}

// wellFormed reports whether prefix, length and checksum are right.
func wellFormed(raw string) bool {
	return len(raw) == keyLength && strings.HasPrefix(raw, keyPrefix) &&
		raw[keyLength-checkLength:] == checksum(raw[:keyLength-checkLength])
}

// digestOf returns the stored form of a key. Keys are long and random, so that a
// slow hash would add nothing.
func digestOf(raw string) Digest { return sha256.Sum256([]byte(raw)) }

// Digest is the SHA-256 of the text of a key.
type Digest [sha256.Size]byte

// MarshalText implements encoding.TextMarshaler.
func (d Digest) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, d[:]), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Digest) UnmarshalText(text []byte) error {
	b, err := hex.DecodeString(string(text))
	if err != nil || len(b) != len(d) {
		return errors.New("a digest must be 64 hexadecimal digits")
	}
	copy(d[:], b)
	return nil
}

func checksum(s string) string {
	return secret.Base62(uint64(crc32.ChecksumIEEE([]byte(s))), checkLength)
}
