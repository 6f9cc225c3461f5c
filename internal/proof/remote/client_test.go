package remote_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pregon/internal/proof/prooftest"
	"pregon/internal/proof/remote"
)

// client is a client of a server with a history in a file.
type client struct {
	t      testing.TB
	server *prooftest.Server
	file   string
	keys   remote.Keys
	check  *remote.Checker
}

func newClient(t testing.TB, s *prooftest.Server) *client {
	t.Helper()
	_, public := s.Keys()
	c := &client{t: t, server: s, file: filepath.Join(t.TempDir(), "checkpoint"), keys: remote.Keys{public}}
	c.restart()
	return c
}

// restart begins anew with the files.
func (c *client) restart() {
	c.t.Helper()
	log, err := remote.New("http://example.org", "")
	if err != nil {
		c.t.Fatal(err)
	}
	log.Through(c.server)
	h, err := remote.LoadHistory(c.file)
	if err != nil {
		c.t.Fatal(err)
	}
	c.check = &remote.Checker{Log: log, Keys: c.keys, History: h}
}

// ok checks the log, which must be right.
func (c *client) ok() remote.Result {
	c.t.Helper()
	result, err := c.check.Check(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	return result
}

// wrong checks the log, which must be wrong. The history must stay as it is.
func (c *client) wrong(kind remote.Kind) *remote.Mismatch {
	c.t.Helper()
	before := c.files()
	_, err := c.check.Check(c.t.Context())
	m, ok := errors.AsType[*remote.Mismatch](err)
	if !ok || m.Kind != kind {
		c.t.Fatalf("the error is %v, want %s", err, kind)
	}
	for name, text := range before {
		if c.files()[name] != text {
			c.t.Errorf("after a mismatch %s differs", name)
		}
	}
	return m
}

// files returns the contents of all files of the client by the ends of their names.
func (c *client) files() map[string]string {
	c.t.Helper()
	names, err := filepath.Glob(c.file + "*")
	if err != nil {
		c.t.Fatal(err)
	}
	files := map[string]string{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			c.t.Fatal(err)
		}
		files[strings.TrimPrefix(name, c.file)] = string(text)
	}
	return files
}
