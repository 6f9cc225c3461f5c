package extract

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
)

// A directory of compiled code has a seal: the digest of its files, of the
// versions that compiled them and of the processor that they are for. With a
// seal that fits the code is there whole, which is known without loading it.
const sealName = "seal"

// whole reports whether a directory has compiled code with a seal that fits.
func whole(dir string) bool {
	had, err := os.ReadFile(filepath.Join(dir, sealName))
	if err != nil {
		return false
	}
	want, err := sealOf(dir)
	return err == nil && want != "" && string(had) == want
}

// seal puts the seal on the compiled code in a directory.
func seal(dir string) error {
	want, err := sealOf(dir)
	if err != nil || want == "" {
		return err
	}
	f, err := os.CreateTemp(dir, sealName+"-")
	if err != nil {
		return err
	}
	_, err = f.WriteString(want)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, sealName))
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// sealOf returns the seal that fits what is in a directory, or nothing when
// there is no code or this program does not know its versions.
func sealOf(dir string) (string, error) {
	build, ok := debug.ReadBuildInfo()
	files, err := filepath.Glob(filepath.Join(dir, "wazero-*", "*"))
	if !ok || err != nil || len(files) == 0 {
		return "", err
	}
	h := sha256.New()
	io.WriteString(h, runtime.GOOS+" "+runtime.GOARCH+" "+processor()+"\n")
	for _, m := range build.Deps {
		if m.Path == "github.com/tetratelabs/wazero" || m.Path == "github.com/klippa-app/go-pdfium" {
			io.WriteString(h, m.Path+" "+m.Version+"\n")
		}
	}
	slices.Sort(files)
	for _, file := range files {
		if err := digest(h, dir, file); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// digest adds a file's name and its bytes.
func digest(h io.Writer, dir, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	name, err := filepath.Rel(dir, file)
	if err != nil {
		return err
	}
	inner := sha256.New()
	if _, err := io.Copy(inner, f); err != nil {
		return err
	}
	_, err = io.WriteString(h, name+" "+hex.EncodeToString(inner.Sum(nil))+"\n")
	return err
}
