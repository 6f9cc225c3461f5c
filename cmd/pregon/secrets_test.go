package main

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLostSecretNeedsAtOnce(t *testing.T) {
	_, _, err := try(t, nil, "signing-key", "rotate", "--lost-secret", "--store", "sqlite:"+filepath.Join(t.TempDir(), "none.db"))
	if err == nil || !strings.Contains(err.Error(), "--lost-secret needs --at-once") {
		t.Errorf("%v", err)
	}
}

// Paths in the configuration are relative to its file, in any working directory.
func TestKeyFilesBesideTheConfiguration(t *testing.T) {
	dir := t.TempDir()
	const key = `{"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","kid":"1","alg":"EdDSA","use":"sig"}]}`
	config := filepath.Join(dir, "pregon.yaml")
	for name, text := range map[string]string{
		filepath.Join(dir, "idp.json"):   key,
		filepath.Join(dir, "robot.json"): key,
		config: `
issuers:
  - issuer: https://idp.example
    jwks_file: idp.json
    scopes: [read:reports]
    clients:
      - {id: robot, auth: private_key_jwt, jwks_file: ` + filepath.Join(dir, "robot.json") + `}
`,
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(t.TempDir())
	if err := (&accessFlags{Config: config}).validate("https://pregon.example"); err != nil {
		t.Error(err)
	}
}

// A start with secrets that other users can read logs a warning with the fix.
func TestWarnOfSecrets(t *testing.T) {
	dir := t.TempDir()
	for name, test := range map[string]struct {
		mode    os.FileMode
		environ []string
		want    []string
	}{
		"open":    {0o644, nil, []string{"set PREGON_SECRET_KEY", "openssl rand", "--store", "--config"}},
		"private": {0o600, []string{"PREGON_SECRET_KEY=x"}, nil},
	} {
		store, config := filepath.Join(dir, name+".db"), filepath.Join(dir, name+".yaml")
		for _, file := range []string{store, config} {
			if err := os.WriteFile(file, nil, test.mode); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(file, test.mode); err != nil { // despite the umask
				t.Fatal(err)
			}
		}
		var out bytes.Buffer
		c := serveConfig{newStoreFlags: newStoreFlags{storeFlag: storeFlag{Store: "sqlite:" + store}}, accessFlags: accessFlags{Config: config}}
		c.warnOfSecrets(&process{environ: test.environ}, slog.New(slog.NewTextHandler(&out, nil)))
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
