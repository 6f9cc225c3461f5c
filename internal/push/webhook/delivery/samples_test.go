package delivery_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pregon/internal/push/webhook"
	"pregon/internal/push/webhook/delivery"
)

// TestSampleReceivers runs the receivers that the site shows as programs, and sends
// them what this package signs.
func TestSampleReceivers(t *testing.T) {
	for _, test := range []struct {
		file, as string
		run      func(t *testing.T, file string) *exec.Cmd
	}{
		{"receiver.go.txt", "receiver.go", buildGo},
		{"receiver.py", "receiver.py", interpret("python3")},
		{"receiver.mjs", "receiver.mjs", interpret("node")},
	} {
		t.Run(test.as, func(t *testing.T) {
			code, err := os.ReadFile("../../../site/samples/" + test.file)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), test.as)
			if err := os.WriteFile(file, code, 0o600); err != nil {
				t.Fatal(err)
			}
			checkReceiver(t, test.run(t, file), test.run(t, file))
		})
	}
}

// interpret returns the program that a command reads from a file.
func interpret(command string) func(*testing.T, string) *exec.Cmd {
	return func(t *testing.T, file string) *exec.Cmd { return exec.CommandContext(t.Context(), command, file) }
}

// buildGo compiles a program of one file.
func buildGo(t *testing.T, file string) *exec.Cmd {
	t.Helper()
	binary := strings.TrimSuffix(file, ".go")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, file)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return exec.CommandContext(t.Context(), binary)
}

// checkReceiver sends requests to a receiver with the secret of a webhook, and after
// a rotation also to one with the new secret.
func checkReceiver(t *testing.T, before, after *exec.Cmd) {
	t.Helper()
	p := newWorld(t).idle(t, quick, nil)
	hook, secret, err := p.Create(t.Context(), owner, webhook.Draft{URL: "http://127.0.0.1:1/", Enabled: true})
	if err != nil {
		t.Fatal(err)
	}
	old := receive(t, before, secret)
	expectDelivered(t, p, hook.ID, old)
	_, rotated, err := p.Rotate(t.Context(), owner, hook.ID)
	if err != nil {
		t.Fatal(err)
	}
	expectDelivered(t, p, hook.ID, old) // which does not know the new secret yet
	expectDelivered(t, p, hook.ID, receive(t, after, rotated))

	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		t.Fatal(err)
	}
	other := make([]byte, len(key))
	for _, test := range []struct {
		name   string
		key    []byte
		at     time.Duration // from now
		change func(h http.Header, body *string)
		want   int
	}{
		{"right", key, 0, nil, http.StatusNoContent},
		{"a clock that differs", key, -4 * time.Minute, nil, http.StatusNoContent},
		{"another secret", other, 0, nil, http.StatusUnauthorized},
		{"a changed body", key, 0, func(_ http.Header, body *string) { *body += " " }, http.StatusUnauthorized},
		{"an old time", key, -6 * time.Minute, nil, http.StatusUnauthorized},
		{"a future time", key, 6 * time.Minute, nil, http.StatusUnauthorized},
		{"a changed time", key, 0, func(h http.Header, _ *string) { h.Set("webhook-timestamp", fmt.Sprint(time.Now().Unix()-30)) }, http.StatusUnauthorized},
		{"a time that is none", key, 0, func(h http.Header, _ *string) { h.Set("webhook-timestamp", "now") }, http.StatusUnauthorized},
		{"another id", key, 0, func(h http.Header, _ *string) { h.Set("webhook-id", "msg_2") }, http.StatusUnauthorized},
		{"no signature", key, 0, func(h http.Header, _ *string) { h.Del("webhook-signature") }, http.StatusUnauthorized},
		{"part of one", key, 0, func(h http.Header, _ *string) { h.Set("webhook-signature", h.Get("webhook-signature")[:20]) }, http.StatusUnauthorized},
		{"an odd one", key, 0, func(h http.Header, _ *string) { h.Set("webhook-signature", "v1,ñ") }, http.StatusUnauthorized},
		{"an odd one before the right one", key, 0, func(h http.Header, _ *string) { h.Set("webhook-signature", "v1,ñ "+h.Get("webhook-signature")) }, http.StatusNoContent},
	} {
		body := `{"event":"report.published","title":"Año"}`
		h := http.Header{}
		delivery.Sign(h, test.key, "msg_1", time.Now().Add(test.at), []byte(body))
		if test.change != nil {
			test.change(h, &body)
		}
		if got := post(t, old, h, body); got != test.want {
			t.Errorf("%s: the receiver answered %d, want %d", test.name, got, test.want)
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

// receive starts a receiver with a secret, and returns its address.
func receive(t *testing.T, program *exec.Cmd, secret string) string {
	t.Helper()
	program.Env = append(os.Environ(), "SECRET="+secret, "PORT=0")
	program.Stderr = os.Stderr
	said, err := program.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Process.Kill(); _ = program.Wait() })
	var port int
	if _, err := fmt.Fscanf(said, "port %d\n", &port); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("http://127.0.0.1:%d/", port)
}

// expectDelivered sends a test of a webhook to a receiver.
func expectDelivered(t *testing.T, p *process, id, address string) {
	t.Helper()
	if _, err := p.Update(t.Context(), owner, id, func(d *webhook.Draft) error { d.URL = address; return nil }); err != nil {
		t.Fatal(err)
	}
	if a, err := p.Test(t.Context(), owner, id); err != nil || a.Status != http.StatusNoContent {
		t.Errorf("our own request: %+v, %v", a, err)
	}
}

// post sends a request to a receiver, and returns the status of its answer.
func post(t *testing.T, address string, h http.Header, body string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = h
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	return res.StatusCode
}
