package sandbox

import (
	"bytes"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
)

// setProcessGroup makes a command run in its own process group and die with its
// parent. The kernel sends the signal when the parent's thread ends, which in Go
// lives as long as the program. If it does not, the child is started again.
func setProcessGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// killGroup kills a process and all that it started. It must be called before
// the process is waited for, because its pid may be reused afterwards.
func killGroup(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// crashes are the signals by which a process ends itself.
var crashes = []syscall.Signal{
	syscall.SIGABRT, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGILL, syscall.SIGSEGV, syscall.SIGSYS, syscall.SIGTRAP,
}

// wasKilled reports whether a process was ended by a signal from outside.
func wasKilled(state *os.ProcessState) bool {
	status, ok := state.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && !slices.Contains(crashes, status.Signal())
}

// residentMemory returns the resident memory of a process in bytes, or 0 if it
// is unknown.
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
