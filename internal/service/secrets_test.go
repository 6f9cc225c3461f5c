package service

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pregon/internal/auth/secret"
	"pregon/internal/store/engine"
)

// A start with secrets that other users can read logs a warning with the fix.
func TestWarnOfSecrets(t *testing.T) {
	dir := t.TempDir()
	for name, test := range map[string]struct {
		mode os.FileMode
		key  string
		want []string
	}{
		"open":    {0o644, "", []string{"set PREGON_SECRET_KEY", "openssl rand", "--store", "--config"}},
		"private": {0o600, strings.Repeat("x", 32), nil},
	} {
		file := filepath.Join(dir, name+".db")
		config := filepath.Join(dir, name+".yaml")
		for _, file := range []string{file, config} {
			if err := os.WriteFile(file, nil, test.mode); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(file, test.mode); err != nil { // despite the umask
				t.Fatal(err)
			}
		}
		var out bytes.Buffer
		address, err := engine.ParseAddress("sqlite:" + file)
		if err != nil {
			t.Fatal(err)
		}
		box, err := secret.NewBox(test.key)
		if err != nil {
			t.Fatal(err)
		}
		o := Options{ConfigFile: config}
		o.Storage.Address = address
		o.Authorization.Box = box
		o.warnOfSecrets(slog.New(slog.NewTextHandler(&out, nil)))
		for _, want := range test.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: no %q in %s", name, want, &out)
			}
		}
		if test.want == nil && out.Len() > 0 {
			t.Errorf("%s: %s", name, &out)
		}
	}
}
