package main

import (
	"os"

	"golang.org/x/sys/unix"
)

const (
	memoryFiles = "/dev/shm"
	memoryNeeds = 4 << 30 // bytes
)

// memoryTemp returns the environment of tests whose temporary files are in memory, which
// takes two thirds of the time of those on a disk. It returns nothing if the machine has
// no such directory, or not enough memory. The caller calls remove in the end.
func memoryTemp() (env []string, remove func()) {
	remove = func() {}
	var disk unix.Statfs_t
	if unix.Statfs(memoryFiles, &disk) != nil {
		return nil, remove
	}
	noexec := disk.Flags&unix.ST_NOEXEC != 0 // tests run programs that they build
	if noexec || disk.Bavail*uint64(disk.Bsize) < memoryNeeds {
		return nil, remove
	}
	dir, err := os.MkdirTemp(memoryFiles, "pregon-test-")
	if err != nil {
		return nil, remove
	}
	if err := os.Chmod(dir, 0o755); err != nil { // PostgreSQL runs as another user
		_ = os.RemoveAll(dir)
		return nil, remove
	}
	return []string{"TMPDIR=" + dir}, func() { _ = os.RemoveAll(dir) }
}
