package channel

import (
	"crypto/ecdh"

	"pregon/internal/push/alert"
)

// NotOnLoopback treats the mail server of senders as one on another machine.
func NotOnLoopback(s *Senders) { s.byKind[alert.Email].(*email).conns.server.loopback = false }

// EncryptWith encrypts a message for a browser with a key and a salt.
func EncryptWith(receiver, auth []byte, key *ecdh.PrivateKey, salt, plain []byte) ([]byte, error) {
	public, err := ecdh.P256().NewPublicKey(receiver)
	if err != nil {
		return nil, err
	}
	return (&pushReceiver{public: public, auth: auth}).encryptWith(plain, key, salt)
}
