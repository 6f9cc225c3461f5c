package main

import (
	"context"
	"fmt"
	"io"
	"runtime"

	"github.com/alecthomas/kong"

	"pregon/internal/server/notices"
	"pregon/internal/store/engine"
)

// address parses --store.
func (f storeFlag) address() (engine.Address, error) {
	address, err := engine.ParseAddress(f.Store)
	if err != nil {
		return address, fmt.Errorf("--store: %w", err)
	}
	return address, nil
}

// open opens a store that exists and migrates its schema; see [engine.Address.Open].
func (f storeFlag) open(ctx context.Context) (engine.Store, error) {
	address, err := f.address()
	if err != nil {
		return nil, err
	}
	return address.Open(ctx, false)
}

// address parses --store.
func (f newStoreFlags) address() (engine.Address, error) {
	address, err := f.storeFlag.address()
	if f.NewStore {
		address = address.BeginAnew()
	}
	return address, err
}

// openOrCreate is like open, but creates a store where there is none.
func (f newStoreFlags) openOrCreate(ctx context.Context) (engine.Store, error) {
	address, err := f.address()
	if err != nil {
		return nil, err
	}
	return address.Open(ctx, true)
}

// show returns the address of the store without its secrets.
func (f storeFlag) show() string { return showAddress(f.Store) }

func showAddress(store string) string {
	address, err := engine.ParseAddress(store)
	if err != nil {
		return "?"
	}
	return address.String()
}

type migrateCmd struct{ newStoreFlags }

// Run opens the store, which migrates its schema.
func (c *migrateCmd) Run(ctx context.Context, p *process) error {
	s, err := c.openOrCreate(ctx)
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
	Licenses bool `help:"Print the licences of the software in the program."`
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

// BeforeReset prints the version instead of running a command.
func (versionFlag) BeforeReset(app *kong.Kong) error {
	err := printVersion(app.Stdout)
	app.Exit(0)
	return err
}

// helpCmd is only listed among the commands; run turns it into --help.
type helpCmd struct {
	Command []string `arg:"" optional:"" help:"The command. Default: all of them, in short."`
}
