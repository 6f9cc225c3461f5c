package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"pregon/internal/document/extract"
	"pregon/internal/document/extract/extracttest"
	"pregon/internal/document/extract/sandbox"
)

// booklet is a PDF file that both programs read.
type booklet struct {
	name, path string
	pages      []string // the output of pdftotext by page, without page heads and feet
	raw        []string // the same in the order of the file
}

// text compares our reading of PDF files with that of poppler's pdftotext: the
// speed, and the share of its words that we find.
func (b *bench) text() error {
	peer, err := exec.LookPath("pdftotext")
	if err != nil {
		fmt.Fprintln(os.Stderr, "# skipped, since there is no pdftotext: apt-get install poppler-utils")
		return nil
	}
	books, err := b.booklets()
	if err != nil {
		return err
	}
	r := sandbox.NewReader(sandbox.Options{Command: []string{b.program, "extract-worker"}, CacheDir: b.cache()})
	defer r.Close()
	if err := r.Warm(b.ctx); err != nil {
		return err
	}
	if err := b.textQuality(r, books); err != nil { // reads all once, so that both are warm
		return err
	}
	var ours, theirs time.Duration
	const rounds = 3
	for range rounds {
		for _, book := range books { // in turns, so that noise hits both
			begin := time.Now()
			if _, err := b.read(r, book); err != nil {
				return err
			}
			between := time.Now()
			if err := exec.Command(peer, book.path, "-").Run(); err != nil {
				return fmt.Errorf("pdftotext %s: %w", book.path, err)
			}
			ours += between.Sub(begin)
			theirs += time.Since(between)
		}
	}
	pages := 0
	for _, book := range books {
		pages += len(book.pages)
	}
	fmt.Fprintf(os.Stderr, "# %d files of %d pages; pages a second: ours %.0f, pdftotext %.0f\n",
		len(books), pages, float64(rounds*pages)/ours.Seconds(), float64(rounds*pages)/theirs.Seconds())
	figure("text.vs_pdftotext", theirs.Seconds()/ours.Seconds(), "ratio")
	peak, err := workerPeak()
	if err != nil {
		return err
	}
	figure("text.memory", peak/1e6, "MB")
	return nil
}

// cache is where the compiled reader is kept between runs.
func (b *bench) cache() string { return filepath.Join(filepath.Dir(b.program), "cache") }

func (b *bench) read(r *sandbox.Reader, book booklet) (*extract.Text, error) {
	body, err := os.ReadFile(book.path)
	if err != nil {
		return nil, err
	}
	text, err := r.Read(b.ctx, body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", book.path, err)
	}
	return text, nil
}

// workerPeak returns the most memory that the child of ours that reads documents
// has held, in bytes.
func workerPeak() (float64, error) {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0, err
	}
	for _, dir := range dirs {
		command, _ := os.ReadFile(dir + "/cmdline")
		status, _ := os.ReadFile(dir + "/status") // both fail if the process has just ended
		if !bytes.HasSuffix(command, []byte("\x00extract-worker\x00")) || !bytes.Contains(status, fmt.Appendf(nil, "\nPPid:\t%d\n", os.Getpid())) {
			continue
		}
		if _, rest, ok := bytes.Cut(status, []byte("\nVmHWM:")); ok {
			kb, err := strconv.ParseFloat(string(bytes.Fields(rest)[0]), 64)
			return kb * 1024, err
		}
	}
	return 0, errors.New("the child that reads documents is not found")
}

// wordCounts counts the words of a file, or of all.
type wordCounts struct {
	name    string
	words   int
	lost    int // not where pdftotext has them
	either  int // nor, page by page, where it has them with -raw
	nowhere int // not on the page at all
	peer    int // where pdftotext has them with -raw and not without
	where   string
}

func (v *wordCounts) add(o wordCounts) {
	v.words += o.words
	v.lost += o.lost
	v.either += o.either
	v.nowhere += o.nowhere
	v.peer += o.peer
	v.where += o.where
}

func (v *wordCounts) String() string {
	return fmt.Sprintf("of %d words %d are not in pdftotext's order, %d in neither of its orders, %d missing; its orders differ in %d",
		v.words, v.lost, v.either, v.nowhere, v.peer)
}

// comparePage compares a page with the output of pdftotext. The order of pdftotext
// is wrong where paragraphs of two columns or cells of a table are level. The order
// of the file, which -raw keeps, is right there with most programs.
func comparePage(n int, page, raw, ours string) wordCounts {
	want, file, have := extracttest.Words(page), extracttest.Words(raw), extracttest.Words(ours)
	missing, fromFile := extracttest.OutOfOrder(want, have), extracttest.OutOfOrder(file, have)
	v := wordCounts{words: len(want), lost: len(missing), nowhere: len(extracttest.Absent(want, have)), peer: len(extracttest.OutOfOrder(file, want))}
	if len(fromFile) < len(missing) {
		missing = fromFile
	}
	if v.either = len(missing); v.either > 0 {
		v.where = fmt.Sprintf(" p%d: %s", n, strings.Join(missing, " "))
	}
	return v
}

// textQuality measures the share of pdftotext's words that we find in the same
// order, page by page, and prints where most are missing.
func (b *bench) textQuality(r *sandbox.Reader, books []booklet) error {
	var sum wordCounts
	var all []wordCounts
	for _, book := range books {
		text, err := b.read(r, book)
		if err != nil {
			return err
		}
		if len(text.Pages) != len(book.pages) {
			return fmt.Errorf("%s has %d pages, and pdftotext says %d", book.path, len(text.Pages), len(book.pages))
		}
		v := wordCounts{name: book.name}
		for n, page := range book.pages {
			v.add(comparePage(n+1, page, book.raw[n], text.Pages[n].Text))
		}
		all = append(all, v)
		sum.add(v)
	}
	slices.SortFunc(all, func(a, b wordCounts) int { return cmp.Compare(b.either, a.either) })
	for _, v := range all[:min(10, len(all))] {
		if v.either > 0 {
			fmt.Fprintf(os.Stderr, "# %s: %v:%.300s\n", v.name, &v, v.where)
		}
	}
	fmt.Fprintf(os.Stderr, "# %v\n", &sum)
	figure("text.quality", 1-float64(sum.lost)/float64(sum.words), "share")
	figure("text.quality.either", 1-float64(sum.either)/float64(sum.words), "share")
	return nil
}
