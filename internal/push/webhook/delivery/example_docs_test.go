package delivery_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pregon/internal/push/webhook"
)

// The receiver in docs/push.md accepts our requests and refuses those with another
// signature.
func TestDocumentedReceiver(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/push.md")
	if err != nil {
		t.Fatal(err)
	}
	_, webhooks, _ := strings.Cut(string(text), "\n## Webhooks\n")
	_, code, _ := strings.Cut(webhooks, "```js\n")
	code, _, found := strings.Cut(code, "```")
	if !found {
		t.Fatal("docs/push.md has no receiver")
	}
	file := filepath.Join(t.TempDir(), "receiver.mjs")
	if err := os.WriteFile(file, []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	p := newWorld(t).idle(t, quick, nil)
	hook, secret, err := p.Create(t.Context(), owner, webhook.Draft{URL: "http://127.0.0.1:1/", Enabled: true})
	if err != nil {
		t.Fatal(err)
	}
	address := receive(t, exec.CommandContext(t.Context(), "node", file), secret)
	if _, err := p.Update(t.Context(), owner, hook.ID, func(d *webhook.Draft) error { d.URL = address; return nil }); err != nil {
		t.Fatal(err)
	}
	if a, err := p.Test(t.Context(), owner, hook.ID); err != nil || a.Status != http.StatusNoContent {
		t.Errorf("our test: %+v, %v", a, err)
	}
	for name, signature := range map[string]string{"none": "", "wrong": "v1," + strings.Repeat("A", 43) + "=", "odd": "v1,ñ"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("webhook-id", "msg")
		req.Header.Set("webhook-timestamp", fmt.Sprint(time.Now().Unix()))
		req.Header.Set("webhook-signature", signature)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusUnauthorized {
			t.Errorf("a signature that is %s: %d", name, res.StatusCode)
		}
	}
	http.DefaultClient.CloseIdleConnections()
}
