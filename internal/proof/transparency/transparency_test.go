package transparency_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"pregon/internal/auth/secret"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/proof"
	"pregon/internal/proof/transparency"
	"pregon/internal/store"
	"pregon/internal/store/sqlite"
)

const base = "https://pregon.example"

// world is a store and what reads it.
type world struct {
	*testing.T
	path string
	db   *sqlite.Store
	keys *transparency.Keys
	logs bytes.Buffer
}

func newWorld(t *testing.T) *world {
	w := &world{T: t, path: filepath.Join(t.TempDir(), "pregon.db")}
	w.db = w.open()
	w.keys = w.newKeys("")
	w.must(w.keys.LoadOrCreate(t.Context()))
	return w
}

func (w *world) open() *sqlite.Store {
	db, err := sqlite.Open(w.Context(), w.path, sqlite.Options{Create: true})
	w.must(err)
	w.Cleanup(func() { db.Close() })
	return db
}

func (w *world) newKeys(password string) *transparency.Keys {
	box, err := secret.NewBox(password)
	w.must(err)
	return transparency.NewKeys(w.db, box, w.logger())
}

func (w *world) logger() *slog.Logger { return slog.New(slog.NewTextHandler(&w.logs, nil)) }

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// append adds n reports whose titles have the given text.
func (w *world) append(first, n int, title string) {
	w.Helper()
	b := store.Batch{}
	for i := range n {
		number := int64(first + i)
		b.Reports = append(b.Reports, disclosure.Report{
			ID: fmt.Sprintf("oir-%d", number), Type: disclosure.OIR, Number: number, CompanyName: "ALMAZARA FICTICIA, S.A.", Title: title,
			PublishedAt: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC), TimeFrom: disclosure.FromFeed,
		})
	}
	_, err := w.db.Append(w.Context(), b)
	w.must(err)
}

func (w *world) publisher(known transparency.Root) *transparency.Publisher {
	return transparency.New(transparency.Options{
		Log: w.db, Keys: w.keys, Base: base, Logger: w.logger(),
		Known: func(context.Context, string) transparency.Root { return known },
	})
}

func (w *world) updated(known transparency.Root) *transparency.Publisher {
	p := w.publisher(known)
	w.must(p.Update(w.Context()))
	return p
}

func (w *world) sql(statement string, args ...any) {
	w.Helper()
	w.must(w.db.Exec(w.Context(), statement, args...))
}

// opened returns the checkpoint of a publisher, verified with its key.
func (w *world) opened(p *transparency.Publisher) proof.Checkpoint {
	w.Helper()
	key, err := p.VerifierKey()
	w.must(err)
	text, err := p.Checkpoint()
	w.must(err)
	return w.verified(text, key)
}

func (w *world) verified(text []byte, key string) proof.Checkpoint {
	w.Helper()
	verifier, err := note.NewVerifier(key)
	w.must(err)
	c, err := proof.OpenCheckpoint(text, note.VerifierList(verifier))
	w.must(err)
	return c
}

// TestProofs: every change has a proof that verifies, in every batch and as the tree
// grows, and two processes publish the same tree.
func TestProofs(t *testing.T) {
	w := newWorld(t)
	p := w.updated(transparency.Root{})
	if c := w.opened(p); c.Size != 0 || c.Origin != "pregon.example/log" {
		t.Errorf("the checkpoint of an empty log is %+v", c)
	}
	for i, n := range []int{1, 3, 300, 2} {
		w.append(1000*i+1, n, "Acuerdo")
		w.must(p.Update(t.Context()))
		if mine, other := w.opened(p), w.opened(w.updated(transparency.Root{})); mine.Root != other.Root || mine.Size != other.Size {
			t.Errorf("two processes publish %+v and %+v", mine, other)
		}
	}
	key, err := p.VerifierKey()
	w.must(err)
	verifier, err := note.NewVerifier(key)
	w.must(err)
	for seq := int64(1); seq <= 306; seq++ {
		found, err := p.Prove(t.Context(), seq)
		w.must(err)
		leaf, c, err := found.Verify(note.VerifierList(verifier))
		if err != nil || leaf.Seq != seq || c.Size != 306 {
			t.Fatalf("the proof of change %d: %+v, %+v, %v", seq, leaf, c, err)
		}
	}
	for _, seq := range []int64{-1, 0} {
		if _, err := p.Prove(t.Context(), seq); fault.KindOf(err) != fault.NotFound {
			t.Errorf("the proof of change %d: %v", seq, err)
		}
	}
}

// TestProofWaits: the proof of a change that the tree does not have yet waits for it.
func TestProofWaits(t *testing.T) {
	w := newWorld(t)
	p := w.updated(transparency.Root{})
	proved := make(chan error, 1)
	go func() {
		_, err := p.Prove(t.Context(), 1)
		proved <- err
	}()
	w.append(1, 1, "Acuerdo")
	w.must(p.Update(t.Context()))
	w.must(<-proved)
	if _, err := p.Prove(t.Context(), 2); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("the proof of a change that does not come: %v", err)
	}
}

// TestTiles: a stranger that reads only tiles finds the root of the checkpoint, and
// the entries are the leaves.
func TestTiles(t *testing.T) {
	w := newWorld(t)
	w.append(1, 700, "Acuerdo")
	p := w.updated(transparency.Root{})
	c := w.opened(p)
	reader := tlog.TileHashReader(tlog.Tree{N: c.Size, Hash: c.Root}, tiles{w, p})
	old, err := tlog.TreeHash(300, reader)
	w.must(err)
	proven, err := tlog.ProveTree(c.Size, 300, reader)
	w.must(err)
	w.must(tlog.CheckTree(proven, c.Size, c.Root, 300, old))
	bundle, err := p.Tile(t.Context(), tlog.Tile{H: 8, N: 2, W: 700 - 512}, true)
	w.must(err)
	entries, err := proof.ParseEntries(bundle, 700-512)
	w.must(err)
	leaf, err := disclosure.ParseLeaf(entries[0])
	if err != nil || leaf.Seq != 513 {
		t.Errorf("the first entry of the third bundle is %+v, %v", leaf, err)
	}
	for _, tile := range []tlog.Tile{{H: 8, N: 2, W: 189}, {H: 8, N: 3, W: 1}, {H: 8, L: 1, N: 0, W: 3}, {H: 8, L: 2, N: 0, W: 1}, {H: 8, N: 1 << 60, W: 1}} {
		for _, entries := range []bool{false, true} {
			if _, err := p.Tile(t.Context(), tile, entries); fault.KindOf(err) != fault.NotFound {
				t.Errorf("tile %+v, entries %v: %v", tile, entries, err)
			}
		}
	}
}

type tiles struct {
	w *world
	p *transparency.Publisher
}

func (t tiles) Height() int { return proof.TileHeight }

func (t tiles) ReadTiles(tiles []tlog.Tile) (data [][]byte, err error) {
	for _, tile := range tiles {
		body, err := t.p.Tile(t.w.Context(), tile, false)
		if err != nil {
			return nil, err
		}
		data = append(data, body)
	}
	return data, nil
}

func (t tiles) SaveTiles([]tlog.Tile, [][]byte) {}

// TestOlderProgram: changes without hashes are hashed when they are found.
func TestOlderProgram(t *testing.T) {
	w := newWorld(t)
	w.append(1, 5000, "Acuerdo")
	want := w.opened(w.updated(transparency.Root{}))
	w.sql(`DELETE FROM leaf`)
	w.sql(`UPDATE log_head SET leaves = 0`)
	if got := w.opened(w.updated(transparency.Root{})); got.Root != want.Root || got.Size != 5000 {
		t.Errorf("the tree of an older store is %+v, want %+v", got, want)
	}
}

// TestMissingHashes: with hashes missing nothing is signed, and once they are restored
// the same tree is.
func TestMissingHashes(t *testing.T) {
	w := newWorld(t)
	for i := range 5 {
		w.append(10*i+1, 3, "Acuerdo")
	}
	want := w.opened(w.updated(transparency.Root{}))
	kept := w.leaves()[6*32 : 9*32]
	w.sql(`DELETE FROM leaf WHERE seq = 9`)
	p := w.publisher(transparency.Root{})
	if err := p.Update(t.Context()); err == nil || !strings.Contains(err.Error(), "verify --repair") {
		t.Errorf("the log is followed without some of its hashes: %v", err)
	}
	if text, err := p.Checkpoint(); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("%s is signed, %v", text, err)
	}
	w.sql(`INSERT INTO leaf (seq, hashes) VALUES (9, $1)`, kept)
	w.must(p.Update(t.Context()))
	if got := w.opened(p); got.Root != want.Root || got.Size != want.Size {
		t.Errorf("with the hashes the checkpoint is %+v, want %+v", got, want)
	}
}

// TestRewritten: a process does not sign a tree that contradicts a published one,
// whether it was running or starts, until the epoch is renewed.
func TestRewritten(t *testing.T) {
	w := newWorld(t)
	w.append(1, 5, "Acuerdo")
	running := w.updated(transparency.Root{})
	w.opened(running)
	_, published, _ := running.Root()
	w.sql(`UPDATE change SET body = replace(body, 'Acuerdo', 'Mentira') WHERE seq = 5`)
	w.sql(`DELETE FROM leaf`)
	w.sql(`UPDATE log_head SET leaves = 0`)
	for {
		added, err := w.db.AddLeaves(t.Context())
		w.must(err)
		if added == 0 {
			break
		}
	}
	started := w.updated(published)
	w.must(running.Update(t.Context()))
	for name, p := range map[string]*transparency.Publisher{"running": running, "started": started} {
		if text, err := p.Checkpoint(); fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "rewritten") {
			t.Errorf("the %s process publishes %q, %v", name, text, err)
		}
		if _, err := p.Prove(t.Context(), 1); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("the %s process proves a change: %v", name, err)
		}
	}
	if !strings.Contains(w.logs.String(), "level=ERROR") {
		t.Errorf("nothing was reported: %s", &w.logs)
	}
	w.append(6, 1, "Otro") // growing does not help
	w.must(running.Update(t.Context()))
	if _, err := running.Checkpoint(); err == nil {
		t.Error("the running process publishes again after another change")
	}
	head, err := w.db.Head(t.Context())
	w.must(err)
	head, err = w.db.RenewEpoch(t.Context(), head.Epoch, disclosure.Mark{})
	w.must(err)
	w.must(running.Update(t.Context()))
	if c := w.opened(running); c.Origin != "pregon.example/log/"+head.Epoch || c.Size != 6 {
		t.Errorf("after the epoch was renewed the checkpoint is %+v", c)
	}
}

// TestBehind: a store that lacks published changes is not published, until it has
// them, as a standby that catches up.
func TestBehind(t *testing.T) {
	w := newWorld(t)
	w.append(1, 4, "Acuerdo")
	_, published, _ := w.updated(transparency.Root{}).Root()
	whole := w.updated(published)
	leaves := w.leaves()
	w.sql(`UPDATE log_head SET seq = 2, leaves = 2`)
	w.sql(`DELETE FROM leaf`)
	w.sql(`INSERT INTO leaf (seq, hashes) VALUES (2, $1)`, leaves[:64])
	behind := w.updated(published)
	if _, err := behind.Checkpoint(); fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "2 changes, but 4") {
		t.Errorf("a store that is behind is published: %v", err)
	}
	if err := whole.Update(t.Context()); err == nil {
		t.Error("a process does not notice that an older backup was restored")
	}
	if c := w.opened(whole); c.Size != 4 {
		t.Errorf("its last checkpoint is %+v", c)
	}
	w.sql(`UPDATE log_head SET seq = 4, leaves = 4`)
	w.sql(`INSERT INTO leaf (seq, hashes) VALUES (4, $1)`, leaves[64:])
	w.must(behind.Update(t.Context()))
	if c := w.opened(behind); c.Size != 4 || c.Root != published.Hash {
		t.Errorf("after it caught up the checkpoint is %+v", c)
	}
}

func (w *world) leaves() (joined []byte) {
	w.must(w.db.LeafHashes(w.Context(), 0, func(h tlog.Hash) error {
		joined = append(joined, h[:]...)
		return nil
	}))
	return joined
}

// TestRotation: both keys sign while there are two, on all replicas.
func TestRotation(t *testing.T) {
	w := newWorld(t)
	w.append(1, 1, "Acuerdo")
	p := w.updated(transparency.Root{})
	old, err := p.VerifierKey()
	w.must(err)
	other := w.newKeys("")
	added, err := other.Add(t.Context())
	w.must(err)
	w.must(w.keys.LoadOrCreate(t.Context())) // as Follow does
	key, err := p.VerifierKey()
	w.must(err)
	if want, err := added.VerifierKey("pregon.example/log"); err != nil || key != want || key == old {
		t.Errorf("the key is %s, want %s, %v", key, want, err)
	}
	both, err := p.Checkpoint()
	w.must(err)
	w.verified(both, old)
	w.verified(both, key)
	w.must(other.Remove(t.Context(), 1))
	if err := other.Remove(t.Context(), 1); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a removed key is removed again: %v", err)
	}
	if err := other.Remove(t.Context(), added.ID); fault.KindOf(err) != fault.Conflict {
		t.Errorf("the only key is removed: %v", err)
	}
	w.must(w.keys.LoadOrCreate(t.Context()))
	w.verified(must(t, p.Checkpoint), key)
	verifier, err := note.NewVerifier(old)
	w.must(err)
	if _, err := proof.OpenCheckpoint(must(t, p.Checkpoint), note.VerifierList(verifier)); err == nil {
		t.Error("the removed key still signs")
	}
	if third, err := other.Add(t.Context()); err != nil || third.ID != 3 {
		t.Errorf("the third key is %d, %v", third.ID, err)
	}
}

func must[T any](t *testing.T, fn func() (T, error)) T {
	t.Helper()
	v, err := fn()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestSealedKey: without the secret with which it was stored, the key is not used and
// not replaced.
func TestSealedKey(t *testing.T) {
	w := newWorld(t)
	w.db.Close()
	w.path = filepath.Join(t.TempDir(), "sealed.db")
	w.db = w.open()
	password := strings.Repeat("0123456789", 4)
	w.keys = w.newKeys(password)
	w.must(w.keys.LoadOrCreate(t.Context()))
	key, err := w.updated(transparency.Root{}).VerifierKey()
	w.must(err)
	w.keys = w.newKeys("")
	w.must(w.keys.LoadOrCreate(t.Context()))
	if _, err := w.updated(transparency.Root{}).Checkpoint(); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a checkpoint is signed without the key: %v", err)
	}
	if !strings.Contains(w.logs.String(), "cannot be used") {
		t.Errorf("nothing was reported: %s", &w.logs)
	}
	w.keys = w.newKeys(password)
	w.must(w.keys.LoadOrCreate(t.Context()))
	if again, err := w.updated(transparency.Root{}).VerifierKey(); err != nil || again != key {
		t.Errorf("the key is %s, %v, want %s", again, err, key)
	}
}

// TestRun follows a store that another process writes to.
func TestRun(t *testing.T) {
	w := newWorld(t)
	p := w.publisher(transparency.Root{})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	other := &world{T: t, path: w.path}
	other.db = other.open()
	for i := range 5 {
		other.append(i+1, 1, "Acuerdo")
	}
	if _, err := p.Checkpoint(); err != nil && fault.KindOf(err) != fault.Unavailable {
		t.Error(err)
	}
	deadline := time.Now().Add(time.Minute)
	for p.Size() < 5 && time.Now().Before(deadline) {
		_, _ = p.Prove(t.Context(), 5) // waits a while
	}
	if c := w.opened(p); c.Size != 5 {
		t.Errorf("the checkpoint is %+v", c)
	}
	cancel()
	if err := <-ended; err != context.Canceled {
		t.Errorf("Run returned %v", err)
	}
}
