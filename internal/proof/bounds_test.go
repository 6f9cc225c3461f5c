package proof_test

import (
	"errors"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"pregon/internal/disclosure"
	"pregon/internal/proof"
)

// A checkpoint is read up to its largest length, whether or not it is verified.
func TestLongestCheckpoint(t *testing.T) {
	signer, verifier := keys(t, logName, 1)
	text := func(length int) []byte {
		c := proof.Checkpoint{Origin: logName, Size: 1, Extensions: []string{"x"}}
		c.Extensions[0] = strings.Repeat("x", 1+length-len(sign(t, c, signer)))
		return sign(t, c, signer)
	}
	for length, want := range map[int]bool{1000: true, proof.MaxCheckpoint: true, proof.MaxCheckpoint + 1: false} {
		signed := text(length)
		if len(signed) != length {
			t.Fatalf("it has %d bytes, want %d", len(signed), length)
		}
		if _, err := proof.OpenCheckpoint(signed, note.VerifierList(verifier)); (err == nil) != want {
			t.Errorf("OpenCheckpoint of %d bytes: %v", length, err)
		}
		if c, err := proof.ParseCheckpoint(signed); (err == nil) != want || want && c.Origin != logName {
			t.Errorf("ParseCheckpoint of %d bytes: %+v, %v", length, c, err)
		}
	}
	for _, text := range []string{"", "text", string(text(1000)[:500])} {
		if c, err := proof.ParseCheckpoint([]byte(text)); err == nil || !strings.Contains(err.Error(), "not a signed note") {
			t.Errorf("%.20q is read as %+v, %v", text, c, err)
		}
	}
}

// A checkpoint has up to 1<<48 changes.
func TestLargestSize(t *testing.T) {
	signer, _ := keys(t, logName, 1)
	for size, want := range map[int64]bool{-1: false, 1: true, 1 << 48: true, 1<<48 + 1: false} {
		if _, err := (proof.Checkpoint{Origin: logName, Size: size}).Sign(signer); (err == nil) != want {
			t.Errorf("a checkpoint of %d changes: %v", size, err)
		}
	}
	empty, err := tlog.TreeHash(0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (proof.Checkpoint{Origin: logName, Root: empty}).Sign(signer); err != nil {
		t.Errorf("an empty log: %v", err)
	}
	if _, err := (proof.Checkpoint{Origin: logName}).Sign(signer); err == nil {
		t.Error("an empty log with another root was signed")
	}
}

// A proof is read up to its largest length, with as many hashes as a tree can need.
func TestLongestProof(t *testing.T) {
	const hash = `"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="`
	for n, want := range map[int]bool{0: true, 64: true, 65: false} {
		text := `{"hashes":[` + strings.TrimSuffix(strings.Repeat(hash+",", n), ",") + `]}`
		if p, err := proof.ParseProof([]byte(text)); (err == nil) != want || want && len(p.Hashes) != n {
			t.Errorf("a proof with %d hashes: %v", n, err)
		}
	}
	for length, want := range map[int]bool{proof.MaxProof: true, proof.MaxProof + 1: false} {
		text := `{"seq":7}` + strings.Repeat(" ", length-len(`{"seq":7}`))
		if p, err := proof.ParseProof([]byte(text)); (err == nil) != want || want && p.Seq != 7 {
			t.Errorf("a proof of %d bytes: %v", length, err)
		}
	}
	p, known := proofOf(t, 3, 7)
	p.Hashes = make(tlog.RecordProof, 65)
	if _, _, err := p.Verify(known); err == nil || !strings.Contains(err.Error(), "more than any tree needs") {
		t.Errorf("a proof with 65 hashes: %v", err)
	}
}

// The index of a proof is that of its seq, also if the log has the change elsewhere.
func TestIndexOfAnotherSeq(t *testing.T) {
	var tree proof.Tree
	leaves := []disclosure.Leaf{change(1), change(3), change(2)}
	for _, l := range leaves {
		tree.Append(l.Hash())
	}
	root, err := tree.Root(3)
	if err != nil {
		t.Fatal(err)
	}
	c := proof.Checkpoint{Origin: logName, Size: 3, Root: root}
	for _, test := range []struct{ seq, index int64 }{{3, 1}, {2, 2}, {0, -1}, {4, 3}, {3, 2}} {
		p := proof.Proof{Seq: test.seq, Index: test.index, TreeSize: 3}
		if test.index >= 0 && test.index < 3 {
			p.Leaf = leaves[test.index].Append(nil)
			if p.Hashes, err = tree.Prove(test.index, 3); err != nil {
				t.Fatal(err)
			}
		}
		if l, err := p.In(c); err == nil {
			t.Errorf("seq %d at the index %d is proved by %+v", test.seq, test.index, l)
		}
	}
	good := proof.Proof{Seq: 1, Index: 0, TreeSize: 3, Leaf: leaves[0].Append(nil)}
	if good.Hashes, err = tree.Prove(0, 3); err != nil {
		t.Fatal(err)
	}
	if _, err := good.In(c); err != nil {
		t.Error(err)
	}
	good.TreeSize = 2
	if _, err := good.In(c); err == nil {
		t.Error("a proof for a tree of another size is valid")
	}
	huge := proof.Checkpoint{Origin: logName, Size: 1<<48 + 1}
	if _, err := (proof.Proof{Seq: 1, TreeSize: huge.Size}).In(huge); err == nil || !strings.Contains(err.Error(), "the checkpoint has") {
		t.Errorf("a checkpoint that is larger than any log: %v", err)
	}
}

// A leaf that is in the tree and is not a change proves nothing.
func TestLeafThatIsNotAChange(t *testing.T) {
	var tree proof.Tree
	text := []byte("text")
	tree.Append(tlog.RecordHash(text))
	root, err := tree.Root(1)
	if err != nil {
		t.Fatal(err)
	}
	p := proof.Proof{Seq: 1, Index: 0, TreeSize: 1, Leaf: text, Hashes: tlog.RecordProof{}}
	if l, err := p.In(proof.Checkpoint{Origin: logName, Size: 1, Root: root}); err == nil || !strings.Contains(err.Error(), "not JSON") {
		t.Errorf("%+v, %v", l, err)
	}
}

// Texts are escaped as in JSON, and plain names are not changed by that.
func TestTextsOfALeaf(t *testing.T) {
	for text, want := range map[string]string{
		"report.updated":       `"report.updated"`,
		"corrected_by":         `"corrected_by"`,
		"az":                   `"az"`,
		"A":                    `"A"`,
		`"`:                    `"\""`,
		`\`:                    `"\\"`,
		"a\nb":                 `"a\nb"`,
		"a\u2028b":             `"a\u2028b"`,
		"<&>":                  `"\u003c\u0026\u003e"`,
		"a{b":                  `"a{b"`,
		"a`b":                  "\"a`b\"",
		"año":                  `"año"`,
		string([]byte{'a', 0}): `"a\u0000"`,
	} {
		l := disclosure.Leaf{Event: text, Record: []byte("{}")}
		if got := string(l.Append(nil)); !strings.Contains(got, `"event":`+want+`,`) {
			t.Errorf("%q is written as %s, want %s", text, got, want)
		}
	}
}

// A bundle has 1 to 256 entries, which may be empty.
func TestNumberOfEntries(t *testing.T) {
	for n, want := range map[int]bool{-1: false, 0: false, 1: true, 256: true, 257: false} {
		bundle := make([]byte, 2*max(n, 0))
		entries, err := proof.ParseEntries(bundle, n)
		if (err == nil) != want || want && len(entries) != n {
			t.Errorf("%d entries: %d, %v", n, len(entries), err)
		}
	}
	for _, bundle := range [][]byte{nil, {0}, {0, 1}, {0, 0, 0}, {0, 1, 'x', 'y'}} {
		if entries, err := proof.ParseEntries(bundle, 1); err == nil {
			t.Errorf("%v is read as %q", bundle, entries)
		}
	}
	if entries, err := proof.ParseEntries([]byte{0, 1, 'x'}, 1); err != nil || string(entries[0]) != "x" {
		t.Errorf("%q, %v", entries, err)
	}
	longest := make([]byte, proof.MaxEntry)
	for length, want := range map[int]int{proof.MaxEntry: proof.MaxEntry, proof.MaxEntry + 1: 0} {
		bundle := proof.AppendEntry(nil, append(longest, 'x')[:length])
		if entries, err := proof.ParseEntries(bundle, 1); err != nil || len(entries[0]) != want {
			t.Errorf("a leaf of %d bytes becomes an entry of %d, %v; want %d", length, len(entries[0]), err, want)
		}
	}
}

// Only tiles of the height of tlog-tiles are read.
func TestTilesOfTheTree(t *testing.T) {
	tree := treeOf(3)
	for _, test := range []struct {
		tile tlog.Tile
		want bool
	}{
		{tlog.Tile{H: 8, W: 1}, true},
		{tlog.Tile{H: 8, W: 3}, true},
		{tlog.Tile{H: 8, W: 4}, false},
		{tlog.Tile{H: 7, W: 1}, false},
		{tlog.Tile{H: 9, W: 1}, false},
		{tlog.Tile{H: 8, W: 0}, false},
		{tlog.Tile{H: 8, L: -1, W: 1}, false},
	} {
		if data, err := tree.Tile(test.tile); (err == nil) != test.want {
			t.Errorf("%+v: %d bytes, %v", test.tile, len(data), err)
		}
	}
	if _, err := tree.ReadHashes([]int64{-1}); !errors.Is(err, proof.ErrSize) {
		t.Errorf("a hash before the first: %v", err)
	}
	if (&proof.Tree{}).Size() != 0 {
		t.Error("an empty tree has leaves")
	}
}
