package pdf

import (
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// reserve returns address space without memory.
func reserve(size int) ([]byte, error) {
	return unix.Mmap(-1, 0, size, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
}

// commit makes a part of reserved space usable.
func commit(part []byte) error {
	return unix.Mprotect(part, unix.PROT_READ|unix.PROT_WRITE)
}

// release returns reserved space and its memory to the system.
func release(space []byte) { unix.Munmap(space) }

// ownedByOther reports whether a file belongs to another user than this one and
// root. Its owner could write to it whatever its mode is.
func ownedByOther(info os.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && s.Uid != 0 && int(s.Uid) != os.Geteuid()
}

// lock takes an exclusive lock on a file, which it creates if missing. Closing
// the file releases the lock.
func lock(path string) (io.Closer, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.EINTR
	for err == syscall.EINTR {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// limitMemory limits the address space of a process, in bytes.
func limitMemory(pid int, limit int64) error {
	return unix.Prlimit(pid, unix.RLIMIT_AS, &unix.Rlimit{Cur: uint64(limit), Max: uint64(limit)}, nil)
}
