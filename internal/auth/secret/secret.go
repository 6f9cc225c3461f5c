// Package secret encrypts values in the store that readers of the store must not
// see, such as the signing secrets of webhooks.
//
// A Box with a key, from PREGON_SECRET_KEY, encrypts with AES-256-GCM under a key
// derived with HKDF-SHA256. A sealed value has one of two forms:
//
//	v1:<base64>     key id (4 bytes), nonce, ciphertext and tag
//	plain:<base64>  the unencrypted text, from a box without a key
//
// A value is bound to the name of its place, so that a copy in another row does not
// open. The key id distinguishes a wrong key from a corrupt value.
//
// A box with a key also opens plain values, since the key may have been set later.
// So a writer of the store can insert a plain value, but cannot read or move sealed
// ones. Without its key a sealed value is lost.
package secret

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf8"

	"pregon/internal/fault"
)

const (
	minKey    = 32 // characters
	keySize   = 32 // AES-256
	keyIDSize = 4

	sealedForm = "v1:"
	plainForm  = "plain:"
)

// Box seals and opens values. It is safe for concurrent use.
type Box struct {
	aead  cipher.AEAD // nil without encryption
	keyID []byte
}

// NewBox returns a box for a key of at least 32 characters, or without encryption
// when the key is empty.
func NewBox(key string) (*Box, error) {
	if key == "" {
		return &Box{}, nil
	}
	if n := utf8.RuneCountInString(key); n < minKey {
		return nil, fault.New(fault.Invalid, "PREGON_SECRET_KEY has %d characters and needs at least %d", n, minKey)
	}
	derived, err := hkdf.Key(sha256.New, []byte(key), nil, "pregon secret v1", keySize+keyIDSize)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(derived[:keySize])
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, err
	}
	return &Box{aead: aead, keyID: derived[keySize:]}, nil
}

// Encrypts reports whether the box has a key. Otherwise sealed values can be read by
// anyone.
func (b *Box) Encrypts() bool { return b.aead != nil }

// Seal encrypts a text. Open needs the same name.
func (b *Box) Seal(name, text string) string {
	if b.aead == nil {
		return plainForm + base64.StdEncoding.EncodeToString([]byte(text))
	}
	sealed := b.aead.Seal(slices.Clone(b.keyID), nil, []byte(text), []byte(name))
	return sealedForm + base64.StdEncoding.EncodeToString(sealed)
}

// Open returns the text that was sealed under a name. Failures are Internal faults:
// they concern the operator, not a client.
func (b *Box) Open(name, sealed string) (string, error) {
	if encoded, ok := strings.CutPrefix(sealed, plainForm); ok {
		text, err := decode(name, encoded)
		return string(text), err
	}
	encoded, ok := strings.CutPrefix(sealed, sealedForm)
	if !ok {
		return "", fault.New(fault.Internal, "the secret %s is stored in a format that this version does not "+
			"know", name)
	}
	if b.aead == nil {
		return "", fault.New(fault.Internal,
			"the secret %s is sealed: set PREGON_SECRET_KEY to the key that it was sealed with", name)
	}
	data, err := decode(name, encoded)
	if err != nil {
		return "", err
	}
	rest, mine := bytes.CutPrefix(data, b.keyID)
	if !mine && len(data) >= len(b.keyID) {
		return "", fault.New(fault.Internal,
			"the secret %s cannot be opened: PREGON_SECRET_KEY differs from the one it was sealed with", name)
	}
	text, err := b.aead.Open(nil, nil, rest, []byte(name))
	if err != nil {
		return "", corrupt(name)
	}
	return string(text), nil
}

func decode(name, encoded string) ([]byte, error) {
	data, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if err != nil {
		return nil, corrupt(name)
	}
	return data, nil
}

func corrupt(name string) error {
	return fault.New(fault.Internal, "the secret %s cannot be opened: it was changed, truncated, or copied from "+
		"another record", name)
}
