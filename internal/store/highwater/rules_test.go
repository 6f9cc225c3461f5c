package highwater_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"pregon/internal/disclosure"
	"pregon/internal/server/ratelimit"
	"pregon/internal/server/ratelimit/redistest"
	"pregon/internal/store/highwater"
	"pregon/internal/store/sqlite"
)

var errDown = errors.New("it does not answer")

// faultyLog is a log of which calls fail.
type faultyLog struct {
	*sqlite.Store
	fails map[string]error // by the name of the method
	same  bool             // RenewEpoch finds that another process did it
	lost  disclosure.Mark  // that RenewEpoch received
}

func (f *faultyLog) Head(ctx context.Context) (disclosure.Head, error) {
	if err := f.fails["Head"]; err != nil {
		return disclosure.Head{}, err
	}
	return f.Store.Head(ctx)
}

func (f *faultyLog) ChangesAt(ctx context.Context, seqs ...int64) ([]disclosure.Change, error) {
	if err := f.fails["ChangesAt"]; err != nil {
		return nil, err
	}
	return f.Store.ChangesAt(ctx, seqs...)
}

func (f *faultyLog) RenewEpoch(ctx context.Context, replaced string, lost disclosure.Mark, shared ...disclosure.Cursor) (disclosure.Head, error) {
	if err := f.fails["RenewEpoch"]; err != nil {
		return disclosure.Head{}, err
	}
	f.lost = lost
	if f.same {
		return f.Store.Head(ctx)
	}
	return f.Store.RenewEpoch(ctx, replaced, lost, shared...)
}

// faultyPlace is a place that cannot be read or written.
type faultyPlace struct {
	highwater.Place
	load, save error
	saves      int
}

func (f *faultyPlace) Load(ctx context.Context) ([]byte, error) {
	if f.load != nil {
		return nil, f.load
	}
	return f.Place.Load(ctx)
}

func (f *faultyPlace) Save(ctx context.Context, text []byte) error {
	f.saves++
	if f.save != nil {
		return f.save
	}
	return f.Place.Save(ctx, text)
}

// A check that cannot be completed is a failure: a restored backup must not go unnoticed
// because the store does not answer.
func TestCheckFails(t *testing.T) {
	for _, method := range []string{"Head", "ChangesAt", "RenewEpoch"} {
		w := newFixture(t)
		w.append(5)
		w.serve()
		w.putBack(3)
		log := &faultyLog{Store: w.db, fails: map[string]error{method: errDown}}
		k := highwater.New(log, slog.New(slog.DiscardHandler), w.places...)
		if _, renewed, err := k.Check(t.Context()); !errors.Is(err, errDown) || renewed {
			t.Errorf("while %s fails: renewed %v, %v", method, renewed, err)
		}
		log.fails = nil
		log.same = true
		before, _ := w.newest()
		if head, renewed, err := k.Check(t.Context()); err != nil || renewed || head.Epoch != before.Epoch || log.lost.Seq != 5 {
			t.Errorf("while another process renews the epoch: %v, renewed %v, %v", head, renewed, err)
		}
		log.same = false
		if _, renewed, err := k.Check(t.Context()); err != nil || !renewed {
			t.Errorf("after %s works again: renewed %v, %v", method, renewed, err)
		}
	}
}

// A place that cannot be read is reported, and the others count.
func TestPlaceFails(t *testing.T) {
	w := newFixture(t)
	w.append(5)
	good := w.places[0]
	bad := &faultyPlace{Place: highwater.File(filepath.Join(w.dir, "bad"))}
	w.places = []highwater.Place{bad, good}
	head, last := w.newest()
	k := w.keeper()
	k.Publishes(func() (string, highwater.Tree) { return head.Epoch, highwater.Tree{Size: 5} })
	if !k.Save(t.Context(), head, last) {
		t.Fatal("not saved")
	}
	if got := k.Tree(t.Context(), head.Epoch); got.Size != 5 {
		t.Errorf("the tree is %+v", got)
	}
	bad.load = errDown
	if got := k.Tree(t.Context(), head.Epoch); got.Size != 5 {
		t.Errorf("the tree of the other place is %+v", got)
	}
	warnings := func() int { return strings.Count(w.log.String(), "level=WARN") }
	for n := range 3 {
		if k.Save(t.Context(), head, last) || warnings() != 1 {
			t.Errorf("save %d: %d warnings, want one", n+1, warnings())
		}
	}
	bad.load = nil
	if !k.Save(t.Context(), head, last) || warnings() != 1 {
		t.Errorf("after it works again: %s", &w.log)
	}
	bad.save = errDown
	for range 2 {
		if k.Save(t.Context(), head, last) || warnings() != 2 {
			t.Errorf("while it cannot be written: %d warnings, want a second", warnings())
		}
	}
	// The order of places does not matter.
	w.places = []highwater.Place{good, bad}
	if w.keeper().Save(t.Context(), head, last) {
		t.Error("a save in the first place alone counts as one in both")
	}
	bad.save = nil
	bad.load = errDown
	w.log.Reset()
	w.putBack(3)
	w.check(true)
	if !strings.Contains(w.log.String(), "cannot read how far the log was served") {
		t.Errorf("the place that cannot be read is not reported: %s", &w.log)
	}
}

// Without the first change of a log nothing is recorded: it shows later whether a store
// is a backup of this one.
func TestSaveNeedsTheFirstChange(t *testing.T) {
	w := newFixture(t)
	w.append(2)
	head, last := w.newest()
	log := &faultyLog{Store: w.db, fails: map[string]error{"ChangesAt": errDown}}
	place := &faultyPlace{Place: w.places[0]}
	k := highwater.New(log, slog.New(slog.DiscardHandler), place)
	if k.Save(t.Context(), head, last) || place.saves != 0 {
		t.Errorf("saved %d times although the first change cannot be read", place.saves)
	}
	log.fails = nil
	if !k.Save(t.Context(), head, last) || place.saves != 1 {
		t.Errorf("saved %d times", place.saves)
	}
}

// A record keeps the newest 32 epochs.
func TestMostEpochs(t *testing.T) {
	w := newFixture(t)
	w.append(1)
	_, last := w.newest()
	for n := range 40 {
		head := disclosure.Head{Cursor: disclosure.Cursor{Epoch: fmt.Sprintf("e%d", n), Seq: 1}}
		k := w.keeper()
		k.Publishes(func() (string, highwater.Tree) { return head.Epoch, highwater.Tree{Size: 1} })
		if !k.Save(t.Context(), head, last) {
			t.Fatal("not saved")
		}
	}
	for n := range 40 {
		if got, want := w.keeper().Tree(t.Context(), fmt.Sprintf("e%d", n)).Size == 1, n >= 8; got != want {
			t.Errorf("epoch %d is recorded: %v, want %v", n, got, want)
		}
	}
}

// Two restored backups of one log share what the older of them has, whatever the times
// of their changes.
func TestCommonPast(t *testing.T) {
	w := newFixture(t)
	w.append(5)
	w.sql("UPDATE change SET occurred_at = occurred_at - 3600000000")
	first := w.serve()
	second, err := w.db.RenewEpoch(t.Context(), first.Epoch, disclosure.Mark{}, disclosure.Cursor{Epoch: first.Epoch, Seq: 2})
	if err != nil {
		t.Fatal(err)
	}
	w.append(3)
	w.serve()
	// Another backup, restored from the same log, has its changes up to 4.
	w.sql(fmt.Sprintf("UPDATE log_head SET epoch = 'other', past = '%s'", disclosure.FormatPast([]disclosure.Cursor{{Epoch: first.Epoch, Seq: 4}})))
	w.putBack(5)
	head := w.check(true)
	if !slices.Contains(head.Past, disclosure.Cursor{Epoch: second.Epoch, Seq: 2}) {
		t.Errorf("%s is not shared up to 2: %v", second.Epoch, head.Past)
	}
}

// A record with a past that cannot be read is dropped.
func TestOddPast(t *testing.T) {
	w := newFixture(t)
	w.append(5)
	head := w.serve()
	path := w.places[0].String()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	odd := strings.Replace(string(text), `"epoch":"`+head.Epoch+`"`, `"epoch":"`+head.Epoch+`","past":"nonsense"`, 1)
	if odd == string(text) {
		t.Fatal("the record is ", odd)
	}
	if err := os.WriteFile(path, []byte(odd), 0o600); err != nil {
		t.Fatal(err)
	}
	w.putBack(3)
	w.check(false)
}

// A file is replaced whole, or not at all, and a failure leaves nothing behind.
func TestFile(t *testing.T) {
	dir := t.TempDir()
	f := highwater.File(filepath.Join(dir, "sub", "served"))
	if text, err := f.Load(t.Context()); err != nil || text != nil {
		t.Errorf("a file that does not exist: %q, %v", text, err)
	}
	for _, want := range []string{"first, which is longer", "second"} {
		if err := f.Save(t.Context(), []byte(want)); err != nil {
			t.Fatal(err)
		}
		if text, err := f.Load(t.Context()); err != nil || string(text) != want {
			t.Errorf("%q, %v; want %q", text, err, want)
		}
	}
	files, err := os.ReadDir(filepath.Join(dir, "sub"))
	if err != nil || len(files) != 1 {
		t.Errorf("the directory has %v, %v; want one file", files, err)
	}
	// A directory in the place of the file, and a file in the place of the directory.
	taken := highwater.File(filepath.Join(dir, "taken"))
	if err := os.MkdirAll(filepath.Join(taken.String(), "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := taken.Load(t.Context()); err == nil {
		t.Error("a directory was read")
	}
	if err := taken.Save(t.Context(), []byte("x")); err == nil {
		t.Error("a directory was replaced")
	}
	inFile := highwater.File(filepath.Join(f.String(), "x"))
	if _, err := inFile.Load(t.Context()); err == nil {
		t.Error("a file in a file was read")
	}
	if err := inFile.Save(t.Context(), []byte("x")); err == nil {
		t.Error("a file in a file was written")
	}
	files, err = os.ReadDir(dir)
	if err != nil || len(files) != 2 {
		t.Errorf("the directory has %v, %v; want no other file", files, err)
	}
}

// A Redis that does not answer is a failure, and not an empty record.
func TestRedisDown(t *testing.T) {
	server := redistest.Start(t)
	redis, err := ratelimit.OpenRedis(server.URL(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer redis.Close()
	place := highwater.Redis{Conn: redis, Key: "pregon:served:test"}
	if text, err := place.Load(t.Context()); err != nil || text != nil {
		t.Errorf("before the first save: %q, %v", text, err)
	}
	if err := place.Save(t.Context(), []byte("x")); err != nil {
		t.Fatal(err)
	}
	if text, err := place.Load(t.Context()); err != nil || string(text) != "x" {
		t.Errorf("%q, %v", text, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := place.Save(ctx, []byte("y")); err == nil {
		t.Error("saved while Redis does not answer")
	}
	other, err := ratelimit.OpenRedis(server.URL(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	place.Conn = other
	if text, err := place.Load(ctx); err == nil {
		t.Errorf("while Redis does not answer: %q", text)
	}
}

// The seq of a slower process does not lower the record, and a larger tree with it
// does not get lost.
func TestSlowerProcess(t *testing.T) {
	w := newFixture(t)
	w.append(3)
	head, behind := w.newest()
	w.append(2)
	_, ahead := w.newest()
	tree := func(size int64) func() (string, highwater.Tree) {
		return func() (string, highwater.Tree) {
			return head.Epoch, highwater.Tree{Size: size, Root: tlog.RecordHash([]byte{byte(size)})}
		}
	}
	for _, save := range []struct {
		last disclosure.Mark
		size int64
	}{{ahead, 3}, {behind, 5}, {ahead, 4}} {
		k := w.keeper()
		k.Publishes(tree(save.size))
		if !k.Save(t.Context(), head, save.last) {
			t.Fatal("not saved")
		}
	}
	if got := w.keeper().Tree(t.Context(), head.Epoch); got.Size != 5 {
		t.Errorf("the tree is %+v, want that of 5 changes", got)
	}
	text, err := os.ReadFile(w.places[0].String())
	if n := strings.Count(string(text), `"epoch":"`+head.Epoch+`"`); err != nil || n != 1 {
		t.Errorf("the epoch is recorded %d times, %v: %s", n, err, text)
	}
	// A second place with a smaller tree does not lower it.
	other := highwater.File(filepath.Join(w.dir, "other"))
	smaller := highwater.New(w.db, slog.New(slog.DiscardHandler), other)
	smaller.Publishes(tree(2))
	if !smaller.Save(t.Context(), head, ahead) {
		t.Fatal("not saved")
	}
	w.places = append(w.places, other)
	if got := w.keeper().Tree(t.Context(), head.Epoch); got.Size != 5 {
		t.Errorf("the tree of two places is %+v, want that of 5 changes", got)
	}
	w.putBack(4)
	w.check(true)
}

// A text that is too long is not one that this program wrote. It is reported, and not
// overwritten.
func TestLongText(t *testing.T) {
	for length, want := range map[int]bool{64 << 10: true, 64<<10 + 1: false} {
		w := newFixture(t)
		w.append(2)
		path := filepath.Join(w.dir, "long")
		text := strings.Repeat("x", length)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		w.places = []highwater.Place{highwater.File(path)}
		head, last := w.newest()
		if got := w.keeper().Save(t.Context(), head, last); got != want {
			t.Errorf("a text of %d bytes: saved %v, want %v", length, got, want)
		}
		kept, err := os.ReadFile(path)
		if err != nil || (string(kept) == text) == want {
			t.Errorf("a text of %d bytes is overwritten: %v, want %v", length, string(kept) != text, want)
		}
		if warned := strings.Contains(w.log.String(), "level=WARN"); warned == want {
			t.Errorf("a text of %d bytes: reported %v: %s", length, warned, &w.log)
		}
	}
}

// An empty log has nothing to record.
func TestSaveOfAnEmptyLog(t *testing.T) {
	w := newFixture(t)
	head, err := w.db.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if w.keeper().Save(t.Context(), head, disclosure.Mark{}) {
		t.Error("an empty log was recorded")
	}
}
