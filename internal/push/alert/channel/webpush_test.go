package channel_test

import (
	"bytes"
	"crypto/ecdh"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pregon/internal/auth/secret"
	"pregon/internal/fault"
	"pregon/internal/push/alert"
	"pregon/internal/push/alert/channel"
	"pregon/internal/push/alert/channel/channeltest"
	"pregon/internal/push/alert/message"
	"pregon/internal/store"
	"pregon/internal/store/sqlite"
	"pregon/internal/test/longtest"
)

// The example of RFC 8291, appendix A: the same key and salt give the same bytes.
func TestPushVector(t *testing.T) {
	decode := func(s string) []byte {
		b, err := base64.RawURLEncoding.DecodeString(s)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	key, err := ecdh.P256().NewPrivateKey(decode("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"))
	if err != nil {
		t.Fatal(err)
	}
	const (
		receiver = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
		auth     = "BTBZMqHH6r4Tts7J_aSIgg"
		salt     = "DGv6ra1nlYgDCS1FRnbzlw"
		want     = "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27ml" +
			"mlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPT" +
			"pK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
	)
	got, err := channel.EncryptWith(decode(receiver), decode(auth), key, decode(salt),
		[]byte("When I grow up, I want to be a watermelon"))
	if err != nil {
		t.Fatal(err)
	}
	if encoded := base64.RawURLEncoding.EncodeToString(got); encoded != want {
		t.Errorf("got  %s\nwant %s", encoded, want)
	}
}

func openStore(t *testing.T, path string) store.Records {
	t.Helper()
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func boxOf(t *testing.T, key string) *secret.Box {
	t.Helper()
	box, err := secret.NewBox(key)
	if err != nil {
		t.Fatal(err)
	}
	return box
}

const boxKey = "a key of at least thirty-two characters"

func pushSenders(t *testing.T) *channel.Senders {
	t.Helper()
	key, err := channel.LoadPushKey(t.Context(), openStore(t, filepath.Join(t.TempDir(), "s.db")), boxOf(t, boxKey))
	if err != nil {
		t.Fatal(err)
	}
	return senders(t, channel.Settings{AllowPrivate: true, WebPush: channel.WebPushSettings{
		Key:     key,
		Subject: "mailto:alertas@example.com",
	}})
}

func browser(t *testing.T, s *channel.Senders, p *channeltest.Push) alert.Channel {
	t.Helper()
	a, err := s.Check(alert.WebPush, p.Subscription())
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(a.Shown, "geheim") {
		t.Errorf("it shows its secret: %s", a.Shown)
	}
	if again, err := s.Check(alert.WebPush, a.Value); err != nil || again != a {
		t.Errorf("the normal form is not normal: %v, %v", again, err)
	}
	return alert.Channel{Kind: alert.WebPush, Address: a.Value, Language: "es"}
}

// Every message is one that a push service accepts and that a browser decrypts.
func TestWebPush(t *testing.T) {
	p := channeltest.StartPush(t)
	s := pushSenders(t)
	to := browser(t, s, p)
	messages := []*message.Message{news(1), news(3), news(500)}
	messages[2].More = 7
	for _, text := range hostile {
		m := news(40)
		for i := range m.Items {
			m.Items[i].Title = text
			m.Items[i].Issuer = message.Issuer{ID: fmt.Sprint(i), Name: text, Ticker: text}
			m.Items[i].Simulated = true
		}
		messages = append(messages, m)
	}
	confirmation := news(0)
	confirmation.Kind = message.Confirmation
	messages = append(messages, confirmation)
	for i, m := range messages {
		if o := s.Send(t.Context(), to, m); !o.OK || o.Status != http.StatusCreated {
			t.Errorf("message %d: %+v, %q", i, o, p.Refused())
		}
	}
	got := p.Received()
	if len(got) != len(messages) {
		t.Fatalf("%d messages, want %d", len(got), len(messages))
	}
	for i, note := range got {
		var shown struct{ Title, Body, URL, Tag, Lang string }
		if err := json.Unmarshal([]byte(note.Plain), &shown); err != nil {
			t.Errorf("message %d is %q: %v", i, note.Plain, err)
		}
		if shown.Title != messages[i].Subject() || shown.URL != messages[i].Target() || shown.Lang != "es" || shown.Tag == "" {
			t.Errorf("message %d is %+v", i, shown)
		}
		if messages[i].Simulated() && !strings.Contains(shown.Body, "Datos simulados") {
			t.Errorf("message %d does not say that it is simulated: %s", i, shown.Body)
		}
		if note.Key != s.PushKey() || note.Claims["sub"] != "mailto:alertas@example.com" {
			t.Errorf("message %d is signed by %s, %v", i, note.Key, note.Claims)
		}
	}
	if want := "Otra información relevante · 19 nov 2026, 10:30 · 0,25 € · ex 15 dic"; !strings.Contains(got[0].Plain, want) {
		t.Errorf("%s does not have %s", got[0].Plain, want)
	}
}

func TestWebPushAnswers(t *testing.T) {
	for _, test := range []struct {
		status    int
		permanent bool
	}{
		{404, true},
		{410, true},
		{403, true},
		{301, true},
		{400, false},
		{401, false},
		{413, false},
		{429, false},
		{500, false},
		{503, false},
	} {
		p := channeltest.StartPush(t, channeltest.Answer{Status: test.status, Header: map[string]string{"Retry-After": "9"}})
		s := pushSenders(t)
		o := s.Send(t.Context(), browser(t, s, p), news(1))
		if o.OK || o.Permanent != test.permanent || o.Status != test.status {
			t.Errorf("%d: %+v", test.status, o)
		}
		if test.status == 429 && o.RetryAfter != 9*time.Second {
			t.Errorf("%+v", o)
		}
	}
}

func TestCheckWebPush(t *testing.T) {
	s := pushSenders(t)
	key := "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
	auth := "BTBZMqHH6r4Tts7J_aSIgg"
	form := `{"endpoint":%q,"keys":{"p256dh":%q,"auth":%q}}`
	good := fmt.Sprintf(form, "https://updates.push.services.mozilla.com/wpush/v2/geheim", key+"=", auth+"==")
	a, err := s.Check(alert.WebPush, good)
	if err != nil || a.Shown != "Firefox (updates.push.services.mozilla.com)" {
		t.Errorf("%+v, %v", a, err)
	}
	for _, bad := range []string{
		"",
		"null",
		"https://example.com",
		fmt.Sprintf(form, "ftp://example.com/x", key, auth),
		fmt.Sprintf(form, "https://example.com/x#y", key, auth),
		fmt.Sprintf(form, "https://example.com/"+strings.Repeat("x", 1100), key, auth),
		fmt.Sprintf(form, "https://example.com/x", key[:80], auth),
		fmt.Sprintf(form, "https://example.com/x", strings.Replace(key, "BCV", "BCW", 1), auth), // not on the curve
		fmt.Sprintf(form, "https://example.com/x", key, auth[:10]),
		fmt.Sprintf(form, "https://example.com/x", key, "!"),
	} {
		if got, err := s.Check(alert.WebPush, bad); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: %+v, %v", bad, got, err)
		}
	}
	strict := senders(t, channel.Settings{WebPush: channel.WebPushSettings{Key: &channel.PushKey{}, Subject: "https://pregon.example.com"}})
	if _, err := strict.Check(alert.WebPush, fmt.Sprintf(form, "https://127.0.0.1/x", key, auth)); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a private address: %v", err)
	}
	if _, err := channel.New(channel.Settings{WebPush: channel.WebPushSettings{Key: &channel.PushKey{}}}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("without a subject: %v", err)
	}
}

// Messages go to the services of makers of browsers, and to those that the operator allows:
// when a browser is added, and again when a message is sent.
func TestPushHosts(t *testing.T) {
	settings := func(hosts ...string) channel.Settings {
		transport := transportFunc(func(r *http.Request) (string, error) {
			t.Errorf("a request to %s", r.URL.Host)
			return "", nil
		})
		return channel.Settings{
			Client: &http.Client{Transport: transport},
			WebPush: channel.WebPushSettings{
				Key:     &channel.PushKey{},
				Subject: "mailto:alertas@example.com",
				Hosts:   hosts,
			},
		}
	}
	some := senders(t, settings(".push.example.com", "one.example.org"))
	const form = `{"endpoint":"https://%s/x","keys":{"p256dh":` +
		`"BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",` +
		`"auth":"BTBZMqHH6r4Tts7J_aSIgg"}}`
	for host, allowed := range map[string]bool{
		"fcm.googleapis.com":                          true,
		"FCM.googleapis.com":                          true,
		"updates.push.services.mozilla.com":           true,
		"europe.push.services.mozilla.com":            true,
		"web.push.apple.com":                          true,
		"wns2-am3p.notify.windows.com":                true,
		"eu.push.example.com":                         true,
		"one.example.org":                             true,
		"push.example.com":                            false,
		"two.one.example.org":                         false,
		"example.com":                                 false,
		"storage.googleapis.com":                      false,
		"fcm.googleapis.com.example.com":              false,
		"push.services.mozilla.com.evil.invalid":      false,
		"fakepush.apple.com":                          false,
		"evil.invalid\\u002f.push.apple.com":          false,
		"evil.invalid?.push.apple.com":                false,
		"fcm.googleapis.com@evil.invalid":             false,
		"evil.invalid:443/https://web.push.apple.com": false,
	} {
		address := fmt.Sprintf(form, host)
		if _, err := some.Check(alert.WebPush, address); (err == nil) != allowed || err != nil && fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: %v, want allowed %v", host, err, allowed)
		}
	}
	stored := alert.Channel{Kind: alert.WebPush, Address: fmt.Sprintf(form, "example.com")}
	if o := some.Send(t.Context(), stored, news(1)); o.OK || !o.Permanent || !strings.Contains(o.Error, "example.com") {
		t.Errorf("a stored subscription with another host: %+v", o)
	}
	for _, bad := range []string{"", ".", "com", "https://push.example.com", "push.example.com:443", "*.example.com", "Push.example.com"} {
		if _, err := channel.New(settings(bad)); fault.KindOf(err) != fault.Invalid {
			t.Errorf("the host %q is accepted: %v", bad, err)
		}
	}
}

// The key is created once, whatever number of processes begin at once, and is sealed.
func TestPushKey(t *testing.T) {
	db := openStore(t, filepath.Join(t.TempDir(), "s.db"))
	var group sync.WaitGroup
	keys := make([]string, 8)
	for i := range keys {
		group.Go(func() {
			key, err := channel.LoadPushKey(t.Context(), db, boxOf(t, boxKey))
			if err != nil {
				t.Error(err)
				return
			}
			keys[i] = key.Public()
		})
	}
	group.Wait()
	for _, key := range keys {
		if key == "" || key != keys[0] {
			t.Fatalf("several keys: %q", keys)
		}
	}
	records, err := db.RecordsSince(t.Context(), "push-key", 0)
	if err != nil || len(records) != 1 || !strings.Contains(records[0].Body, `"private_key":"v1:`) {
		t.Errorf("%v, %v", records, err)
	}
	for _, key := range []string{boxKey, boxKey + "x"} {
		box := boxOf(t, key)
		_, err := channel.LoadPushKey(t.Context(), db, box)
		if lost := key != boxKey; lost != (err != nil) || lost && !strings.Contains(err.Error(), "--lost-secret") {
			t.Errorf("%s: %v", key, err)
		}
		if err := channel.ReplaceLostPushKey(t.Context(), db, box); err != nil {
			t.Fatal(err)
		}
		now, err := channel.LoadPushKey(t.Context(), db, box)
		if err != nil || (now.Public() == keys[0]) != (key == boxKey) {
			t.Errorf("%s: the key was replaced although it opens, or was not: %v", key, err)
		}
	}
	empty := openStore(t, filepath.Join(t.TempDir(), "s.db"))
	if err := channel.ReplaceLostPushKey(t.Context(), empty, boxOf(t, boxKey)); err != nil {
		t.Error(err)
	}
	if records, err := empty.RecordsSince(t.Context(), "push-key", 0); err != nil || len(records) != 0 {
		t.Errorf("a key was created where there is none: %v, %v", records, err)
	}
}

// A library of others decrypts what browsers get.
func TestWebPushClient(t *testing.T) {
	longtest.Skip(t, "it needs a client from npm")
	p := channeltest.StartPush(t)
	s := pushSenders(t)
	to := browser(t, s, p)
	for _, items := range []int{1, 3, 500} {
		if o := s.Send(t.Context(), to, news(items)); !o.OK {
			t.Fatalf("%+v", o)
		}
	}
	key, auth := p.Keys()
	var input bytes.Buffer
	for _, note := range p.Received() {
		fmt.Fprintf(&input, `{"key":%q,"auth":%q,"body":%q}`+"\n", key, auth, base64.RawURLEncoding.EncodeToString(note.Body))
	}
	cmd := exec.CommandContext(t.Context(), "node", "../../../../checkers/webpush.mjs")
	cmd.Stdin = &input
	cmd.Stderr = t.Output()
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		var plain string
		if err := json.Unmarshal([]byte(line), &plain); err != nil || plain != p.Received()[i].Plain {
			t.Errorf("message %d is %q, %v", i, plain, err)
		}
	}
}
