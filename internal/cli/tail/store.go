package tail

import (
	"context"
	"fmt"
	"log/slog"

	"golang.org/x/sync/errgroup"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/push/events"
	"pregon/internal/query"
	"pregon/internal/source/coverage"
	"pregon/internal/source/ingest"
	"pregon/internal/store"
)

// Store prints the events of a store that the selection matches, after a cursor
// or, when that is empty, from now on. It returns when the context ends.
func (p *Printer) Store(ctx context.Context, db store.Store, selection events.Selection, after string) error {
	cat := catalog.New(db, slog.New(slog.NewTextHandler(p.Err, &slog.HandlerOptions{Level: slog.LevelWarn})))
	hub := events.NewHub(cat, db)
	if err := cat.Load(ctx); err != nil {
		return err
	}
	var err error
	if selection, err = p.resolve(ctx, db, cat.Snapshot(), selection); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return cat.Follow(ctx) })
	g.Go(func() error { return p.follow(ctx, hub, selection.Compile(nil), after) })
	return g.Wait()
}

// resolve returns the selection with the issuer and the category that its texts name, after
// the checks of a service. Warnings are printed.
func (p *Printer) resolve(
	ctx context.Context,
	db store.Store,
	s *catalog.Snapshot,
	selection events.Selection,
) (events.Selection, error) {
	filled := coverage.New(db)
	if err := filled.Refresh(ctx); err != nil {
		return selection, err
	}
	names := query.New(query.Options{Partial: func() bool { return !ingest.NamesKnown(filled) }})
	params := names.NewParams(query.NewFilterBody(selection.Filter).Values())
	selection.Filter = params.LiveFilter(s)
	params.CheckSelection(selection)
	for _, warning := range params.Warnings() {
		fmt.Fprintln(p.Err, "pregon: warning:", warning)
	}
	return selection, params.Err()
}

func (p *Printer) follow(ctx context.Context, hub *events.Hub, selector *events.Selector, start string) error {
	after, located := hub.Head().Cursor, start == ""
	if !located {
		after, _ = disclosure.ParseCursor(start) // the command has checked it
	}
	for {
		if !located || after.Epoch != hub.Head().Epoch {
			position, err := hub.Locate(ctx, after, 0)
			if fault.KindOf(err) == fault.Unavailable {
				if err := p.pause(ctx, err); err != nil {
					return err
				}
				continue
			}
			if err != nil {
				return err
			}
			if position.Ahead {
				return fault.New(fault.Invalid, "the cursor %v %s", after, events.AheadReason)
			}
			if position.Reset != nil {
				p.reset(position.Reset)
			}
			after, located = position.After, true
		}
		_, wake, _ := hub.Since(after, 0)
		batch, err := hub.After(ctx, after, 500)
		if err != nil {
			return err
		}
		for _, e := range batch {
			if after.Seq = e.Seq; selector.Match(e) {
				if err := p.Event(e.JSON); err != nil {
					return err
				}
			}
		}
		if len(batch) > 0 {
			continue
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
