package store

import "context"

// Index is the index of the words in documents. It consists of segments, whose
// contents only package document/index interprets. A segment that is in use never
// changes; it is replaced by another.
type Index interface {
	// Segments returns the segments in use, without heads and blocks, those with the
	// older documents first. PutDocument adds one.
	Segments(ctx context.Context) ([]Segment, error)

	// SegmentHeads passes the heads of segments to fn. The ids are distinct. It fails,
	// NotFound, if one does not exist.
	SegmentHeads(ctx context.Context, segments []int64, fn func(id int64, head []byte) error) error

	// Blocks passes blocks to fn, in no particular order. The ids are distinct. It
	// fails, NotFound, if one does not exist, as when its segment was replaced some
	// time ago.
	Blocks(ctx context.Context, ids []int64, fn func(id int64, block []byte)) error

	// NewSegment adds a segment that is not in use, and returns its id.
	NewSegment(ctx context.Context) (id int64, err error)

	// PutBlocks adds blocks to a segment that is not in use. The first has the number
	// from. It fails, Conflict, if the segment is in use or no longer exists: one that
	// no block was added to for an hour is removed.
	PutBlocks(ctx context.Context, segment int64, from int, blocks [][]byte) error

	// UseSegment sets the head and the number of documents of a segment, and begins
	// to use it in place of others, at the place of the newest. It fails, Conflict,
	// and changes nothing, unless all of what it replaces is as Replaced says.
	UseSegment(ctx context.Context, s Segment, in Replaced) error

	// DropSegment gives up a segment that is not in use yet: SweepSegments removes it
	// sooner.
	DropSegment(ctx context.Context, segment int64) error

	// SweepSegments removes some blocks of segments that have not been in use for
	// some time, and reports whether there were any.
	SweepSegments(ctx context.Context) (more bool, err error)

	// Unindexed returns the hashes of documents that are stored without an index, up
	// to a limit.
	Unindexed(ctx context.Context, limit int) ([]string, error)
}

// Segment is a part of the index of the words in documents.
type Segment struct {
	ID        int64
	Token     int64    // random; after a backup was restored, another segment may get the id
	Documents int      // their number
	Head      []byte   // opaque
	Blocks    [][]byte // opaque
}

// Replaced is what a segment replaces.
type Replaced struct {
	Segments  []int64  // in use
	Unindexed []string // hashes of documents without an index, which are in the segment
}

const blockBits = 24

// BlockID returns the id of the n-th block of a segment.
func BlockID(segment int64, n int) int64 { return segment<<blockBits | int64(n) }
