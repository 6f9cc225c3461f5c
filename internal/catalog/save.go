package catalog

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"pregon/internal/catalog/position"
	"pregon/internal/disclosure"
	"pregon/internal/fault/outage"
	"pregon/internal/retry"
	"pregon/internal/search"
	"pregon/internal/search/saved"
	"pregon/internal/store/durable"
)

// The catalogue is saved to files, so that the next start opens it and reads only the
// later changes. What is saved follows from the log: files that are missing, damaged, of
// another version or of another log are ignored, and the catalogue is built from the log.

// saveVersion is the version of what is saved. It is increased whenever a report would be
// encoded or split into words in another way: see TestSaveVersion.
const saveVersion = 1

const (
	saveCheck   = 10 * time.Second // between two checks whether to save
	saveChanges = 2000             // changes after which it is saved again
	savePause   = 10 * time.Minute // between two saves, at least
	mostBehind  = 20_000           // saved files are not used if the log has more later changes
)

// SaveTo makes the catalogue use files at a path: see saved.Write. Files of another variant
// of the same log are ignored. It is called before Load.
func (c *Catalog) SaveTo(path, variant string) {
	c.savePath = path
	sum := sha256.Sum256([]byte(strings.Join(factNames, "\n")))
	c.saveVersion = fmt.Sprintf("%d %x %s", saveVersion, sum[:8], variant)
}

// KeepSaved saves the catalogue when enough has changed, until the context ends.
func (c *Catalog) KeepSaved(ctx context.Context) error {
	if c.savePath == "" {
		return nil
	}
	trouble := outage.Log{Logger: c.slog}
	var last time.Time
	failed := false // the last time: a disk without room is not filled again and again
	for {
		newlyBuilt := c.savedSeq.Load() < 0 && !failed
		changes := c.Snapshot().Seq() - c.savedSeq.Load()
		if newlyBuilt || (changes >= saveChanges || failed) && time.Since(last) >= savePause {
			began := time.Now()
			done, err := c.save()
			switch failed = err != nil; {
			case failed:
				trouble.Failed("the catalogue cannot be saved: the next start will take longer", "err", err)
				last = began
			case done:
				trouble.Recovered("the catalogue is saved again")
				last = began
			}
		}
		if err := retry.Sleep(ctx, saveCheck); err != nil {
			return nil
		}
		c.checkData()
	}
}

// checkData has the catalogue built again if a file that is in use was changed.
func (c *Catalog) checkData() { _ = c.attempt(c.Verify) }

// Verify panics, with a value that Broken recognizes, if a file that is in use was changed.
// Each block is verified only once, so that what was read from it since may be wrong: it must
// not be sent.
func (c *Catalog) Verify() {
	for _, d := range c.files() {
		d.Verify()
	}
}

// files returns the data files in use.
func (c *Catalog) files() []*saved.Data {
	if files := c.data.Load(); files != nil {
		return *files
	}
	return nil
}

// use sets the data files in use. c.mu is held.
func (c *Catalog) use(files ...*saved.Data) { c.data.Store(&files) }

// save writes the files. It returns false if that must wait.
func (c *Catalog) save() (done bool, err error) {
	c.mu.Lock()
	save := c.writer.BeginSave()
	s := c.Snapshot()
	writer := c.writer
	c.mu.Unlock()
	if save == nil {
		return false, nil
	}
	start := time.Now()
	data, err := c.write(s, save)
	if failed := c.attempt(func() { err = errors.Join(err, c.endSave(writer, s, save, data, err == nil)) }); failed != nil {
		return true, failed
	}
	if err == nil {
		c.slog.Debug("catalogue saved", "seq", s.Seq(), "path", c.savePath,
			"duration_seconds", time.Since(start).Seconds())
	}
	return true, err
}

// endSave has the writer use a data file, unless that is nil.
func (c *Catalog) endSave(
	w *search.Writer,
	s *Snapshot,
	save *search.Save,
	data *saved.Data,
	written bool,
) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w != c.writer { // the catalogue was loaded again, and must be saved again
		if data != nil {
			data.Release()
		}
		return nil
	}
	if written {
		c.savedSeq.Store(s.Seq())
	}
	if data != nil {
		c.use(append(slices.Clone(c.files()), data)...)
	}
	err := w.EndSave(save, data)
	now := c.Snapshot()
	c.now.Store(c.snapshot(now.head, now.last, now.tally))
	c.release(w.Index())
	c.startMerge()
	return err
}

// release releases the files that an index does not need any more. c.mu is held.
func (c *Catalog) release(index *search.Index) {
	var used []*saved.Data
	for _, d := range c.files() {
		if index.Uses(d) {
			used = append(used, d)
		} else {
			defer d.Release()
		}
	}
	c.use(used...)
}

// write writes the files of a snapshot. It returns the data file if the writer should use it
// because most reports are in memory.
func (c *Catalog) write(s *Snapshot, save *search.Save) (data *saved.Data, err error) {
	failed := c.attempt(func() {
		err = saved.Write(c.savePath, durable.Replace, func(data *saved.DataWriter) ([]byte, error) {
			state, err := s.encode(c.saveVersion, save, data, &c.documents)
			c.Verify() // what was copied from another file must be right
			return state, err
		})
	})
	switch {
	case failed != nil:
		return nil, failed
	case errors.Is(err, saved.ErrBusy): // and saves about the same
		return nil, nil
	case err != nil:
		return nil, err
	}
	if save.InMemory()*2 < save.Len() {
		return nil, nil
	}
	_, data, err = saved.Open(c.savePath)
	return data, err
}

// encode writes what a catalogue needs to begin with the snapshot.
func (s *Snapshot) encode(
	version string,
	save *search.Save,
	data *saved.DataWriter,
	documents *search.Numbers,
) ([]byte, error) {
	e := &saved.Encoder{}
	e.String(version)
	e.String(s.head.Epoch)
	e.Int(s.last.Seq)
	e.Int(s.last.At)
	e.String(string(s.last.Event))
	e.String(s.last.Subject)
	e.Strings(s.links.shared)
	issuers := s.Directory().Issuers()
	e.Uint(uint64(len(issuers)))
	for _, i := range issuers {
		text, err := json.Marshal(i.Issuer)
		if err != nil {
			return nil, err
		}
		e.String(string(text))
	}
	if err := s.positions.Save(e); err != nil {
		return nil, err
	}
	s.tally.save(e)
	save.Write(e, data, documents)
	return e.B, nil
}

// errNotThisLog is why files of another log are not used.
var errNotThisLog = errors.New("it was saved from another log, or from a later state of it")

// open opens the saved files, and returns the snapshot that was saved. c.mu is held. An
// error means that the catalogue must be built from the log.
func (c *Catalog) open(ctx context.Context) (*Snapshot, error) {
	state, data, err := saved.Open(c.savePath)
	if err != nil {
		return nil, err
	}
	d := saved.NewDecoder(state)
	if version := d.String(); version != c.saveVersion {
		return nil, fmt.Errorf("it has the version %q, not %q", version, c.saveVersion)
	}
	epoch := d.String()
	last := disclosure.Mark{
		Seq:     d.Int(),
		At:      d.Int(),
		Event:   disclosure.Event(d.String()),
		Subject: d.String(),
	}
	head, err := c.savedHead(ctx, epoch, last)
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	if err := c.log.SealedNames(ctx, func(sealed, name string) { names[sealed] = name }); err != nil {
		return nil, err
	}
	shared := d.Strings()
	issuers := map[string]*search.Issuer{}
	for range d.Len(1) {
		var i disclosure.Issuer
		if err := json.Unmarshal([]byte(d.String()), &i); err != nil {
			return nil, err
		}
		issuers[i.ID] = search.NewIssuer(&i)
	}
	dir := directoryOf(issuers)
	positions, err := position.Open(d, names, Finder(dir))
	if err != nil {
		return nil, err
	}
	t := openTally(d)
	writer, err := search.OpenWriter(&c.documents, factsOf, d, data, dir)
	if err != nil {
		return nil, err
	}
	c.use(data)
	c.writer = writer
	c.issuers = issuers
	c.encoder = encoder{links: links{shared}}
	c.positions = positions
	c.trail.Extend(ctx, c.log, last)
	return c.snapshot(head, last, t), nil
}

// savedHead returns the head of the log as of its newest change that was saved. It fails if
// the log does not have it, or too many later ones.
func (c *Catalog) savedHead(
	ctx context.Context,
	epoch string,
	last disclosure.Mark,
) (disclosure.Head, error) {
	head, err := c.log.Head(ctx)
	switch {
	case err != nil:
		return head, err
	case head.Epoch != epoch || head.Seq < last.Seq:
		return head, errNotThisLog
	case head.Seq-last.Seq > mostBehind:
		return head, fmt.Errorf("the log has %d later changes", head.Seq-last.Seq)
	}
	marks, err := c.log.Marks(ctx, last.Seq-1, 1)
	if err == nil && (len(marks) != 1 || marks[0] != last) {
		err = errNotThisLog
	}
	head.Seq = last.Seq
	return head, err
}

// loadSaved opens the saved files and applies the later changes. It reports whether it
// could. c.mu is held.
func (c *Catalog) loadSaved(ctx context.Context) bool {
	if c.savePath == "" || c.distrusted.Load() {
		return false
	}
	start := time.Now()
	var s *Snapshot
	var err error
	failed := c.attempt(func() {
		if s, err = c.open(ctx); err == nil {
			c.savedSeq.Store(s.Seq())
			s, err = c.catchUp(ctx, s)
		}
	})
	if err = cmp.Or(failed, err); err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			c.slog.Info("the saved catalogue is not used: it is built from the log", "reason", err,
				"path", c.savePath)
		}
		return false
	}
	c.now.Store(s)
	c.slog.Info("catalogue opened", "reports", s.Len(), "issuers", len(c.issuers), "positions", c.positions.Len(),
		"seq", s.Seq(), "epoch", s.head.Epoch,
		"duration_seconds", time.Since(start).Seconds())
	return true
}

// catchUp returns the snapshot after all changes of the log. Nothing is served from those
// before it: clients would miss what was published since. c.mu is held.
func (c *Catalog) catchUp(ctx context.Context, s *Snapshot) (*Snapshot, error) {
	for {
		changes, _, err := c.next(ctx, s)
		if err != nil || len(changes) == 0 {
			return s, err
		}
		s = c.advance(s, changes)
	}
}

// Broken reports whether the value of a panic says that a file of the catalogue is damaged
// or cannot be read any more. Then the catalogue is built from the log again, and what
// panicked can be tried again soon. A fault of the disk is such a panic only in goroutines
// that have called debug.SetPanicOnFault.
//
// While a file in use is changed, every panic counts as one that it causes: its numbers may be
// any. A request that has begun before may still read a file that is not in use any more.
func (c *Catalog) Broken(recovered any) bool {
	data := saved.Broken(recovered)
	files := c.files()
	if at := slices.IndexFunc(files, (*saved.Data).Changed); data == nil && at >= 0 {
		data = files[at]
	}
	if slices.Contains(files, data) && !c.distrusted.Swap(true) {
		c.slog.Warn("a file of the catalogue is damaged: it is built from the log again", "path", c.savePath,
			"cause", recovered)
	}
	return data != nil
}

// attempt calls fn, and returns an error if that is ended by a damaged file: see Broken.
func (c *Catalog) attempt(fn func()) (err error) {
	before := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(before)
	defer func() {
		if recovered := recover(); recovered != nil {
			if !c.Broken(recovered) {
				panic(recovered)
			}
			err = fmt.Errorf("the catalogue: %v", recovered)
		}
	}()
	fn()
	return nil
}

// patiently calls fn until it is not ended by a damaged file, for callers outside requests.
// It waits for the catalogue to be built from the log in between.
func (c *Catalog) patiently(fn func()) {
	for range mostAttempts {
		if c.attempt(fn) == nil {
			return
		}
		_ = retry.Sleep(context.Background(), attemptPause)
	}
}

const (
	attemptPause = 200 * time.Millisecond
	mostAttempts = 1500 // five minutes
)
