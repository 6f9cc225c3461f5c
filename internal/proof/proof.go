// Package proof is the Merkle tree over the changes of the log: its leaves, its
// hashes, the checkpoints that are signed over it, and the proofs that a change is
// in it. Hashes are those of RFC 6962; tiles, checkpoints and signatures have the
// formats of tlog-tiles, tlog-checkpoint and signed-note, which other tools read.
//
// It reads no store and no network, so that a proof can be verified offline.
package proof

import (
	"encoding/json"
	"fmt"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"pregon/internal/disclosure"
)

// MaxProof is the length of the longest proof that is read.
const MaxProof = 16 << 20

// maxPath is more than the length of the audit path of any leaf.
const maxPath = 64

// Proof shows that a change is in the log. It can be verified offline.
type Proof struct {
	Seq        int64            `json:"seq"`
	Index      int64            `json:"index"` // of the leaf: seq-1
	TreeSize   int64            `json:"tree_size"`
	Leaf       []byte           `json:"leaf"`
	Hashes     tlog.RecordProof `json:"hashes"` // audit path, from the leaf to the root
	Checkpoint string           `json:"checkpoint"`
	// Salt opens the seal of a position's name in the leaf: see disclosure.Seal. It is left
	// out if the leaf does not have a seal, or if the name was erased.
	Salt []byte `json:"salt,omitempty"`
}

// ParseProof reads the JSON of a proof. It verifies nothing.
func ParseProof(text []byte) (Proof, error) {
	var p Proof
	if len(text) > MaxProof {
		return p, fmt.Errorf("the proof is longer than %d bytes", MaxProof)
	}
	if err := json.Unmarshal(text, &p); err != nil {
		return Proof{}, fmt.Errorf("the proof is not JSON with seq, index, tree_size, leaf, hashes and checkpoint: %w", err)
	}
	if len(p.Hashes) > maxPath {
		return Proof{}, fmt.Errorf("the proof has %d hashes, more than any tree needs", len(p.Hashes))
	}
	return p, nil
}

// Verify returns the leaf and the checkpoint that has it, if a known key signed the
// checkpoint: see OpenCheckpoint.
func (p Proof) Verify(known note.Verifiers) (disclosure.Leaf, Checkpoint, error) {
	c, err := OpenCheckpoint([]byte(p.Checkpoint), known)
	if err != nil {
		return disclosure.Leaf{}, Checkpoint{}, err
	}
	leaf, err := p.In(c)
	if err != nil {
		return disclosure.Leaf{}, Checkpoint{}, err
	}
	return leaf, c, nil
}

// In returns the leaf if it is in the tree of a checkpoint. It does not read the
// checkpoint of the proof itself.
func (p Proof) In(c Checkpoint) (disclosure.Leaf, error) {
	if p.TreeSize != c.Size || c.Size > maxSize {
		return disclosure.Leaf{}, fmt.Errorf("the proof is for a tree of %d leaves, the checkpoint has %d",
			p.TreeSize, c.Size)
	}
	if p.Seq < 1 || p.Index != p.Seq-1 || p.Index >= p.TreeSize {
		return disclosure.Leaf{}, fmt.Errorf("the proof is for seq %d at the index %d of %d leaves: the index "+
			"must be seq-1 and below the size",
			p.Seq, p.Index, p.TreeSize)
	}
	if len(p.Hashes) > maxPath {
		return disclosure.Leaf{}, fmt.Errorf("the proof has %d hashes, more than any tree needs", len(p.Hashes))
	}
	if tlog.CheckRecord(p.Hashes, p.TreeSize, c.Root, p.Index, tlog.RecordHash(p.Leaf)) != nil {
		return disclosure.Leaf{}, fmt.Errorf("the leaf of seq %d and its hashes do not lead to the root of "+
			"the checkpoint: "+
			"one of them was changed", p.Seq)
	}
	leaf, err := disclosure.ParseLeaf(p.Leaf)
	if err != nil {
		return disclosure.Leaf{}, err
	}
	if leaf.Seq != p.Seq {
		return disclosure.Leaf{}, fmt.Errorf("the leaf is of seq %d, the proof of seq %d", leaf.Seq, p.Seq)
	}
	return leaf, nil
}
