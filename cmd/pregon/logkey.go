package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/auth/secret"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/proof/transparency"
	"pregon/internal/server/origin"
	"pregon/internal/store/engine"
)

type logKeyCmd struct {
	List   listLogKeysCmd  `cmd:"" help:"List the keys, each with the public key that verifies its signatures. The last one is served as /log/vkey."`
	Add    addLogKeyCmd    `cmd:"" help:"Create another key. All keys sign, so clients that know only an older key still accept the log."`
	Remove removeLogKeyCmd `cmd:"" help:"Remove a key. Clients that know only this key no longer accept the log: announce another key first."`
}

// logKeyFlags are embedded by the commands on keys of the log.
type logKeyFlags struct {
	adminFlags
	BaseURL string `default:"http://127.0.0.1:8080" placeholder:"URL" help:"Address of the service, the same as for serve. It is part of the name of the log."`
}

// withKeys calls do with the keys of the log, and the name that the log has now.
func (f *logKeyFlags) withKeys(
	ctx context.Context,
	p *process,
	do func(keys *transparency.Keys, name string, audit access.Audit) error,
) error {
	base, err := origin.Canonical(f.BaseURL)
	if err != nil {
		return fault.New(fault.Invalid, "--base-url %q %v", f.BaseURL, err)
	}
	box, err := secret.NewBox(p.getenv(secretKeyEnv))
	if err != nil {
		return err
	}
	return f.with(ctx, func(db engine.Store, audit access.Audit) error {
		head, err := db.Head(ctx)
		if err != nil {
			return err
		}
		keys := transparency.NewKeys(db, box, slog.New(slog.NewTextHandler(p.stderr, nil)))
		if err := keys.LoadOrCreate(ctx); err != nil {
			return err
		}
		return do(keys, transparency.Origin(base, head), audit)
	})
}

type listLogKeysCmd struct{ logKeyFlags }

// Run prints the keys.
func (c *listLogKeysCmd) Run(ctx context.Context, p *process) error {
	return c.withKeys(ctx, p, func(keys *transparency.Keys, name string, _ access.Audit) error {
		for _, key := range keys.List() {
			text, err := key.VerifierKey(name)
			if err != nil {
				return err
			}
			fmt.Fprintf(p.stdout, "%d  %s  %s\n", key.ID,
				key.CreatedAt.In(disclosure.Madrid).Format(time.RFC3339), text)
		}
		return nil
	})
}

type addLogKeyCmd struct{ logKeyFlags }

// Run adds a key and prints it.
func (c *addLogKeyCmd) Run(ctx context.Context, p *process) error {
	return c.withKeys(ctx, p, func(keys *transparency.Keys, name string, audit access.Audit) error {
		key, err := keys.Add(ctx)
		if err != nil {
			return err
		}
		audit(ctx, "log_key.added", slog.Int64("key", key.ID))
		text, err := key.VerifierKey(name)
		if err != nil {
			return err
		}
		fmt.Fprintln(p.stdout, text)
		fmt.Fprintf(p.stderr, "key %d signs from now on, beside the others\n", key.ID)
		return nil
	})
}

type removeLogKeyCmd struct {
	logKeyFlags
	ID int64 `arg:"" help:"Number of the key, as list shows it."`
}

// Run removes a key.
func (c *removeLogKeyCmd) Run(ctx context.Context, p *process) error {
	return c.withKeys(ctx, p, func(keys *transparency.Keys, _ string, audit access.Audit) error {
		if err := keys.Remove(ctx, c.ID); err != nil {
			return err
		}
		audit(ctx, "log_key.removed", slog.Int64("key", c.ID))
		fmt.Fprintf(p.stderr, "key %d no longer signs\n", c.ID)
		return nil
	})
}
