package token

import (
	"crypto"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4"

	"pregon/internal/store"
)

// keys is the ring at one moment. It does not change.
type keys struct {
	all    []*signingKey // oldest first
	byID   map[string]*signingKey
	newest int   // the highest number that was ever used
	broken error // which keys should be trusted but cannot be read
}

// signingKey is one key, and what the newer ones say of it.
type signingKey struct {
	number    int
	record    keyRecord
	public    *rsa.PublicKey
	signer    jose.Signer
	broken    error     // why it cannot be read
	until     time.Time // when it stops verifying; zero while it has no successor
	untrusted bool
}

// keyRecord is how a key is kept.
type keyRecord struct {
	KeyID     string    `json:"kid"` // RFC 7638 thumbprint
	CreatedAt time.Time `json:"created_at"`
	SignsFrom time.Time `json:"signs_from"`
	// DistrustsOlder ends all older keys at once: one of them leaked.
	DistrustsOlder bool   `json:"distrusts_older,omitempty"`
	PrivateKey     string `json:"private_key"` // PKCS #8 in base64, sealed
}

// open makes the key ready to sign and to verify.
func (k *signingKey) open(rec store.Record, sealer Sealer) error {
	if err := json.Unmarshal([]byte(rec.Body), &k.record); err != nil {
		return err
	}
	text, err := sealer.Open(sealName(rec.ID), k.record.PrivateKey)
	if err != nil {
		return err
	}
	der, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return err
	}
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return err
	}
	private, ok := parsed.(*rsa.PrivateKey)
	if !ok {
		return errors.New("it is not an RSA key")
	}
	kid, err := thumbprint(&private.PublicKey)
	if err != nil {
		return err
	}
	if kid != k.record.KeyID {
		return errors.New("it is not the key that its kid names")
	}
	k.signer, err = jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: private, KeyID: kid}},
		(&jose.SignerOptions{}).WithType(typeAccess))
	if err == nil {
		k.public = &private.PublicKey
	}
	return err
}

// arrange works out what the newer keys mean for the older ones.
func arrange(known map[int]*signingKey) *keys {
	out := &keys{byID: make(map[string]*signingKey, len(known))}
	var broken []error
	var succeeded time.Time // the earliest moment at which a newer one signs
	distrust := false
	for _, number := range slices.Backward(slices.Sorted(maps.Keys(known))) {
		k := *known[number]
		if !succeeded.IsZero() {
			k.until = succeeded.Add(maxLifetime)
		}
		k.untrusted = distrust || k.broken != nil
		if k.broken != nil && !distrust {
			broken = append(broken, k.broken)
		}
		out.all = append(out.all, &k)
		out.byID[k.record.KeyID] = &k
		if from := k.record.SignsFrom; succeeded.IsZero() || !from.IsZero() && from.Before(succeeded) {
			succeeded = from
		}
		distrust = distrust || k.record.DistrustsOlder
	}
	slices.Reverse(out.all)
	out.broken = errors.Join(broken...)
	return out
}

// trusted reports whether what the key signed is accepted.
func (k *signingKey) trusted(now time.Time) bool {
	return !k.untrusted && (k.until.IsZero() || now.Before(k.until))
}

// signer returns the newest key whose time has come. When none has, by our
// clock, that is the oldest one left.
func (ks *keys) signer(now time.Time) (*signingKey, error) {
	var chosen *signingKey
	for _, k := range slices.Backward(ks.all) {
		if !k.trusted(now) {
			continue
		}
		chosen = k
		if !k.record.SignsFrom.After(now) {
			break
		}
	}
	if chosen == nil {
		return nil, errors.New("there is no signing key")
	}
	return chosen, nil
}

// published returns the keys that verify what we signed, now or soon.
func (ks *keys) published(now time.Time) jose.JSONWebKeySet {
	set := jose.JSONWebKeySet{Keys: []jose.JSONWebKey{}}
	for _, k := range ks.all {
		if k.trusted(now) {
			set.Keys = append(set.Keys, jose.JSONWebKey{Key: k.public, KeyID: k.record.KeyID, Algorithm: string(jose.RS256), Use: "sig"})
		}
	}
	return set
}

const keyIDLength = 43 // of a SHA-256 in base64url

func thumbprint(public *rsa.PublicKey) (string, error) {
	sum, err := (&jose.JSONWebKey{Key: public}).Thumbprint(crypto.SHA256)
	return base64.RawURLEncoding.EncodeToString(sum), err
}
