package pgtest

import (
	"os"
	"path/filepath"
	"syscall"
	"time"
)

const prefix = "pregon-pg-"

// sweep removes the directories of processes that were killed before they
// could: those that nobody holds. A very new one may be about to be held.
func sweep() {
	dirs, err := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*"))
	if err != nil {
		return
	}
	for _, dir := range dirs {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || time.Since(info.ModTime()) < time.Minute {
			continue
		}
		if held, err := hold(dir); err == nil {
			_ = os.RemoveAll(dir) // another user's stays
			_ = held.Close()
		}
	}
}

// hold locks a directory until the file is closed, or its process gone. It
// fails while another process holds it.
func hold(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}
