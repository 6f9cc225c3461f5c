//go:build linux || darwin

package sqlite

import "syscall"

// diskFree returns the bytes that are free on the disk of a directory.
func diskFree(dir string) (bytes int64, known bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true
}
