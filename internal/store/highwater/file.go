package highwater

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"pregon/internal/disclosure"
	"pregon/internal/store/durable"
)

// File is a place on disk.
type File string

// String returns the path.
func (f File) String() string { return string(f) }

// Load implements Place.
func (f File) Load(context.Context) ([]byte, error) {
	file, err := os.Open(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, mostBytes+1))
}

// Last returns the last change of the newest epoch that is recorded in the file.
func (f File) Last() (last disclosure.Cursor, ok bool) {
	r, err := load(context.Background(), f)
	if err != nil || len(r.Epochs) == 0 {
		return last, false
	}
	newest := r.Epochs[len(r.Epochs)-1]
	return disclosure.Cursor{Epoch: newest.Epoch, Seq: newest.Last.Seq}, true
}

// Save implements Place. It replaces the file atomically.
func (f File) Save(_ context.Context, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(string(f)), 0o700); err != nil {
		return err
	}
	return durable.WriteFile(string(f), text, 0o600)
}
