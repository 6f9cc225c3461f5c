// Package sandbox reads untrusted documents in a confined child process.
//
// This package is the boundary between hostile input and the service. A Reader,
// in the parent, starts the child, sends it documents in frames of checked size,
// limits its time and memory, kills it when it exceeds them, and validates its
// answers. Serve, in the child, gives up the privileges that reading does not
// need (see Exec) before it accepts the first document.
package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"pregon/internal/document/extract"
)

// Options of NewReader.
type Options struct {
	Command []string // program and arguments of the child, which must call Serve
	// for compiled code, created if missing; without one, or if others may write to it,
	// every start compiles for seconds
	CacheDir  string
	Tesseract string // path of the OCR program; empty: search PATH; "-": no OCR
	Limits    extract.Limits
	Logger    *slog.Logger // nil: no logging

	workbooks bool // reads workbooks and no documents
}

// Reader reads documents, one at a time. The first document, or Warm, starts the
// child, which serves until it dies or is killed.
type Reader struct {
	o        Options
	turn     chan struct{}          // holds one token; its holder may use child, uncached and failed
	child    *child                 // nil when none is running
	uncached string                 // the last logged reason why the cache is not used
	failed   string                 // why the last start failed
	confined atomic.Pointer[Status] // of the newest child; nil before the first
	closed   chan struct{}
	once     sync.Once
}

// ErrClosed is the error of a Reader after Close.
var ErrClosed = errors.New("the reader of documents is closed")

// NewReader returns a reader. It starts no process.
func NewReader(o Options) *Reader {
	o.Limits = o.Limits.WithDefaults()
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	r := &Reader{o: o, turn: make(chan struct{}, 1), closed: make(chan struct{})}
	r.turn <- struct{}{}
	return r
}

// Read returns the text of a document. The error is an *extract.Unreadable if the
// document cannot be read, and extract.ErrSitePage if it is no document. After
// any other error a retry may succeed; see extract.ErrKilled.
func (r *Reader) Read(ctx context.Context, body []byte) (*extract.Text, error) {
	switch {
	case len(body) == 0:
		return nil, &extract.Unreadable{Reason: "it is empty"}
	case len(body) > extract.MaxBody:
		return nil, &extract.Unreadable{Reason: fmt.Sprintf("it is larger than %d MB", extract.MaxBody>>20)}
	}
	if err := r.acquire(ctx); err != nil {
		return nil, err
	}
	defer r.release()
	return r.readRetrying(ctx, body)
}

// maxSkips is the number of steps that are left out of a document one by one. In
// the last of them reading ends.
const maxSkips = 3

// readRetrying reads a document. If the child exceeds a limit or crashes in a step,
// such as a page, another one reads the document without that step: one page must
// not cost the others. The caller holds the turn.
func (r *Reader) readRetrying(ctx context.Context, body []byte) (*extract.Text, error) {
	var left []skip
	for {
		if err := r.start(ctx); err != nil {
			return nil, err
		}
		text, failed, err := r.readOnce(ctx, body, left)
		if failed == 0 || len(left) == maxSkips {
			return text, err
		}
		left = append(left, skip{Step: failed, Reason: extract.Reason(err), Rest: len(left)+1 == maxSkips})
	}
}

// readOnce has the child read a document. It returns the step in which the child
// failed because of the document, or 0.
func (r *Reader) readOnce(ctx context.Context, body []byte, left []skip) (text *extract.Text, failed int, err error) {
	c := r.child
	text, err = c.read(ctx, body, left)
	if !c.ended() {
		if residentMemory(c.cmd.Process.Pid) > r.o.Limits.Memory/2 {
			c.kill() // a new one begins with less
			r.child = nil
		}
		return text, 0, err
	}
	r.child = nil
	if ctx.Err() == nil && !errors.Is(err, ErrClosed) {
		r.o.Logger.Warn("the child that reads documents ended", "err", err, "step", c.step, "stderr", c.stderr.String())
	}
	if !extract.IsUnreadable(err) || err == errConfused {
		return nil, 0, err
	}
	return nil, c.step, err
}

// Warm starts the child, so that the first document does not wait for it.
func (r *Reader) Warm(ctx context.Context) error {
	if err := r.acquire(ctx); err != nil {
		return err
	}
	defer r.release()
	return r.start(ctx)
}

// Lacks reports whether the newest child runs without a layer of confinement.
func (r *Reader) Lacks(l Layer) bool {
	status := r.confined.Load()
	return status != nil && !status.Holds(l)
}

// Close kills the child, which cancels a Read in progress, and waits until it
// has ended.
func (r *Reader) Close() error {
	r.once.Do(func() {
		close(r.closed)
		<-r.turn
		defer r.release()
		if r.child != nil {
			r.child.kill()
			r.child = nil
		}
	})
	return nil
}

// acquire waits for the turn to use the child.
func (r *Reader) acquire(ctx context.Context) error {
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

func (r *Reader) release() { r.turn <- struct{}{} }

// start starts a child unless one is running. The caller holds the turn.
func (r *Reader) start(ctx context.Context) error {
	if r.child != nil && !r.child.ended() {
		return nil
	}
	c, err := startChild(ctx, r.o, r.closed)
	if err != nil {
		if ctx.Err() == nil && !errors.Is(err, ErrClosed) {
			level := slog.LevelWarn
			if err.Error() == r.failed {
				level = slog.LevelDebug // every waiting document tries again
			}
			r.failed = err.Error()
			r.o.Logger.Log(ctx, level, "the child that reads documents did not start; the next document tries again", "err", err)
		}
		return fmt.Errorf("start the child that reads documents: %w", err)
	}
	r.failed = ""
	r.child = c
	r.logStart(c)
	return nil
}

// logStart logs a start, and each new reason why the child runs without its
// cache or without a layer of confinement.
func (r *Reader) logStart(c *child) {
	r.o.Logger.Debug("started the child that reads documents", "pid", c.cmd.Process.Pid)
	if why := c.greeting.Uncached; why != "" && why != r.uncached {
		r.o.Logger.Warn("the compiled PDF reader is not cached, so every start takes seconds", "dir",
			r.o.CacheDir, "reason", why)
	}
	r.uncached = c.greeting.Uncached
	before := r.confined.Swap(&c.greeting.Confined)
	if missing := c.greeting.Confined.Missing(); missing != "" && (before == nil || before.Missing() != missing) {
		r.o.Logger.Warn("documents are read in a process that is not fully confined", "missing", extract.Tidy(missing))
	}
}
