//go:build linux || darwin

package sqlite

import (
	"errors"
	"io/fs"
	"syscall"
)

// DiskFree returns the bytes that are free on the disk of a directory.
func DiskFree(dir string) (bytes int64, known bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true
}

// readOnly reports whether a file may not be written any more, as on a file system
// that was mounted anew after an error. The file is not opened: closing it would
// release the locks of SQLite.
func readOnly(path string) bool {
	const write = 2
	err := syscall.Access(path, write)
	return errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission)
}
