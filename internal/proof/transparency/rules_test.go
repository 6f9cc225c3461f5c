package transparency_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"pregon/internal/auth/secret"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/proof"
	"pregon/internal/proof/transparency"
	"pregon/internal/store"
	"pregon/internal/store/sqlite"
)

var errStore = errors.New("the store does not answer")

// faulty is a log of which calls fail, or do something before they answer.
type faulty struct {
	*sqlite.Store
	before map[string]func() error // by the name of the method
	leaves func([]disclosure.Leaf) []disclosure.Leaf
}

func (f *faulty) call(name string) error {
	if fn := f.before[name]; fn != nil {
		return fn()
	}
	return nil
}

func (f *faulty) Head(ctx context.Context) (disclosure.Head, error) {
	if err := f.call("Head"); err != nil {
		return disclosure.Head{}, err
	}
	return f.Store.Head(ctx)
}

func (f *faulty) Wait(ctx context.Context, after int64) error {
	if err := f.call("Wait"); err != nil {
		return err
	}
	return f.Store.Wait(ctx, after)
}

func (f *faulty) LeafHashes(ctx context.Context, after int64, fn func(tlog.Hash) error) error {
	if err := f.call("LeafHashes"); err != nil {
		return err
	}
	return f.Store.LeafHashes(ctx, after, fn)
}

func (f *faulty) Leaves(ctx context.Context, after int64, limit int) ([]disclosure.Leaf, error) {
	if err := f.call("Leaves"); err != nil {
		return nil, err
	}
	leaves, err := f.Store.Leaves(ctx, after, limit)
	if f.leaves != nil {
		leaves = f.leaves(leaves)
	}
	return leaves, err
}

func (f *faulty) AddLeaves(ctx context.Context) (int, error) {
	if err := f.call("AddLeaves"); err != nil {
		return 0, err
	}
	if f.before["no hashes"] != nil {
		return 0, nil
	}
	return f.Store.AddLeaves(ctx)
}

func (f *faulty) AsOf(ctx context.Context, of disclosure.Subject, upTo int64, ids ...string) ([]disclosure.Change, error) {
	if err := f.call("AsOf"); err != nil {
		return nil, err
	}
	return f.Store.AsOf(ctx, of, upTo, ids...)
}

func (f *faulty) RecordsSince(ctx context.Context, kind string, revision int64) ([]store.Record, error) {
	if err := f.call("RecordsSince"); err != nil {
		return nil, err
	}
	return f.Store.RecordsSince(ctx, kind, revision)
}

func (f *faulty) PutRecords(ctx context.Context, lease *store.Lease, records ...store.Record) ([]store.Record, error) {
	if err := f.call("PutRecords"); err != nil {
		return nil, err
	}
	return f.Store.PutRecords(ctx, lease, records...)
}

// fails makes a method fail until the returned function is called.
func (f *faulty) fails(name string) (repair func()) {
	f.before[name] = func() error { return errStore }
	return func() { delete(f.before, name) }
}

// faulty returns a publisher over the store of w, with calls that a test can break.
func (w *world) faulty() (*faulty, *transparency.Publisher) {
	f := &faulty{Store: w.db, before: map[string]func() error{}}
	return f, transparency.New(transparency.Options{Log: f, Keys: w.keys, Base: base, Logger: w.logger()})
}

// TestStoreFails: what the store cannot answer is reported, and the last checkpoint
// stays published.
func TestStoreFails(t *testing.T) {
	w := newWorld(t)
	w.append(1, 3, "Acuerdo")
	f, p := w.faulty()
	for _, name := range []string{"Head", "LeafHashes"} {
		repair := f.fails(name)
		if err := p.Update(t.Context()); !errors.Is(err, errStore) {
			t.Errorf("the first update while %s fails: %v", name, err)
		}
		if _, _, ok := p.Root(); ok {
			t.Errorf("a root is published although %s failed", name)
		}
		if _, err := p.Checkpoint(); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("a checkpoint while nothing was loaded: %v", err)
		}
		if _, err := p.VerifierKey(); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("the key of a log without a name: %v", err)
		}
		if _, err := p.Tile(t.Context(), tlog.Tile{H: 8, W: 1}, false); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("a tile while nothing was loaded: %v", err)
		}
		repair()
	}
	w.must(p.Update(t.Context()))
	want := w.opened(p)
	w.append(10, 1, "Acuerdo")
	for _, name := range []string{"Head", "LeafHashes"} {
		repair := f.fails(name)
		if err := p.Update(t.Context()); !errors.Is(err, errStore) {
			t.Errorf("an update while %s fails: %v", name, err)
		}
		if got := w.opened(p); got.Root != want.Root || got.Size != want.Size {
			t.Errorf("the checkpoint is %+v, want %+v", got, want)
		}
		repair()
	}
	repair := f.fails("Leaves")
	if _, err := p.Prove(t.Context(), 1); !errors.Is(err, errStore) {
		t.Errorf("a proof without its leaf: %v", err)
	}
	if _, err := p.Tile(t.Context(), tlog.Tile{H: 8, W: 3}, true); !errors.Is(err, errStore) {
		t.Errorf("entries without their leaves: %v", err)
	}
	repair()
	repair = f.fails("AsOf")
	if _, err := p.ProveReport(t.Context(), "oir-1"); !errors.Is(err, errStore) {
		t.Errorf("a proof of a report that cannot be read: %v", err)
	}
	repair()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Prove(ctx, 4); !errors.Is(err, context.Canceled) {
		t.Errorf("a proof for a request that has ended: %v", err)
	}
}

// TestHashesAreNotAdded: an update ends with an error if the log has more changes than
// hashes and none can be added.
func TestHashesAreNotAdded(t *testing.T) {
	w := newWorld(t)
	w.append(1, 3, "Acuerdo")
	w.sql(`DELETE FROM leaf`)
	w.sql(`UPDATE log_head SET leaves = 0`)
	f, p := w.faulty()
	repair := f.fails("AddLeaves")
	if err := p.Update(t.Context()); !errors.Is(err, errStore) {
		t.Errorf("while hashes cannot be added: %v", err)
	}
	repair()
	f.before["no hashes"] = func() error { return nil }
	if err := p.Update(t.Context()); err == nil || !strings.Contains(err.Error(), "the log has 3 changes and the hashes of only 0") {
		t.Errorf("while no hash is added: %v", err)
	}
	delete(f.before, "no hashes")
	w.must(p.Update(t.Context()))
	if c := w.opened(p); c.Size != 3 {
		t.Errorf("the checkpoint is %+v", c)
	}
}

// TestEpochIsRenewedMeanwhile: hashes that were read while the epoch was renewed are not
// taken, since they may be those of another history.
func TestEpochIsRenewedMeanwhile(t *testing.T) {
	for _, started := range []bool{false, true} {
		w := newWorld(t)
		w.append(1, 3, "Acuerdo")
		f, p := w.faulty()
		if started {
			w.must(p.Update(t.Context()))
			w.append(10, 1, "Acuerdo")
		}
		f.before["LeafHashes"] = func() error {
			delete(f.before, "LeafHashes")
			head, err := w.db.Head(t.Context())
			if err == nil {
				_, err = w.db.RenewEpoch(t.Context(), head.Epoch, disclosure.Mark{})
			}
			return err
		}
		size := p.Size()
		if err := p.Update(t.Context()); err == nil || !strings.Contains(err.Error(), "was renewed while its hashes were read") {
			t.Errorf("loaded before: %v: %v", started, err)
		}
		if p.Size() != size {
			t.Errorf("loaded before: %v: the tree has grown from %d to %d", started, size, p.Size())
		}
		f.before["Head"] = func() error { // the second call, after the hashes
			f.before["Head"] = func() error { return errStore }
			return nil
		}
		if err := p.Update(t.Context()); !errors.Is(err, errStore) || p.Size() != size {
			t.Errorf("loaded before: %v: the epoch cannot be compared: %v, size %d", started, err, p.Size())
		}
		delete(f.before, "Head")
		w.must(p.Update(t.Context()))
		head, err := w.db.Head(t.Context())
		w.must(err)
		if c := w.opened(p); c.Origin != "pregon.example/log/"+head.Epoch {
			t.Errorf("the checkpoint is %+v", c)
		}
	}
}

// TestProveReport: the proof of a report is that of its newest change.
func TestProveReport(t *testing.T) {
	w := newWorld(t)
	w.append(1, 2, "Acuerdo")
	w.append(1, 1, "Acuerdo corregido")
	p := w.updated(transparency.Root{})
	head, err := w.db.Head(t.Context())
	w.must(err)
	found, err := p.ProveReport(t.Context(), "oir-1")
	if err != nil || found.Seq != head.Seq || head.Seq < 3 {
		t.Errorf("%+v, %v; want change %d", found, err, head.Seq)
	}
	if found, err := p.ProveReport(t.Context(), "oir-2"); err != nil || found.Seq != 2 {
		t.Errorf("%+v, %v; want change 2", found, err)
	}
	if _, err := p.ProveReport(t.Context(), "oir-3"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a report that does not exist: %v", err)
	}
}

// TestChangeOfTheStoreDiffers: a change that is not the one that was hashed is not
// proved.
func TestChangeOfTheStoreDiffers(t *testing.T) {
	w := newWorld(t)
	w.append(1, 3, "Acuerdo")
	f, p := w.faulty()
	w.must(p.Update(t.Context()))
	w.sql(`UPDATE change SET body = replace(body, 'Acuerdo', 'Mentira') WHERE seq = 2`)
	for seq, want := range map[int64]bool{1: true, 2: false, 3: true} {
		_, err := p.Prove(t.Context(), seq)
		if (err == nil) != want || err != nil && fault.KindOf(err) != fault.Internal {
			t.Errorf("change %d: %v", seq, err)
		}
	}
	for name, leaves := range map[string]func([]disclosure.Leaf) []disclosure.Leaf{
		"none":       func([]disclosure.Leaf) []disclosure.Leaf { return nil },
		"another":    func(found []disclosure.Leaf) []disclosure.Leaf { found[0].Seq++; return found },
		"one more":   func(found []disclosure.Leaf) []disclosure.Leaf { return append(found, found[0]) },
		"other text": func(found []disclosure.Leaf) []disclosure.Leaf { found[0].Event += "x"; return found },
	} {
		f.leaves = leaves
		if _, err := p.Prove(t.Context(), 1); fault.KindOf(err) != fault.Internal {
			t.Errorf("a store that returns %s for a change: %v", name, err)
		}
	}
	f.leaves = func(found []disclosure.Leaf) []disclosure.Leaf { return found[1:] }
	if _, err := p.Tile(t.Context(), tlog.Tile{H: 8, W: 3}, true); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("entries of which one is missing: %v", err)
	}
}

// TestContradictions: only a tree that continues the published one is published.
func TestContradictions(t *testing.T) {
	w := newWorld(t)
	w.append(1, 4, "Acuerdo")
	var roots []transparency.Root
	var tree proof.Tree
	w.must(w.db.LeafHashes(t.Context(), 0, func(h tlog.Hash) error {
		tree.Append(h)
		hash, err := tree.Root(tree.Size())
		roots = append(roots, transparency.Root{Size: tree.Size(), Hash: hash})
		return err
	}))
	other := roots[1]
	other.Size = 3
	for _, test := range []struct {
		name  string
		known transparency.Root
		want  string // a part of the error; empty: it is published
	}{
		{"nothing was published", transparency.Root{}, ""},
		{"a smaller tree was", roots[1], ""},
		{"the same tree was", roots[3], ""},
		{"a larger tree was", transparency.Root{Size: 5, Hash: roots[3].Hash}, "has 4 changes, but 5 were published"},
		{"another tree was", other, "The first 3 changes of the log are not those that were published"},
		{"a tree without a hash was", transparency.Root{Size: 1}, "The first 1 changes"},
	} {
		p := w.updated(test.known)
		_, root, ok := p.Root()
		text, err := p.Checkpoint()
		if test.want == "" {
			if err != nil || !ok || root != roots[3] {
				t.Errorf("%s: %+v, %v, %v", test.name, root, ok, err)
			}
			continue
		}
		if ok || len(text) > 0 || fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %q, %v, %v; want %q", test.name, text, ok, err, test.want)
		}
		if _, err := p.Tile(t.Context(), tlog.Tile{H: 8, W: 4}, false); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("%s: a tile is published: %v", test.name, err)
		}
	}
}

// TestSuspectStaysSuspect: a process that found a contradiction still compares with
// what was published, not with its own tree, when the log changes once more.
func TestSuspectStaysSuspect(t *testing.T) {
	w := newWorld(t)
	w.append(1, 4, "Acuerdo")
	_, published, _ := w.updated(transparency.Root{}).Root()
	rewrite := func(title string) {
		w.sql(`UPDATE change SET body = replace(replace(body, 'Acuerdo', $1), 'Mentira', $1) WHERE seq = 4`, title)
		w.sql(`DELETE FROM leaf`)
		w.sql(`UPDATE log_head SET leaves = 0`)
		for {
			added, err := w.db.AddLeaves(t.Context())
			w.must(err)
			if added == 0 {
				return
			}
		}
	}
	rewrite("Mentira")
	p := w.updated(published)
	if _, err := p.Checkpoint(); err == nil {
		t.Fatal("a rewritten log is published")
	}
	rewrite("Acuerdo")
	w.must(p.Update(t.Context()))
	if c := w.opened(p); c.Root != published.Hash {
		t.Errorf("the log is as it was published, and the checkpoint is %+v", c)
	}
}

// TestKeyRules: at most eight keys sign, and only records that hold a key are one.
func TestKeyRules(t *testing.T) {
	w := newWorld(t)
	for len(w.keys.List()) < 8 {
		if _, err := w.keys.Add(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if key, err := w.keys.Add(t.Context()); fault.KindOf(err) != fault.Conflict || key.ID != 0 {
		t.Errorf("a ninth key %d: %v", key.ID, err)
	}
	for i, key := range w.keys.List() {
		if key.ID != int64(i+1) {
			t.Errorf("key %d is at place %d, want the oldest first", key.ID, i)
		}
	}
	w.must(w.keys.Remove(t.Context(), 5))
	if len(w.keys.List()) != 7 {
		t.Errorf("%d keys after one was removed", len(w.keys.List()))
	}
	box, err := secret.NewBox("")
	w.must(err)
	text := func(bytes int) string {
		body, err := json.Marshal(map[string]any{"seed": make([]byte, bytes), "created_at": time.Now()})
		w.must(err)
		return string(body)
	}
	for id, body := range map[string]string{
		"x":  box.Seal("log-key/x", text(32)),
		"20": box.Seal("log-key/20", text(31)),
		"21": box.Seal("log-key/21", "{"),
		"22": box.Seal("log-key/22", text(32)), // the only good one
	} {
		_, err := store.PutRecord(t.Context(), w.db, store.Record{Kind: transparency.KeyKind, ID: id, Body: body})
		w.must(err)
	}
	w.must(w.keys.LoadOrCreate(t.Context()))
	keys := w.keys.List()
	if len(keys) != 8 || keys[7].ID != 22 {
		t.Errorf("the keys are %+v", keys)
	}
	if n := strings.Count(w.logs.String(), "cannot be used"); n != 2 {
		t.Errorf("%d keys were reported, want 2: %s", n, &w.logs)
	}
}

// TestKeysNeedTheStore: a key that could not be read or stored is not used.
func TestKeysNeedTheStore(t *testing.T) {
	w := newWorld(t)
	f := &faulty{Store: w.db, before: map[string]func() error{}}
	box, err := secret.NewBox("")
	w.must(err)
	keys := transparency.NewKeys(f, box, w.logger())
	repair := f.fails("RecordsSince")
	if err := keys.LoadOrCreate(t.Context()); !errors.Is(err, errStore) {
		t.Errorf("keys are loaded although the store fails: %v", err)
	}
	if _, err := keys.Add(t.Context()); !errors.Is(err, errStore) {
		t.Errorf("a key is added although the store fails: %v", err)
	}
	if err := keys.Remove(t.Context(), 1); !errors.Is(err, errStore) {
		t.Errorf("a key is removed although the store fails: %v", err)
	}
	repair()
	w.must(keys.LoadOrCreate(t.Context()))
	calls := 0
	f.before["RecordsSince"] = func() error { // the second call
		if calls++; calls == 2 {
			return errStore
		}
		return nil
	}
	if _, err := keys.Add(t.Context()); !errors.Is(err, errStore) {
		t.Errorf("a key is added although its number is not known: %v", err)
	}
	delete(f.before, "RecordsSince")
	repair = f.fails("PutRecords")
	if key, err := keys.Add(t.Context()); !errors.Is(err, errStore) || key.ID != 0 {
		t.Errorf("a key is added although it is not stored: %v", err)
	}
	repair()
	_, err = keys.Add(t.Context())
	w.must(err)
	repair = f.fails("PutRecords")
	if err := keys.Remove(t.Context(), 2); !errors.Is(err, errStore) || len(keys.List()) != 2 {
		t.Errorf("a key is removed although that is not stored: %v", err)
	}
	repair()
	empty := &world{T: t, path: t.TempDir() + "/empty.db"}
	empty.db = empty.open()
	f = &faulty{Store: empty.db, before: map[string]func() error{}}
	keys = transparency.NewKeys(f, box, w.logger())
	repair = f.fails("PutRecords")
	if err := keys.LoadOrCreate(t.Context()); !errors.Is(err, errStore) {
		t.Errorf("the first key is used although it is not stored: %v", err)
	}
	repair()
	other := transparency.NewKeys(empty.db, box, w.logger())
	f.before["PutRecords"] = func() error { return other.LoadOrCreate(t.Context()) } // another process is first
	w.must(keys.LoadOrCreate(t.Context()))
	if a, b := keys.List(), other.List(); len(a) != 1 || len(b) != 1 || verifier(w, a[0]) != verifier(w, b[0]) {
		t.Errorf("two processes use the keys %+v and %+v", a, b)
	}
}

func verifier(w *world, key transparency.Key) string {
	text, err := key.VerifierKey("pregon.example/log")
	w.must(err)
	return text
}

// TestRunReports: failures are logged once, except those of a store that does not
// answer, which the catalogue logs. Afterwards the log is followed again.
func TestRunReports(t *testing.T) {
	for _, test := range []struct {
		name string
		err  error
		want bool
	}{
		{"a store that does not answer", fault.Wrap(fault.Unavailable, errStore, "try again"), false},
		{"a damaged store", fault.Wrap(fault.Unavailable, store.ErrDamaged, "restore a backup"), true},
		{"anything else", errStore, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.append(1, 1, "Acuerdo")
				f, p := w.faulty()
				calls := 0
				f.before["Head"] = func() error {
					if calls++; calls <= 3 {
						return test.err
					}
					delete(f.before, "Head")
					return nil
				}
				ctx, cancel := context.WithCancel(t.Context())
				waiting := make(chan struct{})
				f.before["Wait"] = func() error {
					close(waiting)
					<-ctx.Done()
					return ctx.Err()
				}
				ended := make(chan error, 1)
				start := time.Now()
				go func() { ended <- p.Run(ctx) }()
				<-waiting
				if took := time.Since(start); took < 150*time.Millisecond || took > 20*time.Second {
					t.Errorf("three failures took %v: the waiting does not grow", took)
				}
				if p.Size() != 1 {
					t.Errorf("the tree has %d changes", p.Size())
				}
				cancel()
				if err := <-ended; !errors.Is(err, context.Canceled) {
					t.Errorf("Run returned %v", err)
				}
				if got := strings.Contains(w.logs.String(), "cannot follow the log"); got != test.want {
					t.Errorf("reported: %v, want %v: %s", got, test.want, &w.logs)
				}
			})
		})
	}
}

// TestRunLoadsTheKeys: a publisher whose keys could not be read at the start reads them
// later.
func TestRunLoadsTheKeys(t *testing.T) {
	w := newWorld(t)
	w.keys = w.newKeys("")
	f := &faulty{Store: w.db, before: map[string]func() error{}}
	box, err := secret.NewBox("")
	w.must(err)
	keys := transparency.NewKeys(f, box, w.logger())
	p := transparency.New(transparency.Options{Log: f, Keys: keys, Base: base, Logger: w.logger()})
	calls := 0
	f.before["RecordsSince"] = func() error {
		if calls++; calls == 1 {
			return errStore
		}
		return nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	f.before["Wait"] = func() error {
		cancel()
		return ctx.Err()
	}
	if err := p.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Run returned %v", err)
	}
	if len(keys.List()) != 1 || calls < 2 {
		t.Errorf("%d keys after %d calls", len(keys.List()), calls)
	}
	if _, err := p.Checkpoint(); err != nil {
		t.Error(err)
	}
}

// TestNoKey: without a key nothing is signed, and there is nothing to verify with.
func TestNoKey(t *testing.T) {
	w := newWorld(t)
	w.append(1, 1, "Acuerdo")
	w.keys = w.newKeys("") // not loaded
	p := w.updated(transparency.Root{})
	if text, err := p.Checkpoint(); fault.KindOf(err) != fault.Unavailable || text != nil {
		t.Errorf("%q, %v", text, err)
	}
	if key, err := p.VerifierKey(); fault.KindOf(err) != fault.Unavailable || key != "" {
		t.Errorf("%q, %v", key, err)
	}
	if _, err := p.Prove(t.Context(), 1); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a proof without a signature: %v", err)
	}
}

// TestOriginOfARenewedEpoch: a log that begins again has another name.
func TestOriginOfARenewedEpoch(t *testing.T) {
	for _, test := range []struct {
		head disclosure.Head
		want string
	}{
		{disclosure.Head{Cursor: disclosure.Cursor{Epoch: "two", Seq: 7}}, "pregon.example/log"},
		{disclosure.Head{Cursor: disclosure.Cursor{Epoch: "two"}, Past: []disclosure.Cursor{{Epoch: "one"}}}, "pregon.example/log/two"},
	} {
		if got := transparency.Origin(base, test.head); got != test.want {
			t.Errorf("%+v: %s, want %s", test.head, got, test.want)
		}
	}
}

// TestBadTiles: a tile that no tree has is not found.
func TestBadTiles(t *testing.T) {
	w := newWorld(t)
	w.append(1, 3, "Acuerdo")
	p := w.updated(transparency.Root{})
	for _, tile := range []tlog.Tile{{H: 8, W: 0}, {H: 8, W: 257}, {H: 7, W: 1}, {H: 8, N: -1, W: 1}, {H: 8, L: 63, W: 1}, {H: 8, N: math.MaxInt64, W: 1}} {
		if data, err := p.Tile(t.Context(), tile, false); fault.KindOf(err) != fault.NotFound {
			t.Errorf("%+v: %d bytes, %v", tile, len(data), err)
		}
	}
	if _, err := p.Tile(t.Context(), tlog.Tile{H: 8, W: 3}, false); err != nil {
		t.Error(err)
	}
}

// TestRunDoesNotWait: after a change the log is read at once. A stop ends the waiting
// after a failure.
func TestRunDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		f, p := w.faulty()
		ctx, cancel := context.WithCancel(t.Context())
		waits := 0
		f.before["Wait"] = func() error {
			if waits++; waits < 5 {
				w.append(10*waits, 1, "Acuerdo")
				return nil
			}
			cancel()
			return ctx.Err()
		}
		start := time.Now()
		if err := p.Run(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("Run returned %v", err)
		}
		if took := time.Since(start); took != 0 || p.Size() != 4 {
			t.Errorf("%d changes after %v, want 4 at once", p.Size(), took)
		}
		ctx, cancel = context.WithCancel(t.Context())
		f.before["Head"] = func() error {
			time.AfterFunc(time.Millisecond, cancel)
			return errStore
		}
		start = time.Now()
		if err := p.Run(ctx); !errors.Is(err, context.Canceled) || time.Since(start) != time.Millisecond {
			t.Errorf("Run returned %v after %v, want at once after the stop", err, time.Since(start))
		}
	})
}

// TestEpochIsRenewedInAProof: a proof for a log that began again meanwhile is refused.
func TestEpochIsRenewedInAProof(t *testing.T) {
	w := newWorld(t)
	w.append(1, 3, "Acuerdo")
	f, p := w.faulty()
	w.must(p.Update(t.Context()))
	f.leaves = func(found []disclosure.Leaf) []disclosure.Leaf {
		f.leaves = nil
		head, err := w.db.Head(t.Context())
		w.must(err)
		_, err = w.db.RenewEpoch(t.Context(), head.Epoch, disclosure.Mark{})
		w.must(err)
		w.must(p.Update(t.Context()))
		return found
	}
	if found, err := p.Prove(t.Context(), 1); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("%+v, %v; want that it is loading", found, err)
	}
	if _, err := p.Prove(t.Context(), 1); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// restored is a store whose epoch changes, as that of one after a restored backup.
type restored struct {
	store.Store
	epoch string
}

func (r *restored) Epoch() string { return r.epoch }

// TestKeysOfARestoredBackup: after a backup was restored only its keys sign.
func TestKeysOfARestoredBackup(t *testing.T) {
	w := newWorld(t)
	other := newWorld(t)
	db := &restored{w.db, "one"}
	box, err := secret.NewBox("")
	w.must(err)
	keys := transparency.NewKeys(db, box, w.logger())
	w.must(keys.LoadOrCreate(t.Context()))
	_, err = keys.Add(t.Context())
	w.must(err)
	db.Store = other.db
	db.epoch = "two"
	w.must(keys.LoadOrCreate(t.Context()))
	if got, want := keys.List(), other.keys.List(); len(got) != 1 || verifier(w, got[0]) != verifier(w, want[0]) {
		t.Errorf("the keys are %+v, want %+v", got, want)
	}
}

// TestReplacedKeySigns: a checkpoint is signed again when the keys change, also if a key
// is replaced by one with the same id.
func TestReplacedKeySigns(t *testing.T) {
	w := newWorld(t)
	w.append(1, 1, "Acuerdo")
	p := w.updated(transparency.Root{})
	w.opened(p)
	again, err := p.Checkpoint()
	w.must(err)
	if first, err := p.Checkpoint(); err != nil || &first[0] != &again[0] {
		t.Errorf("the checkpoint is signed twice, %v", err)
	}
	box, err := secret.NewBox("")
	w.must(err)
	body, err := json.Marshal(map[string]any{"seed": make([]byte, 32), "created_at": time.Now()})
	w.must(err)
	_, err = store.PutRecord(t.Context(), w.db, store.Record{Kind: transparency.KeyKind, ID: "1", Body: box.Seal("log-key/1", string(body)), Revision: store.AnyRevision})
	w.must(err)
	w.must(w.keys.LoadOrCreate(t.Context()))
	w.opened(p) // verified with the new key
}
