// Package durable replaces files so that neither a crash of the process nor a loss of
// power leaves a part of one.
//
// The new text is written to a temporary file in the same directory, synchronized with the
// disk, and renamed; then the directory is synchronized. Without the first
// synchronization the name could reach the disk before the text, without the second one
// the name could be lost though the caller was told that the file is written.
package durable

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// PartialSuffix ends the names of files that are being written. One that is left over is
// of a process that was killed.
const PartialSuffix = ".partial"

// Replace writes a file with what fn writes. Until all of it is on disk, the file is the
// old one, or absent. If fn or a write fails, nothing is left behind, and the error is
// returned.
func Replace(path string, perm fs.FileMode, fn func(io.Writer) error) (err error) {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*"+PartialSuffix)
	if err != nil {
		return err
	}
	renamed := false
	defer func() { // also when fn panics
		if !renamed {
			_ = temp.Close()
			_ = os.Remove(temp.Name())
		}
	}()
	if err := fn(temp); err != nil {
		return err
	}
	if err := temp.Chmod(perm); err != nil {
		return err
	}
	if err := temp.Sync(); err != nil {
		return err
	}
	if err := temp.Close(); err != nil {
		return err
	}
	if err := os.Rename(temp.Name(), path); err != nil {
		return err
	}
	renamed = true
	return SyncDir(filepath.Dir(path))
}

// WriteFile is Replace for a text in memory.
func WriteFile(path string, text []byte, perm fs.FileMode) error {
	return Replace(path, perm, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// Rename gives a file or directory, whose contents are on disk already, a name in the same
// file system, and synchronizes the directory of that name.
func Rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(to))
}

// SyncDir makes the names in a directory durable, where the system can. It cannot in a
// directory that this process may write but not read, and in some file systems.
func SyncDir(path string) error {
	dir, err := os.Open(path)
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	err = dir.Sync()
	unsupported := errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrInvalid)
	if unsupported || errors.Is(err, fs.ErrPermission) { // Windows denies it
		return nil
	}
	return err
}
