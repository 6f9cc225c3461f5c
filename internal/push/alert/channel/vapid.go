package channel

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/go-jose/go-jose/v4"

	"pregon/internal/fault"
	"pregon/internal/store"
)

// PushKey is the key that identifies this service to push services: RFC 8292. Browsers bind
// a subscription to it, so that it is never renewed.
type PushKey struct {
	private *ecdsa.PrivateKey
	public  string
}

// Sealer encrypts a text under a name, and decrypts it.
type Sealer interface {
	Seal(name, text string) string
	Open(name, sealed string) (string, error)
}

const (
	pushKeyKind = "push-key"
	pushKeyID   = "vapid"
	pushKeySeal = "push-key/vapid"

	vapidLifetime = 12 * time.Hour // at most a day is allowed
)

// pushKeyRecord is the stored form of a key.
type pushKeyRecord struct {
	Public    string    `json:"public_key"`
	Private   string    `json:"private_key"` // PKCS #8 in base64, sealed
	CreatedAt time.Time `json:"created_at"`
}

// LoadPushKey returns the key in the store. It creates one if there is none; of several
// processes that do so at once, one succeeds and the others take its key.
func LoadPushKey(ctx context.Context, records store.Records, sealer Sealer) (*PushKey, error) {
	for range 2 {
		stored, err := storedPushKey(ctx, records)
		if err != nil {
			return nil, err
		}
		if stored.Body != "" {
			key, err := openPushKey(stored.Body, sealer)
			if err != nil {
				return nil, fmt.Errorf("the key for messages to browsers cannot be opened: %w "+
					"(if the secret is lost: pregon signing-key rotate --at-once --lost-secret)", err)
			}
			return key, nil
		}
		if err := putPushKey(ctx, records, sealer, stored.Revision); err != nil && fault.KindOf(err) != fault.Conflict {
			return nil, err
		}
	}
	return nil, errors.New("the key for messages to browsers was stored, but cannot be read back")
}

// ReplaceLostPushKey creates another key if the one in the store cannot be opened, because
// the secret that sealed it is lost. Browsers must subscribe again.
func ReplaceLostPushKey(ctx context.Context, records store.Records, sealer Sealer) error {
	stored, err := storedPushKey(ctx, records)
	if err != nil || stored.Body == "" {
		return err
	}
	if _, err := openPushKey(stored.Body, sealer); err == nil {
		return nil
	}
	return putPushKey(ctx, records, sealer, stored.Revision)
}

// storedPushKey returns the record of the key, which is empty if there is none.
func storedPushKey(ctx context.Context, records store.Records) (store.Record, error) {
	found, err := records.RecordsSince(ctx, pushKeyKind, 0)
	if err != nil {
		return store.Record{}, err
	}
	for _, r := range found {
		if r.ID == pushKeyID {
			return r, nil
		}
	}
	return store.Record{}, nil
}

// putPushKey stores a new key over a revision of the record.
func putPushKey(ctx context.Context, records store.Records, sealer Sealer, revision int64) error {
	body, err := newPushKeyRecord(sealer)
	if err != nil {
		return err
	}
	_, err = store.PutRecord(ctx, records, store.Record{
		Kind:     pushKeyKind,
		ID:       pushKeyID,
		Body:     body,
		Revision: revision,
	})
	return err
}

func newPushKeyRecord(sealer Sealer) (string, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", err
	}
	public, err := publicText(private)
	if err != nil {
		return "", err
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return "", err
	}
	body, err := json.Marshal(pushKeyRecord{
		Public:    public,
		Private:   sealer.Seal(pushKeySeal, base64.StdEncoding.EncodeToString(der)),
		CreatedAt: time.Now().UTC().Truncate(time.Second),
	})
	return string(body), err
}

func openPushKey(body string, sealer Sealer) (*PushKey, error) {
	var stored pushKeyRecord
	if err := json.Unmarshal([]byte(body), &stored); err != nil {
		return nil, errors.New("it is damaged")
	}
	text, err := sealer.Open(pushKeySeal, stored.Private)
	if err != nil {
		return nil, err
	}
	der, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, errors.New("it is damaged")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, errors.New("it is damaged")
	}
	private, ok := parsed.(*ecdsa.PrivateKey)
	if !ok || private.Curve != elliptic.P256() {
		return nil, errors.New("it is not a key of P-256")
	}
	public, err := publicText(private)
	if err != nil || public != stored.Public {
		return nil, errors.New("it is not the key that its record names")
	}
	return &PushKey{private: private, public: public}, nil
}

// publicText returns the public key as browsers take it.
func publicText(private *ecdsa.PrivateKey) (string, error) {
	point, err := private.PublicKey.ECDH()
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(point.Bytes()), nil
}

// Public returns the public key as browsers take it: applicationServerKey.
func (k *PushKey) Public() string { return k.public }

// authorization returns the header that identifies this service to the push
// service of an endpoint.
func (k *PushKey) authorization(endpoint *url.URL, subject string, now time.Time) (string, error) {
	signer, err := jose.NewSigner(
		jose.SigningKey{Algorithm: jose.ES256, Key: k.private},
		(&jose.SignerOptions{}).WithType("JWT"),
	)
	if err != nil {
		return "", err
	}
	claims, err := json.Marshal(struct {
		Audience string `json:"aud"`
		Expires  int64  `json:"exp"`
		Subject  string `json:"sub"`
	}{
		Audience: endpoint.Scheme + "://" + endpoint.Host,
		Expires:  now.Add(vapidLifetime).Unix(),
		Subject:  subject,
	})
	if err != nil {
		return "", err
	}
	signed, err := signer.Sign(claims)
	if err != nil {
		return "", err
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		return "", err
	}
	return "vapid t=" + token + ", k=" + k.public, nil
}
