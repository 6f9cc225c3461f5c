package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"pregon/internal/document/extract"
	"pregon/internal/document/extract/extracttest"
	"pregon/internal/document/extract/sandbox"
)

// corpus compares our reading of the PDF files below a directory with that of
// pdftotext, and prints the shares of words that agree, the speed, the memory, and
// the files that agree least. It prints every word that differs in the files whose
// name matches show.
type corpus struct {
	dir    string
	show   *regexp.Regexp
	reader *sandbox.Reader

	files        []corpusFile
	refused      []string
	pages        int
	ours, theirs time.Duration
	peak         float64 // bytes
}

type corpusFile struct {
	name string
	extracttest.Agreement
}

// wrong is the number of words that are missing, added or at another place.
func (f corpusFile) wrong() int { return f.Missing + f.Extra + f.Moved }

// corpusMain runs: bench corpus PROGRAM DIRECTORY [EXPRESSION]
func corpusMain(args []string) error {
	c := &corpus{dir: args[1]}
	if len(args) > 2 {
		c.show = regexp.MustCompile(args[2])
	}
	cache := filepath.Join(filepath.Dir(args[0]), "cache")
	c.reader = sandbox.NewReader(sandbox.Options{
		Command: []string{args[0], "extract-worker"}, CacheDir: cache, Tesseract: "-",
		Limits: extract.Limits{Time: 10 * time.Minute}, // so that no file is cut off on a slow machine
	})
	defer c.reader.Close()
	paths, err := filepath.Glob(filepath.Join(c.dir, "*", "*.pdf"))
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		return fmt.Errorf("no PDF files in the directories of %s: run scripts/get-corpus", c.dir)
	}
	if err := c.reader.Warm(context.Background()); err != nil {
		return err
	}
	for _, path := range paths {
		if err := c.compare(path); err != nil {
			return err
		}
	}
	c.print()
	return nil
}

// compare reads one file with both programs.
func (c *corpus) compare(path string) error {
	name := strings.TrimPrefix(path, c.dir+"/")
	if c.show != nil && !c.show.MatchString(name) {
		return nil
	}
	body, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	peer, err := cachedPeer(path)
	if err != nil {
		fmt.Fprintf(os.Stderr, "# %s: %v\n", name, err)
		return nil
	}
	begin := time.Now()
	text, err := c.reader.Read(context.Background(), body)
	if err != nil {
		c.refused = append(c.refused, fmt.Sprintf("%s: %v", name, err))
		return nil
	}
	between := time.Now()
	if err := exec.Command("pdftotext", path, "-").Run(); err != nil {
		return err
	}
	c.ours, c.theirs = c.ours+between.Sub(begin), c.theirs+time.Since(between)
	c.pages += len(text.Pages)
	if peak, err := workerPeak(); err == nil {
		c.peak = max(c.peak, peak)
	}
	c.files = append(c.files, corpusFile{name, peer.Compare(text.Pages)})
	return nil
}

// cachedPeer returns the output of pdftotext, which it keeps beside the file.
func cachedPeer(path string) (peer extracttest.Peer, err error) {
	cache := path + ".json"
	if body, err := os.ReadFile(cache); err == nil && json.Unmarshal(body, &peer) == nil {
		return peer, nil
	}
	if peer, err = extracttest.ReadPeer(path); err != nil {
		return peer, err
	}
	body, err := json.Marshal(peer)
	return peer, errors.Join(err, os.WriteFile(cache, body, 0o644))
}

func (c *corpus) print() {
	var sum extracttest.Agreement
	for _, f := range c.files {
		sum.Add(f.Agreement)
	}
	slices.SortStableFunc(c.files, func(a, b corpusFile) int { return cmp.Compare(b.wrong(), a.wrong()) })
	fmt.Fprintf(os.Stderr, "# %d files of %d pages with %d words; the files with the most words that differ:\n", len(c.files), c.pages, sum.Want)
	for i, f := range c.files {
		if i == 10 && c.show == nil {
			break
		}
		fmt.Fprintf(os.Stderr, "# %5d %s: recall %.4f, precision %.4f, order %.4f\n", f.wrong(), f.name, f.Recall(), f.Precision(), f.Order())
		if c.show != nil {
			fmt.Fprintln(os.Stderr, strings.Join(f.Where, "\n"))
		}
	}
	for _, r := range c.refused {
		fmt.Fprintln(os.Stderr, "# refused:", r)
	}
	figure("corpus.recall", 100*sum.Recall(), "%")
	figure("corpus.precision", 100*sum.Precision(), "%")
	figure("corpus.order", 100*sum.Order(), "%")
	figure("corpus.refused", float64(len(c.refused)), "files")
	figure("corpus.speed", float64(c.pages)/c.ours.Seconds(), "pages/s")
	figure("corpus.vs_pdftotext", c.theirs.Seconds()/c.ours.Seconds(), "ratio")
	figure("corpus.memory", c.peak/1e6, "MB")
}
