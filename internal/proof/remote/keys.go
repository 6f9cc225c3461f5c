package remote

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"pregon/internal/fault"
)

// maxKeyCount bounds the keys that a log may have at once.
const maxKeyCount = 16

// Keys are the public keys of a log, each as a line: name+hash+key. One that
// verifies a checkpoint is sufficient, so that a log can replace its key.
type Keys []string

// ParseKeys reads keys, one a line.
func ParseKeys(text string) (Keys, error) {
	keys := Keys(strings.Fields(text))
	if len(keys) == 0 || len(keys) > maxKeyCount {
		return nil, fmt.Errorf("there must be 1 to %d keys, one a line", maxKeyCount)
	}
	for _, key := range keys {
		if _, err := note.NewVerifier(key); err != nil {
			return nil, fmt.Errorf("%.80q is not the key of a log: it must be such as "+
				"example.org/log+6b2f5c1a+ARp… (%w)", key, err)
		}
	}
	return keys, nil
}

// ReadKeys returns the keys of --vkey: the key of a log, or a file with one a line.
func ReadKeys(keyOrFile string) (Keys, error) {
	keys, err := ParseKeys(keyOrFile)
	if err == nil {
		return keys, nil
	}
	text, fileErr := os.ReadFile(keyOrFile)
	if fileErr != nil {
		if strings.Contains(keyOrFile, "+") {
			return nil, fault.New(fault.Invalid, "--vkey: %v", err)
		}
		return nil, fault.New(fault.Invalid, "--vkey must be the key of a log, such as "+
			"example.org/log+6b2f5c1a+ARp…, or a file with it (%v)", fileErr)
	}
	if keys, err = ParseKeys(string(text)); err != nil {
		return nil, fault.New(fault.Invalid, "--vkey %s: %v", keyOrFile, err)
	}
	return keys, nil
}

// String returns the keys, one a line.
func (k Keys) String() string { return strings.Join(k, "\n") }

// Verifiers returns what verifies the signatures of the keys.
func (k Keys) Verifiers() note.Verifiers {
	var list []note.Verifier
	for _, key := range k {
		if v, err := note.NewVerifier(key); err == nil { // ParseKeys accepted it
			list = append(list, v)
		}
	}
	return note.VerifierList(list...)
}

// named returns the same keys under another name. A log whose store was restored
// signs with the same key under a new name.
func (k Keys) named(name string) Keys {
	var out Keys
	for _, key := range k {
		parts := strings.SplitN(key, "+", 3)
		if len(parts) != 3 {
			continue
		}
		public, err := base64.StdEncoding.DecodeString(parts[2])
		if err != nil || len(public) == 0 {
			continue
		}
		if renamed, err := note.NewEd25519VerifierKey(name, public[1:]); err == nil { // the first byte is the algorithm
			out = append(out, renamed)
		}
	}
	return out
}

// ids returns the names and hashes of the keys.
func (k Keys) ids() []string {
	out := make([]string, len(k))
	for i, key := range k {
		parts := strings.SplitN(key, "+", 3)
		out[i] = strings.Join(parts[:min(2, len(parts))], "+")
	}
	return out
}

// unknown returns the keys with the name of a log that say they signed a note, and
// are not known: the log may be about to replace its key.
func (k Keys) unknown(text []byte, origin string) []string {
	known := k.ids()
	return slices.DeleteFunc(signers(text), func(id string) bool {
		return !strings.HasPrefix(id, origin+"+") || slices.Contains(known, id)
	})
}

// signers returns the names and hashes of the keys that say they signed a note.
func signers(text []byte) (ids []string) {
	_, err := note.Open(text, nil)
	if unverified, ok := errors.AsType[*note.UnverifiedNoteError](err); ok {
		for _, s := range unverified.Note.UnverifiedSigs {
			ids = append(ids, fmt.Sprintf("%s+%08x", s.Name, s.Hash))
		}
	}
	return ids
}
