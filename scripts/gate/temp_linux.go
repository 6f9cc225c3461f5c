package main

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

const (
	memoryFiles = "/dev/shm"
	memoryNeeds = 4 << 30 // bytes
)

// memoryTemp returns the environment of tests whose temporary files are in memory, which
// takes two thirds of the time of those on a disk. It returns nothing if the machine has
// no such directory or not enough memory, or if another gate uses it. The caller calls
// remove in the end.
//
// The name of the directory is always the same: go test runs a test again if its
// environment has changed.
func memoryTemp() (env []string, remove func()) {
	var disk unix.Statfs_t
	if unix.Statfs(memoryFiles, &disk) != nil {
		return nil, func() {}
	}
	noexec := disk.Flags&unix.ST_NOEXEC != 0 // tests run programs that they build
	if noexec || disk.Bavail*uint64(disk.Bsize) < memoryNeeds {
		return nil, func() {}
	}
	dir := fmt.Sprintf("%s/pregon-test-%d", memoryFiles, os.Getuid())
	release, err := claim(dir)
	if err != nil {
		return nil, func() {}
	}
	remove = func() {
		_ = os.RemoveAll(dir)
		release()
	}
	return []string{"TMPDIR=" + dir}, remove
}

// claim makes an empty directory for this process alone. Everybody may write to its
// parent, so it refuses what another user has put there.
func claim(dir string) (release func(), err error) {
	if err := os.Mkdir(dir, 0o755); err != nil && !os.IsExist(err) {
		return nil, err
	}
	fd, err := unix.Open(dir, unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	release = func() { _ = unix.Close(fd) }
	if err := take(fd, dir); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// take locks a directory of this user and empties it.
func take(fd int, dir string) error {
	var found unix.Stat_t
	if err := unix.Fstat(fd, &found); err != nil {
		return err
	}
	if int(found.Uid) != os.Getuid() {
		return fmt.Errorf("%s belongs to another user", dir)
	}
	if err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return err
	}
	left, err := os.ReadDir(dir)
	for _, entry := range left { // of a gate that was killed
		_ = os.RemoveAll(dir + "/" + entry.Name())
	}
	return err
}
