// Package backfill loads history from the source without a running service.
package backfill

import (
	"context"
	"log/slog"
	"time"

	"pregon/internal/service/documents"
	"pregon/internal/service/sources"
	"pregon/internal/source/coverage"
	"pregon/internal/source/stored"
	"pregon/internal/store"
)

// Options are what a back-fill needs.
type Options struct {
	Store     store.Store
	Site      sources.Site
	Documents documents.Settings
	Logger    *slog.Logger
	// Progress is called with the state of the job, and whether this process does it.
	Progress func(job coverage.Job, ours bool)
}

// Run requests the history from the service that reads the source, or loads it itself if
// there is none. It returns the job as far as it was done.
func Run(ctx context.Context, job coverage.Job, o Options) (coverage.Job, error) {
	docs, err := documents.New(ctx, documents.Options{
		Settings: o.Documents,
		Store:    o.Store,
		Logger:   o.Logger,
	})
	if err != nil {
		return job, err
	}
	defer docs.Close()
	reader, err := sources.NewReader(sources.ReaderOptions{
		Site:      o.Site,
		Store:     o.Store,
		Coverage:  coverage.New(o.Store),
		Known:     stored.New(o.Store),
		Documents: docs.Keeper,
		Poll:      time.Second,
		Logger:    o.Logger,
	})
	if err != nil {
		return job, err
	}
	stop := inBackground(ctx, documents.NewIndexKeeper(o.Store, o.Logger).Run)
	defer stop()
	return reader.Backfill(ctx, job, o.Progress)
}

// inBackground runs a function until the returned one is called, which waits for its
// end.
func inBackground(ctx context.Context, run func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = run(ctx) // it ends with the context
	}()
	return func() {
		cancel()
		<-ended
	}
}
