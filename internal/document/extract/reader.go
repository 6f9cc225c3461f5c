package extract

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"pregon/internal/document/confine"
)

// Options of NewReader.
type Options struct {
	Command   []string // of the child: a program and arguments that lead to Serve
	CacheDir  string   // where the child keeps PDFium's compiled code, made when missing; without one, or one that others may write to, each start compiles, seconds long
	Tesseract string   // path of the program that reads pictures; empty: look for it in PATH; "-": none
	Limits    Limits
	Logger    *slog.Logger // of starts and deaths of the child, and of a cache that cannot be used; nil: none
}

// Reader reads documents, one at a time. The child that does it is started by
// the first document, or by Warm, and serves until it dies or is to die.
type Reader struct {
	o        Options
	turn     chan struct{}                  // holds one token; who has it may use child
	child    *child                         // nil when there is none
	warned   string                         // of a cache that cannot be used: why; with the turn
	failed   string                         // why the last start failed, empty when it did not; with the turn
	confined atomic.Pointer[confine.Status] // of the newest child; nil before the first
	closed   chan struct{}
	once     sync.Once
}

// ErrClosed is the error of a Reader after Close.
var ErrClosed = errors.New("the reader of documents is closed")

// ErrKilled is the error of a document whose child was killed by somebody else
// while it read: the operator, or a machine short of memory. Another try may
// succeed; but where each one ends so, the document is what the machine cannot
// bear.
var ErrKilled = errors.New("the child that reads documents was killed")

// NewReader returns a reader. It starts nothing yet.
func NewReader(o Options) *Reader {
	o.Limits = o.Limits.withDefaults()
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	r := &Reader{o: o, turn: make(chan struct{}, 1), closed: make(chan struct{})}
	r.turn <- struct{}{}
	return r
}

// Read returns what a document says. The error is an *Unreadable when it is the
// document's fault, ErrSitePage when it is no document, and anything else when
// it is ours, so that another try may succeed. Of these, ErrKilled may be the
// document's fault after all when it comes again and again.
func (r *Reader) Read(ctx context.Context, body []byte) (*Text, error) {
	switch {
	case len(body) == 0:
		return nil, &Unreadable{Reason: "it is empty"}
	case len(body) > MaxBody:
		return nil, &Unreadable{Reason: fmt.Sprintf("it is larger than %d MB", MaxBody>>20)}
	}
	if err := r.take(ctx); err != nil {
		return nil, err
	}
	defer r.give()
	if err := r.start(ctx); err != nil {
		return nil, err
	}
	text, err := r.child.read(ctx, body)
	if r.child.ended() {
		if ctx.Err() == nil && !errors.Is(err, ErrClosed) {
			r.o.Logger.Warn("the child that reads documents ended", "error", err, "said", r.child.lastWords())
		}
		r.child = nil
	}
	return text, err
}

// Warm starts the child, so that the first document need not wait for it.
func (r *Reader) Warm(ctx context.Context) error {
	if err := r.take(ctx); err != nil {
		return err
	}
	defer r.give()
	return r.start(ctx)
}

// Lacks reports whether the newest child runs without a layer of confinement.
func (r *Reader) Lacks(l confine.Layer) bool {
	status := r.confined.Load()
	return status != nil && !status.Holds(l)
}

// Close ends the child, and the reading of a document if there is one, and
// waits until they have ended.
func (r *Reader) Close() error {
	r.once.Do(func() {
		close(r.closed)
		<-r.turn
		defer r.give()
		if r.child != nil {
			r.child.kill()
			r.child = nil
		}
	})
	return nil
}

// take waits for the turn to use the child.
func (r *Reader) take(ctx context.Context) error {
	select {
	case <-r.closed:
		return ErrClosed
	default:
	}
	select {
	case <-r.closed:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	case <-r.turn:
		return nil
	}
}

func (r *Reader) give() { r.turn <- struct{}{} }

// start sees to it that there is a child that lives. The turn is held.
func (r *Reader) start(ctx context.Context) error {
	if r.child != nil && !r.child.ended() {
		return nil
	}
	c, err := startChild(ctx, r.o, r.closed)
	if err != nil {
		if ctx.Err() == nil && !errors.Is(err, ErrClosed) {
			level := slog.LevelWarn
			if err.Error() == r.failed {
				level = slog.LevelDebug // every document that waits tries again
			}
			r.failed = err.Error()
			r.o.Logger.Log(ctx, level, "the child that reads documents did not start; the next document tries again", "error", err)
		}
		return fmt.Errorf("start the child that reads documents: %w", err)
	}
	r.failed = ""
	r.o.Logger.Debug("started the child that reads documents", "pid", c.cmd.Process.Pid)
	if why := c.greeting.Uncached; why != "" && why != r.warned {
		r.o.Logger.Warn("the compiled reader of PDF files is not kept, so that each start takes seconds", "dir", r.o.CacheDir, "reason", why)
	}
	r.warned = c.greeting.Uncached
	before := r.confined.Swap(&c.greeting.Confined)
	if missing := c.greeting.Confined.Missing(); missing != "" && (before == nil || before.Missing() != missing) {
		r.o.Logger.Warn("documents are read in a process that is not fully confined", "missing", tidy(missing))
	}
	r.child = c
	return nil
}
