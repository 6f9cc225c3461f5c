// Package bulk makes snapshots of all reports, issuers and positions, for clients that
// take the whole archive home and then continue with the log's changes.
//
// A snapshot is a set of files of one state of the log, and a manifest with its
// cursor, and the size and SHA-256 of every file. It never changes. The manifest is
// written last and removed first, so that what a killed process leaves behind is not
// listed; the next process that makes a snapshot removes it.
package bulk

import (
	"encoding/json"
	"io"
	"regexp"
	"strconv"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/transfer"
)

// Snapshot is the manifest of a snapshot.
type Snapshot struct {
	ID        string    `json:"id"` // when it was made, and its seq
	Seq       int64     `json:"seq"`
	Epoch     string    `json:"epoch"`
	Source    string    `json:"source"`
	CreatedAt time.Time `json:"created_at"`
	AsOf      time.Time `json:"as_of"`             // when the newest change in it occurred
	Partial   bool      `json:"partial,omitempty"` // a back-fill had not ended when it was made
	Files     []File    `json:"files"`
}

// File is a file of a snapshot.
type File struct {
	Name   string          `json:"name"`
	Kind   transfer.Kind   `json:"kind"`
	Format transfer.Format `json:"format"`
	Rows   int             `json:"rows"`
	Bytes  int64           `json:"bytes"`
	SHA256 string          `json:"sha256"`
}

// Cursor returns the cursor with which changes continue.
func (s *Snapshot) Cursor() disclosure.Cursor {
	return disclosure.Cursor{Epoch: s.Epoch, Seq: s.Seq}
}

// File returns a file by its name, nil if there is none.
func (s *Snapshot) File(name string) *File {
	for i := range s.Files {
		if s.Files[i].Name == name {
			return &s.Files[i]
		}
	}
	return nil
}

// Bytes returns the size of all files.
func (s *Snapshot) Bytes() (n int64) {
	for _, f := range s.Files {
		n += f.Bytes
	}
	return n
}

// partOf reports whether the log still has all changes of the snapshot: no backup
// from before it was restored, and it is not of another store.
func (s *Snapshot) partOf(head disclosure.Head) bool {
	if s.Epoch == head.Epoch {
		return true
	}
	seq, _ := head.Resume(s.Cursor())
	return head.Had(s.Epoch) && seq == s.Seq
}

const (
	manifestName = "manifest.json"
	maxManifest  = 64 << 10 // bytes
	idTime       = "20060102T150405Z"
)

func newID(made time.Time, seq int64) string {
	return made.UTC().Format(idTime) + "-" + strconv.FormatInt(seq, 10)
}

var (
	validID   = regexp.MustCompile(`^\d{8}T\d{6}Z-\d{1,19}$`)
	validFile = regexp.MustCompile(`^(reports|issuers|positions)\.(jsonl\.zst|csv\.zst|parquet)$`)
)

// fileName returns the name of a file: JSON Lines and CSV are compressed.
func fileName(kind transfer.Kind, format transfer.Format) string {
	name := string(kind) + "." + string(format)
	if format != transfer.Parquet {
		name += ".zst"
	}
	return name
}

// readManifest reads and checks a manifest: it may have been written by anyone who
// can write to the place. It fails, Invalid, when the manifest cannot be used.
func readManifest(r io.Reader, id string) (*Snapshot, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxManifest))
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "the manifest of snapshot %s cannot be read", id)
	}
	s := &Snapshot{}
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fault.New(fault.Invalid, "the manifest of snapshot %s is damaged: %v", id, err)
	}
	valid := s.ID == id && s.Seq > 0
	for _, f := range s.Files {
		valid = valid && validFile.MatchString(f.Name) && f.Bytes >= 0 && f.Rows >= 0
	}
	if _, ok := disclosure.ParseCursor(s.Cursor().String()); !valid || !ok {
		return nil, fault.New(fault.Invalid, "the manifest of snapshot %s is not one that this service wrote", id)
	}
	return s, nil
}
