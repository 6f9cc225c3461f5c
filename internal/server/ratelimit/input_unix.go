//go:build unix

package ratelimit

import (
	"errors"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// hasInput reports whether something can be read from a connection without waiting:
// its end, or an error. Redis sends nothing else before a command.
func hasInput(conn net.Conn) bool {
	sys, ok := conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := sys.SyscallConn()
	if err != nil {
		return true
	}
	found := true
	err = raw.Read(func(fd uintptr) bool {
		_, _, err := unix.Recvfrom(int(fd), make([]byte, 1), unix.MSG_PEEK|unix.MSG_DONTWAIT)
		found = !errors.Is(err, unix.EAGAIN)
		return true
	})
	return found || err != nil
}
