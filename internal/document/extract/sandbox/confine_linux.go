package sandbox

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Exec confines the process and starts its program anew, with the same arguments
// and the environment that environ returns for what is then in force. It returns
// only when that fails, and the process is then as it was.
//
// The new start is what confines every thread: the layers are put on one, which
// the kernel keeps as it replaces the program, and the others end. The process
// ends with its parent, as that is a matter of the thread too.
func Exec(p Policy, environ func(Status) []string) (Status, error) {
	type failure struct {
		status Status
		err    error
	}
	failed := make(chan failure)
	go func() {
		runtime.LockOSThread() // and never unlocked, so that the thread ends with the goroutine
		s := restrict(p)
		_ = unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0) // fails for no valid signal
		err := syscall.Exec("/proc/self/exe", os.Args, environ(s))
		for l, why := range s {
			if why == "" {
				s[l] = "the program does not start under it: " + err.Error()
			}
		}
		failed <- failure{s, fmt.Errorf("start the program again: %w", err)}
	}()
	f := <-failed
	return f.status, f.err
}

// restrict confines the calling thread, and what it starts.
func restrict(p Policy) Status {
	s := Status{}
	note := func(l Layer, err error) {
		if s[l] = ""; err != nil {
			s[l] = err.Error()
		}
	}
	err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	note(NoNewPrivileges, err)
	note(Landlock, landlock(p))
	note(Seccomp, seccomp())
	return s
}

// HideMemory keeps other processes of the same user from reading this one's
// memory and environment. It leaves no core dump either.
func HideMemory() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }

const (
	readFile = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_EXECUTE
	readDir  = readFile | unix.LANDLOCK_ACCESS_FS_READ_DIR
)

// rights returns what a version of Landlock can deny: operations on files and on
// TCP, and signals and sockets of processes outside.
func rights(version int) unix.LandlockRulesetAttr {
	a := unix.LandlockRulesetAttr{Handled_access_fs: 1<<13 - 1} // up to MAKE_SYM
	for since, right := range map[int]uint64{
		2: unix.LANDLOCK_ACCESS_FS_REFER, 3: unix.LANDLOCK_ACCESS_FS_TRUNCATE, 5: unix.LANDLOCK_ACCESS_FS_IOCTL_DEV,
	} {
		if version >= since {
			a.Handled_access_fs |= right
		}
	}
	if version >= 4 {
		a.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if version >= 6 {
		a.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	return a
}

func landlock(p Policy) error {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return fmt.Errorf("the kernel does not have it: %w", errno)
	}
	a := rights(int(version))
	ruleset, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&a)), unsafe.Sizeof(a), 0)
	if errno != 0 {
		return fmt.Errorf("make the rules: %w", errno)
	}
	defer unix.Close(int(ruleset))
	for _, path := range append(p.Read, "/proc/self/exe") {
		if err := allow(int(ruleset), path, readDir); err != nil {
			return err
		}
	}
	for _, path := range p.Write {
		if err := allow(int(ruleset), path, readFile|unix.LANDLOCK_ACCESS_FS_WRITE_FILE); err != nil {
			return err
		}
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, ruleset, 0, 0); errno != 0 {
		return fmt.Errorf("enter: %w", errno)
	}
	return nil
}

// allow adds a rule for a file, or for a directory and all below.
func allow(ruleset int, path string, access uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.EACCES) {
		return nil // what cannot be reached need not be allowed
	}
	if err != nil {
		return fmt.Errorf("allow %s: %w", path, err)
	}
	defer unix.Close(fd)
	var info unix.Stat_t
	if err := unix.Fstat(fd, &info); err != nil {
		return fmt.Errorf("allow %s: %w", path, err)
	}
	if info.Mode&unix.S_IFMT != unix.S_IFDIR {
		access &^= unix.LANDLOCK_ACCESS_FS_READ_DIR
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
	if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0); errno != 0 {
		return fmt.Errorf("allow %s: %w", path, errno)
	}
	return nil
}
