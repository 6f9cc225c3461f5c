//go:build !windows

package archive

import (
	"errors"
	"os"
	"syscall"
)

// lock takes the exclusive lock of a file without waiting. It returns errLocked if
// another process holds it. Closing the file releases the lock.
func lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errLocked
	}
	return err
}
