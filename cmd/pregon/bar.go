package main

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// bar shows progress to a person, and nothing to a file or a pipe.
type bar struct{ *progressbar.ProgressBar }

func newBar(w io.Writer, what string, size int64, options ...progressbar.Option) *bar {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return &bar{}
	}
	return &bar{progressbar.NewOptions64(size, append(options,
		progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(what),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(), progressbar.OptionFullWidth(),
	)...)}
}

func (b *bar) add(n int) {
	if b.ProgressBar != nil {
		_ = b.Add(n)
	}
}

func (b *bar) set(n int) {
	if b.ProgressBar != nil {
		_ = b.Set(n)
	}
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
