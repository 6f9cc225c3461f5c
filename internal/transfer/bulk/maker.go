package bulk

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/fault/outage"
	"pregon/internal/retry"
	"pregon/internal/store"
	"pregon/internal/transfer"
)

const (
	kept     = 7                // snapshots
	hour     = 3                // of the day in Madrid at which a snapshot is made
	pollTime = time.Second      // between two checks whether one is due
	waitTime = 10 * time.Minute // after a failure
	maxAhead = time.Hour        // between clocks: a snapshot from later was made while one was wrong

	leaseName    = "bulk"
	leaseTime    = time.Minute
	leaseRenew   = 10 * time.Second
	leaseRelease = 5 * time.Second
)

// Log is the part of the store that a snapshot is made of.
type Log interface {
	store.Log
	store.Leases
}

// Maker makes a snapshot every night, and one at once if there is none.
type Maker struct {
	Archive *Archive
	Log     Log
	Holder  string // name of this process in the lease
	// Requests, if not nil, returns the number of requests that this process has received.
	// While they come, the work takes a small part of a processor.
	Requests func() int64
	// Loading, if not nil, returns what is known of the loading of older reports. The
	// first snapshot waits for its end, until the night after Created, when the store was
	// created.
	Loading func(context.Context) (Load, error)
	Created time.Time
	// Leads reports whether this process should make snapshots now. Of several
	// processes that lead, the holder of the lease makes them.
	Leads  func() bool
	Source func() string
	Logger *slog.Logger

	made, failed atomic.Int64
	newest       atomic.Pointer[Snapshot]
}

// Stats are the figures of a Maker.
type Stats struct {
	Made, Failed int64
	Newest       *Snapshot // that this process knows; nil for none
}

// Stats returns the figures since the start.
func (m *Maker) Stats() Stats {
	return Stats{Made: m.made.Load(), Failed: m.failed.Load(), Newest: m.newest.Load()}
}

// Run makes snapshots until the context ends.
func (m *Maker) Run(ctx context.Context) error {
	trouble := outage.Log{Logger: m.Logger}
	for {
		wait := pollTime
		if m.Leads() {
			made, err := m.makeDue(ctx, time.Now())
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case fault.KindOf(err) == fault.Conflict: // another process makes it
				wait = leaseTime
			case err != nil:
				m.failed.Add(1)
				trouble.Failed("a snapshot for /api/v1/bulk could not be made: trying again later", "err", err)
				wait = retry.Jitter(waitTime)
			case made:
				trouble.Recovered("snapshots are made again")
			default:
				wait = leaseTime
			}
		}
		if err := retry.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// makeDue makes a snapshot if the last night has none.
func (m *Maker) makeDue(ctx context.Context, now time.Time) (made bool, err error) {
	head, err := m.Log.Head(ctx)
	if err != nil || head.Seq == 0 {
		return false, err
	}
	load, err := m.loading(ctx)
	if err != nil {
		return false, err
	}
	due, err := m.due(ctx, head, now, load)
	if err != nil || !due {
		return false, err
	}
	return true, m.holding(ctx, func(ctx context.Context) error {
		m.Archive.forget()
		if due, err := m.due(ctx, head, now, load); err != nil || !due {
			return err // another process has made it
		}
		start := time.Now()
		s, err := m.make(ctx, load.Running)
		if err != nil {
			return err
		}
		m.made.Add(1)
		m.newest.Store(s)
		m.Logger.Info("made a snapshot", "seq", s.Seq, "epoch", s.Epoch, "bytes", s.Bytes(), "duration_seconds",
			int(time.Since(start).Seconds()))
		return m.prune(ctx, now)
	})
}

// Load is what is known of the loading of older reports.
type Load struct {
	Running bool      // it has not ended, so that a snapshot is partial
	EndedAt time.Time // when the last one ended that found reports; zero if there was none
}

func (m *Maker) loading(ctx context.Context) (Load, error) {
	if m.Loading == nil {
		return Load{}, nil
	}
	return m.Loading(ctx)
}

// due reports whether the newest snapshot is from before the last time at which one
// was to be made, or lacks older reports that another one would have. Those from the
// future do not count. The first one, if it would be partial, waits for a night.
func (m *Maker) due(ctx context.Context, head disclosure.Head, now time.Time, load Load) (bool, error) {
	list, err := m.Archive.List(ctx, head)
	if err != nil {
		return false, err
	}
	for _, s := range list {
		if !s.CreatedAt.After(now.Add(maxAhead)) {
			m.newest.Store(s)
			lacks := s.Partial || s.CreatedAt.Before(load.EndedAt)
			return s.CreatedAt.Before(lastNight(now)) || lacks && !load.Running, nil
		}
	}
	return !load.Running || m.Created.Before(lastNight(now)), nil
}

// lastNight returns the last time at which a snapshot was to be made.
func lastNight(now time.Time) time.Time {
	y, month, d := now.In(disclosure.Madrid).Date()
	at := time.Date(y, month, d, hour, 0, 0, 0, disclosure.Madrid)
	if at.After(now) {
		at = time.Date(y, month, d-1, hour, 0, 0, 0, disclosure.Madrid)
	}
	return at
}

// holding calls fn while this process holds the lease of snapshots. It ends fn when
// the lease is lost. It fails, Conflict, while another process holds it.
func (m *Maker) holding(ctx context.Context, fn func(context.Context) error) error {
	h := store.LeaseHolder{
		Leases:      m.Log,
		Name:        leaseName,
		Holder:      m.Holder,
		TTL:         leaseTime,
		ReleaseTime: leaseRelease,
		RenewEvery:  leaseRenew,
		Wanted:      m.Leads,
		Shared:      true, // the second snapshot of a night is of no use, and does no harm
	}
	lease, err := h.Acquire(ctx)
	if err != nil {
		return err
	}
	err = h.Hold(ctx, lease, fn)
	if errors.Is(err, store.ErrLeaseLost) {
		return fault.New(fault.Conflict, "another process makes the snapshot")
	}
	return err
}

// prune removes all but the newest snapshots, those from the future first.
func (m *Maker) prune(ctx context.Context, now time.Time) error {
	ids, err := m.Archive.place.ids(ctx)
	if err != nil {
		return err
	}
	n, _ := slices.BinarySearch(ids, newID(now.Add(maxAhead), 0))
	ids = slices.Concat(ids[n:], ids[:n])
	for _, id := range ids[:max(0, len(ids)-kept)] {
		if err := m.Archive.place.remove(ctx, id); err != nil {
			return err
		}
	}
	m.Archive.forget()
	return nil
}

// Make makes a snapshot now. The caller holds the lease, or is alone.
func (m *Maker) Make(ctx context.Context) (*Snapshot, error) {
	load, err := m.loading(ctx)
	if err != nil {
		return nil, err
	}
	return m.make(ctx, load.Running)
}

func (m *Maker) make(ctx context.Context, partial bool) (s *Snapshot, err error) {
	place := m.Archive.place
	if err := place.clean(ctx); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(place.workspace(), 0o700); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(place.workspace(), makingPrefix)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(dir)
		}
	}()
	s = &Snapshot{Source: m.Source(), Partial: partial}
	if err := m.write(ctx, dir, s); err != nil {
		return nil, err
	}
	if err := writeManifest(dir, s); err != nil {
		return nil, err
	}
	if err := place.publish(ctx, dir, s); err != nil {
		return nil, err
	}
	m.Archive.forget()
	return s, nil
}

func writeManifest(dir string, s *Snapshot) error {
	_, err := writeFile(dir, manifestName, newPace(context.Background(), nil),
		func(w io.Writer) error { return json.NewEncoder(w).Encode(s) })
	return err
}

// write writes all files of a snapshot into a directory. The log is read once, into
// the files of reports and positions as JSON Lines, from which the others are written.
func (m *Maker) write(ctx context.Context, dir string, s *Snapshot) error {
	p := newPace(ctx, m.Requests)
	state, files, err := m.read(ctx, dir, p)
	if err != nil {
		return err
	}
	s.CreatedAt = time.Now().UTC().Truncate(time.Microsecond)
	s.ID = newID(s.CreatedAt, state.Head.Seq)
	s.Seq = state.Head.Seq
	s.Epoch = state.Head.Epoch
	s.AsOf = state.AsOf
	s.Files = files
	about := map[string]string{"cursor": s.Cursor().String(), "source": s.Source}
	for _, kind := range transfer.Kinds {
		for _, format := range transfer.Formats {
			if s.File(fileName(kind, format)) != nil {
				continue
			}
			f, err := m.writeOne(ctx, dir, state, p, transfer.Export{
				Kind:   kind,
				Format: format,
				About:  about,
				Step:   p.steps,
			})
			if err != nil {
				return err
			}
			s.Files = append(s.Files, f)
		}
	}
	return nil
}

// read reads the log and writes the files from which the others are written.
func (m *Maker) read(ctx context.Context, dir string, p *pace) (state *transfer.Snapshot, files []File, err error) {
	var out transfer.Files
	var positions File
	take := func(w io.Writer) error {
		out.Positions = w
		state, err = transfer.Take(ctx, m.Log, out, p.steps)
		return err
	}
	reports, err := writeFile(dir, fileName(transfer.Reports, transfer.JSONLines), p, func(w io.Writer) (err error) {
		out.Reports = w
		positions, err = writeFile(dir, fileName(transfer.Positions, transfer.JSONLines), p, take)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	reports.Kind = transfer.Reports
	reports.Rows = state.Reports
	positions.Kind = transfer.Positions
	positions.Rows = state.Positions
	files = []File{reports, positions}
	for i := range files {
		files[i].Format = transfer.JSONLines
	}
	return state, files, nil
}

func (m *Maker) writeOne(
	ctx context.Context,
	dir string,
	state *transfer.Snapshot,
	p *pace,
	e transfer.Export,
) (f File, err error) {
	source := e.Kind
	if source == transfer.Issuers { // which are in memory
		source = transfer.Reports
	}
	records, err := os.Open(filepath.Join(dir, fileName(source, transfer.JSONLines)))
	if err != nil {
		return f, err
	}
	defer records.Close()
	var done transfer.Exported
	f, err = writeFile(dir, fileName(e.Kind, e.Format), p, func(w io.Writer) error {
		if e.Format == transfer.Parquet {
			done, err = state.Write(ctx, w, records, e)
			return err
		}
		out, err := transfer.NewCompressor(w)
		if err != nil {
			return err
		}
		done, err = state.Write(ctx, out, records, e)
		return errors.Join(err, out.Close())
	})
	f.Kind = e.Kind
	f.Format = e.Format
	f.Rows = done.Records
	return f, err
}

// writeFile writes a file durably and returns its size and hash.
func writeFile(dir, name string, p *pace, fn func(io.Writer) error) (f File, err error) {
	file, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	out := bufio.NewWriterSize(pacedWriter{file, p}, 64<<10)
	if err := fn(out); err != nil {
		return f, err
	}
	if err := out.Flush(); err != nil {
		return f, err
	}
	if err := file.Sync(); err != nil {
		return f, err
	}
	f.Name = name
	f.Bytes, f.SHA256, err = digest(file)
	return f, err
}

// digest returns the size and the SHA-256 of a file.
func digest(file *os.File) (size int64, sum string, err error) {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return 0, "", err
	}
	hash := sha256.New()
	size, err = io.Copy(hash, file)
	return size, hex.EncodeToString(hash.Sum(nil)), err
}
