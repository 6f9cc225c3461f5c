package proof

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// MaxCheckpoint is the length of the longest checkpoint that is read. It has room
// for the signatures of many witnesses.
const MaxCheckpoint = 64 << 10

// maxSize is more than any log has. Package tlog never returns for sizes close to
// the largest number.
const maxSize = 1 << 48

// Checkpoint is what a log signs: that its first Size leaves have a root.
type Checkpoint struct {
	Origin     string // name of the log, and of the keys that sign for it
	Size       int64
	Root       tlog.Hash
	Extensions []string // lines that other logs may add; ours has none
}

// text returns the text that is signed.
func (c Checkpoint) text() string {
	lines := append([]string{c.Origin, strconv.FormatInt(c.Size, 10), c.Root.String()}, c.Extensions...)
	return strings.Join(lines, "\n") + "\n"
}

// Sign returns the checkpoint as a signed note. One signer must have the origin as
// its name; the others may be further keys of the log, such as the one that replaces
// it, or witnesses.
func (c Checkpoint) Sign(signers ...note.Signer) ([]byte, error) {
	read, err := parseCheckpoint(c.text())
	if err != nil {
		return nil, err
	}
	if read.Origin != c.Origin || !slices.Equal(read.Extensions, c.Extensions) {
		return nil, fmt.Errorf("origin %q and extensions %q of a checkpoint must be lines of text", c.Origin,
			c.Extensions)
	}
	if !slices.ContainsFunc(signers, func(s note.Signer) bool { return s.Name() == c.Origin }) {
		return nil, fmt.Errorf("no key to sign with has the name of the log, %q", c.Origin)
	}
	return note.Sign(&note.Note{Text: c.text()}, signers...)
}

// OpenCheckpoint reads a signed checkpoint. It must have a valid signature of a
// known key whose name is its origin. Signatures of unknown keys are ignored, so
// that keys can be replaced and witnesses can sign. The error wraps a
// *note.UnverifiedNoteError if no key is known, and a *note.InvalidSignatureError
// if a known key did not sign this text.
func OpenCheckpoint(text []byte, known note.Verifiers) (Checkpoint, error) {
	if len(text) > MaxCheckpoint {
		return Checkpoint{}, fmt.Errorf("the checkpoint is longer than %d bytes", MaxCheckpoint)
	}
	n, err := note.Open(text, known)
	if err != nil {
		return Checkpoint{}, fmt.Errorf("the signature of the checkpoint cannot be verified: %w", err)
	}
	c, err := parseCheckpoint(n.Text)
	if err != nil {
		return Checkpoint{}, err
	}
	if !slices.ContainsFunc(n.Sigs, func(s note.Signature) bool { return s.Name == c.Origin }) {
		return Checkpoint{}, fmt.Errorf("the checkpoint is of the log %q, but is signed only by %q", c.Origin,
			n.Sigs[0].Name)
	}
	return c, nil
}

// ParseCheckpoint reads a signed checkpoint without verifying its signatures.
func ParseCheckpoint(text []byte) (Checkpoint, error) {
	if len(text) > MaxCheckpoint {
		return Checkpoint{}, fmt.Errorf("the checkpoint is longer than %d bytes", MaxCheckpoint)
	}
	_, err := note.Open(text, nil)
	if unverified, ok := errors.AsType[*note.UnverifiedNoteError](err); ok {
		return parseCheckpoint(unverified.Note.Text)
	}
	return Checkpoint{}, fmt.Errorf("the checkpoint is not a signed note: %w", err)
}

// parseCheckpoint reads the text that is signed. It accepts only what text returns.
func parseCheckpoint(text string) (Checkpoint, error) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) < 3 {
		return Checkpoint{}, errors.New("a checkpoint has the lines origin, size and root")
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil || size < 0 || size > maxSize {
		return Checkpoint{}, fmt.Errorf("the size %.20q of the checkpoint is not a number from 0 to %d",
			lines[1], int64(maxSize))
	}
	root, err := tlog.ParseHash(lines[2])
	if err != nil {
		return Checkpoint{}, fmt.Errorf("the root %.50q of the checkpoint is not a hash in base64", lines[2])
	}
	c := Checkpoint{Origin: lines[0], Size: size, Root: root}
	if len(lines) > 3 {
		c.Extensions = lines[3:]
	}
	if slices.Contains(lines, "") || c.text() != text {
		return Checkpoint{}, errors.New("the checkpoint has an empty line, or a number or hash that is not in " +
			"its normal form")
	}
	if empty, err := tlog.TreeHash(0, nil); err != nil || size == 0 && root != empty {
		return Checkpoint{}, errors.New("the checkpoint has 0 leaves, but its root is not that of an empty tree")
	}
	return c, nil
}
