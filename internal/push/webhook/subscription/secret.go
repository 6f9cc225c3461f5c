package subscription

import (
	"crypto/rand"
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"pregon/internal/fault"
)

const (
	secretPrefix = "whsec_"
	secretBytes  = 32
	overlap      = 24 * time.Hour // during which a replaced secret signs too
	maxSecrets   = 10             // valid at once; each adds a signature to a header
)

// Sealer encrypts secrets in the store.
type Sealer interface {
	Seal(name, text string) string
	Open(name, sealed string) (string, error)
}

// secret is an encrypted signing secret.
type secret struct {
	Sealed    string    `json:"sealed"`
	ExpiresAt time.Time `json:"expires_at,omitzero"` // set when it is replaced
}

func (s secret) over(now time.Time) bool { return !s.ExpiresAt.IsZero() && !now.Before(s.ExpiresAt) }

func sealName(id string) string { return kind + "/" + id }

// addSecret adds a new secret and returns it in plain text.
func (w *Webhook) addSecret(sealer Sealer, now time.Time) (string, error) {
	kept := slices.DeleteFunc(slices.Clone(w.secrets), func(s secret) bool { return s.over(now) })
	if len(kept) == maxSecrets {
		return "", fault.New(fault.Conflict, "The limit of %d valid secrets for a webhook is reached: "+
			"wait until the oldest ends, at %s.",
			maxSecrets, kept[0].ExpiresAt.Format(time.RFC3339))
	}
	for i, s := range kept {
		if end := now.Add(overlap); s.ExpiresAt.IsZero() || s.ExpiresAt.After(end) {
			kept[i].ExpiresAt = end
		}
	}
	raw := make([]byte, secretBytes)
	_, _ = rand.Read(raw) // never fails
	text := secretPrefix + base64.StdEncoding.EncodeToString(raw)
	w.secrets = append(kept, secret{Sealed: sealer.Seal(sealName(w.ID), text)})
	return text, nil
}

// openSecret is a decrypted secret.
type openSecret struct {
	key []byte
	secret
}

// openSecrets decrypts the secrets, and returns the last error of those that
// cannot be.
func openSecrets(w *Webhook, sealer Sealer) (ready []openSecret, broken error) {
	for _, s := range w.secrets {
		text, err := sealer.Open(sealName(w.ID), s.Sealed)
		if err != nil {
			broken = err
			continue
		}
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(text, secretPrefix))
		if err != nil {
			broken = err
			continue
		}
		ready = append(ready, openSecret{key, s})
	}
	return ready, broken
}

// SigningKeys returns the decrypted secrets that are valid at a time, the newest last.
func (h *Hook) SigningKeys(at time.Time) (keys [][]byte) {
	for _, s := range h.signing {
		if !s.over(at) {
			keys = append(keys, s.key)
		}
	}
	return keys
}
