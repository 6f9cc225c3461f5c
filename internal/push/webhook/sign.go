package webhook

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/store"
)

const (
	secretPrefix = "whsec_"
	secretBytes  = 32
	overlap      = 24 * time.Hour // during which a replaced secret signs too
	maxSecrets   = 10             // valid at once; each adds a signature to a header
)

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
		return "", fault.New(fault.Conflict, "This webhook has %d secrets that are still valid, which is as many as it may: wait until the oldest ends, at %s.",
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

// signer is a decrypted secret.
type signer struct {
	key []byte
	secret
}

// openSecrets decrypts the secrets, and returns the last error of those that
// cannot be.
func openSecrets(w *Webhook, sealer Sealer) (ready []signer, broken error) {
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
		ready = append(ready, signer{key, s})
	}
	return ready, broken
}

// sign sets the headers of Standard Webhooks. It returns false without a valid
// secret.
func sign(h http.Header, secrets []signer, id string, at time.Time, body []byte) bool {
	stamp := strconv.FormatInt(at.Unix(), 10)
	var signatures []string
	for _, s := range secrets {
		if s.over(at) {
			continue
		}
		mac := hmac.New(sha256.New, s.key)
		mac.Write([]byte(id + "." + stamp + "."))
		mac.Write(body)
		signatures = append(signatures, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	h.Set("Webhook-Id", id)
	h.Set("Webhook-Timestamp", stamp)
	h.Set("Webhook-Signature", strings.Join(signatures, " "))
	return len(signatures) > 0
}

// MessageID returns the webhook-id of every attempt at a delivery. It contains
// the epoch, since after a restored backup a seq belongs to another change.
func MessageID(d store.Delivery) string {
	return d.Webhook + "." + disclosure.Cursor{Epoch: d.Epoch, Seq: d.Seq}.String()
}
