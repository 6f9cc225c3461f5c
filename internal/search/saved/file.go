package saved

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// magic begins every state file. The number is that of the layout of the files; what they
// hold has versions of its own.
const magic = "pregon saved state 1\n"

// dataMark is between the name of a state file and the rest of the name of its data file.
const dataMark = "-data-"

// mostState bounds the size of a state file.
const mostState = 4 << 30

// ErrBusy is returned by Write while another process writes the same file.
var ErrBusy = errors.New("another process writes the file")

// Replace replaces a file so that a crash leaves the old or the new one: durable.Replace.
type Replace func(path string, perm fs.FileMode, write func(io.Writer) error) error

// Write writes a data file, with what fn adds, and the state file at path, with the state
// that fn returns. Afterwards it removes data files that no state file names.
func Write(path string, replace Replace, fn func(*DataWriter) (state []byte, err error)) error {
	locked, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer locked.Close()
	if lock(locked) != nil {
		return ErrBusy
	}
	removeOthers(path, dataName(path)) // of processes that were killed
	var random [8]byte
	_, _ = rand.Read(random[:]) // it never fails
	name := filepath.Base(path) + dataMark + hex.EncodeToString(random[:])
	data := filepath.Join(filepath.Dir(path), name)
	var head Encoder
	var state []byte
	err = replace(data, 0o400, func(w io.Writer) error {
		d := newDataWriter(w)
		var err error
		if state, err = fn(d); err != nil {
			return err
		}
		if err := d.finish(); err != nil {
			return err
		}
		head.String(name)
		head.Uint(uint64(d.at))
		head.Uint32s(d.sums)
		head.Uint(uint64(len(state)))
		head.Uint32s(sumsOf(state))
		return nil
	})
	if err != nil {
		return err
	}
	err = replace(path, 0o600, func(w io.Writer) error {
		sum := sha256.Sum256(head.B)
		var length Encoder
		length.Uint(uint64(len(head.B)))
		for _, part := range [][]byte{[]byte(magic), sum[:], length.B, head.B, state} {
			if _, err := w.Write(part); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		_ = os.Remove(data)
		return err
	}
	removeOthers(path, name)
	return nil
}

// removeOthers removes the data files beside a state file, except for the named one.
func removeOthers(path, name string) {
	found, err := filepath.Glob(globEscape(path) + dataMark + "*")
	if err != nil {
		return
	}
	for _, other := range found {
		if filepath.Base(other) != name {
			_ = os.Remove(other)
		}
	}
	partial := filepath.Join(filepath.Dir(path), "."+filepath.Base(path))
	left, _ := filepath.Glob(globEscape(partial) + "*")
	for _, other := range left {
		_ = os.Remove(other)
	}
}

// globEscape returns a pattern that only a path itself matches.
func globEscape(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// dataName returns the name of the data file that a state file names, or "".
func dataName(path string) string {
	h, err := readHead(path)
	if err != nil {
		return ""
	}
	return h.name
}

// head is the beginning of a state file.
type head struct {
	name  string // of the data file
	size  int64
	sums  []uint32
	state []byte
}

func readHead(path string) (h head, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return h, err
	}
	if info.Size() > mostState || !info.Mode().IsRegular() {
		return h, fmt.Errorf("%s is not a file of this program", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return h, err
	}
	damaged := fmt.Errorf("%s is damaged, or of another version", path)
	rest, found := bytes.CutPrefix(text, []byte(magic))
	if !found || len(rest) < sha256.Size {
		return h, damaged
	}
	sum := rest[:sha256.Size]
	d := NewDecoder(rest[sha256.Size:])
	first := d.take(d.Uint())
	if got := sha256.Sum256(first); d.Err() != nil || !bytes.Equal(got[:], sum) {
		return h, damaged
	}
	h.state = d.b
	d = NewDecoder(first)
	h.name = d.String()
	h.size = int64(d.Uint())
	h.sums = d.Uint32s()
	size := d.Uint()
	sums := d.Uint32s()
	if d.Err() != nil || h.name != filepath.Base(h.name) || size != uint64(len(h.state)) {
		return h, damaged
	}
	for i, sum := range sumsOf(h.state) {
		if i >= len(sums) || sums[i] != sum {
			return h, damaged
		}
	}
	return h, nil
}

// Open reads the state file at path, and opens its data file.
func Open(path string) (state []byte, data *Data, err error) {
	h, err := readHead(path)
	if err != nil {
		return nil, nil, err
	}
	data, err = openData(filepath.Join(filepath.Dir(path), h.name), h.size, h.sums)
	return h.state, data, err
}

// Remove removes a state file and its data files.
func Remove(path string) error {
	err := os.Remove(path)
	removeOthers(path, "")
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
