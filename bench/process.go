package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
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
func (p *process) memory() (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 64)
			return kb * 1024, err
		}
	}
	return 0, errors.New("no VmRSS")
}

// busy returns the processor time that the process has used so far.
func (p *process) busy() (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // the name before it may contain any character
	fields := strings.Fields(rest)
	const utime, stime, tick = 11, 12, 10 * time.Millisecond // counted from after the name
	if len(fields) <= stime {
		return 0, errors.New("no processor time")
	}
	var sum time.Duration
	for _, text := range []string{fields[utime], fields[stime]} {
		n, err := strconv.Atoi(text)
		if err != nil {
			return 0, err
		}
		sum += time.Duration(n) * tick
	}
	return sum, nil
}

// serve starts Pregón with a store that does not change, without a limit unless args
// set one.
func (b *bench) serve(store string, args ...string) (*process, error) {
	return start(b.program, append([]string{
		"serve", "--source", "none", "--listen", "127.0.0.1:0", "--anonymous-limit", "0", "--store", "sqlite:" + store,
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
