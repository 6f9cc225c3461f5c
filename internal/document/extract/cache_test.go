package extract

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCacheOfOthers has directories in which others may have put code. It is
// damaged, so that it would be repaired if it were looked at.
func TestCacheOfOthers(t *testing.T) {
	for _, test := range []struct {
		name string
		lax  func(dir, within, file string) error
	}{
		{"a directory that all may write to", func(dir, _, _ string) error { return os.Chmod(dir, 0o777) }},
		{"one that a group may write to", func(dir, _, _ string) error { return os.Chmod(dir, 0o770) }},
		{"one within", func(_, within, _ string) error { return os.Chmod(within, 0o777) }},
		{"a file", func(_, _, file string) error { return os.Chmod(file, 0o666) }},
		{"another's directory", func(dir, _, _ string) error { return os.Chown(dir, 12345, -1) }},
		{"another's file", func(_, _, file string) error { return os.Chown(file, 12345, -1) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			if strings.HasPrefix(test.name, "another's") && os.Geteuid() != 0 {
				t.Skip("only root can give files away")
			}
			dir := t.TempDir()
			within := filepath.Join(dir, "wazero-dev")
			file := filepath.Join(within, "code")
			if err := errors.Join(os.Chmod(dir, 0o700), os.Mkdir(within, 0o700), os.WriteFile(file, []byte("damaged"), 0o600), test.lax(dir, within, file)); err != nil {
				t.Fatal(err)
			}
			if err := prepare(dir, 300<<20); err == nil || !strings.Contains(err.Error(), "others may write to") {
				t.Errorf("the error is %v", err)
			}
			if body, err := os.ReadFile(file); err != nil || string(body) != "damaged" {
				t.Errorf("what is in the directory was touched: %.20q, %v", body, err)
			}
		})
	}
}

// TestSeal holds that any change of the code breaks the seal.
func TestSeal(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "wazero-dev", "code")
	if err := errors.Join(os.Mkdir(filepath.Dir(file), 0o700), os.WriteFile(file, []byte("code"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if whole(dir) {
		t.Error("code without a seal is whole")
	}
	if err := seal(dir); err != nil {
		t.Fatal(err)
	}
	if !whole(dir) {
		t.Error("sealed code is not whole")
	}
	for _, change := range []struct {
		name string
		make func() error
	}{
		{"changed", func() error { return os.WriteFile(file, []byte("cope"), 0o600) }},
		{"more of it", func() error { return os.WriteFile(file+"2", nil, 0o600) }},
		{"gone", func() error { return os.RemoveAll(filepath.Dir(file)) }},
	} {
		if err := errors.Join(seal(dir), change.make()); err != nil {
			t.Fatal(err)
		}
		if whole(dir) {
			t.Errorf("code that is %s is whole", change.name)
		}
	}
}
