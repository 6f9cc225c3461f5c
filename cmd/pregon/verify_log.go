package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"pregon/internal/cli"
	"pregon/internal/fault"
	"pregon/internal/proof/remote"
	"pregon/internal/retry"
)

type logFlags struct {
	Log     string        `placeholder:"URL" help:"Check the transparency log of a service: its address, or that of its log. The store is not read."`
	Since   string        `placeholder:"FILE" help:"The last checkpoint that was verified, as /log/checkpoint serves it: the log, or the store, must continue it. With --log it is created if it does not exist, and replaced after a success. FILE.hashes, FILE.vkey and FILE.conflict belong to it."`
	VKey    string        `name:"vkey" placeholder:"KEY|FILE" help:"The public key of the log, or a file with one key per line, from a source that you trust. Default: the key in FILE.vkey. If that file does not exist, --log uses the key that the service states, with a warning."`
	Follow  bool          `help:"With --log: keep checking until interrupted or until a check fails."`
	Every   time.Duration `default:"1m" placeholder:"DURATION" help:"With --follow: time between two checks."`
	Entries bool          `help:"With --log: read every change too, and compare it with the log. It needs a key of the service in PREGON_KEY."`
}

// verifyLog checks the log of a service, with --follow until the context ends.
func (c *verifyCmd) verifyLog(ctx context.Context, p *process) error {
	log, err := remote.New(c.Log, p.getenv(keyEnv))
	if err != nil {
		return fmt.Errorf("--log: %w", err)
	}
	checker := &remote.Checker{Log: log, Entries: c.Entries}
	if checker.History, checker.Keys, err = c.known(p); err != nil {
		return err
	}
	if checker.Keys == nil {
		if checker.Keys, err = log.Keys(ctx); err != nil {
			return err
		}
		c.warnOfKeys(p, log, checker.Keys)
	}
	if !c.Follow {
		return c.checkLog(ctx, p, checker)
	}
	for {
		err := c.checkLog(ctx, p, checker)
		if ctx.Err() == nil && fault.KindOf(err) == fault.Unavailable {
			fmt.Fprintln(p.stderr, "pregon:", cli.OneLine(err))
		} else if err != nil {
			return fault.UnlessCanceled(err)
		}
		if err := retry.Sleep(ctx, c.Every); err != nil {
			return fault.UnlessCanceled(err)
		}
	}
}

// known returns what --since has, nil without it, and the keys that are trusted.
func (c *verifyCmd) known(p *process) (h *remote.History, keys remote.Keys, err error) {
	if c.Since != "" {
		if h, err = remote.LoadHistory(c.Since); err != nil {
			return nil, nil, fmt.Errorf("--since: %w", err)
		}
		if h.Warning != "" {
			fmt.Fprintln(p.stderr, "warning:", h.Warning)
		}
	}
	switch {
	case c.VKey != "":
		keys, err = remote.ReadKeys(c.VKey)
	case h != nil:
		keys = h.Keys
	}
	return h, keys, err
}

// warnOfKeys says what a key is worth that the service itself has stated.
func (c *verifyCmd) warnOfKeys(p *process, log *remote.Log, keys remote.Keys) {
	fmt.Fprintf(p.stderr, "warning: this key comes from %s itself, and a false server could send a false key. "+
		"Compare it with another source, and pin it:\n", log.Address())
	for _, key := range keys {
		fmt.Fprintf(p.stderr, "  --vkey %s\n", key)
	}
	if c.Since != "" {
		fmt.Fprintf(p.stderr, "It will be pinned in %s.vkey\n", c.Since)
	}
}

// checkLog checks the log once and prints what was shown.
func (c *verifyCmd) checkLog(ctx context.Context, p *process, checker *remote.Checker) error {
	bars := &stageBars{p: p}
	checker.Progress = bars.set
	result, err := checker.Check(ctx)
	bars.finish()
	if m, ok := errors.AsType[*remote.Mismatch](err); ok {
		if m.Text != nil {
			fmt.Fprintf(p.stderr, "THE LOG IS WRONG. Its checkpoint:\n%s\n", m.Text)
		}
		if result.Before.Origin != "" {
			fmt.Fprintf(p.stderr, "%s was not changed. Keep it and %s.* as evidence. To start over from the "+
				"server's current log, move them away.\n", c.Since, c.Since)
		}
		return fault.Wrap(fault.Conflict, err, "%s", checker.Log.Address())
	}
	if err != nil {
		return err
	}
	now, before := result.Checkpoint, result.Before
	fmt.Fprintf(p.stdout, "%s: %d changes, signed, root %s\n", now.Origin, now.Size, now.Root)
	switch {
	case before.Origin != "":
		fmt.Fprintf(p.stdout, "it continues the %d changes of %s: none was altered, removed or inserted; %d are new\n",
			before.Size, c.Since, now.Size-before.Size)
	case c.Since != "":
		fmt.Fprintf(p.stdout, "kept in %s: the next check will show whether history was rewritten\n", c.Since)
	default:
		fmt.Fprintln(p.stdout, "nothing was compared with an earlier check: use --since FILE")
	}
	if c.Entries {
		fmt.Fprintf(p.stdout, "%d changes were read and match the log\n", result.Entries)
	}
	for _, id := range result.Unknown {
		fmt.Fprintf(p.stderr, "warning: the log is also signed by another key, %s: if the operator has announced "+
			"it, give all keys of the log with --vkey\n", id)
	}
	return nil
}
