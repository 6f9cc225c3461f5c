package telemetry

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"pregon/internal/auth/secret"
)

// Log is the program's log. One event a request would be one write to the
// system a request, so lines are gathered for a moment: a warning or an error
// is written at once with all before it, the rest within flushEvery.
type Log struct {
	*slog.Logger
	out   *bufferedWriter
	json  bool
	level slog.Level
}

const (
	flushEvery = 100 * time.Millisecond
	flushSize  = 64 << 10
)

// NewLog returns a log: "text" for people, "json" for machines. Credentials in
// it are masked, wherever they came from.
func NewLog(w io.Writer, format string, level slog.Level) (*Log, error) {
	out := &bufferedWriter{w: secret.MaskingWriter{Writer: w}}
	o := &slog.HandlerOptions{Level: level}
	var h slog.Handler
	switch format {
	case "text":
		h = slog.NewTextHandler(out, o)
	case "json":
		h = slog.NewJSONHandler(out, o)
	default:
		return nil, errors.New("the log format must be text or json")
	}
	return &Log{slog.New(flushHandler{h, out}), out, format == "json", level}, nil
}

// Run writes what was gathered every now and then until the context ends, and
// the rest then.
func (l *Log) Run(ctx context.Context) {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		l.Flush()
		select {
		case <-ctx.Done():
			l.Flush()
			return
		case <-tick.C:
		}
	}
}

// Flush writes what was gathered.
func (l *Log) Flush() { l.out.flush() }

// gathered collects lines before it writes them.
type bufferedWriter struct {
	w   io.Writer
	mu  sync.Mutex
	buf []byte // guarded by mu
}

func (g *bufferedWriter) Write(line []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.buf = append(g.buf, line...)
	if len(g.buf) >= flushSize {
		g.write()
	}
	return len(line), nil
}

func (g *bufferedWriter) flush() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.write()
}

// write hands the lines on. A log that cannot be written has nobody to tell.
func (g *bufferedWriter) write() {
	if len(g.buf) > 0 {
		_, _ = g.w.Write(g.buf)
		g.buf = g.buf[:0]
	}
}

// urgent writes at once what somebody may be waiting for.
type flushHandler struct {
	slog.Handler
	out *bufferedWriter
}

func (u flushHandler) Handle(ctx context.Context, r slog.Record) error {
	err := u.Handler.Handle(ctx, r)
	if r.Level >= slog.LevelWarn {
		u.out.flush()
	}
	return err
}

func (u flushHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return flushHandler{u.Handler.WithAttrs(attrs), u.out}
}

func (u flushHandler) WithGroup(name string) slog.Handler {
	return flushHandler{u.Handler.WithGroup(name), u.out}
}
