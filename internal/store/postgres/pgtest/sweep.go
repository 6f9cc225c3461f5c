package pgtest

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

const prefix = "pregon-pg-"

// sweep removes the directories of processes that were killed before they
// could remove them: directories that no process has locked. A very new one may
// not be locked yet.
func sweep() {
	dirs, err := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*"))
	if err != nil {
		return
	}
	for _, dir := range dirs {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || time.Since(info.ModTime()) < time.Minute {
			continue
		}
		if held, err := hold(dir); err == nil {
			signalAll(filepath.Join(dir, "data"), syscall.SIGKILL) // a frozen server outlives its process
			_ = os.RemoveAll(dir)                                  // fails for another user's directory
			_ = held.Close()
		}
	}
}

// hold locks a directory until the file is closed or its process ends. It fails
// while another process has the lock.
func hold(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// signalAll sends a signal to all processes of the server with a data directory, which
// is their working directory, and to those they start meanwhile.
func signalAll(data string, sig syscall.Signal) {
	for before := -1; ; {
		dirs, _ := filepath.Glob("/proc/[0-9]*/cwd")
		found := 0
		for _, link := range dirs {
			if dir, err := os.Readlink(link); err != nil || dir != data {
				continue
			}
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(link))); err == nil {
				_ = syscall.Kill(pid, sig) // it may have ended
				found++
			}
		}
		if found <= before || found == 0 {
			return
		}
		before = found
	}
}
