package pgtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// server is a cluster that this process started.
type server struct {
	dir     string   // holds the cluster, its log and its socket
	held    *os.File // dir, locked for as long as this process lives: see sweep
	log     *os.File
	attr    *syscall.SysProcAttr
	ending  chan struct{} // closed to end the server
	ended   chan struct{} // closed when it has ended
	failure error         // why it ended; set before ended is closed
}

// startServer returns when the server takes connections.
func startServer() (*server, error) {
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	s := &server{ending: make(chan struct{}), ended: make(chan struct{})}
	if err := s.makeDir(); err != nil {
		return nil, err
	}
	go s.run(bin)
	if err := s.await(); err != nil {
		s.stop()
		return nil, err
	}
	running.Store(s)
	return s, nil
}

// programs returns the directory of initdb, which also has postgres. It searches
// the PATH, follows links, and then searches the directories of Debian's packages,
// newest version first.
func programs() (dir string, err error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		path, err = filepath.EvalSymlinks(path)
		return filepath.Dir(path), err
	}
	paths, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(paths) == 0 {
		return "", errors.New("initdb is not installed: make test installs it")
	}
	return filepath.Dir(slices.MaxFunc(paths, func(a, b string) int { return version(a) - version(b) })), nil
}

// version reads the 15 of /usr/lib/postgresql/15/bin/initdb.
func version(path string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
	return n
}

// run makes the cluster and is its server's parent until the server ends. The
// kernel kills the server when the thread that started it dies, so run keeps
// to one thread and that thread lives as long as run does: until the server
// has ended, or this process has.
func (s *server) run(bin string) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(s.ended)
	cluster := filepath.Join(s.dir, "data")
	s.failure = s.command(filepath.Join(bin, "initdb"), "-D", cluster, "-A", "trust", "--no-sync", "-U", "postgres", "-E", "UTF8", "--locale=C").Run()
	if s.failure != nil {
		return
	}
	server := s.command(filepath.Join(bin, "postgres"), "-D", cluster, "-k", s.dir, "-c", "listen_addresses=",
		"-c", "fsync=off", "-c", "full_page_writes=off", "-c", "max_connections=200", "-c", "shared_buffers=64MB")
	if s.failure = server.Start(); s.failure != nil {
		return
	}
	exited := make(chan struct{})
	go func() {
		select {
		case <-s.ending:
			// An immediate shutdown is enough, since the files are about to be
			// removed. Unlike SIGKILL it lets the server free its shared memory.
			_ = server.Process.Signal(syscall.SIGQUIT)
		case <-exited:
		}
	}()
	s.failure = server.Wait()
	close(exited)
}

// command runs as the user postgres and writes to the log. The log is a file,
// since go test waits for all processes that hold its output open.
func (s *server) command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Dir = s.dir // the user postgres may not have access to the present one
	cmd.SysProcAttr = s.attr
	cmd.Stdout, cmd.Stderr = s.log, s.log
	return cmd
}

// await returns once the server answers, or with its log once it cannot.
func (s *server) await() error {
	deadline := time.After(10 * time.Minute) // only a server that hangs takes so long
	for {
		err := s.exec("SELECT 1")
		if err == nil {
			return nil
		}
		select {
		case <-s.ended:
			err = s.failure
		case <-deadline:
		case <-time.After(20 * time.Millisecond):
			continue
		}
		log, _ := os.ReadFile(s.log.Name())
		return fmt.Errorf("it does not start: %w\n%s", err, log)
	}
}

// stop ends the server and removes its files.
func (s *server) stop() {
	close(s.ending)
	<-s.ended
	s.discard()
}

func (s *server) discard() {
	_ = os.RemoveAll(s.dir)
	_ = s.log.Close()
	_ = s.held.Close()
}

// makeDir makes a directory for the cluster.
func (s *server) makeDir() (err error) {
	sweep()
	// Directly in the temporary directory: the path of a socket is limited to
	// about a hundred bytes.
	if s.dir, err = os.MkdirTemp("", prefix); err != nil {
		return err
	}
	if s.held, err = hold(s.dir); err == nil {
		s.log, err = os.Create(filepath.Join(s.dir, "log"))
	}
	if err == nil {
		err = s.becomePostgres()
	}
	if err != nil {
		s.discard()
	}
	return err
}

// becomePostgres makes the server run as the user postgres when this process is
// root, since PostgreSQL refuses to run as root.
func (s *server) becomePostgres() error {
	s.attr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT}
	if os.Getuid() != 0 {
		return nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return fmt.Errorf("%w: make test installs it", err)
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return err
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return err
	}
	s.attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return os.Chown(s.dir, uid, gid)
}
