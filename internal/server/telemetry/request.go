package telemetry

import (
	"context"
	"log/slog"
	"time"
)

// Request is a finished request.
type Request struct {
	ID       string
	Route    string // from a closed set
	Method   string // from a closed set
	Path     string
	Status   int
	Bytes    int64
	Remote   string
	Time     time.Time // end of the request
	Duration time.Duration
	Expected bool // the status is not a failure
}

// Request logs a request.
func (l *Log) Request(r Request) {
	level := slog.LevelInfo
	if r.Status >= 500 && !r.Expected {
		level = slog.LevelError
	}
	ctx := context.Background()
	if !l.Enabled(ctx, level) {
		return
	}
	record := slog.NewRecord(r.Time, level, "request", 0)
	record.AddAttrs(slog.String("id", r.ID), slog.String("method", r.Method), slog.String("route", r.Route), slog.String("path", r.Path),
		slog.Int("status", r.Status), slog.Int64("bytes", r.Bytes), slog.Duration("took", r.Duration), slog.String("remote", r.Remote))
	_ = l.Handler().Handle(ctx, record)
}
