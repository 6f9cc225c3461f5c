package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"pregon/internal/store/postgres"
)

// cluster is a temporary PostgreSQL server with its default settings, which include
// durable commits.
type cluster struct {
	cmd *exec.Cmd
	dir string
	url string
}

// onPostgres calls fn with a new store on a server of its own.
func (b *bench) onPostgres(fn func(url string, db *postgres.Store) error) error {
	return b.onCluster(func(server *cluster, db *postgres.Store) error { return fn(server.url, db) })
}

// onCluster is onPostgres for what measures the server too.
func (b *bench) onCluster(fn func(server *cluster, db *postgres.Store) error) error {
	server, err := startPostgres()
	if err != nil {
		return err
	}
	defer server.stop()
	db, err := postgres.Open(b.ctx, server.url)
	if err != nil {
		return err
	}
	defer db.Close()
	return fn(server, db)
}

// startPostgres returns when the server accepts connections.
func startPostgres() (*cluster, error) {
	bin, err := postgresPrograms()
	if err != nil {
		return nil, err
	}
	// Directly in the temporary directory: the path of a socket must be short.
	dir, err := os.MkdirTemp("", "bench-pg-")
	if err != nil {
		return nil, err
	}
	c := &cluster{dir: dir, url: "postgres://postgres@/postgres?host=" + dir}
	attr, err := asPostgres(dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	data := filepath.Join(dir, "data")
	initdb := exec.Command(filepath.Join(bin, "initdb"), "-D", data, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C")
	initdb.SysProcAttr, initdb.Dir = attr, dir
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("initdb: %w: %s", err, out), os.RemoveAll(dir))
	}
	c.cmd = exec.Command(filepath.Join(bin, "postgres"), "-D", data, "-k", dir, "-c", "listen_addresses=")
	c.cmd.SysProcAttr, c.cmd.Dir = attr, dir
	if err := c.cmd.Start(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	for range 600 {
		ready := exec.Command(filepath.Join(bin, "pg_isready"), "-h", dir, "-U", "postgres")
		if ready.Run() == nil {
			return c, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	c.stop()
	return nil, errors.New("PostgreSQL does not start")
}

// busy returns the processor time that the server has used so far.
func (c *cluster) busy() (time.Duration, error) { return usageWithChildren(c.cmd.Process.Pid) }

func (c *cluster) stop() {
	_ = c.cmd.Process.Signal(syscall.SIGQUIT) // its files are removed anyway
	_ = c.cmd.Wait()
	_ = os.RemoveAll(c.dir)
}

// postgresPrograms returns the directory of the PostgreSQL programs. It searches the
// PATH, following links, and the directory that Debian uses.
func postgresPrograms() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		path, err = filepath.EvalSymlinks(path)
		return filepath.Dir(path), err
	}
	paths, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil || len(paths) == 0 {
		return "", errors.New("PostgreSQL is not installed: make test installs it")
	}
	return paths[len(paths)-1], nil
}

// asPostgres returns attributes that run a program as the user postgres if we are
// root, because PostgreSQL refuses to run as root.
func asPostgres(dir string) (*syscall.SysProcAttr, error) {
	attr := &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT}
	if os.Getuid() != 0 {
		return attr, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, err
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return attr, os.Chown(dir, int(uid), int(gid))
}
