//go:build amd64 || arm64

package sandbox

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// denied are the system calls that fail with EPERM. It is a deny list because the
// calls that Go, PDFium's runtime and tesseract need change with their versions,
// and an allow list would break rare ones in production.
var denied = append([]uint32{
	// The network, and Unix sockets, which Landlock does not cover.
	unix.SYS_SOCKET, unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_LISTEN, unix.SYS_ACCEPT, unix.SYS_ACCEPT4,
	// Other processes.
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE, unix.SYS_KCMP, unix.SYS_PIDFD_GETFD,
	// Attributes of files, which Landlock does not cover.
	unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT,
	unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR,
	unix.SYS_OPEN_BY_HANDLE_AT,
	// File systems and namespaces.
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_FSOPEN,
	unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_MKNODAT,
	// Administration of the kernel, and its parts with the most vulnerabilities.
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, unix.SYS_FANOTIFY_INIT,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_REBOOT,
	unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_SYSLOG, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX, unix.SYS_PERSONALITY,
}, deniedHere...)

// namespaces are the flags of clone that create a namespace.
const namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// filter returns the BPF program that decides on each system call.
func filter() []unix.SockFilter {
	const (
		number, arch, flags = 0, 4, 16 // offsets in struct seccomp_data
		load                = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal               = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		atLeast             = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
		anyOf               = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
		ret                 = unix.BPF_RET | unix.BPF_K
		otherABI            = 0x40000000 // x32 on amd64
	)
	deny := unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)}
	p := []unix.SockFilter{
		{Code: load, K: arch},
		{Code: equal, K: auditArch, Jt: 1},
		deny,
		{Code: load, K: number},
		{Code: atLeast, K: otherABI, Jf: 1},
		deny,
		// A filter cannot read the flags of clone3, which are in memory. If it is
		// missing, C libraries use clone.
		{Code: equal, K: unix.SYS_CLONE3, Jf: 1},
		{Code: ret, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
	}
	for _, n := range denied {
		p = append(p, unix.SockFilter{Code: equal, K: n, Jf: 1}, deny)
	}
	return append(p,
		unix.SockFilter{Code: equal, K: unix.SYS_CLONE, Jf: 3},
		unix.SockFilter{Code: load, K: flags}, unix.SockFilter{Code: anyOf, K: namespaces, Jf: 1}, deny,
		unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ALLOW})
}

func seccomp() error {
	f := filter()
	program := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return errno
	}
	return nil
}
