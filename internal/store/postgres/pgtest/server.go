package pgtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"pregon/internal/test/processtest"
)

// server is a cluster that this process started.
type server struct {
	bin      string   // the directory of the programs
	dir      string   // holds the cluster, its log and its socket
	settings []string // of postgres, as name=value; later ones win
	port     int      // the socket is named after it
	held     *os.File // dir, locked for as long as this process lives: see sweep
	log      *os.File
	attr     *syscall.SysProcAttr
	process  *processtest.Process // nil if it was never started
}

// settings are those of every server. Nothing is to survive a crash of the machine.
var settings = []string{
	"listen_addresses=", "fsync=off", "full_page_writes=off", "max_connections=200",
	"shared_buffers=64MB",
}

// startServer makes a cluster as newServer does, and returns when its server takes
// connections.
func startServer(port int, settings []string, program string, args ...string) (*server, error) {
	s, err := newServer(port, settings, program, args...)
	if err != nil {
		return nil, err
	}
	if err := s.start(); err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

// newServer makes a cluster with initdb or pg_basebackup.
func newServer(port int, settings []string, program string, args ...string) (*server, error) {
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	s := &server{bin: bin, port: port, settings: settings}
	if err := s.makeDir(); err != nil {
		return nil, err
	}
	if err := s.command(program, append([]string{"-D", s.data(), "--no-sync"}, args...)...).Run(); err != nil {
		err = s.explain(err)
		s.stop()
		return nil, err
	}
	return s, nil
}

// initdb starts a server with an empty cluster.
func initdb(port int, settings ...string) (*server, error) {
	return startServer(port, settings, "initdb", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C")
}

func (s *server) data() string { return filepath.Join(s.dir, "data") }

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

// start runs the server and returns when it takes connections.
func (s *server) start() (err error) {
	args := []string{"-D", s.data(), "-k", s.dir, "-p", strconv.Itoa(s.port)}
	for _, setting := range slices.Concat(settings, s.settings) {
		args = append(args, "-c", setting)
	}
	if s.process, err = processtest.Start(s.command("postgres", args...)); err != nil {
		s.process = nil
		return err
	}
	if err := s.process.Await(func() error { return s.exec("SELECT 1") }); err != nil {
		return s.explain(err)
	}
	return nil
}

// command runs as the user postgres and writes to the log. The log is a file,
// since go test waits for all processes that hold its output open.
func (s *server) command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, program), args...)
	cmd.Dir = s.dir // the user postgres may not have access to the present one
	cmd.SysProcAttr = s.attr
	cmd.Stdout, cmd.Stderr = s.log, s.log
	return cmd
}

// explain adds the log to an error.
func (s *server) explain(err error) error {
	log, _ := os.ReadFile(s.log.Name())
	return fmt.Errorf("it does not start: %w\n%s", err, log)
}

// stop ends the server and removes its files.
func (s *server) stop() {
	if s.process != nil {
		signalAll(s.data(), syscall.SIGCONT) // a frozen one would not end
		// An immediate shutdown is enough, since the files are about to be
		// removed. Unlike SIGKILL it lets the server free its shared memory.
		s.process.End(syscall.SIGQUIT)
	}
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
