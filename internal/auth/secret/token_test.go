package secret_test

import (
	"encoding/base64"
	"net/url"
	"strings"
	"testing"
)

func TestToken(t *testing.T) {
	b := box(t, key)
	for _, text := range []string{"", "s", "ñandú", strings.Repeat("long ", 1000)} {
		token := b.SealToken(place, text)
		if got, ok := b.OpenToken(place, token); !ok || got != text {
			t.Errorf("%q opens as %q, %v", text, got, ok)
		}
		if url.QueryEscape(token) != token {
			t.Errorf("%q needs escaping", token)
		}
	}
}

// Nobody without the key can make a token, nor change or move one.
func TestForgedToken(t *testing.T) {
	b := box(t, key)
	good := b.SealToken(place, "text")
	forged := map[string]string{
		"plain":       "plain:" + base64.StdEncoding.EncodeToString([]byte("text")),
		"plain again": base64.RawURLEncoding.EncodeToString([]byte("plain:dGV4dA==")),
		"other key":   box(t, other).SealToken(place, "text"),
		"other place": b.SealToken("webhook/8", "text"),
		"stored form": b.Seal(place, "text"),
		"cut":         good[:len(good)-1],
		"longer":      good + "A",
		"line end":    good[:10] + "\n" + good[10:],
		"padded":      good + "=",
		"empty":       "",
	}
	for name, token := range forged {
		if text, ok := b.OpenToken(place, token); ok {
			t.Errorf("%s: it opens as %q", name, text)
		}
	}
	if text, ok := box(t, "").OpenToken(place, good); ok {
		t.Errorf("without a key it opens as %q", text)
	}
}

func TestTokenWithoutKey(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a box without a key made a token")
		}
	}()
	box(t, "").SealToken(place, "text")
}
