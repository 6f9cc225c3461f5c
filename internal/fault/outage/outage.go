// Package outage logs failures that repeat: one line when they begin, one a
// minute while they last, and one when they are over.
package outage

import (
	"context"
	"log/slog"
	"time"
)

// every is the time between two lines while an outage lasts.
const every = time.Minute

// Log logs the outages of one thing. It is used by one goroutine.
type Log struct {
	Logger *slog.Logger

	since    time.Time // zero while there is no outage
	logged   time.Time
	failures int
}

// Failed counts a failure. It reports whether it logged a line.
func (l *Log) Failed(message string, attrs ...any) bool {
	now := time.Now()
	if l.failures++; l.since.IsZero() {
		l.since = now
	} else if now.Sub(l.logged) < every {
		return false
	}
	l.logged = now
	l.log(slog.LevelWarn, message, attrs)
	return true
}

// Recovered ends an outage, if there is one, with a line unless message is empty.
func (l *Log) Recovered(message string, attrs ...any) {
	if l.since.IsZero() {
		return
	}
	if message != "" {
		l.log(slog.LevelInfo, message, attrs)
	}
	l.since = time.Time{}
	l.logged = time.Time{}
	l.failures = 0
}

// log adds how often it failed, and for how long, when it was not the first.
func (l *Log) log(level slog.Level, message string, attrs []any) {
	if lasted := time.Since(l.since); l.failures > 1 {
		attrs = append(attrs[:len(attrs):len(attrs)], "failures", l.failures, "duration_seconds", int(lasted.Seconds()))
	}
	l.Logger.Log(context.Background(), level, message, attrs...)
}
