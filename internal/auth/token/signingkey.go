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

// keys is an immutable snapshot of the ring.
type keys struct {
	all    []*signingKey // oldest first
	byID   map[string]*signingKey
	newest int   // the highest number ever used
	broken error // the keys that should be trusted but cannot be read
}

// signingKey is one key. until and untrusted depend on newer keys.
type signingKey struct {
	number    int
	record    keyRecord
	public    *rsa.PublicKey
	signer    jose.Signer
	broken    error     // why it cannot be read
	until     time.Time // end of verification; zero without a successor
	untrusted bool
}

// keyRecord is the stored form of a key.
type keyRecord struct {
	KeyID     string    `json:"kid"` // RFC 7638 thumbprint
	CreatedAt time.Time `json:"created_at"`
	SignsFrom time.Time `json:"signs_from"`
	// DistrustsOlder ends all older keys at once, because one of them leaked.
	DistrustsOlder bool   `json:"distrusts_older,omitempty"`
	PrivateKey     string `json:"private_key"` // PKCS #8 in base64, sealed
}

// open decrypts and parses the key.
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
	k.signer, err = jose.NewSigner(jose.SigningKey{
		Algorithm: jose.RS256,
		Key:       jose.JSONWebKey{Key: private, KeyID: kid},
	},
		(&jose.SignerOptions{}).WithType(typeAccess))
	if err == nil {
		k.public = &private.PublicKey
	}
	return err
}

// arrange applies the records of newer keys to the older ones.
func arrange(known map[int]*signingKey) *keys {
	out := &keys{byID: make(map[string]*signingKey, len(known))}
	var broken []error
	var succeeded time.Time // earliest time at which a newer key signs
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

// trusted reports whether signatures of the key are accepted.
func (k *signingKey) trusted(now time.Time) bool {
	return !k.untrusted && (k.until.IsZero() || now.Before(k.until))
}

// signer returns the newest key that may sign now. If no key may, by this clock, it
// returns the oldest trusted one.
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

// published returns the public keys of all trusted keys.
func (ks *keys) published(now time.Time) jose.JSONWebKeySet {
	set := jose.JSONWebKeySet{Keys: []jose.JSONWebKey{}}
	for _, k := range ks.all {
		if k.trusted(now) {
			set.Keys = append(set.Keys, jose.JSONWebKey{
				Key:       k.public,
				KeyID:     k.record.KeyID,
				Algorithm: string(jose.RS256),
				Use:       "sig",
			})
		}
	}
	return set
}

const keyIDLength = 43 // a SHA-256 in base64url

func thumbprint(public *rsa.PublicKey) (string, error) {
	sum, err := (&jose.JSONWebKey{Key: public}).Thumbprint(crypto.SHA256)
	return base64.RawURLEncoding.EncodeToString(sum), err
}
