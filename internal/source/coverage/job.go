package coverage

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/store"
)

// Job is a back-fill that somebody asked for. Whoever holds the lease of
// ingest does it, and notes here how far it is, so that it goes on where it
// stopped, in whatever process, and that the one who asked can watch.
type Job struct {
	ID    string            `json:"id"`
	From  string            `json:"from"`
	To    string            `json:"to"`
	Types []disclosure.Type `json:"types"`
	// First and Last are the numbers of a job that looks up one number after
	// another, in its only series and on whatever day; else zero.
	First int64 `json:"first,omitempty"`
	Last  int64 `json:"last,omitempty"`
	// Documents says that those of the reports are read too, once the reports are
	// in.
	Documents bool      `json:"documents,omitempty"`
	AskedAt   time.Time `json:"asked_at"`

	Done      bool            `json:"done,omitempty"`
	Type      disclosure.Type `json:"type,omitempty"`   // being read
	Cursor    string          `json:"cursor,omitempty"` // the last step of it that is done
	Steps     int             `json:"steps"`
	Total     int             `json:"total"` // steps, once known
	New       int             `json:"new"`
	Updated   int             `json:"updated"`
	Unchanged int             `json:"unchanged"`
	Unread    []string        `json:"unread,omitempty"`  // steps that are there and could not be read
	Read      int             `json:"read,omitempty"`    // documents that were read
	Failed    int             `json:"failed,omitempty"`  // documents that were not
	Trouble   string          `json:"trouble,omitempty"` // why it does not get on at present
	At        time.Time       `json:"updated_at,omitzero"`
}

// NewJob returns the job of a range. The same range is the same job: asked for
// again while it is open, it goes on.
func NewJob(from, to disclosure.Day, types []disclosure.Type) Job {
	types = slices.Clone(types)
	slices.SortFunc(types, func(a, b disclosure.Type) int { return cmp.Compare(a.Index(), b.Index()) })
	types = slices.Compact(types)
	words := []string{from.String(), to.String()}
	for _, t := range types {
		words = append(words, t.Lower())
	}
	return Job{ID: strings.Join(words, "_"), From: from.String(), To: to.String(), Types: types, AskedAt: time.Now().UTC()}
}

// NewNumbersJob returns the job of a range of numbers of a series. Its days are
// those on which they may have been filed.
func NewNumbersJob(t disclosure.Type, first, last int64, from, to disclosure.Day) Job {
	j := NewJob(from, to, []disclosure.Type{t})
	j.ID, j.First, j.Last = fmt.Sprintf("%s_%d-%d", t.Lower(), first, last), first, last
	return j
}

// ByNumber reports whether the job is a range of numbers, not of days.
func (j *Job) ByNumber() bool { return j.Last > 0 }

// Wants reports whether a number is the job's to read.
func (j *Job) Wants(number int64) bool {
	return !j.ByNumber() || number >= j.First && number <= j.Last
}

// WithDocuments is the job that has the documents read too.
func (j Job) WithDocuments() Job {
	j.ID, j.Documents = j.ID+"_documents", true
	return j
}

// Days returns the range.
func (j *Job) Days() (from, to disclosure.Day) {
	from, _ = disclosure.ParseDay(j.From)
	to, _ = disclosure.ParseDay(j.To)
	return from, to
}

const jobPrefix = "backfill/"

// Job returns a job by its id.
func (l *Tracker) Job(id string) (j Job, ok bool) {
	text := l.text(jobPrefix + id)
	return j, text != "" && json.Unmarshal([]byte(text), &j) == nil
}

// Jobs returns all jobs, the oldest first.
func (l *Tracker) Jobs() []Job {
	var out []Job
	l.mu.RLock()
	for _, text := range l.jobs {
		var j Job
		if json.Unmarshal([]byte(text), &j) == nil {
			out = append(out, j)
		}
	}
	l.mu.RUnlock()
	slices.SortFunc(out, func(a, b Job) int {
		return cmp.Or(a.AskedAt.Compare(b.AskedAt), strings.Compare(a.ID, b.ID))
	})
	return out
}

// Ask asks for a job, unless it is open already, and returns it as it stands.
func (l *Tracker) Request(ctx context.Context, j Job) (Job, error) {
	if err := l.Refresh(ctx); err != nil {
		return j, err
	}
	if open, ok := l.Job(j.ID); ok && !open.Done {
		return open, nil
	}
	return j, l.SetJob(ctx, nil, j)
}

// SetJob notes how far a job is.
func (l *Tracker) SetJob(ctx context.Context, lease *store.Lease, j Job) error {
	text, err := json.Marshal(j)
	if err != nil {
		return err
	}
	return l.set(ctx, lease, store.Note{Name: jobPrefix + j.ID, Text: string(text)})
}
