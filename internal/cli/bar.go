// Package cli holds what commands share and what follows from the model of
// their flags: help texts, checks of environment variables, shell completion,
// progress bars.
package cli

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Bar shows progress: a bar on a terminal, a line every few seconds in a file or
// a pipe.
type Bar struct {
	bar *progressbar.ProgressBar // nil unless w is a terminal

	w          io.Writer
	what, unit string
	done, size int64 // size is -1 when it is not known
	printed    time.Time
}

// printEvery is the time between two lines.
const printEvery = 5 * time.Second

// NewBar returns a bar of so many units, -1 when their number is not known.
func NewBar(w io.Writer, what, unit string, size int64, options ...progressbar.Option) *Bar {
	b := &Bar{
		w:       w,
		what:    what,
		unit:    unit,
		size:    size,
		printed: time.Now(),
	}
	if IsTerminal(w) {
		b.bar = progressbar.NewOptions64(size, append(options,
			progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(what),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(),
			progressbar.OptionFullWidth(),
		)...)
	}
	return b
}

// Add adds n units.
func (b *Bar) Add(n int) { b.Set(int(b.done) + n) }

// Set sets how many units are done.
func (b *Bar) Set(n int) {
	b.done = int64(n)
	if b.bar != nil {
		_ = b.bar.Set(n)
		return
	}
	if time.Since(b.printed) < printEvery {
		return
	}
	b.printed = time.Now()
	if b.size <= 0 {
		fmt.Fprintf(b.w, "%s: %d %s\n", b.what, n, b.unit)
		return
	}
	fmt.Fprintf(b.w, "%s: %d of %d %s (%d%%)\n", b.what, n, b.size, b.unit, 100*b.done/b.size)
}

// Clear removes the bar from the terminal, until it is next updated.
func (b *Bar) Clear() {
	if b.bar != nil {
		_ = b.bar.Clear()
	}
}

// Finish removes the bar.
func (b *Bar) Finish() {
	if b.bar != nil {
		_ = b.bar.Finish()
	}
}

// Width returns the columns of the terminal that w is, or 80 if it does not say.
func Width(w io.Writer) int {
	const usual = 80
	f, ok := w.(*os.File)
	if !ok {
		return usual
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 {
		return usual
	}
	return width
}

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
