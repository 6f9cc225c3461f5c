package main

import (
	"context"
	"errors"
	"fmt"

	"pregon/internal/cli"
	"pregon/internal/fault"
	"pregon/internal/store/clone"
	"pregon/internal/store/engine"
)

type copyCmd struct {
	From string `required:"" placeholder:"sqlite:PATH|postgres://…" help:"The store to copy. Processes may use it meanwhile."`
	To   string `required:"" placeholder:"sqlite:PATH|postgres://…" help:"The store to write: a new SQLite file, an empty database, or an earlier copy of the same store that was not used yet."`
}

// Run copies the store and prints what the copy has.
func (c *copyCmd) Run(ctx context.Context, p *process) error {
	from, err := engine.ParseAddress(c.From)
	if err != nil {
		return fmt.Errorf("--from: %w", err)
	}
	to, err := engine.ParseAddress(c.To)
	if err != nil {
		return fmt.Errorf("--to: %w", err)
	}
	if from.Digest() == to.Digest() {
		return fault.New(fault.Invalid, "--from and --to are the same store")
	}
	source, err := from.Open(ctx, false)
	if err != nil {
		return fmt.Errorf("the source: %w", err)
	}
	defer source.Close()
	target, err := to.BeginAnew().OpenCopy(ctx, true) // no service starts on it before it is complete
	if err != nil {
		return fmt.Errorf("the target: %w", err)
	}
	defer target.Close()

	bar := &roundBar{p: p}
	result, err := clone.Copy(ctx, clone.Options{
		From:       source,
		To:         target,
		FromSQLite: from.Path() != "",
		ToSQLite:   to.Path() != "",
		Progress:   bar.set,
	})
	bar.finish()
	if err != nil {
		if ctx.Err() != nil {
			return errors.New("interrupted: run the same command again to continue")
		}
		if fault.KindOf(err) == fault.Unavailable {
			return fmt.Errorf("%w; then run the same command again to continue", err)
		}
		return err
	}
	fmt.Fprintf(p.stdout, "%s is a verified copy of %s as of change %d: %d rows in %d tables; %d rows were "+
		"written now\n",
		to, from, result.Head.Seq, result.Rows, result.Tables, result.Written)
	if result.InUse {
		fmt.Fprintln(p.stdout, "the source is in use, so no service starts on the copy yet: to move to it, "+
			"stop every serve on the source and run the same command again; to use it beside the source, run "+
			"pregon restore on it")
	}
	return errors.Join(source.Close(), target.Close())
}

// roundBar shows a bar for each round of a copy.
type roundBar struct {
	p     *process
	round int
	bar   *cli.Bar
}

func (b *roundBar) set(round int, done, rows int64) {
	if round != b.round {
		b.finish()
		what := "copying"
		if b.round = round; round > 1 {
			what = "comparing"
		}
		b.bar = cli.NewBar(b.p.stderr, what, "rows", rows)
	}
	b.bar.Set(int(min(done, rows)))
}

func (b *roundBar) finish() {
	if b.bar != nil {
		b.bar.Finish()
	}
}
