package telemetry

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	"pregon/internal/text/mask"
)

// Log is the program's log. It buffers lines, to avoid a system call per request. A
// warning or an error is written at once, other lines within flushEvery.
type Log struct {
	*slog.Logger
	// Access selects the requests that are logged, by default all. It is set before the
	// first request.
	Access AccessLog

	out      *bufferedWriter
	json     bool
	level    slog.Level
	requests atomic.Uint64 // counted by a sample
}

const (
	flushEvery = 100 * time.Millisecond
	flushSize  = 64 << 10
)

// NewLog returns a log in the format text or json. Credentials are masked.
func NewLog(w io.Writer, format string, level slog.Level) (*Log, error) {
	out := &bufferedWriter{w: w}
	masked := mask.Writer{Writer: out} // Request masks its lines itself
	o := &slog.HandlerOptions{Level: level}
	var h slog.Handler
	switch format {
	case "text":
		h = slog.NewTextHandler(masked, o)
	case "json":
		h = slog.NewJSONHandler(masked, o)
	default:
		return nil, errors.New("the log format must be text or json")
	}
	return &Log{
		Logger: slog.New(flushHandler{h, out}),
		out:    out,
		json:   format == "json",
		level:  level,
	}, nil
}

// Run flushes the buffer at intervals until the context ends, and once more then.
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

// Flush writes the buffered lines.
func (l *Log) Flush() { l.out.flush() }

// bufferedWriter buffers lines.
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

// write empties the buffer. Errors are dropped: there is nowhere to log them. g.mu is held.
func (g *bufferedWriter) write() {
	if len(g.buf) > 0 {
		_, _ = g.w.Write(g.buf)
		g.buf = g.buf[:0]
	}
}

// flushHandler flushes the buffer after warnings and errors.
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

// Warnings returns a logger that drops everything below warnings.
func Warnings(l *slog.Logger) *slog.Logger { return slog.New(warnings{l.Handler()}) }

type warnings struct{ slog.Handler }

func (h warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && h.Handler.Enabled(ctx, level)
}

func (h warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	return warnings{h.Handler.WithAttrs(attrs)}
}

func (h warnings) WithGroup(name string) slog.Handler { return warnings{h.Handler.WithGroup(name)} }

// Colored returns a writer that colors the lines of a text log for a terminal: the
// time dim, the level by its severity.
func Colored(w io.Writer) io.Writer { return colored{w} }

type colored struct{ w io.Writer }

var levels = []struct {
	lines *regexp.Regexp
	paint []byte
}{
	{regexp.MustCompile(`(?m)^(time=\S+) (level=ERROR\S*) `), []byte("\x1b[2m$1\x1b[0m \x1b[1;31m$2\x1b[0m ")},
	{regexp.MustCompile(`(?m)^(time=\S+) (level=WARN\S*) `), []byte("\x1b[2m$1\x1b[0m \x1b[1;33m$2\x1b[0m ")},
	{regexp.MustCompile(`(?m)^(time=\S+) (level=INFO\S*) `), []byte("\x1b[2m$1\x1b[0m \x1b[32m$2\x1b[0m ")},
	{regexp.MustCompile(`(?m)^(time=\S+) (level=DEBUG\S*) `), []byte("\x1b[2m$1\x1b[0m \x1b[36m$2\x1b[0m ")},
}

// Write writes whole lines.
func (c colored) Write(lines []byte) (int, error) {
	painted := lines
	for _, l := range levels {
		painted = l.lines.ReplaceAll(painted, l.paint)
	}
	_, err := c.w.Write(painted)
	return len(lines), err
}
