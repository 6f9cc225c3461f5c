package extract

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

// setProcessGroup has a command run in a process group of its own, and end when
// we do: more exactly when the thread does that started it, which in Go lives as
// long as the program, and if not, costs a start.
func setProcessGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// killGroup ends a process and all that it started. It is called before the
// process is waited for, so that its number is not yet another's.
func killGroup(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// crashes are the signals by which a process ends of itself.
var crashes = []syscall.Signal{
	syscall.SIGABRT, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGILL, syscall.SIGSEGV, syscall.SIGSYS, syscall.SIGTRAP,
}

// wasKilled reports whether a process ended by a signal from outside.
func wasKilled(state *os.ProcessState) bool {
	status, ok := state.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && !slices.Contains(crashes, status.Signal())
}

// ofOthers reports whether a file is another user's, who may write to it whatever
// its mode says. The machine's administrator may anyway.
func ofOthers(info os.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && s.Uid != 0 && int(s.Uid) != os.Geteuid()
}

// residentMemory is how much of the machine's memory a process holds, in bytes;
// 0 when it cannot be told.
func residentMemory(pid int) int64 {
	statm, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(statm)
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(string(fields[1]), 10, 64)
	return pages * int64(os.Getpagesize())
}

// lock waits until no other process holds a file's lock, and returns the file,
// whose closing gives the lock back. The file is made when missing.
func lock(path string) (io.Closer, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if err != syscall.EINTR {
			break
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// processor returns what compiled code depends on besides the program: what
// this machine's processor can do.
func processor() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<10)
	for lines.Scan() {
		if name, flags, _ := strings.Cut(lines.Text(), ":"); strings.EqualFold(strings.TrimSpace(name), "flags") || strings.TrimSpace(name) == "Features" {
			return flags
		}
	}
	return ""
}

// limitMemory bounds what a process may ask for, in bytes.
func limitMemory(pid int, most int64) error {
	limit := syscall.Rlimit{Cur: uint64(most), Max: uint64(most)}
	_, _, errno := syscall.Syscall6(syscall.SYS_PRLIMIT64, uintptr(pid), syscall.RLIMIT_AS, uintptr(unsafe.Pointer(&limit)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
