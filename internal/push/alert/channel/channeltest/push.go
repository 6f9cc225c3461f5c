package channeltest

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// Push is a push service with a browser. It checks what RFC 8030 and RFC 8292 require, and
// decrypts messages with the steps of RFC 8188 and RFC 8291, which are written here a second
// time with HMAC only.
type Push struct {
	BaseURL string

	key  *ecdh.PrivateKey
	auth []byte

	mu       sync.Mutex
	answers  []Answer
	received []PushNote
	refused  []string
}

// PushNote is a message that the browser decrypted.
type PushNote struct {
	Plain  string
	Body   []byte // as it was received
	Header http.Header
	Key    string // of the sender
	Claims map[string]any
}

// StartPush starts a push service that ends with the test.
func StartPush(t testing.TB, answers ...Answer) *Push {
	t.Helper()
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p := &Push{key: key, auth: make([]byte, 16), answers: answers}
	_, _ = rand.Read(p.auth) // never fails
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	p.BaseURL = server.URL
	return p
}

// Subscription returns what the browser gives to a page, as JSON.
func (p *Push) Subscription() string {
	return fmt.Sprintf(`{"endpoint":"%s/send/geheim","expirationTime":null,"keys":{"p256dh":%q,"auth":%q}}`,
		p.BaseURL,
		base64.RawURLEncoding.EncodeToString(p.key.PublicKey().Bytes()),
		base64.RawURLEncoding.EncodeToString(p.auth))
}

// Keys returns the private key and the secret of the browser in base64url.
func (p *Push) Keys() (key, auth string) {
	return base64.RawURLEncoding.EncodeToString(p.key.Bytes()), base64.RawURLEncoding.EncodeToString(p.auth)
}

// Received returns the decrypted messages.
func (p *Push) Received() []PushNote {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]PushNote(nil), p.received...)
}

// Refused returns why requests were refused.
func (p *Push) Refused() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.refused...)
}

func (p *Push) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.answers) > 0 {
		next := p.answers[0]
		p.answers = p.answers[1:]
		next.serve(w, r)
		return
	}
	note, err := p.accept(r)
	if err != nil {
		p.refused = append(p.refused, err.Error())
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	p.received = append(p.received, note)
	w.Header().Set("Location", p.BaseURL+"/message/1")
	w.WriteHeader(http.StatusCreated)
}

var (
	pushTTL   = regexp.MustCompile(`^\d+$`)
	pushTopic = regexp.MustCompile(`^[A-Za-z0-9_-]{1,32}$`)
)

func (p *Push) accept(r *http.Request) (note PushNote, err error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		return note, err
	}
	urgency := " " + r.Header.Get("Urgency") + " "
	switch {
	case r.Method != http.MethodPost:
		return note, fmt.Errorf("the method is %s", r.Method)
	case r.Header.Get("Content-Encoding") != "aes128gcm":
		return note, fmt.Errorf("the content encoding is %s", r.Header.Get("Content-Encoding"))
	case !pushTTL.MatchString(r.Header.Get("TTL")):
		return note, fmt.Errorf("the TTL is %q", r.Header.Get("TTL"))
	case r.Header.Get("Topic") != "" && !pushTopic.MatchString(r.Header.Get("Topic")):
		return note, fmt.Errorf("the topic is %q", r.Header.Get("Topic"))
	case !strings.Contains(" very-low low normal high ", urgency):
		return note, fmt.Errorf("the urgency is %q", urgency)
	case len(body) > 4096:
		return note, fmt.Errorf("%d bytes", len(body))
	}
	note.Header = r.Header
	note.Body = body
	if note.Key, note.Claims, err = p.vapid(r.Header.Get("Authorization")); err != nil {
		return note, err
	}
	note.Plain, err = decryptPush(p.key, p.auth, body)
	return note, err
}

// vapid checks the signature and the claims of a header.
func (p *Push) vapid(header string) (key string, claims map[string]any, err error) {
	match := regexp.MustCompile(`^vapid t=([\w-]+)\.([\w-]+)\.([\w-]+), k=([\w-]+)$`).FindStringSubmatch(header)
	if match == nil {
		return "", nil, fmt.Errorf("the authorization is %q", header)
	}
	var parts [4][]byte
	for i := range parts {
		if parts[i], err = base64.RawURLEncoding.DecodeString(match[1+i]); err != nil {
			return "", nil, err
		}
	}
	point, signature := parts[3], parts[2]
	if len(point) != 65 || len(signature) != 64 {
		return "", nil, fmt.Errorf("a key of %d bytes, a signature of %d", len(point), len(signature))
	}
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil {
		return "", nil, err
	}
	digest := sha256.Sum256([]byte(match[1] + "." + match[2]))
	if !ecdsa.Verify(public, digest[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])) {
		return "", nil, fmt.Errorf("the signature is wrong")
	}
	if err := json.Unmarshal(parts[1], &claims); err != nil {
		return "", nil, err
	}
	expires, _ := claims["exp"].(float64)
	left := time.Until(time.Unix(int64(expires), 0))
	subject := text(claims["sub"])
	switch {
	case claims["aud"] != p.BaseURL:
		err = fmt.Errorf("the audience is %v", claims["aud"])
	case left <= 0 || left > 24*time.Hour:
		err = fmt.Errorf("it expires in %v", left)
	case !strings.HasPrefix(subject, "mailto:") && !strings.HasPrefix(subject, "https://"):
		err = fmt.Errorf("the subject is %q", subject)
	}
	return match[4], claims, err
}

// decryptPush decrypts a message of one record.
func decryptPush(key *ecdh.PrivateKey, auth, body []byte) (string, error) {
	if len(body) < 21+65+17 {
		return "", fmt.Errorf("%d bytes", len(body))
	}
	salt, size, idLength := body[:16], binary.BigEndian.Uint32(body[16:20]), int(body[20])
	if idLength != 65 || int(size) < len(body)-21-idLength {
		return "", fmt.Errorf("a record of %d bytes, a key of %d", size, idLength)
	}
	sender, err := ecdh.P256().NewPublicKey(body[21 : 21+idLength])
	if err != nil {
		return "", err
	}
	shared, err := key.ECDH(sender)
	if err != nil {
		return "", err
	}
	info := append([]byte("WebPush: info\x00"), key.PublicKey().Bytes()...)
	info = append(info, sender.Bytes()...)
	secret := mac(mac(auth, shared), append(info, 1))
	pseudo := mac(salt, secret)
	contentKey := mac(pseudo, []byte("Content-Encoding: aes128gcm\x00\x01"))[:16]
	nonce := mac(pseudo, []byte("Content-Encoding: nonce\x00\x01"))[:12]
	block, err := aes.NewCipher(contentKey)
	if err != nil {
		return "", err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return "", err
	}
	padded, err := gcm.Open(nil, nonce, body[21+idLength:], nil)
	if err != nil {
		return "", err
	}
	plain := strings.TrimRight(string(padded), "\x00")
	if !strings.HasSuffix(plain, "\x02") {
		return "", fmt.Errorf("the delimiter of the last record is missing")
	}
	return strings.TrimSuffix(plain, "\x02"), nil
}

func mac(key, data []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(data)
	return h.Sum(nil)
}
