package main

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/store"
	"pregon/internal/store/engine"
)

type positionsCmd struct {
	EraseNames eraseNamesCmd `cmd:"" help:"Erase the names of natural persons from positions, permanently, also from history. A running service drops them within seconds. Earlier snapshots, exports and backups still have them."`
}

type eraseNamesCmd struct {
	adminFlags
	IDs       []string `arg:"" optional:"" name:"id" help:"Ids of positions, such as dealing-2026127006, 1,000 at most. pregon export positions lists them."`
	OlderThan int      `placeholder:"DAYS" help:"Instead of ids: erase all names of positions whose day was more than this number of days ago. Serve does this by itself if it reads the source: see --people-retention."`
}

// mostErased is the number of positions of one transaction, and of one call with ids.
const mostErased = 1000

// validate requires either ids or an age.
func (c *eraseNamesCmd) validate() error {
	switch {
	case c.OlderThan < 0:
		return fault.New(fault.Invalid, "--older-than %d must be a number of days, 1 or more", c.OlderThan)
	case (len(c.IDs) == 0) == (c.OlderThan == 0):
		return fault.New(fault.Invalid, "give the ids of positions, or --older-than DAYS: "+
			"pregon positions erase-names dealing-2026127006")
	case len(c.IDs) > mostErased:
		return fault.New(fault.Invalid, "%d ids are too many: give %d at most, and run the command again for the others",
			len(c.IDs), mostErased)
	}
	return nil
}

// Run erases names and prints what was done.
func (c *eraseNamesCmd) Run(ctx context.Context, p *process) error {
	if err := c.validate(); err != nil {
		return err
	}
	return c.with(ctx, func(db engine.Store, audit access.Audit) error {
		erase := c.eraseIDs
		if c.OlderThan > 0 {
			erase = c.eraseOld
		}
		n, err := erase(ctx, p, db, audit)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(p.stderr, "%d names erased. Snapshots, exports and backups that were made before still have "+
			"them: see docs/security.md\n", n)
		return err
	})
}

// eraseIDs erases the names of the ids, all or none, and prints what was done to each
// position.
func (c *eraseNamesCmd) eraseIDs(ctx context.Context, p *process, db store.Log, audit access.Audit) (int, error) {
	var ids []string
	for _, id := range c.IDs {
		if id = strings.ToLower(strings.TrimSpace(id)); !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	named, err := namedPositions(ctx, db, ids)
	if err != nil {
		return 0, err
	}
	out, err := db.EraseNames(ctx, nil, named...)
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		done := "was erased before"
		if slices.Contains(named, id) {
			done = "erased"
			audit(ctx, "name.erased", slog.String("position", id))
		}
		if _, err := fmt.Fprintln(p.stdout, id, done); err != nil {
			return out.Updated, err
		}
	}
	return out.Updated, nil
}

// namedPositions returns those of the ids whose names are not erased yet. It fails if one
// is unknown, or has a name that cannot be erased.
func namedPositions(ctx context.Context, db store.Log, ids []string) (named []string, err error) {
	found, err := db.Positions(ctx, ids...)
	if err != nil {
		return nil, err
	}
	known := make(map[string]*disclosure.Position, len(found))
	for i := range found {
		known[found[i].ID] = &found[i]
	}
	for _, id := range ids {
		p := known[id]
		switch {
		case p == nil:
			return nil, fault.New(fault.NotFound,
				"there is no position %q; nothing was erased. pregon export positions lists the ids", id)
		case p.Erased:
		case !p.Natural:
			return nil, fault.New(fault.Conflict,
				"the name of %s is that of a legal person, which the log keeps; nothing was erased", id)
		default:
			named = append(named, id)
		}
	}
	return named, nil
}

// eraseOld erases the names of old positions, in several transactions.
func (c *eraseNamesCmd) eraseOld(ctx context.Context, _ *process, db store.Log, _ access.Audit) (n int, err error) {
	from := disclosure.DayOf(time.Now()) - disclosure.Day(c.OlderThan)
	var old []string
	_, err = db.Current(ctx, func(change disclosure.Change) error {
		p := change.Position
		if p == nil || !p.Natural || p.Erased {
			return nil
		}
		if day, ok := disclosure.ParseDay(p.Day()); ok && day < from {
			old = append(old, p.ID)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	for some := range slices.Chunk(old, mostErased) {
		out, err := db.EraseNames(ctx, nil, some...)
		if err != nil {
			return n, err
		}
		n += out.Updated
	}
	return n, nil
}
