package pdf

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCacheWritableByOthers uses caches that other users may have written to.
// Their code is damaged, so Prepare would replace it if it read it.
func TestCacheWritableByOthers(t *testing.T) {
	for _, test := range []struct {
		name string
		lax  func(dir, within, file string) error
	}{
		{"directory writable by all", func(dir, _, _ string) error { return os.Chmod(dir, 0o777) }},
		{"directory writable by a group", func(dir, _, _ string) error { return os.Chmod(dir, 0o770) }},
		{"subdirectory", func(_, within, _ string) error { return os.Chmod(within, 0o777) }},
		{"file", func(_, _, file string) error { return os.Chmod(file, 0o666) }},
		{"directory of another user", func(dir, _, _ string) error { return os.Chown(dir, 12345, -1) }},
		{"file of another user", func(_, _, file string) error { return os.Chown(file, 12345, -1) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			if strings.HasSuffix(test.name, "of another user") && os.Geteuid() != 0 {
				t.Skip("only root can change the owner of a file")
			}
			dir := t.TempDir()
			within := filepath.Join(dir, "wazero-dev")
			file := filepath.Join(within, "code")
			if err := errors.Join(os.Chmod(dir, 0o700), os.Mkdir(within, 0o700), os.WriteFile(file, []byte("damaged"), 0o600), test.lax(dir, within, file)); err != nil {
				t.Fatal(err)
			}
			if err := Prepare(dir, 300<<20); err == nil || !strings.Contains(err.Error(), "others may write to") {
				t.Errorf("got error %v, want that others may write", err)
			}
			if body, err := os.ReadFile(file); err != nil || string(body) != "damaged" {
				t.Errorf("got %.20q, %v in the cache, want it unchanged", body, err)
			}
		})
	}
}
