package main

import (
	"context"
	"fmt"
	"time"

	"pregon/internal/store/engine"
)

type backupCmd struct {
	storeFlag
	To   string `required:"" placeholder:"DIR|FILE" help:"Where to write the backup: an existing directory, where the file is named after the time, or a new file such as backup.db."`
	Keep int    `placeholder:"N" help:"With a directory: keep the N newest backups of this store there, and delete older ones. Default: keep all."`
}

// Run writes the backup and prints its name and newest change.
func (c *backupCmd) Run(ctx context.Context, p *process) error {
	address, err := c.address()
	if err != nil {
		return err
	}
	done, err := address.Backup(ctx, engine.BackupOptions{To: c.To, Keep: c.Keep, Now: time.Now()})
	if err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "%s: %d bytes, as of change %s\n", done.Path, done.Bytes, done.Head)
	for _, path := range done.Deleted {
		fmt.Fprintf(p.stdout, "deleted %s\n", path)
	}
	return nil
}
