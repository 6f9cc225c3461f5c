package proof_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	merkle "github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
	"golang.org/x/mod/sumdb/note"

	"pregon/internal/disclosure"
	"pregon/internal/proof"
)

func change(seq int64) disclosure.Leaf {
	return disclosure.Leaf{
		Seq: seq, Event: "report.published", Time: time.Date(2026, 3, 2, 9, 15, 0, int(seq)*1000, time.UTC),
		Changed: []string{}, Record: fmt.Appendf(nil, `{"id":"ip-%d"}`, seq),
	}
}

// proofOf returns the proof of seq in a log of size changes.
func proofOf(t testing.TB, seq, size int64) (proof.Proof, note.Verifiers) {
	t.Helper()
	var tree proof.Tree
	for i := range size {
		tree.Append(change(i + 1).Hash())
	}
	root, err := tree.Root(size)
	if err != nil {
		t.Fatal(err)
	}
	path, err := tree.Prove(seq-1, size)
	if err != nil {
		t.Fatal(err)
	}
	key, verifier := keys(t, logName, 1)
	text := sign(t, proof.Checkpoint{Origin: logName, Size: size, Root: root}, key)
	return proof.Proof{
		Seq: seq, Index: seq - 1, TreeSize: size, Leaf: change(seq).Append(nil), Hashes: path, Checkpoint: string(text),
	}, note.VerifierList(verifier)
}

func TestProof(t *testing.T) {
	for size := int64(1); size < 20; size++ {
		for seq := int64(1); seq <= size; seq++ {
			made, known := proofOf(t, seq, size)
			text, err := json.Marshal(made)
			if err != nil {
				t.Fatal(err)
			}
			p, err := proof.ParseProof(text)
			if err != nil {
				t.Fatal(err)
			}
			leaf, c, err := p.Verify(known)
			if err != nil || !reflect.DeepEqual(leaf, change(seq)) || c.Size != size {
				t.Errorf("the proof of %d in %d gives %+v and %+v (%v)", seq, size, leaf, c, err)
			}
		}
	}
}

// TestProofReadByOthers verifies a proof as a program would that knows only its
// JSON and RFC 6962.
func TestProofReadByOthers(t *testing.T) {
	made, known := proofOf(t, 5, 11)
	text, err := json.Marshal(made)
	if err != nil {
		t.Fatal(err)
	}
	var p struct {
		Index      uint64   `json:"index"`
		TreeSize   uint64   `json:"tree_size"`
		Leaf       string   `json:"leaf"`
		Hashes     [][]byte `json:"hashes"`
		Checkpoint string   `json:"checkpoint"`
	}
	if err := json.Unmarshal(text, &p); err != nil {
		t.Fatal(err)
	}
	signed, err := note.Open([]byte(p.Checkpoint), known)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(signed.Text, "\n")
	root, err := base64.StdEncoding.DecodeString(lines[2])
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := base64.StdEncoding.DecodeString(p.Leaf)
	if err != nil {
		t.Fatal(err)
	}
	err = merkle.VerifyInclusion(rfc6962.DefaultHasher, p.Index, p.TreeSize, rfc6962.DefaultHasher.HashLeaf(leaf), p.Hashes, root)
	if err != nil || lines[0] != logName || lines[1] != "11" {
		t.Errorf("the proof is not valid for another implementation: %v, %q", err, lines)
	}
}

func TestEmptyPathIsAList(t *testing.T) {
	p, _ := proofOf(t, 1, 1)
	text, err := json.Marshal(p)
	if err != nil || !strings.Contains(string(text), `"hashes":[]`) {
		t.Errorf("the proof of the only leaf is %s (%v)", text, err)
	}
}

func TestChangedProofs(t *testing.T) {
	other, _ := proofOf(t, 6, 11)
	for name, change := range map[string]func(p *proof.Proof){
		"seq":             func(p *proof.Proof) { p.Seq = 6 },
		"seq and index":   func(p *proof.Proof) { p.Seq, p.Index = 6, 5 },
		"seq 0":           func(p *proof.Proof) { p.Seq, p.Index = 0, -1 },
		"seq after all":   func(p *proof.Proof) { p.Seq, p.Index = 12, 11 },
		"index":           func(p *proof.Proof) { p.Index = 5 },
		"size":            func(p *proof.Proof) { p.TreeSize = 10 },
		"leaf":            func(p *proof.Proof) { p.Leaf[len(p.Leaf)-3] ^= 1 },
		"other leaf":      func(p *proof.Proof) { p.Leaf = other.Leaf },
		"no leaf":         func(p *proof.Proof) { p.Leaf = nil },
		"hash":            func(p *proof.Proof) { p.Hashes[2][31] ^= 1 },
		"order of hashes": func(p *proof.Proof) { p.Hashes[0], p.Hashes[1] = p.Hashes[1], p.Hashes[0] },
		"one hash less":   func(p *proof.Proof) { p.Hashes = p.Hashes[1:] },
		"one hash more":   func(p *proof.Proof) { p.Hashes = append(p.Hashes, leafHash(1)) },
		"no hashes":       func(p *proof.Proof) { p.Hashes = nil },
		"checkpoint":      func(p *proof.Proof) { p.Checkpoint = strings.Replace(p.Checkpoint, "\n11\n", "\n12\n", 1) },
		"no checkpoint":   func(p *proof.Proof) { p.Checkpoint = "" },
		"no signature":    func(p *proof.Proof) { p.Checkpoint, _, _ = strings.Cut(p.Checkpoint, "—") },
		"older checkpoint": func(p *proof.Proof) {
			older, _ := proofOf(t, 5, 10)
			p.Checkpoint = older.Checkpoint
		},
	} {
		p, known := proofOf(t, 5, 11)
		change(&p)
		if leaf, _, err := p.Verify(known); err == nil {
			t.Errorf("%s: the changed proof is valid for %+v", name, leaf)
		}
	}
}

// TestLeafOfAnotherSeq is a log that does not keep its own rule.
func TestLeafOfAnotherSeq(t *testing.T) {
	var tree proof.Tree
	tree.Append(change(1).Hash(), change(1).Hash())
	root, _ := tree.Root(2)
	path, _ := tree.Prove(1, 2)
	key, verifier := keys(t, logName, 1)
	p := proof.Proof{
		Seq: 2, Index: 1, TreeSize: 2, Leaf: change(1).Append(nil), Hashes: path,
		Checkpoint: string(sign(t, proof.Checkpoint{Origin: logName, Size: 2, Root: root}, key)),
	}
	if _, _, err := p.Verify(note.VerifierList(verifier)); err == nil || !strings.Contains(err.Error(), "seq 1") {
		t.Errorf("the error is %v", err)
	}
}

func TestWrongProofText(t *testing.T) {
	for _, text := range []string{
		"", "[]", `"x"`, `{"leaf":7}`, `{"hashes":["AAA="]}`, `{} {}`, `{"seq":1.5}`,
		`{"hashes":[` + strings.Repeat(`"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",`, 70) + `"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]}`,
		`{"leaf":"` + strings.Repeat("A", proof.MaxProof) + `"}`,
	} {
		if _, err := proof.ParseProof([]byte(text)); err == nil {
			t.Errorf("%.60s is read as a proof", text)
		}
	}
}

func FuzzProof(f *testing.F) {
	p, known := proofOf(f, 5, 11)
	text, err := json.Marshal(p)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Fuzz(func(t *testing.T, text []byte) {
		read, err := proof.ParseProof(text)
		if err != nil {
			return
		}
		leaf, _, err := read.Verify(known)
		if err == nil && !reflect.DeepEqual(leaf, change(5)) {
			t.Errorf("%s proves %+v, which is not in the log", text, leaf)
		}
	})
}
