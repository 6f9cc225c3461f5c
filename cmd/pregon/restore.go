package main

import (
	"context"
	"fmt"

	"pregon/internal/service/proofs"
)

type restoreCmd struct{ storeFlag }

// Run renews the epoch of the log.
func (c *restoreCmd) Run(ctx context.Context, p *process) error {
	address, err := c.address()
	if err != nil {
		return err
	}
	db, err := address.OpenComplete(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	before, head, err := proofs.RenewEpoch(ctx, address, db)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "the epoch of %s is now %s, and was %s; its newest change is %d\n", c.show(),
		head.Epoch, before.Epoch, head.Seq)
	fmt.Fprintln(p.stdout, "the next serve ends all sessions of people and the access of their applications; "+
		"keys are as in the backup: revoke again those that were revoked after it")
	return db.Close()
}
