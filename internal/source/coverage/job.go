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

// Job is a requested back-fill. The holder of the ingest lease runs it and
// records its progress here, so that another process can continue it and the
// requesting process can show it.
type Job struct {
	ID    string            `json:"id"`
	From  string            `json:"from"`
	To    string            `json:"to"`
	Types []disclosure.Type `json:"types"`
	// First and Last are the range of a job that reads single numbers of its only
	// series, on any day; otherwise zero.
	First int64 `json:"first,omitempty"`
	Last  int64 `json:"last,omitempty"`
	// Documents is whether the documents of the reports are read too, after the
	// reports.
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
	Unread    []string        `json:"unread,omitempty"`  // steps that exist and could not be read
	Read      int             `json:"read,omitempty"`    // documents that were read
	Failed    int             `json:"failed,omitempty"`  // documents that were not
	Trouble   string          `json:"trouble,omitempty"` // why it makes no progress now
	At        time.Time       `json:"updated_at,omitzero"`
}

// NewJob returns the job of a range of days. The same range is the same job: a
// request for one that is not done continues it.
func NewJob(from, to disclosure.Day, types []disclosure.Type) Job {
	types = slices.Clone(types)
	slices.SortFunc(types, func(a, b disclosure.Type) int { return cmp.Compare(a.Index(), b.Index()) })
	types = slices.Compact(types)
	words := []string{from.String(), to.String()}
	for _, t := range types {
		words = append(words, t.Lower())
	}
	return Job{
		ID:      strings.Join(words, "_"),
		From:    from.String(),
		To:      to.String(),
		Types:   types,
		AskedAt: time.Now().UTC(),
	}
}

// NewNumbersJob returns the job of a range of numbers of a series. from and to
// are the days on which they may have been published.
func NewNumbersJob(t disclosure.Type, first, last int64, from, to disclosure.Day) Job {
	j := NewJob(from, to, []disclosure.Type{t})
	j.ID = fmt.Sprintf("%s_%d-%d", t.Lower(), first, last)
	j.First = first
	j.Last = last
	return j
}

// ByNumber reports whether the job is a range of numbers, not of days.
func (j *Job) ByNumber() bool { return j.Last > 0 }

// Wants reports whether the job reads a number.
func (j *Job) Wants(number int64) bool {
	return !j.ByNumber() || number >= j.First && number <= j.Last
}

// WithDocuments returns a copy of the job that reads the documents too.
func (j Job) WithDocuments() Job {
	j.ID, j.Documents = j.ID+"_documents", true
	return j
}

// Days returns the job's range of days.
func (j *Job) Days() (from, to disclosure.Day) {
	from, _ = disclosure.ParseDay(j.From)
	to, _ = disclosure.ParseDay(j.To)
	return from, to
}

const jobPrefix = "backfill/"

// Job returns a job by its id.
func (t *Tracker) Job(id string) (j Job, ok bool) {
	text := t.text(jobPrefix + id)
	return j, text != "" && json.Unmarshal([]byte(text), &j) == nil
}

// Jobs returns all jobs, the oldest first.
func (t *Tracker) Jobs() []Job {
	var out []Job
	t.mu.RLock()
	for _, text := range t.jobs {
		var j Job
		if json.Unmarshal([]byte(text), &j) == nil {
			out = append(out, j)
		}
	}
	t.mu.RUnlock()
	slices.SortFunc(out, func(a, b Job) int {
		return cmp.Or(a.AskedAt.Compare(b.AskedAt), strings.Compare(a.ID, b.ID))
	})
	return out
}

// Filled reports whether a back-fill of days has ended.
func (t *Tracker) Filled() bool {
	return slices.ContainsFunc(t.Jobs(), func(j Job) bool { return j.Done && !j.ByNumber() })
}

// FilledAt returns when the last back-fill ended that found new reports, the zero time if
// there was none.
func (t *Tracker) FilledAt() (last time.Time) {
	for _, j := range t.Jobs() {
		if j.Done && j.New > 0 && j.At.After(last) {
			last = j.At
		}
	}
	return last
}

// Filling reports whether a back-fill was requested and has not ended.
func (t *Tracker) Filling() bool {
	return slices.ContainsFunc(t.Jobs(), func(j Job) bool { return !j.Done })
}

// Request adds a job, unless it exists and is not done, and returns its state.
func (t *Tracker) Request(ctx context.Context, j Job) (Job, error) {
	if err := t.Refresh(ctx); err != nil {
		return j, err
	}
	if open, ok := t.Job(j.ID); ok && !open.Done {
		return open, nil
	}
	return j, t.SetJob(ctx, nil, j)
}

// SetJob records the progress of a job.
func (t *Tracker) SetJob(ctx context.Context, lease *store.Lease, j Job) error {
	text, err := json.Marshal(j)
	if err != nil {
		return err
	}
	return t.set(ctx, lease, newRecord(jobPrefix+j.ID, string(text)))
}
