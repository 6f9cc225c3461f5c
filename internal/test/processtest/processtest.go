// Package processtest runs a server for a test in a process that the test can kill
// and pause.
package processtest

import (
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Process is a running server.
type Process struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when the process has ended
}

// Start starts a server that ends with this process at the latest, even when that is
// killed. If cmd has a SysProcAttr, its Pdeathsig says how.
func Start(cmd *exec.Cmd) (*Process, error) {
	p := &Process{cmd: cmd, ended: make(chan struct{})}
	started := make(chan error)
	go p.run(started)
	return p, <-started
}

// run is the parent of the process until it ends. The kernel kills the process when
// the thread that started it dies, so run keeps to one thread.
func (p *Process) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(p.ended)
	if p.cmd.SysProcAttr == nil {
		p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	}
	err := p.cmd.Start()
	started <- err
	if err == nil {
		_ = p.cmd.Wait()
	}
}

// Await returns when ping succeeds. If the process ends before, or does not answer
// for minutes, it kills the process and returns the last error of ping.
func (p *Process) Await(ping func() error) error {
	deadline := time.After(5 * time.Minute)
	for {
		err := ping()
		if err == nil {
			return nil
		}
		select {
		case <-p.ended:
		case <-deadline:
		case <-time.After(5 * time.Millisecond):
			continue
		}
		p.Kill()
		return err
	}
}

// Kill kills the process if it runs.
func (p *Process) Kill() { p.End(syscall.SIGKILL) }

// End sends a signal that ends the process, and returns when it has ended.
func (p *Process) End(sig syscall.Signal) {
	p.signal(sig)
	<-p.ended
}

// Pause stops the process: a server accepts connections and does not answer. It
// returns when all threads have stopped, since one that runs may still answer.
func (p *Process) Pause() {
	p.signal(syscall.SIGSTOP)
	for unix.Waitid(unix.P_PID, p.cmd.Process.Pid, nil, unix.WSTOPPED|unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

// Resume ends a pause.
func (p *Process) Resume() { p.signal(syscall.SIGCONT) }

// signal does nothing to a process that has ended.
func (p *Process) signal(sig syscall.Signal) { _ = p.cmd.Process.Signal(sig) }
