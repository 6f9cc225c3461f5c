package main

import (
	"context"
	"fmt"
	"strconv"

	"pregon/internal/fault"
	"pregon/internal/source/ingest"
	"pregon/internal/store"
	"pregon/internal/store/engine"
)

type migrateCmd struct {
	newStoreFlags
	To string `placeholder:"VERSION|previous" help:"Go back to an earlier schema version, for an older program: a number, or previous for that of the previous release. The older program states its number when it refuses the store. Stop every process on the store first. No report, key, webhook or delivery is lost."`
}

// Run opens the store, which migrates its schema, or takes it back.
func (c *migrateCmd) Run(ctx context.Context, p *process) error {
	if c.To != "" {
		return c.back(ctx, p)
	}
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

// back undoes the migrations after the version of --to.
func (c *migrateCmd) back(ctx context.Context, p *process) error {
	to := store.PreviousSchema
	if c.To != "previous" {
		var err error
		if to, err = strconv.Atoi(c.To); err != nil || to < 1 {
			return fault.New(fault.Invalid, "--to %s must be previous, or the number of a schema version", c.To)
		}
	}
	address, err := c.address()
	if err != nil {
		return err
	}
	schema, err := address.Schema(ctx)
	if err != nil {
		return err
	}
	if schema.Version != to {
		// Opening the store migrates it, so a version that is refused is refused before.
		if err := schema.GoesBack(to); err != nil {
			return err
		}
		if err := c.undo(ctx, address, to); err != nil {
			return err
		}
	}
	fmt.Fprintf(p.stdout, "%s is at schema version %d: start the program of that version now, "+
		"because every command of this one that opens the store migrates it again\n", c.show(), to)
	return nil
}

// undo opens the store, and takes it back while no process reads the source.
func (c *migrateCmd) undo(ctx context.Context, address engine.Address, to int) error {
	db, err := address.OpenComplete(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	lease := ingest.NewCommandLease(db)
	defer lease.Release(ctx)
	if err := lease.Wait(ctx); err != nil {
		return err
	}
	if err := db.MigrateBack(ctx, to); err != nil {
		return err
	}
	lease.Release(ctx)
	return db.Close()
}
