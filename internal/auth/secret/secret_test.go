package secret_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"pregon/internal/auth/secret"
	"pregon/internal/fault"
)

const (
	key   = "correct horse battery staple, twice"
	other = "another horse, another battery, ..."
	place = "webhook/7"
)

func box(t *testing.T, key string) *secret.Box {
	t.Helper()
	b, err := secret.NewBox(key)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// wantFault checks the kind of a fault, and that its text is not empty and does not
// contain secrets.
func wantFault(t *testing.T, err error, kind fault.Kind, says string, never ...string) {
	t.Helper()
	if err == nil || fault.KindOf(err) != kind || !strings.Contains(err.Error(), says) {
		t.Errorf("error %v (%v), want %v that says %q", err, fault.KindOf(err), kind, says)
		return
	}
	for _, s := range never {
		if strings.Contains(err.Error(), s) {
			t.Errorf("error %q contains %q", err, s)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	for _, k := range []string{"", key, strings.Repeat("ñ", 32), strings.Repeat("x", 1000)} {
		b := box(t, k)
		for _, text := range []string{"", "s", "whsec_ñandú", "\x00\xff", strings.Repeat("long ", 10_000)} {
			sealed := b.Seal(place, text)
			if got, err := b.Open(place, sealed); err != nil || got != text {
				t.Errorf("key %q: %q opens as %q, %v", k, text, got, err)
			}
			if form := "plain:"; strings.HasPrefix(sealed, form) != (k == "") {
				t.Errorf("key %q seals as %.10q", k, sealed)
			}
			if k != "" && !strings.HasPrefix(sealed, "v1:") {
				t.Errorf("key %q seals as %.10q", k, sealed)
			}
		}
	}
}

func TestShortKey(t *testing.T) {
	for _, k := range []string{" ", "hunter2", strings.Repeat("k", 31), strings.Repeat("ñ", 31)} {
		_, err := secret.NewBox(k)
		never := []string{"hunter2", "kkk", "ñ"}
		wantFault(t, err, fault.Invalid, "PREGON_SECRET_KEY", never...)
	}
}

func TestSealingTwiceDiffers(t *testing.T) {
	b := box(t, key)
	if first, second := b.Seal(place, "text"), b.Seal(place, "text"); first == second {
		t.Error("the same text sealed twice gave equal values")
	}
	if strings.Contains(decode(t, b.Seal(place, "a text to be found")), "text") {
		t.Error("the text can be read in what is sealed")
	}
}

// A key that is set later still opens plain values.
func TestKeySetLater(t *testing.T) {
	sealed := box(t, "").Seal(place, "text")
	if sealed != "plain:dGV4dA==" {
		t.Errorf("sealed %q", sealed)
	}
	if got, err := box(t, key).Open(place, sealed); err != nil || got != "text" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestWithoutKey(t *testing.T) {
	_, err := box(t, "").Open(place, box(t, key).Seal(place, "text"))
	wantFault(t, err, fault.Internal, "set PREGON_SECRET_KEY", key)
}

func TestWrongKey(t *testing.T) {
	_, err := box(t, other).Open(place, box(t, key).Seal(place, "text"))
	wantFault(t, err, fault.Internal, "PREGON_SECRET_KEY differs", key, other)
}

// Equal texts give equal keys, in other processes too.
func TestSameKeyAgain(t *testing.T) {
	if got, err := box(t, key).Open(place, box(t, key).Seal(place, "text")); err != nil || got != "text" {
		t.Errorf("%q, %v", got, err)
	}
}

// Values sealed by earlier builds must open forever.
func TestKept(t *testing.T) {
	const kept = "v1:yXpWuoPA4d96qOpV1WRDTSFErXrHBAJL43WjgOi/zssK6k0m"
	if got, err := box(t, key).Open(place, kept); err != nil || got != "kept" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestMoved(t *testing.T) {
	b := box(t, key)
	for _, to := range []string{"", "webhook/8", "webhook/77", "Webhook/7"} {
		_, err := b.Open(to, b.Seal(place, "text"))
		wantFault(t, err, fault.Internal, "copied from another record", "text ")
	}
}

func TestTampered(t *testing.T) {
	b := box(t, key)
	data := []byte(decode(t, b.Seal(place, "text")))
	for i := range data {
		for _, bit := range []byte{1, 0x80} {
			data[i] ^= bit
			if got, err := b.Open(place, "v1:"+base64.StdEncoding.EncodeToString(data)); err == nil {
				t.Errorf("with byte %d changed it opens as %q", i, got)
			}
			data[i] ^= bit
		}
	}
	if got, err := b.Open(place, "v1:"+base64.StdEncoding.EncodeToString(data)); err != nil || got != "text" {
		t.Errorf("unchanged: %q, %v", got, err)
	}
}

func TestTruncated(t *testing.T) {
	b := box(t, key)
	sealed := b.Seal(place, "text")
	for n := range len(sealed) {
		if got, err := b.Open(place, sealed[:n]); err == nil {
			t.Errorf("%d of %d bytes open as %q", n, len(sealed), got)
		}
	}
	data := decode(t, sealed)
	for n := range len(data) {
		if got, err := b.Open(place, "v1:"+base64.StdEncoding.EncodeToString([]byte(data[:n]))); err == nil {
			t.Errorf("%d of %d bytes open as %q", n, len(data), got)
		}
	}
}

func TestOtherForms(t *testing.T) {
	for _, sealed := range []string{"", ":", "text", "v2:", "v2:dGV4dA==", "V1:dGV4dA==", "v1", "v1:", "v1:?", "plain", "plain:?", "plain:dGV4dA", "plain:dGV4dA==\n=", "dGV4dA=="} {
		for _, k := range []string{"", key} {
			got, err := box(t, k).Open(place, sealed)
			if err == nil {
				t.Errorf("%q opens as %q", sealed, got)
			}
		}
	}
}

func decode(t *testing.T, sealed string) string {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(sealed, "v1:"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
