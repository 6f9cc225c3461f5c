package remote

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"golang.org/x/mod/sumdb/tlog"

	"pregon/internal/fault"
	"pregon/internal/proof"
	"pregon/internal/store/durable"
)

// The files beside that of a History, by the ends of their names.
const (
	hashesSuffix   = ".hashes"   // of all leaves, 32 bytes each
	keysSuffix     = ".vkey"     // the pinned keys
	conflictSuffix = ".conflict" // a checkpoint that contradicts the history
)

// fileMode is the mode of these files, which anybody may read.
const fileMode = 0o644

// maxConflicts is how many checkpoints are kept that contradict a history.
const maxConflicts = 9

// History is what a client keeps of a log: in a file the newest checkpoint that it
// has verified, as the server sent it, and beside it the hashes of its leaves, by
// which the first wrong one can be found, and the keys. The checkpoint alone is a
// history too.
type History struct {
	path       string
	text       []byte // nil if there is no file yet
	Checkpoint proof.Checkpoint
	leaves     *proof.Tree // of the checkpoint; nil if their hashes are not known
	Keys       Keys        // pinned
	Warning    string      // about a file that is not used
}

// LoadHistory reads a history. A file that does not exist is an empty one.
func LoadHistory(path string) (*History, error) {
	h := &History{path: path}
	if text, err := readFile(path+keysSuffix, maxKeys); err != nil {
		return nil, err
	} else if text != nil {
		if h.Keys, err = ParseKeys(string(text)); err != nil {
			return nil, fault.New(fault.Invalid, "%s: %v", path+keysSuffix, err)
		}
	}
	text, err := readFile(path, proof.MaxCheckpoint)
	if err != nil || text == nil {
		return h, err
	}
	if h.Checkpoint, err = proof.ParseCheckpoint(text); err != nil {
		return nil, fault.New(fault.Invalid,
			"%s is not a checkpoint as /log/checkpoint serves it: %v. To start over, move it away", path, err)
	}
	h.text = text
	return h, h.loadHashes()
}

// Exists reports whether there is a checkpoint.
func (h *History) Exists() bool { return h.text != nil }

// Verify fails if none of the keys signed the checkpoint. Without keys it is trusted
// as a file of the caller.
func (h *History) Verify(keys Keys) error {
	if len(keys) == 0 {
		return nil
	}
	_, err := proof.OpenCheckpoint(h.text, keys.Verifiers())
	return err
}

// Leaves returns the tree over the changes of the checkpoint, nil if their hashes are
// not known.
func (h *History) Leaves() *proof.Tree { return h.leaves }

// loadHashes reads the hashes of the checkpoint. Those after it are what an
// interrupted Save wrote.
func (h *History) loadHashes() error {
	file, err := os.Open(h.path + hashesSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	size := h.Checkpoint.Size
	leaves := &proof.Tree{}
	if size <= MaxLeaves && info.Size() >= size*tlog.HashSize {
		data := make([]byte, size*tlog.HashSize)
		if _, err := io.ReadFull(file, data); err != nil {
			return err
		}
		for ; len(data) > 0; data = data[tlog.HashSize:] {
			leaves.Append(tlog.Hash(data[:tlog.HashSize]))
		}
	}
	if root, err := leaves.Root(size); err != nil || root != h.Checkpoint.Root {
		h.Warning = fmt.Sprintf("%s does not belong to %s and is not used", h.path+hashesSuffix, h.path)
		return nil
	}
	h.leaves = leaves
	return nil
}

// save replaces the checkpoint. The new hashes are those of its leaves after the
// ones that the history has. The checkpoint is written last: if this is interrupted,
// the files are still those of the old one.
func (h *History) save(text []byte, c proof.Checkpoint, added []tlog.Hash, keys Keys) error {
	if h.leaves == nil {
		h.leaves = &proof.Tree{}
	}
	if err := h.saveHashes(h.leaves.Size(), added); err != nil {
		return err
	}
	if pinned := keys.String() + "\n"; h.Keys.String() != keys.String() {
		if err := durable.WriteFile(h.path+keysSuffix, []byte(pinned), fileMode); err != nil {
			return err
		}
		h.Keys = keys
	}
	if !bytes.Equal(h.text, text) {
		if err := durable.WriteFile(h.path, text, fileMode); err != nil {
			return err
		}
	}
	h.leaves.Append(added...)
	h.text = text
	h.Checkpoint = c
	h.Warning = ""
	return nil
}

func (h *History) saveHashes(at int64, added []tlog.Hash) error {
	file, err := os.OpenFile(h.path+hashesSuffix, os.O_CREATE|os.O_WRONLY, fileMode)
	if err != nil {
		return err
	}
	data := make([]byte, 0, len(added)*tlog.HashSize)
	for _, hash := range added {
		data = append(data, hash[:]...)
	}
	_, err = file.WriteAt(data, at*tlog.HashSize)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// saveConflict keeps a checkpoint that contradicts the history, and returns its
// file. Others that were kept before stay, and the file then has a number.
func (h *History) saveConflict(text []byte) (string, error) {
	first := h.path + conflictSuffix
	path := first
	for n := 2; ; n++ {
		kept, err := readFile(path, proof.MaxCheckpoint)
		switch {
		case err == nil && kept == nil:
			return path, durable.WriteFile(path, text, fileMode)
		case err == nil && bytes.Equal(kept, text):
			return path, nil
		case n > maxConflicts:
			return "", fault.New(fault.Conflict,
				"the checkpoint of the server was not saved, because %s to %s have others. Move them away", first, path)
		}
		path = fmt.Sprintf("%s.%d", first, n)
	}
}

// readFile returns nil if there is no file.
func readFile(path string, most int64) ([]byte, error) {
	text, err := ReadFile(path, most)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

// ReadFile reads a file of at most most bytes.
func ReadFile(path string, most int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, most+1)) // not nil, even if it is empty
	if err != nil {
		return nil, err
	}
	if int64(len(text)) > most {
		return nil, fault.New(fault.Invalid, "%s is longer than %d bytes", path, most)
	}
	return text, nil
}

// Agrees returns a *Mismatch if a signed checkpoint contradicts the history. One that
// is newer than the history, or of a history without hashes, cannot be compared.
func (h *History) Agrees(c proof.Checkpoint) error {
	if !h.Exists() {
		return nil
	}
	if c.Origin != h.Checkpoint.Origin {
		return &Mismatch{Kind: OtherLog, Old: h.Checkpoint, New: c}
	}
	known := h.Checkpoint.Root
	if h.leaves != nil && c.Size <= h.leaves.Size() {
		var err error
		if known, err = h.leaves.Root(c.Size); err != nil {
			return err
		}
	} else if c.Size != h.Checkpoint.Size {
		return nil
	}
	if known != c.Root {
		return &Mismatch{Kind: Split, Old: h.Checkpoint, New: c}
	}
	return nil
}
