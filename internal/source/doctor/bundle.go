package doctor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"pregon/internal/fault"
	"pregon/internal/server/origin"
)

// Bundle is a directory with the answers of the sites: index.json, which describes
// them in the order of the requests, report.txt, and the body of each in a file of
// its own. It has no cookies, no keys and no tokens of sessions.
type Bundle struct {
	Format    int       `json:"format"`
	Version   string    `json:"version"` // of the program
	At        time.Time `json:"time"`    // when the run began
	Regulator string    `json:"regulator"`
	Exchange  string    `json:"exchange"`
	Answers   []*Answer `json:"answers"`
	Checks    []Check   `json:"checks"`
}

const (
	bundleFormat = 1
	indexFile    = "index.json"
	reportFile   = "report.txt"
	maxIndex     = 16 << 20
)

// CreateBundle makes the directory of a bundle, which must be new or empty.
func CreateBundle(dir string) (*os.Root, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	if files, err := fs.ReadDir(root.FS(), "."); err != nil || len(files) > 0 {
		if err == nil {
			err = fault.New(fault.Conflict, "%s is not empty: give --save a new directory", dir)
		}
		return nil, errors.Join(err, root.Close())
	}
	return root, nil
}

// Save writes a bundle to an empty directory. Its answers are those of the tape, and
// the report is the text of its checks.
func (b Bundle) Save(dir *os.Root, tape *Tape) error {
	var report bytes.Buffer
	for _, c := range b.Checks {
		c.Print(&report)
	}
	conclusion, _ := Conclude(b.Checks)
	fmt.Fprintln(&report, conclusion)
	b.Format, b.Answers = bundleFormat, tape.since(0)
	named := map[*Answer]string{}
	for _, c := range b.Checks {
		for _, a := range c.Answers {
			named[a] = strings.ReplaceAll(c.Name, "/", "-")
		}
	}
	for n, a := range b.Answers {
		if len(a.body) == 0 {
			continue
		}
		a.File = fmt.Sprintf("%02d-%s%s", n+1, named[a], extension(a.Header.Get("Content-Type")))
		if err := write(dir, a.File, tape.withoutSessions(a.body)); err != nil {
			return err
		}
	}
	b.Checks = slices.Clone(b.Checks)
	for n := range b.Checks {
		b.Checks[n].Answers = nil // they are in b.Answers
	}
	index, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return err
	}
	return errors.Join(write(dir, reportFile, report.Bytes()), write(dir, indexFile, append(index, '\n')))
}

func write(dir *os.Root, name string, body []byte) error {
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(body)
	return errors.Join(err, f.Close())
}

func extension(contentType string) string {
	if strings.Contains(contentType, "ms-excel") {
		return ".xls"
	}
	for _, kind := range []string{"html", "xml", "json", "pdf", "zip"} {
		if strings.Contains(contentType, kind) {
			return "." + kind
		}
	}
	return ".bin"
}

// LoadBundle reads a bundle and returns a tape that plays its answers.
func LoadBundle(dir string) (*Bundle, *Tape, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	index, err := read(root, indexFile, maxIndex)
	if err != nil {
		return nil, nil, fault.Wrap(fault.Invalid, err, "%s is not a bundle of pregon doctor --save", dir)
	}
	var b Bundle
	if err := json.Unmarshal(index, &b); err != nil {
		return nil, nil, fault.Wrap(fault.Invalid, err, "%s of the bundle cannot be read", indexFile)
	}
	if b.Format != bundleFormat || !origin.Valid(b.Regulator) || !origin.Valid(b.Exchange) {
		return nil, nil, fault.New(fault.Invalid, "the bundle has format %d and the sites %q and %q: this "+
			"program reads format %d with two origins",
			b.Format, b.Regulator, b.Exchange, bundleFormat)
	}
	t, left := &Tape{played: map[string][]*Answer{}}, int64(maxTape)
	for _, a := range b.Answers {
		if a.File != "" {
			if a.body, err = read(root, a.File, left); err != nil {
				return nil, nil, fault.Wrap(fault.Invalid, err, "an answer of the bundle cannot be read")
			}
			left -= int64(len(a.body))
		}
		a.Bytes = len(a.body) // it may have been shortened for a test
		key := a.Site + " " + a.Request
		t.played[key] = append(t.played[key], a)
	}
	return &b, t, nil
}

// read returns a file of at most a size.
func read(dir *os.Root, name string, most int64) ([]byte, error) {
	f, err := dir.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	body, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(body)) > most {
		err = fmt.Errorf("%s is too large", name)
	}
	return body, err
}
