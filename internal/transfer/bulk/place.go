package bulk

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pregon/internal/document/bucket"
	"pregon/internal/fault"
	"pregon/internal/store/durable"
)

// Place is where snapshots are kept.
type Place interface {
	// ids returns the ids of all complete snapshots, oldest first.
	ids(ctx context.Context) ([]string, error)
	// open returns a file of a snapshot from an offset on. It fails, NotFound, when
	// there is none.
	open(ctx context.Context, id, file string, offset int64) (io.ReadCloser, error)
	// workspace returns the directory in which snapshots are made.
	workspace() string
	// publish adds a snapshot whose files are in a directory, which may be moved.
	publish(ctx context.Context, dir string, s *Snapshot) error
	// remove removes a snapshot.
	remove(ctx context.Context, id string) error
	// clean removes all that is not a complete snapshot.
	clean(ctx context.Context) error
}

// Dir is a directory, which processes may share. It is created when the first
// snapshot is made.
type Dir string

const (
	makingPrefix  = ".making-"
	removedPrefix = ".removed-"
)

func (d Dir) path(parts ...string) string {
	return filepath.Join(append([]string{string(d)}, parts...)...)
}

func (d Dir) workspace() string { return string(d) }

func (d Dir) ids(context.Context) (ids []string, err error) {
	entries, err := os.ReadDir(string(d)) // in the order of names
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "the directory of snapshots cannot be read")
	}
	for _, e := range entries {
		if validID.MatchString(e.Name()) && e.IsDir() {
			ids = append(ids, e.Name())
		}
	}
	return ids, nil
}

func (d Dir) open(_ context.Context, id, file string, offset int64) (io.ReadCloser, error) {
	f, err := os.Open(d.path(id, file))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.NotFound, "There is no file %s of snapshot %s.", file, id)
	}
	if err == nil {
		if _, err = f.Seek(offset, io.SeekStart); err == nil {
			return f, nil
		}
		_ = f.Close()
	}
	return nil, fault.Wrap(fault.Unavailable, err, "a file of snapshot %s cannot be read", id)
}

// publish renames the directory, which is atomic.
func (d Dir) publish(_ context.Context, dir string, s *Snapshot) error {
	if err := durable.SyncDir(dir); err != nil {
		return err
	}
	return durable.Rename(dir, d.path(s.ID))
}

// remove renames the directory first, so that no incomplete snapshot is listed.
func (d Dir) remove(_ context.Context, id string) error {
	removed := d.path(removedPrefix + id)
	if err := os.Rename(d.path(id), removed); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.RemoveAll(removed)
}

func (d Dir) clean(context.Context) error { return cleanWorkspace(string(d)) }

func cleanWorkspace(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), makingPrefix) || strings.HasPrefix(e.Name(), removedPrefix) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// Bucket is a bucket, or a part of one, of an S3-compatible store.
type Bucket struct {
	*bucket.Bucket
	Workspace string // a private directory on this machine, of this bucket only
}

func (b Bucket) workspace() string { return b.Workspace }

// byID returns the files of the bucket by snapshot. Files with other names are not
// ours.
func (b Bucket) byID(ctx context.Context) (map[string][]string, error) {
	names, err := b.Files(ctx)
	files := map[string][]string{}
	for _, name := range names {
		if id, file, ok := strings.Cut(name, "/"); ok && validID.MatchString(id) {
			files[id] = append(files[id], file)
		}
	}
	return files, err
}

func (b Bucket) ids(ctx context.Context) (ids []string, err error) {
	all, err := b.byID(ctx)
	for id, files := range all {
		if slices.Contains(files, manifestName) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, err
}

func (b Bucket) open(ctx context.Context, id, file string, offset int64) (io.ReadCloser, error) {
	return b.OpenFile(ctx, id+"/"+file, offset)
}

func (b Bucket) publish(ctx context.Context, dir string, s *Snapshot) error {
	for _, f := range s.Files {
		if err := b.put(ctx, dir, s.ID, f.Name); err != nil {
			return err
		}
	}
	return errors.Join(b.put(ctx, dir, s.ID, manifestName), os.RemoveAll(dir))
}

func (b Bucket) put(ctx context.Context, dir, id, name string) error {
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	defer f.Close()
	size, sum, err := digest(f)
	if err != nil {
		return err
	}
	return b.PutFile(ctx, id+"/"+name, f, size, sum)
}

func (b Bucket) remove(ctx context.Context, id string) error {
	all, err := b.byID(ctx)
	if err != nil {
		return err
	}
	files := all[id]
	if slices.Contains(files, manifestName) {
		files = append([]string{manifestName}, files...)
	}
	for _, file := range files {
		if err := b.RemoveFile(ctx, id+"/"+file); err != nil {
			return err
		}
	}
	return nil
}

func (b Bucket) clean(ctx context.Context) error {
	all, err := b.byID(ctx)
	if err != nil {
		return err
	}
	for id, files := range all {
		if !slices.Contains(files, manifestName) {
			if err := b.remove(ctx, id); err != nil {
				return err
			}
		}
	}
	return cleanWorkspace(b.Workspace)
}
