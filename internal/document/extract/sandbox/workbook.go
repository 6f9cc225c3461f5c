package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"

	"pregon/internal/document/extract"
	"pregon/internal/document/extract/xls"
)

// Limits of reading a workbook. The largest known one takes a quarter of a second and
// 80 MB.
const (
	workbookTime   = 20 * time.Second
	workbookMemory = 300 << 20
)

// Books reads workbooks, one at a time, in a child of its own, so that they and the
// documents of reports do not wait for each other. The child ends with each workbook:
// a register is read a few times a day.
type Books struct {
	r *Reader
}

// NewBooks returns a reader of workbooks. It starts no process. Of the options it
// needs the command and the logger.
func NewBooks(o Options) *Books {
	o.CacheDir = ""
	o.Limits = extract.Limits{Time: workbookTime, StartTime: time.Minute, Memory: workbookMemory}
	o.workbooks = true
	return &Books{NewReader(o)}
}

// Workbook returns the cells of a workbook. The error is an *xls.Error if the workbook
// cannot be read. After any other error a retry may succeed.
func (b *Books) Workbook(ctx context.Context, data []byte) (xls.Book, error) {
	if len(data) > xls.MaxBytes {
		return xls.Book{}, &xls.Error{Reason: fmt.Sprintf("it is larger than %d MB", xls.MaxBytes>>20)}
	}
	if err := b.r.acquire(ctx); err != nil {
		return xls.Book{}, err
	}
	defer b.r.release()
	if err := b.r.start(ctx); err != nil {
		return xls.Book{}, err
	}
	c := b.r.child
	b.r.child = nil
	defer c.kill()
	book, err := c.workbook(ctx, data)
	if err != nil && c.ended() && ctx.Err() == nil && !errors.Is(err, ErrClosed) {
		b.r.o.Logger.Warn("the child that reads workbooks ended", "err", err, "stderr", c.stderr.String())
	}
	return book, err
}

// Lacks reports whether the newest child runs without a layer of confinement.
func (b *Books) Lacks(l Layer) bool { return b.r.Lacks(l) }

// Close kills the child, which cancels a Workbook in progress, and waits until it has
// ended.
func (b *Books) Close() error { return b.r.Close() }

// workbook has the child read a workbook.
func (c *child) workbook(ctx context.Context, data []byte) (xls.Book, error) {
	c.id++
	question := frame{kind: workbook, id: c.id, body: data}
	answer, err := c.ask(ctx, []frame{question}, c.limits.Time, c.limits.Memory)
	if err != nil {
		if err = c.classify(err); extract.IsUnreadable(err) {
			err = &xls.Error{Reason: extract.Reason(err)}
		}
		return xls.Book{}, err
	}
	switch answer.kind {
	case cells:
		book, err := xls.Decode(answer.body)
		if err != nil {
			return xls.Book{}, &xls.Error{Reason: errConfused.Reason}
		}
		return book, nil
	case unreadable:
		return xls.Book{}, &xls.Error{Reason: extract.Tidy(string(answer.body))}
	case trouble:
		return xls.Book{}, errors.New(extract.Tidy(string(answer.body)))
	}
	return xls.Book{}, &xls.Error{Reason: errConfused.Reason}
}

// books is the engine of a child that reads workbooks.
type books struct {
	read func([]byte) (xls.Book, error)
}

// Read refuses: a child reads either documents or workbooks.
func (books) Read([]byte, extract.Task) (*extract.Text, error) {
	return nil, errors.New("this process reads workbooks only")
}

// FreeMemory does nothing: the child ends after its workbook.
func (books) FreeMemory() {}

// serveAll reads workbooks until in ends.
func (b books) serveAll(in io.Reader, out io.Writer) error {
	for {
		f, err := readFrame(in, toBookChild)
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case f.kind != workbook:
			return fmt.Errorf("%w: settings for a second time", errFrame)
		}
		answer := b.answer(f.body)
		answer.id = f.id
		if err := writeFrame(out, answer); err != nil {
			return err
		}
	}
}

// answer reads a workbook. A panic is an error of the workbook, which would cause it
// again.
func (b books) answer(data []byte) (answer frame) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(os.Stderr, "panic: %v\n%s", p, debug.Stack())
			answer = frame{kind: unreadable, body: short(extract.ErrCrash.Reason)}
		}
	}()
	book, err := b.read(data)
	if e, ok := errors.AsType[*xls.Error](err); ok {
		return frame{kind: unreadable, body: short(e.Reason)}
	}
	if err != nil {
		return frame{kind: trouble, body: short(err.Error())}
	}
	body := book.Encode()
	if len(body) > xls.MaxEncoded {
		return frame{kind: unreadable, body: short("it has too many cells")}
	}
	return frame{kind: cells, body: body}
}
