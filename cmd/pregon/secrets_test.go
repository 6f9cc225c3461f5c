package main

import (
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
