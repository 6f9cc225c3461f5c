package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"time"

	"github.com/alecthomas/kong"

	"pregon/internal/fault/outage"
	"pregon/internal/retry"
	"pregon/internal/server/notices"
	"pregon/internal/store"
	"pregon/internal/store/postgres"
	"pregon/internal/store/sqlite"
)

// openedStore is an engine, and which schema it is at.
type openedStore interface {
	store.Store
	SchemaVersion(ctx context.Context) (int, error)
	Created() bool // by this process
	Size(ctx context.Context) (bytes int64, err error)
	Connections() (inUse, most int)
}

// open opens the store and brings its schema up to date. Only commands that
// write make a file that is not there: an export of a misspelt path must not
// answer with an empty file.
func (f storeFlag) open(ctx context.Context, create bool) (openedStore, error) {
	spec, err := parseStore(f.Store)
	if err != nil {
		return nil, err
	}
	if spec.url != "" {
		return postgres.Open(ctx, spec.url)
	}
	return sqlite.Open(ctx, spec.path, sqlite.Options{Create: create && !spec.mustExist})
}

const tryStoreEvery = time.Second

// openPatiently opens the store, and waits for a PostgreSQL that does not answer.
// A file does not come by waiting.
func (c *serveConfig) openPatiently(ctx context.Context, log *slog.Logger) (openedStore, error) {
	if spec, err := parseStore(c.Store); err != nil || spec.url == "" {
		return c.open(ctx, true)
	}
	log = log.With("store", c.show(), "at_most", c.WaitStore)
	return patiently(ctx, c.WaitStore, log, func(ctx context.Context) (openedStore, error) { return c.open(ctx, true) })
}

// patiently opens until that succeeds, fails for a reason that does not pass, or
// the time is over.
func patiently(ctx context.Context, most time.Duration, log *slog.Logger, open func(context.Context) (openedStore, error)) (openedStore, error) {
	if most == 0 {
		return open(ctx)
	}
	end, trouble := time.Now().Add(most), outage.Log{Logger: log}
	for {
		db, err := open(ctx) // to connect has a deadline of its own; to migrate may take long
		switch {
		case err == nil:
			return db, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case !postgres.Away(err):
			return nil, err
		case !time.Now().Add(tryStoreEvery).Before(end):
			return nil, fmt.Errorf("the store did not answer for %v (--wait-store): %w", most, err)
		}
		trouble.Failed("the store does not answer: waiting for it", "err", err)
		if err := retry.Sleep(ctx, tryStoreEvery); err != nil {
			return nil, err
		}
	}
}

type migrateCmd struct{ storeFlag }

// Run opens the store, which migrates it.
func (c *migrateCmd) Run(ctx context.Context, p *process) error {
	s, err := c.open(ctx, true)
	if err != nil {
		return err
	}
	defer s.Close()
	v, err := s.SchemaVersion(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "%s is at schema version %d\n", c.show(), v)
	return s.Close()
}

type versionCmd struct {
	Licenses bool `help:"Print the licences of what is in the program instead."`
}

// Run prints the version, or the licences.
func (c *versionCmd) Run(p *process) error {
	if c.Licenses {
		_, err := io.WriteString(p.stdout, notices.Text)
		return err
	}
	return printVersion(p.stdout)
}

func printVersion(w io.Writer) error {
	_, err := fmt.Fprintf(w, "pregon %s (%s)\n", version, runtime.Version())
	return err
}

// versionFlag is --version.
type versionFlag bool

// BeforeReset prints the version in place of what else was asked for.
func (versionFlag) BeforeReset(app *kong.Kong) error {
	err := printVersion(app.Stdout)
	app.Exit(0)
	return err
}

// helpCmd is listed among the commands; run turns it into --help.
type helpCmd struct {
	Command []string `arg:"" optional:"" help:"The command. Default: all of them, in short."`
}
