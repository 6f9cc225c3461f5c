package token_test

import (
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/auth/token"
	"pregon/internal/fault"
)

// The token is one of RFC 9068.
func TestAccessTokenClaims(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		c := w.exchange()
		c.claims["sub"] = `<a href="x">&ñ`
		parts := strings.Split(c.good().AccessToken, ".")
		var header, claims map[string]any
		for i, to := range []any{&header, &claims} {
			if err := json.Unmarshal(must1(base64.RawURLEncoding.DecodeString(parts[i])), to); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(map[string]any{"alg": "RS256", "typ": "at+jwt", "kid": w.kids()[0]}, header); diff != "" {
			t.Error(diff)
		}
		now := float64(time.Now().Unix())
		jti, _ := claims["jti"].(string)
		if diff := cmp.Diff(map[string]any{
			"iss": base, "sub": idp + `#<a href="x">&ñ`, "aud": base, "client_id": "agent", "scope": "read:reports", "iat": now, "exp": now + 600, "jti": jti,
		}, claims); diff != "" || len(jti) < 22 {
			t.Error(diff)
		}
	})
}

// minted returns a token with any claims, signed by the key of the service.
func (w *world) minted(header, claims object) string {
	h := object{"alg": "RS256", "typ": "at+jwt", "kid": w.kids()[0]}
	now := time.Now().Unix()
	c := object{"iss": base, "sub": idp + "#alice", "aud": base, "client_id": "agent", "scope": "read:reports", "iat": now, "exp": now + 60, "jti": "x"}
	alg, key := "RS256", any(rsaKeys()[3])
	for name, v := range header {
		switch v := v.(type) {
		case *rsa.PrivateKey:
			key = v
		case []byte:
			alg, key = "HS256", v
		case nil:
			delete(h, name)
		default:
			h[name] = v
		}
	}
	for name, v := range claims {
		c[name] = v
	}
	if a, ok := h["alg"].(string); ok && a != "none" && alg != "HS256" {
		alg = a
	}
	return (&call{alg: alg, key: key, header: h, claims: c}).signed()
}

func TestVerify(t *testing.T) {
	huge := strings.Repeat("x", 1<<20)
	for _, test := range []struct {
		name           string
		header, claims object
		good           bool
	}{
		{"as we sign", nil, nil, true},
		{"typ spelt out", object{"typ": "application/AT+JWT"}, nil, true},
		{"our MCP", nil, object{"aud": base + "/api/mcp"}, true},
		{"typ JWT", object{"typ": "JWT"}, nil, false},
		{"no typ", object{"typ": nil}, nil, false},
		{"typ of an assertion", object{"typ": "oauth-id-jag+jwt"}, nil, false},
		{"PS256", object{"alg": "PS256"}, nil, false},
		{"RS512", object{"alg": "RS512"}, nil, false},
		{"none", object{"alg": "none"}, nil, false},
		{"no kid", object{"kid": nil}, nil, false},
		{"an unknown kid", object{"kid": strings.Repeat("k", 43)}, nil, false},
		{"a huge kid", object{"kid": huge}, nil, false},
		{"another key", object{"key": otherRSA()}, nil, false},
		{"the issuer's key", object{"key": idpRSA(), "kid": "rsa"}, nil, false},
		{"an embedded key", object{"jwk": object{"kty": "RSA"}, "key": otherRSA()}, nil, false},
		{"critical", object{"crit": []string{"x"}}, nil, false},
		{"another issuer", nil, object{"iss": idp}, false},
		{"no issuer", nil, object{"iss": ""}, false},
		{"expired", nil, object{"exp": time.Now().Unix()}, false},
		{"no end", nil, object{"exp": 0}, false},
		{"end is a text", nil, object{"exp": "9999999999"}, false},
		{"for an hour", nil, object{"exp": time.Now().Unix() + 3590}, true},
		{"for more than an hour", nil, object{"iat": time.Now().Unix() - 60, "exp": time.Now().Unix() + 3600}, false},
		{"for ever", nil, object{"exp": int64(1) << 62}, false},
		{"without a beginning", nil, object{"iat": 0}, false},
		{"long, as the numbers wrap around", nil, object{"iat": int64(-1) << 62, "exp": int64(1)<<62 + 100}, false},
		{"for an hour, tomorrow", nil, object{"iat": time.Now().Unix() + 86400, "exp": time.Now().Unix() + 90000}, false},
		{"a list of audiences", nil, object{"aud": []string{base}}, false},
		{"huge", nil, object{"pad": huge}, false},
		{"just too large", nil, object{"pad": huge[:8<<10]}, false},
	} {
		w := newWorld(t)
		raw := w.minted(test.header, test.claims)
		for range 2 { // remembered or not
			_, err := w.server.Verify(t.Context(), raw)
			if (err == nil) != test.good || err != nil && fault.KindOf(err) != fault.Unauthorized {
				t.Errorf("%s: %v", test.name, err)
			}
		}
	}
	w := newWorld(t)
	for name, secret := range publicForms(&rsaKeys()[3].PublicKey) {
		for _, alg := range []string{"HS256", "RS256"} {
			if w.accepts(w.minted(object{"alg": alg, "key": secret}, nil)) {
				t.Errorf("signed as %s with the public key as %s, and accepted", alg, name)
			}
		}
	}
	good := w.token()
	for _, raw := range []string{
		"", ".", "..", "...", good + ".", "." + good, good + ".x", good + "=", " " + good, good + "\n", good[:len(good)-1], "Bearer " + good,
		strings.Replace(good, ".", "\n.", 1), strings.ToUpper(good), strings.Repeat("a.", 4000), "{}", "pregon_live_x",
	} {
		if w.accepts(raw) {
			t.Errorf("%q is accepted", raw)
		}
	}
}

// A change of any character makes a token invalid.
func TestEveryCharacterCounts(t *testing.T) {
	w := newWorld(t)
	good := w.token()
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	for i := range len(good) {
		at := strings.IndexByte(letters, good[i])
		if at < 0 {
			continue
		}
		if w.accepts(good[:i] + string(letters[at^1]) + good[i+1:]) {
			t.Errorf("character %d of %d can be changed", i, len(good))
		}
	}
}

// A token is cached until it or its key expires.
func TestVerifyCaches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		raw := w.token()
		if !w.accepts(raw) || w.server.Remembered() != 1 {
			t.Errorf("%d tokens are remembered", w.server.Remembered())
		}
		if !w.accepts(raw) || w.server.Remembered() != 1 {
			t.Errorf("%d tokens are remembered", w.server.Remembered())
		}
		w.accepts(raw + "x")
		w.accepts(w.minted(object{"key": otherRSA()}, nil))
		if w.server.Remembered() != 1 {
			t.Error("what is refused is remembered")
		}
		time.Sleep(10 * time.Minute)
		if w.accepts(raw) {
			t.Error("it is remembered after its end")
		}
		raw = w.token()
		if !w.accepts(raw) {
			t.Error("a good token is refused")
		}
		w.rotate(true)
		if w.accepts(raw) {
			t.Error("it is remembered after its key's end")
		}
	})
}

func TestCacheIsBounded(t *testing.T) {
	w := newWorld(t)
	kid, raw := w.kids()[0], w.token()
	good, err := w.server.Verify(t.Context(), raw)
	if err != nil {
		t.Fatal(err)
	}
	const known = "known" // no token: only memory can know it
	w.server.Remember(known, good, kid)
	if !w.accepts(known) {
		t.Error("a cached token is refused")
	}
	for i := range token.MaxCached + 100 {
		w.server.Remember(fmt.Sprint(i), good, kid)
	}
	if n := w.server.Remembered(); n > token.MaxCached {
		t.Errorf("%d tokens are cached, want %d at most", n, token.MaxCached)
	}
	if w.accepts(known) {
		t.Error("the cache was not emptied when it was full")
	}
	if !w.accepts(raw) {
		t.Error("a valid token is refused after the cache was emptied")
	}
}

func TestConcurrentVerify(t *testing.T) {
	w := newWorld(t)
	raws := make([]string, 20)
	for i := range raws {
		raws[i] = w.token()
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 400 {
				if _, err := w.server.Verify(t.Context(), raws[i%len(raws)]); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Go(func() {
		for range 50 {
			if err := w.ring.Refresh(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Wait()
}

// Verify runs for every request with a token.
func TestVerifyAllocatesNothing(t *testing.T) {
	w := newWorld(t)
	raw := w.token()
	if n := testing.AllocsPerRun(100, func() { _, _ = w.server.Verify(t.Context(), raw) }); n != 0 {
		t.Errorf("a remembered token costs %v allocations", n)
	}
}

func BenchmarkVerify(b *testing.B) {
	w := newWorld(b)
	raw := w.token()
	b.Run("remembered", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := w.server.Verify(b.Context(), raw); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("remembered by all", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := w.server.Verify(b.Context(), raw); err != nil {
					b.Error(err)
				}
			}
		})
	})
	b.Run("new", func(b *testing.B) {
		b.ReportAllocs()
		var raws []string
		for i := range 1000 {
			raws = append(raws, w.minted(nil, object{"jti": fmt.Sprint(i)}))
		}
		i := 0
		for b.Loop() {
			if i%len(raws) == 0 {
				w.serve(config())
			}
			if _, err := w.server.Verify(b.Context(), raws[i%len(raws)]); err != nil {
				b.Fatal(err)
			}
			i++
		}
	})
}
