package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/cli"
)

func TestReadSecretFiles(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{"key": "s3cret \r\n", "empty": "\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	secrets := []string{"PREGON_SECRET_KEY", "PREGON_LLM_KEY"}
	for name, test := range map[string]struct {
		environ, want []string
		fails         string
	}{
		"none":         {environ: []string{"A=b", "PREGON_LLM_KEY=x"}, want: []string{"A=b", "PREGON_LLM_KEY=x"}},
		"file":         {environ: []string{"A=b", "PREGON_SECRET_KEY_FILE=" + dir + "/key"}, want: []string{"A=b", "PREGON_SECRET_KEY=s3cret "}},
		"not a secret": {environ: []string{"PREGON_STORE_FILE=" + dir + "/key"}, want: []string{"PREGON_STORE_FILE=" + dir + "/key"}},
		"both":         {environ: []string{"PREGON_LLM_KEY=x", "PREGON_LLM_KEY_FILE=" + dir + "/key"}, fails: "both PREGON_LLM_KEY and PREGON_LLM_KEY_FILE are set"},
		"missing file": {environ: []string{"PREGON_SECRET_KEY_FILE=" + dir + "/none"}, fails: "PREGON_SECRET_KEY_FILE: open "},
		"empty file":   {environ: []string{"PREGON_SECRET_KEY_FILE=" + dir + "/empty"}, fails: "is empty"},
	} {
		got, err := cli.ReadSecretFiles(secrets, test.environ)
		if test.fails == "" && err != nil || test.fails != "" && (err == nil || !strings.Contains(err.Error(), test.fails)) {
			t.Errorf("%s: got error %v, want %q", name, err, test.fails)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
