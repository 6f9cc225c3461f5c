package bulk

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"slices"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/fault/outage"
	"pregon/internal/retry"
)

const (
	listTime = 5 * time.Second // for which a list of snapshots is used, or a failure to read it
	readTime = 5 * time.Second // in which a list is read
)

// Archive lists and opens the snapshots of a place. It may be used by many
// goroutines.
type Archive struct {
	place  Place
	logger *slog.Logger

	lock    retry.Lock           // held while a request reads the place; guards the fields below
	listed  time.Time            // when the place was read
	known   map[string]*Snapshot // those in the place, which never change; nil if it was never read
	err     error                // of the last reading
	skipped map[string]bool      // snapshots whose manifest cannot be used, which is logged
	trouble outage.Log
}

// New returns the archive of a place.
func New(p Place, logger *slog.Logger) *Archive {
	return &Archive{
		place:   p,
		logger:  logger,
		lock:    retry.NewLock(),
		trouble: outage.Log{Logger: logger},
	}
}

// List returns the snapshots of a log, newest first. Those with changes that the log
// does not have any more, since a backup was restored, are left out.
func (a *Archive) List(ctx context.Context, head disclosure.Head) ([]*Snapshot, error) {
	known, err := a.refresh(ctx)
	if err != nil {
		return nil, err
	}
	var list []*Snapshot
	for _, s := range known {
		if s.partOf(head) {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b *Snapshot) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return list, nil
}

// refresh returns all snapshots of the place, or those last known if it cannot be
// read. One request at a time reads them; others wait for it.
func (a *Archive) refresh(ctx context.Context) (map[string]*Snapshot, error) {
	if err := a.lock.Acquire(ctx); err != nil {
		return nil, err
	}
	defer a.lock.Release()
	if time.Since(a.listed) >= listTime {
		var known map[string]*Snapshot
		known, a.err = a.read(ctx)
		a.listed = time.Now()
		if a.err == nil {
			a.known = known
			a.trouble.Recovered("the snapshots can be listed again")
		} else {
			a.trouble.Failed("the snapshots cannot be listed: trying again", "err", a.err)
		}
	}
	if a.known == nil {
		return nil, a.err
	}
	return a.known, nil
}

// read reads the place. Its result is for all requests, so that it goes on when the
// one that began it ends. Snapshots whose manifest cannot be used are left out. The
// caller holds lock.
func (a *Archive) read(ctx context.Context) (map[string]*Snapshot, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readTime)
	defer cancel()
	ids, err := a.place.ids(ctx)
	if err != nil {
		return nil, err
	}
	known, skipped := make(map[string]*Snapshot, len(ids)), map[string]bool{}
	for _, id := range ids {
		var err error // of this snapshot alone
		s := a.known[id]
		if s == nil {
			s, err = a.manifest(ctx, id)
		}
		switch {
		case err == nil:
			known[id] = s
		case fault.KindOf(err) == fault.NotFound: // removed meanwhile
		case fault.KindOf(err) == fault.Invalid || errors.Is(err, fs.ErrPermission):
			if skipped[id] = true; !a.skipped[id] {
				a.logger.Warn("a snapshot is not listed", "err", err)
			}
		default:
			return nil, err
		}
	}
	a.skipped = skipped
	return known, nil
}

func (a *Archive) manifest(ctx context.Context, id string) (*Snapshot, error) {
	r, err := a.place.open(ctx, id, manifestName, 0)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return readManifest(r, id)
}

// forget makes the next List read the place.
func (a *Archive) forget() {
	_ = a.lock.Acquire(context.Background()) // a reading takes readTime at most
	defer a.lock.Release()
	a.listed = time.Time{}
}

// Open returns a file of a snapshot. It fails, NotFound, when there is none. The
// caller closes it.
func (a *Archive) Open(ctx context.Context, id, name string) (*Snapshot, *Content, error) {
	known, err := a.refresh(ctx)
	if err != nil {
		return nil, nil, err
	}
	s := known[id]
	if s == nil {
		return nil, nil, fault.New(fault.NotFound,
			"There is no snapshot with that id. GET /api/v1/bulk lists them; older ones are removed.")
	}
	f := s.File(name)
	if f == nil {
		return nil, nil, fault.New(fault.NotFound,
			"The snapshot does not have a file with that name. GET /api/v1/bulk lists its files.")
	}
	return s, &Content{File: *f, open: func(offset int64) (io.ReadCloser,
		error,
	) {
		return a.place.open(ctx, id, name, offset)
	}}, nil
}

// Content reads a file. It is opened at the first read, at the offset that is then
// wanted.
type Content struct {
	File
	open   func(offset int64) (io.ReadCloser, error)
	offset int64
	body   io.ReadCloser
}

// Seek sets the offset of the next read.
func (c *Content) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += c.offset
	case io.SeekEnd:
		offset += c.Bytes
	}
	if offset < 0 || offset > c.Bytes {
		return 0, fault.New(fault.Invalid, "the offset %d is not in the file", offset)
	}
	if offset != c.offset {
		_ = c.Close()
	}
	c.offset = offset
	return offset, nil
}

func (c *Content) Read(p []byte) (int, error) {
	if c.offset >= c.Bytes {
		return 0, io.EOF
	}
	if c.body == nil {
		var err error
		if c.body, err = c.open(c.offset); err != nil {
			return 0, err
		}
	}
	n, err := c.body.Read(p[:min(int64(len(p)), c.Bytes-c.offset)])
	c.offset += int64(n)
	if err == io.EOF && c.offset < c.Bytes {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// Close closes the file.
func (c *Content) Close() error {
	if c.body == nil {
		return nil
	}
	body := c.body
	c.body = nil
	return body.Close()
}
