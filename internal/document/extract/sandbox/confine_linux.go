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

// Exec confines the process and re-executes its program with the same arguments.
// environ returns the environment for the layers in force. Exec returns only if it
// fails, and the process is then unconfined.
//
// The layers apply to one thread. Executing the program ends all other threads, so
// that the whole process is confined. Exec also sets the signal that ends the
// process with its parent, which belongs to the thread too.
func Exec(p Policy, environ func(Status) []string) (Status, error) {
	type failure struct {
		status Status
		err    error
	}
	failed := make(chan failure)
	go func() {
		runtime.LockOSThread() // never unlocked: the confined thread must end with the goroutine
		s := restrict(p)
		_ = unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0) // cannot fail for a valid signal
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

// restrict confines the calling thread and the processes that it starts.
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

// HideMemory prevents other processes of the same user from reading the memory and
// environment of this one. It also disables core dumps.
func HideMemory() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }

const (
	readFile = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_EXECUTE
	readDir  = readFile | unix.LANDLOCK_ACCESS_FS_READ_DIR
)

// rights returns the accesses that a version of Landlock can deny: operations on
// files and on TCP, and signals and sockets of processes outside.
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
		return fmt.Errorf("the kernel does not support it: %w", errno)
	}
	a := rights(int(version))
	ruleset, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&a)),
		unsafe.Sizeof(a), 0)
	if errno != 0 {
		return fmt.Errorf("create the rule set: %w", errno)
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
		return fmt.Errorf("apply the rule set: %w", errno)
	}
	return nil
}

// allow adds a rule for a file or a directory tree.
func allow(ruleset int, path string, access uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.EACCES) {
		return nil // a file that cannot be reached needs no rule
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
	if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset),
		unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0); errno != 0 {
		return fmt.Errorf("allow %s: %w", path, errno)
	}
	return nil
}
