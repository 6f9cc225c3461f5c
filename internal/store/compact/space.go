package compact

import "context"

// file is an engine whose space is in one file.
type file interface {
	Unused(ctx context.Context) (bytes int64, inSteps bool, err error)
	ReturnUnused(ctx context.Context) error
	Rewrite(ctx context.Context) error
	Truncate(ctx context.Context) error
}

// Space is what became of the space that holds no data any more.
type Space int

// The results of ReturnSpace.
const (
	Returned Space = iota // to the file system
	Little                // it is not worth writing the file anew
	Kept                  // by the file: it could not be written anew now
	Server                // the database server reuses it
)

// littleShare is the share of the file below which it is not written anew, as 1 in so
// many.
const littleShare = 20

// ReturnSpace returns unused space to the file system: in small steps if the file is
// prepared for that, else by writing it anew, during which no process can write. It
// does that only if exclusive returns nil; otherwise it returns its error with Kept.
func ReturnSpace(
	ctx context.Context,
	s Store,
	size int64,
	exclusive func(context.Context) error,
) (Space, int64, error) {
	f, ok := s.(file)
	if !ok {
		return Server, 0, nil
	}
	unused, inSteps, err := f.Unused(ctx)
	switch {
	case err != nil:
		return Kept, 0, err
	case !inSteps && unused < size/littleShare:
		return Little, unused, nil
	case !inSteps:
		if err := exclusive(ctx); err != nil {
			return Kept, unused, err
		}
		if err := f.Rewrite(ctx); err != nil {
			return Kept, unused, err
		}
	}
	for left := unused; inSteps && left > 0; {
		if err := f.ReturnUnused(ctx); err != nil {
			return Kept, left, err
		}
		now, _, err := f.Unused(ctx)
		if err != nil || now >= left {
			return Kept, now, err
		}
		left = now
	}
	return Returned, unused, f.Truncate(ctx)
}
