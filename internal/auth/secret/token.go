package secret

import (
	"encoding/base64"
	"strings"
)

// SealToken encrypts a text that clients hold and send back, such as a cookie, in
// letters that need no escaping in addresses and cookies. The box must have a key:
// SealToken panics without one, since anyone could make such a token.
func (b *Box) SealToken(name, text string) string {
	sealed, ok := strings.CutPrefix(b.Seal(name, text), sealedForm)
	if !ok {
		panic("secret: a token is sealed without a key")
	}
	return strings.TrimRight(toURL.Replace(sealed), "=")
}

// OpenToken returns the text of a token that was sealed under a name. Unlike Open it
// never accepts an unencrypted text.
func (b *Box) OpenToken(name, token string) (text string, ok bool) {
	data, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || b.aead == nil || strings.ContainsAny(token, "\r\n") { // which the decoder skips
		return "", false
	}
	text, err = b.Open(name, sealedForm+base64.StdEncoding.EncodeToString(data))
	return text, err == nil
}

var toURL = strings.NewReplacer("+", "-", "/", "_")
