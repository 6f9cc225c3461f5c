package extract

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"pregon/internal/document/confine"
)

// settingsEnv holds the settings of a child that was started anew.
const settingsEnv = "EXTRACT_SETTINGS"

// handedOn returns the settings of a child that was started anew, and reports
// whether it was.
func handedOn() (s settings, again bool, err error) {
	body, again := os.LookupEnv(settingsEnv)
	if !again {
		return s, false, nil
	}
	os.Unsetenv(settingsEnv)
	if err := json.Unmarshal([]byte(body), &s); err != nil {
		return s, true, fmt.Errorf("the settings handed on: %w", err)
	}
	return s, true, nil
}

// confined has PDFium compiled, which needs to write, and then starts the
// program anew with no more rights than reading needs. It returns, with the
// reason in the settings, only where that does not work: documents are read
// nonetheless, in a process that holds no secret and is watched.
func confined(s settings) settings {
	if err := prepare(s.CacheDir, s.Limits.Memory); err != nil {
		s.Greeting.Uncached, s.CacheDir = err.Error(), ""
	}
	status, err := confine.Exec(s.policy(), func(status confine.Status) []string {
		s.Greeting.Confined = status
		body, _ := json.Marshal(s) // strings and numbers
		return append(os.Environ(), settingsEnv+"="+string(body))
	})
	if s.Greeting.Confined = status; !errors.Is(err, errors.ErrUnsupported) {
		fmt.Fprintln(os.Stderr, err)
	}
	return s
}

// policy returns what the child reads: its cache, and tesseract with the
// libraries and languages that it needs. It writes nothing.
func (s settings) policy() confine.Policy {
	p := confine.Policy{
		Write: []string{os.DevNull},
		Read: []string{
			"/bin", "/lib", "/lib64", "/usr/bin", "/usr/lib", "/usr/lib64", "/usr/local/bin", "/usr/local/lib", "/nix/store", "/etc/ld.so.cache",
			"/usr/share/tesseract-ocr", "/usr/share/tessdata", "/usr/share/tesseract", "/usr/local/share/tessdata",
		},
	}
	if s.CacheDir != "" {
		p.Read = append(p.Read, s.CacheDir)
	}
	if data := os.Getenv("TESSDATA_PREFIX"); data != "" {
		p.Read = append(p.Read, data)
	}
	if o := findOCR(s.Tesseract, s.Limits); o.err == nil {
		p.Read = append(p.Read, o.path)
		if installed := filepath.Dir(filepath.Dir(o.path)); filepath.Base(filepath.Dir(o.path)) == "bin" && installed != "/" && installed != "/usr" {
			p.Read = append(p.Read, filepath.Join(installed, "lib"), filepath.Join(installed, "share", "tessdata"))
		}
	}
	return p
}
