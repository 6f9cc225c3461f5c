package main

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

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
	IDs []string `arg:"" name:"id" help:"Ids of positions, such as dealing-2026127006, 1,000 at most. pregon export positions lists them."`
}

// maxErased is the number of positions of one call, which is one transaction.
const maxErased = 1000

// Run erases the names, all or none, and prints what was done to each position.
func (c *eraseNamesCmd) Run(ctx context.Context, p *process) error {
	var ids []string
	for _, id := range c.IDs {
		if id = strings.ToLower(strings.TrimSpace(id)); !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if len(ids) > maxErased {
		return fault.New(fault.Invalid, "%d ids are too many: give %d at most, and run the command again for the others",
			len(ids), maxErased)
	}
	return c.with(ctx, func(db engine.Store, audit access.Audit) error {
		named, err := namedPositions(ctx, db, ids)
		if err != nil {
			return err
		}
		out, err := db.EraseNames(ctx, nil, named...)
		if err != nil {
			return err
		}
		for _, id := range ids {
			done := "erased"
			if !slices.Contains(named, id) {
				done = "was erased before"
			} else {
				audit(ctx, "name.erased", slog.String("position", id))
			}
			if _, err := fmt.Fprintln(p.stdout, id, done); err != nil {
				return err
			}
		}
		fmt.Fprintf(p.stderr, "%d names erased. Snapshots, exports and backups that were made before still have them: "+
			"see docs/security.md\n", out.Updated)
		return nil
	})
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
