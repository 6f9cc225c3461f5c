package channel

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"
)

// Sizes of an encrypted message, of RFC 8188 and RFC 8291. Push services accept 4,096 bytes.
const (
	pushRecord   = 4096
	pushSalt     = 16
	pushPoint    = 65 // an uncompressed point of P-256
	pushSecret   = 16
	pushHeader   = pushSalt + 4 + 1 + pushPoint
	pushOverhead = pushHeader + 1 + 16 // with the delimiter and the tag
	maxPushPlain = pushRecord - pushOverhead
)

// pushReceiver is the key and the secret of a browser.
type pushReceiver struct {
	public *ecdh.PublicKey
	auth   []byte
}

// encrypt encrypts a text for a browser: aes128gcm with a key of this message only.
func (r *pushReceiver) encrypt(plain []byte) ([]byte, error) {
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	salt := make([]byte, pushSalt)
	_, _ = rand.Read(salt) // never fails
	return r.encryptWith(plain, key, salt)
}

// encryptWith is encrypt with the key and the salt of the message.
func (r *pushReceiver) encryptWith(plain []byte, key *ecdh.PrivateKey, salt []byte) ([]byte, error) {
	if len(plain) > maxPushPlain {
		return nil, errors.New("the message is too long")
	}
	shared, err := key.ECDH(r.public)
	if err != nil {
		return nil, err
	}
	mine := key.PublicKey().Bytes()
	info := slices.Concat([]byte("WebPush: info\x00"), r.public.Bytes(), mine)
	ikm, err := hkdf.Key(sha256.New, shared, r.auth, string(info), 32)
	if err != nil {
		return nil, err
	}
	contentKey, err := hkdf.Key(sha256.New, ikm, salt, "Content-Encoding: aes128gcm\x00", 16)
	if err != nil {
		return nil, err
	}
	nonce, err := hkdf.Key(sha256.New, ikm, salt, "Content-Encoding: nonce\x00", 12)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(contentKey)
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(salt)
	out = binary.BigEndian.AppendUint32(out, pushRecord)
	out = append(out, byte(len(mine)))
	out = append(out, mine...)
	last := append(slices.Clone(plain), 2) // the delimiter of the last record
	return gcm.Seal(out, nonce, last, nil), nil
}
