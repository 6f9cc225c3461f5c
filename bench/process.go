package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is a server in a separate process.
type process struct {
	cmd     *exec.Cmd
	url     string
	started time.Time
}

var listening = regexp.MustCompile(`listening.*address=(http://\S+)`)

// start runs a command that prints its address, and waits until it is ready.
func start(name string, args ...string) (*process, error) {
	p, err := launch(name, args...)
	if err != nil {
		return nil, err
	}
	return p, p.waitReady()
}

// launch runs a command and waits until it prints its address. Its log goes to a
// file, as that of a service would.
func launch(name string, args ...string) (*process, error) {
	p := &process{cmd: exec.Command(name, args...), started: time.Now()}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	log, err := os.CreateTemp("", "bench-log-")
	if err != nil {
		return nil, err
	}
	defer log.Close()
	defer os.Remove(log.Name())
	p.cmd.Stderr = log
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	for range 3000 {
		text, err := os.ReadFile(log.Name())
		if err != nil {
			return nil, err
		}
		if m := listening.FindSubmatch(text); m != nil {
			p.url = string(m[1])
			return p, nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return nil, errors.Join(errors.New("the process does not print its address"), p.stop())
}

func (p *process) waitReady() error {
	for range 6000 {
		resp, err := http.Get(p.url + "/readyz")
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	return errors.New("the process does not become ready")
}

func (p *process) stop() error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	return p.cmd.Wait()
}

// memory returns the resident memory of the process, in bytes.
func (p *process) memory() (float64, error) { return p.memoryIn("VmRSS") }

// memoryIn returns a part of the memory of the process that the system counts, in bytes.
func (p *process) memoryIn(part string) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, part+":"); ok {
			kb, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 64)
			return kb * 1024, err
		}
	}
	return 0, errors.New("no " + part)
}

// busy returns the processor time that the process has used so far.
func (p *process) busy() (time.Duration, error) {
	used, err := usageOf(p.cmd.Process.Pid)
	return used.own, err
}

// usage is the processor time of a process.
type usage struct {
	parent int           // the id of the process that started it
	own    time.Duration // of the process itself
	reaped time.Duration // of the processes that it started and that have ended
}

// usageOf returns the usage of a process so far.
func usageOf(pid int) (u usage, err error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return u, err
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // the name before it may contain any character
	fields := strings.Fields(rest)
	const ppid, utime, stime, cutime, cstime = 1, 11, 12, 13, 14 // counted from after the name
	if len(fields) <= cstime {
		return u, errors.New("no processor time")
	}
	var numbers [cstime + 1]int
	for i := ppid; i < len(numbers); i++ {
		if numbers[i], err = strconv.Atoi(fields[i]); err != nil {
			return u, err
		}
	}
	const tick = 10 * time.Millisecond
	return usage{
		parent: numbers[ppid],
		own:    time.Duration(numbers[utime]+numbers[stime]) * tick,
		reaped: time.Duration(numbers[cutime]+numbers[cstime]) * tick,
	}, nil
}

// usageWithChildren returns the processor time of a process and of those that it started.
func usageWithChildren(pid int) (time.Duration, error) {
	u, err := usageOf(pid)
	if err != nil {
		return 0, err
	}
	sum := u.own + u.reaped
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0, err
	}
	for _, path := range processes {
		id, err := strconv.Atoi(filepath.Base(path))
		if err != nil {
			continue
		}
		child, err := usageOf(id) // fails if the process has ended since
		if err == nil && child.parent == pid {
			sum += child.own
		}
	}
	return sum, nil
}

// serve starts Pregón with a store that does not change, without a limit unless args
// set one. No snapshot is made in the background, where it would take a processor from
// what is measured, of one process more than of another.
func (b *bench) serve(store string, args ...string) (*process, error) {
	return start(b.program, append([]string{
		"serve",
		"--source", "none",
		"--listen", "127.0.0.1:0",
		"--anonymous-limit", "0",
		"--bulk", "off",
		"--store", "sqlite:" + store,
	}, args...)...)
}

// serveMarket starts the program with a market of n reports.
func (b *bench) serveMarket(n int) (*process, error) {
	path, err := b.storeOf(n)
	if err != nil {
		return nil, err
	}
	return b.serve(path)
}

// bare starts a handler that writes size fixed bytes.
func bare(size int) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return start(self, "bare", strconv.Itoa(size))
}
