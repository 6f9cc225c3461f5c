// Package transparency publishes the log of changes as a transparency log: a Merkle
// tree over all changes whose root is signed. A client that keeps a signed root, called
// a checkpoint, can tell later whether any change before it was altered, removed or
// inserted.
//
// The hashes of the leaves are in the store, written by the transaction that appends
// a change. Every process that serves keeps the tree over them in memory and signs
// its root, so that all of them publish the same tree.
//
// A log must sign one history only. When an older copy of the store was restored,
// its epoch is renewed, and it continues as another log: see Origin.
package transparency

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/proof"
	"pregon/internal/store"
)

// proofWait is how long a proof waits for its change.
const proofWait = 2 * time.Second

// Log is the part of the store that a Publisher reads.
type Log interface {
	Head(ctx context.Context) (disclosure.Head, error)
	Wait(ctx context.Context, after int64) error
	LeafHashes(ctx context.Context, after int64, fn func(tlog.Hash) error) error
	Leaves(ctx context.Context, after int64, limit int) ([]disclosure.Leaf, error)
	AddLeaves(ctx context.Context) (int, error)
	AsOf(ctx context.Context, of disclosure.Subject, upTo int64, ids ...string) ([]disclosure.Change, error)
	NameOpening(ctx context.Context, sealed string) (n store.SealedName, found bool, err error)
}

// Root is the root of the tree when it had a size.
type Root struct {
	Size int64
	Hash tlog.Hash
}

// Options are the parameters of New.
type Options struct {
	Log    Log
	Keys   *Keys
	Base   string // address of the service, without a slash at the end
	Logger *slog.Logger
	// Known returns a root of an epoch of the log that was published before, by any
	// process, and the zero value if there is none.
	Known func(ctx context.Context, epoch string) Root
}

// Publisher keeps the tree and signs its root.
type Publisher struct {
	o Options

	mu       sync.RWMutex
	tree     *proof.Tree   // guarded by mu
	epoch    string        // guarded by mu: of the log that the tree is of
	origin   string        // guarded by mu
	known    Root          // guarded by mu: a root of the epoch that was published
	err      error         // guarded by mu: why nothing is published
	grown    chan struct{} // guarded by mu: closed when the tree changes
	signed   []byte        // guarded by mu: the newest checkpoint
	signedBy []Key         // guarded by mu
	signedAt int64         // guarded by mu: its size
}

var errLoading = fault.New(fault.Unavailable, "The transparency log is still loading.")

// New returns a publisher that has read nothing yet.
func New(o Options) *Publisher {
	return &Publisher{
		o:     o,
		tree:  &proof.Tree{},
		err:   errLoading,
		grown: make(chan struct{}),
	}
}

// Origin returns the name of a log: the address of the service without its scheme,
// and /log. A log whose epoch was renewed has another history than the one that was
// published under that name, and is named by its epoch too.
func Origin(base string, head disclosure.Head) string {
	_, address, _ := strings.Cut(base, "://")
	if len(head.Past) > 0 {
		return address + "/log/" + head.Epoch
	}
	return address + "/log"
}

// wake wakes those that wait for the tree. The caller holds mu.
func (p *Publisher) wake() {
	close(p.grown)
	p.grown = make(chan struct{})
}

// Size returns the number of leaves of the tree.
func (p *Publisher) Size() int64 {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.tree.Size()
}

// Root returns the root of the tree, and the epoch of the log. ok is false while
// nothing is published.
func (p *Publisher) Root() (epoch string, root Root, ok bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	hash, err := p.tree.Root(p.tree.Size())
	return p.epoch, Root{p.tree.Size(), hash}, p.err == nil && err == nil
}

// Checkpoint returns the signed root of the tree.
func (p *Publisher) Checkpoint() ([]byte, error) {
	text, _, _, err := p.checkpoint()
	return text, err
}

// checkpoint returns the newest checkpoint, the name of its log and its size. It is
// signed when it is first requested.
func (p *Publisher) checkpoint() (text []byte, origin string, size int64, err error) {
	keys := p.o.Keys.List()
	p.mu.RLock()
	text = p.signed
	origin = p.origin
	size = p.tree.Size()
	err = p.err
	current := text != nil && p.signedAt == size && sameKeys(p.signedBy, keys)
	p.mu.RUnlock()
	if current || err != nil {
		return text, origin, size, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return nil, "", 0, p.err
	}
	if text, err = p.sign(keys); err != nil {
		return nil, "", 0, err
	}
	p.signed = text
	p.signedBy = keys
	p.signedAt = p.tree.Size()
	return text, p.origin, p.signedAt, nil
}

// sign signs the root of the tree. The caller holds mu.
func (p *Publisher) sign(keys []Key) ([]byte, error) {
	if len(keys) == 0 {
		return nil, fault.New(fault.Unavailable, "The transparency log does not have a usable key.")
	}
	root, err := p.tree.Root(p.tree.Size())
	if err != nil {
		return nil, err
	}
	signers := make([]note.Signer, len(keys))
	for i, key := range keys {
		if signers[i], err = key.signer(p.origin); err != nil {
			return nil, err
		}
	}
	return proof.Checkpoint{Origin: p.origin, Size: p.tree.Size(), Root: root}.Sign(signers...)
}

func sameKeys(a, b []Key) bool {
	return slices.EqualFunc(a, b, func(a, b Key) bool { return a.ID == b.ID && a.revision == b.revision })
}

// VerifierKey returns the text with which the newest key's signatures are verified.
func (p *Publisher) VerifierKey() (string, error) {
	keys := p.o.Keys.List()
	p.mu.RLock()
	origin := p.origin
	p.mu.RUnlock()
	if origin == "" || len(keys) == 0 {
		return "", errLoading
	}
	return keys[len(keys)-1].VerifierKey(origin)
}

// Prove returns the proof of the change with a seq. It waits a moment for a change
// that was appended just now, and then fails, Unavailable.
func (p *Publisher) Prove(ctx context.Context, seq int64) (proof.Proof, error) {
	if err := p.await(ctx, seq); err != nil {
		return proof.Proof{}, err
	}
	checkpoint, origin, size, err := p.checkpoint()
	if err != nil {
		return proof.Proof{}, err
	}
	leaves, err := p.o.Log.Leaves(ctx, seq-1, 1)
	if err != nil {
		return proof.Proof{}, err
	}
	salt, err := p.salt(ctx, leaves)
	if err != nil {
		return proof.Proof{}, err
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.origin != origin { // another log, after a restored copy
		return proof.Proof{}, errLoading
	}
	hashes, err := p.tree.Prove(seq-1, size)
	if err != nil {
		return proof.Proof{}, err
	}
	if len(leaves) != 1 || leaves[0].Seq != seq || p.leaf(seq) != leaves[0].Hash() {
		return proof.Proof{}, fault.New(fault.Internal, "change %d of the store is not the one that was "+
			"hashed when it was appended: run pregon verify", seq)
	}
	return proof.Proof{
		Seq:        seq,
		Index:      seq - 1,
		TreeSize:   size,
		Leaf:       leaves[0].Append(nil),
		Hashes:     hashes,
		Checkpoint: string(checkpoint),
		Salt:       salt,
	}, nil
}

// salt returns the salt of the name in the leaf of a position, nil if it does not have a
// seal or the name was erased.
func (p *Publisher) salt(ctx context.Context, leaves []disclosure.Leaf) ([]byte, error) {
	if len(leaves) != 1 || disclosure.Event(leaves[0].Event).Of() != disclosure.OfPosition {
		return nil, nil
	}
	var record struct {
		Sealed string `json:"holder_sealed"`
	}
	if err := json.Unmarshal(leaves[0].Record, &record); err != nil || record.Sealed == "" {
		return nil, err
	}
	n, found, err := p.o.Log.NameOpening(ctx, record.Sealed)
	if err != nil || !found {
		return nil, err
	}
	return n.Salt, nil
}

// ProveReport returns the proof of the newest change of a report. It fails, NotFound,
// if there is none.
func (p *Publisher) ProveReport(ctx context.Context, id string) (proof.Proof, error) {
	return p.proveNewest(ctx, disclosure.OfReport, "report", id)
}

// ProvePosition returns the proof of the newest change of a position. It fails, NotFound,
// if there is none.
func (p *Publisher) ProvePosition(ctx context.Context, id string) (proof.Proof, error) {
	return p.proveNewest(ctx, disclosure.OfPosition, "position", id)
}

func (p *Publisher) proveNewest(
	ctx context.Context,
	of disclosure.Subject,
	noun, id string,
) (proof.Proof, error) {
	newest, err := p.o.Log.AsOf(ctx, of, math.MaxInt64, id)
	if err != nil {
		return proof.Proof{}, err
	}
	if len(newest) != 1 {
		return proof.Proof{}, fault.New(fault.NotFound, "There is no %s %s.", noun, id)
	}
	return p.Prove(ctx, newest[0].Seq)
}

// leaf returns the hash of a leaf that the tree has. The caller holds mu.
func (p *Publisher) leaf(seq int64) tlog.Hash {
	found, err := p.tree.ReadHashes([]int64{tlog.StoredHashIndex(0, seq-1)})
	if err != nil {
		return tlog.Hash{}
	}
	return found[0]
}

// await waits until the tree has a change.
func (p *Publisher) await(ctx context.Context, seq int64) error {
	deadline := time.NewTimer(proofWait)
	defer deadline.Stop()
	for {
		p.mu.RLock()
		size := p.tree.Size()
		grown := p.grown
		err := p.err
		p.mu.RUnlock()
		switch {
		case err != nil:
			return err
		case seq < 1:
			return fault.New(fault.NotFound, "There is no change %d. The log has the changes 1 to %d.", seq, size)
		case seq <= size:
			return nil
		}
		select {
		case <-grown:
		case <-deadline.C:
			return fault.New(fault.Unavailable, "Change %d is not in the transparency log yet, which has %d "+
				"changes: it is being brought up to date.", seq, size)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Tile returns the content of a tile, or of a bundle of entries: see
// proof.ParseTilePath. It fails, NotFound, if the tree does not have it yet.
func (p *Publisher) Tile(ctx context.Context, t tlog.Tile, entries bool) ([]byte, error) {
	p.mu.RLock()
	data, err := p.tree.Tile(t)
	failed := p.err
	p.mu.RUnlock()
	switch {
	case failed != nil:
		return nil, failed
	case errors.Is(err, proof.ErrSize):
		return nil, fault.New(fault.NotFound, "The log does not have the tile %s yet.", proof.TilePath(t, entries))
	case err != nil:
		return nil, fault.New(fault.NotFound, "%v", err)
	case !entries:
		return data, nil
	}
	leaves, err := p.o.Log.Leaves(ctx, t.N*proof.TileWidth, t.W)
	if err != nil {
		return nil, err
	}
	if len(leaves) != t.W {
		return nil, errLoading
	}
	var bundle, leaf []byte
	for _, l := range leaves {
		leaf = l.Append(leaf[:0])
		bundle = proof.AppendEntry(bundle, leaf)
	}
	return bundle, nil
}
