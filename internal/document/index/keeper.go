package index

import (
	"context"
	"fmt"
	"log/slog"
	"math/bits"
	"slices"
	"time"

	"pregon/internal/fault"
	"pregon/internal/fault/outage"
	"pregon/internal/retry"
	"pregon/internal/store"
)

// Store is what a Keeper needs of the store.
type Store interface {
	store.Index
	store.Leases
	store.Documents
}

// Keeper maintains the index: it merges segments, indexes documents that were
// stored by a program with another index, and removes what is no longer used. Of
// all processes of a store, one at a time does that.
type Keeper struct {
	Store  Store
	Holder string // of the lease: the name of this process
	Logger *slog.Logger

	held        store.Lease
	nextRemoval time.Time      // of texts
	marked      map[int64]bool // tokens of segments in use that have a mark, see pair.go
}

const (
	leaseName = "document-index"
	leaseTime = time.Minute
	interval  = 2 * time.Second // between two polls of the segments

	removeEvery = time.Hour
	unusedTime  = 7 * 24 * time.Hour // how long a text remains that no report refers to
)

// Run maintains the index until the context ends.
func (k *Keeper) Run(ctx context.Context) error {
	defer func() { k.lease().Release(ctx, k.held) }()
	k.nextRemoval = time.Now().Add(removeEvery)
	failures, trouble := 0, outage.Log{Logger: k.Logger}
	for {
		wait := interval
		done, err := k.step(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case fault.KindOf(err) == fault.Conflict: // another process does it
			wait = 5 * interval
		case err != nil:
			failures++
			wait = retry.Jitter(retry.Backoff(failures-1, interval, time.Minute))
			trouble.Failed("the index of documents cannot be maintained", "err", err)
		default:
			failures = 0
			trouble.Recovered("the index of documents is maintained again")
			if done {
				wait = 0
			}
		}
		if err := retry.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// step does the next piece of work, and reports whether there was any. It removes
// before it merges: a merge that fails again and again must not fill the disk.
func (k *Keeper) step(ctx context.Context) (done bool, err error) {
	for _, work := range []func(context.Context) (bool, error){
		k.Store.SweepSegments, k.mergeNext,
		k.indexMissing, k.removeUnused, k.writeAgain,
	} {
		if done, err = work(ctx); done || err != nil {
			return done, err
		}
	}
	return false, nil
}

func (k *Keeper) lease() *store.LeaseHolder {
	return &store.LeaseHolder{
		Leases:      k.Store,
		Name:        leaseName,
		Holder:      k.Holder,
		TTL:         leaseTime,
		ReleaseTime: interval,
		NotReleased: func(err error) {
			k.Logger.Warn("the lease of the index of documents could not be released", "err", err)
		},
	}
}

// hold takes or prolongs the lease. It is called when there is work, so that an idle
// process does not write.
func (k *Keeper) hold(ctx context.Context) (err error) {
	k.held, err = k.lease().Acquire(ctx)
	return err
}

// removeUnused removes the texts that no report refers to, once in a while: it reads
// the list of all documents.
func (k *Keeper) removeUnused(ctx context.Context) (more bool, err error) {
	if time.Now().Before(k.nextRemoval) {
		return false, nil
	}
	if err := k.hold(ctx); err != nil {
		return false, err
	}
	removed, more, err := k.Store.RemoveDocuments(ctx, unusedTime)
	if removed > 0 {
		k.Logger.Info("removed the texts of documents that no report refers to", "documents", removed)
	}
	if err == nil && !more {
		k.nextRemoval = time.Now().Add(removeEvery)
	}
	return more, err
}

// mergeAtOnce is the number of segments that are merged to one. A document is
// written anew when the number of documents has grown by this factor.
const mergeAtOnce = 8

// mergeMost is the number of segments that are merged to one at most, since some
// blocks of each are in memory. More are due if no process merged them for a while.
const mergeMost = 8 * mergeAtOnce

// level returns how often the documents of a segment have been merged, about.
func level(documents int) int { return (bits.Len(uint(max(documents, 1))) - 1) / 3 }

// due returns the segments to merge, of those in use, oldest first: the newest ones
// up to the first level of which there are enough, or the oldest of them if there are
// too many. It returns nil if none are due.
func due(list []store.Segment) []store.Segment {
	for i := len(list) - 1; i >= 0; i-- {
		newer := list[i:]
		if len(newer) < mergeAtOnce {
			continue
		}
		if i == 0 || level(list[i-1].Documents) > level(largest(newer)) {
			return newer[:min(mergeMost, len(newer))]
		}
	}
	return nil
}

func largest(list []store.Segment) (documents int) {
	for _, s := range list {
		documents = max(documents, s.Documents)
	}
	return documents
}

// mergeNext merges the segments that are due.
func (k *Keeper) mergeNext(ctx context.Context) (bool, error) {
	list, err := k.Store.Segments(ctx)
	if err != nil {
		return false, err
	}
	list = due(list)
	if list == nil {
		return false, nil
	}
	return true, k.mergeSegments(ctx, list)
}

// writeAgain writes a segment again that has no mark, so that it gets one: an earlier
// program wrote it. Until then, phrases are found in it by the positions of their words.
func (k *Keeper) writeAgain(ctx context.Context) (bool, error) {
	list, err := k.Store.Segments(ctx)
	if err != nil {
		return false, err
	}
	marked := map[int64]bool{}
	for _, s := range list {
		if s.Documents < pairsFrom {
			continue
		}
		if !k.marked[s.Token] {
			ok, err := k.isMarked(ctx, s.ID)
			if err != nil {
				return false, err
			}
			if !ok {
				k.Logger.Info("writing a part of the index of documents again, with pairs of words", "documents", s.Documents)
				return true, k.mergeSegments(ctx, []store.Segment{s})
			}
		}
		marked[s.Token] = true
	}
	k.marked = marked
	return false, nil
}

// isMarked reports whether a segment has a mark.
func (k *Keeper) isMarked(ctx context.Context, id int64) (marked bool, err error) {
	err = k.Store.SegmentHeads(ctx, []int64{id}, func(_ int64, head []byte) error {
		_, firsts, err := decodeHead(head)
		_, marked = markOf(firsts)
		return err
	})
	return marked, err
}

// mergeSegments merges segments to one.
func (k *Keeper) mergeSegments(ctx context.Context, list []store.Segment) error {
	if err := k.hold(ctx); err != nil {
		return err
	}
	heads, ids := map[int64][]byte{}, make([]int64, len(list))
	for i, s := range list {
		ids[i] = s.ID
	}
	err := k.Store.SegmentHeads(ctx, ids, func(id int64, head []byte) error {
		heads[id] = head
		return nil
	})
	if err != nil {
		return err
	}
	inputs := make([]*input, len(list))
	for i, id := range ids {
		inputs[i], err = openInput(heads[id], func(ctx context.Context, from, to int) ([][]byte, error) {
			return readBlocks(ctx, k.Store, id, from, to)
		})
		if err != nil {
			return fmt.Errorf("segment %d: %w", id, err)
		}
	}
	return k.write(ctx, inputs, store.Replaced{Segments: ids})
}

// readBlocks returns some blocks of a segment in order.
func readBlocks(ctx context.Context, s store.Index, segment int64, from, to int) ([][]byte, error) {
	ids := make([]int64, 0, to-from)
	for n := from; n < to; n++ {
		ids = append(ids, store.BlockID(segment, n))
	}
	blocks := make([][]byte, to-from)
	err := s.Blocks(ctx, ids, func(id int64, block []byte) { blocks[id-ids[0]] = block })
	return blocks, err
}

// write writes the merged inputs as a new segment.
func (k *Keeper) write(ctx context.Context, inputs []*input, replaced store.Replaced) error {
	id, err := k.Store.NewSegment(ctx)
	if err != nil {
		return err
	}
	if err = k.fill(ctx, id, inputs, replaced); err != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), interval)
		defer cancel()
		_ = k.Store.DropSegment(ctx, id) // otherwise it is removed later
	}
	return err
}

// fill writes the merged inputs to a segment, and begins to use it.
func (k *Keeper) fill(ctx context.Context, id int64, inputs []*input, replaced store.Replaced) error {
	head, documents, err := merge(ctx, inputs, &segmentWriter{
		keeper: k,
		id:     id,
		held:   time.Now(),
	})
	if err != nil {
		return err
	}
	return k.Store.UseSegment(ctx, store.Segment{ID: id, Documents: documents, Head: head}, replaced)
}

// segmentWriter writes the blocks of a segment to the store.
type segmentWriter struct {
	keeper  *Keeper
	id      int64     // of the segment
	written int       // number of blocks
	held    time.Time // when the lease was prolonged
}

func (w *segmentWriter) put(ctx context.Context, blocks [][]byte) error {
	if time.Since(w.held) > leaseTime/3 {
		w.held = time.Now()
		if err := w.keeper.hold(ctx); err != nil {
			return err
		}
	}
	err := w.keeper.Store.PutBlocks(ctx, w.id, w.written, blocks)
	w.written += len(blocks)
	return err
}

func (w *segmentWriter) get(ctx context.Context, numbers []int) (map[int][]byte, error) {
	blocks := make(map[int][]byte, len(numbers))
	for some := range slices.Chunk(numbers, idsAtOnce) {
		ids := make([]int64, len(some))
		for i, n := range some {
			ids[i] = store.BlockID(w.id, n)
		}
		err := w.keeper.Store.Blocks(ctx, ids, func(id int64, block []byte) {
			blocks[int(id-store.BlockID(w.id, 0))] = block
		})
		if err != nil {
			return nil, err
		}
	}
	return blocks, nil
}

// The documents that are indexed at once are at most this many, and stop after this
// many bytes of text.
const (
	missingAtOnce = 256
	missingBytes  = 8 << 20
)

// indexMissing indexes some documents that are not in the index.
func (k *Keeper) indexMissing(ctx context.Context) (bool, error) {
	missing, err := k.Store.Unindexed(ctx, missingAtOnce)
	if err != nil || len(missing) == 0 {
		return false, err
	}
	if err := k.hold(ctx); err != nil {
		return false, err
	}
	var inputs []*input
	size := 0
	for i, sha256 := range missing {
		texts, err := k.Store.DocumentPages(ctx, sha256)
		if err != nil {
			return false, err
		}
		in, err := inMemory(Build(sha256, texts[sha256]))
		if err != nil {
			return false, err
		}
		inputs = append(inputs, in)
		for _, page := range texts[sha256] {
			size += len(page)
		}
		if size > missingBytes {
			missing = missing[:i+1]
			break
		}
	}
	k.Logger.Info("indexing the words of stored documents", "documents", len(missing))
	err = k.write(ctx, inputs, store.Replaced{Unindexed: missing})
	if fault.KindOf(err) == fault.Conflict { // one was stored again meanwhile
		err = nil
	}
	return true, err
}

// Settle does all work that is due. It is for programs that store many documents
// without Run.
func (k *Keeper) Settle(ctx context.Context) error {
	for {
		if done, err := k.step(ctx); !done || err != nil {
			return err
		}
	}
}
