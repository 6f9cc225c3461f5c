package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// bar shows progress: to a person as a bar, in a file or a pipe as a line
// every few seconds.
type bar struct {
	*progressbar.ProgressBar // nil unless w is a terminal

	w          io.Writer
	what, unit string
	done, size int64 // size is -1 when it is not known
	said       time.Time
}

// sayEvery is the time between two lines.
const sayEvery = 5 * time.Second

func newBar(w io.Writer, what, unit string, size int64, options ...progressbar.Option) *bar {
	b := &bar{w: w, what: what, unit: unit, size: size, said: time.Now()}
	if isTerminal(w) {
		b.ProgressBar = progressbar.NewOptions64(size, append(options,
			progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(what),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(), progressbar.OptionFullWidth(),
		)...)
	}
	return b
}

func (b *bar) add(n int) {
	if b.ProgressBar != nil {
		_ = b.Add(n)
		return
	}
	b.say(b.done + int64(n))
}

func (b *bar) set(n int) {
	if b.ProgressBar != nil {
		_ = b.Set(n)
		return
	}
	b.say(int64(n))
}

// say writes a line if the last one is old.
func (b *bar) say(done int64) {
	b.done = done
	if time.Since(b.said) < sayEvery {
		return
	}
	b.said = time.Now()
	if b.size <= 0 {
		fmt.Fprintf(b.w, "%s: %d %s\n", b.what, done, b.unit)
		return
	}
	fmt.Fprintf(b.w, "%s: %d of %d %s (%d%%)\n", b.what, done, b.size, b.unit, 100*done/b.size)
}

func (b *bar) clear() {
	if b.ProgressBar != nil {
		_ = b.Clear()
	}
}

func (b *bar) finish() {
	if b.ProgressBar != nil {
		_ = b.Finish()
	}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// colors reports whether to write colours to w: a terminal that shows them, to
// a person who has not said otherwise (https://no-color.org).
func (p *process) colors(w io.Writer) bool {
	return isTerminal(w) && p.getenv("NO_COLOR") == "" && p.getenv("TERM") != "dumb" && (runtime.GOOS != "windows" || p.getenv("WT_SESSION") != "")
}
