package bulk

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
)

// faultyLog is a store whose head cannot be read while err is set.
type faultyLog struct {
	Log
	err error
}

func (f *faultyLog) Head(ctx context.Context) (disclosure.Head, error) {
	if f.err != nil {
		return disclosure.Head{}, f.err
	}
	return f.Log.Head(ctx)
}

func TestManifestRules(t *testing.T) {
	const id = "20260422T100000Z-7"
	for _, test := range []struct {
		name string
		text string
		want bool
	}{
		{"as it is written", `{"id":"` + id + `","seq":7,"epoch":"k3v9","files":[{"name":"reports.parquet","rows":0,"bytes":0}]}`, true},
		{"without files", `{"id":"` + id + `","seq":1,"epoch":"k3v9"}`, true},
		{"of another snapshot", `{"id":"20260422T100000Z-8","seq":7,"epoch":"k3v9"}`, false},
		{"of an empty log", `{"id":"` + id + `","seq":0,"epoch":"k3v9"}`, false},
		{"with an epoch that no log has", `{"id":"` + id + `","seq":7,"epoch":"k3 v9"}`, false},
		{"with a file that is elsewhere", `{"id":"` + id + `","seq":7,"epoch":"k3v9","files":[{"name":"../reports.parquet"}]}`, false},
		{"with a second file that is elsewhere", `{"id":"` + id + `","seq":7,"epoch":"k3v9","files":[{"name":"../reports.parquet"},{"name":"reports.parquet"}]}`, false},
		{"with fewer bytes than none", `{"id":"` + id + `","seq":7,"epoch":"k3v9","files":[{"name":"reports.parquet","bytes":-1}]}`, false},
		{"with fewer rows than none", `{"id":"` + id + `","seq":7,"epoch":"k3v9","files":[{"name":"reports.parquet","rows":-1}]}`, false},
	} {
		s, err := readManifest(strings.NewReader(test.text), id)
		if test.want && (err != nil || s.ID != id) || !test.want && (fault.KindOf(err) != fault.Invalid || s != nil) {
			t.Errorf("%s: %+v, %v", test.name, s, err)
		}
	}
	broken := io.MultiReader(strings.NewReader(`{"id":"`), iotestReader{})
	if _, err := readManifest(broken, id); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a manifest that cannot be read: %v", err)
	}
}

type iotestReader struct{}

func (iotestReader) Read([]byte) (int, error) { return 0, errPlace }

// Only a directory, or a part of a bucket, with the name of a snapshot is one.
func TestNamesOfSnapshots(t *testing.T) {
	const id = "20260422T100000Z-7"
	places(t, func(t *testing.T, p Place, names func() []string) {
		publish(t, p, &Snapshot{ID: id, Seq: 7, Epoch: "k3v9"})
		switch p := p.(type) {
		case Dir:
			if err := os.WriteFile(p.path("20260422T100000Z-8"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"backup", "20260422T100000Z", "20260422T100000Z-9.old", "x20260422T100000Z-9"} {
				if err := os.Mkdir(p.path(name), 0o700); err != nil {
					t.Fatal(err)
				}
			}
		case Bucket:
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, manifestName), []byte("{}"), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"backup", "20260422T100000Z", "20260422T100000Z-9.old"} {
				if err := p.put(t.Context(), dir, name, manifestName); err != nil {
					t.Fatal(err)
				}
			}
		}
		before := names()
		if ids, err := p.ids(t.Context()); err != nil || !slices.Equal(ids, []string{id}) {
			t.Errorf("the snapshots are %q, %v; want %s", ids, err, id)
		}
		if err := p.clean(t.Context()); err != nil {
			t.Fatal(err)
		}
		if after := names(); !slices.Equal(before, after) {
			t.Errorf("what is not a snapshot was removed: %q, want %q", after, before)
		}
		if err := p.remove(t.Context(), "20260422T100000Z-9"); err != nil {
			t.Errorf("a snapshot that is not there: %v", err)
		}
		if err := p.remove(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if ids, err := p.ids(t.Context()); err != nil || len(ids) != 0 {
			t.Errorf("after it was removed: %q, %v", ids, err)
		}
	})
}

func TestOpenRules(t *testing.T) {
	const id = "20260422T100000Z-7"
	dir := Dir(t.TempDir())
	publish(t, dir, &Snapshot{ID: id, Seq: 7, Epoch: "k3v9", Files: []File{{Name: "reports.parquet", Bytes: 5}, {Name: "issuers.parquet", Bytes: 1}}})
	a := New(dir, slog.New(slog.DiscardHandler))
	for _, test := range []struct{ id, name string }{
		{"20260422T100000Z-8", "reports.parquet"},
		{id, "reports.csv.zst"},
		{id, manifestName},
		{id, "../" + id + "/reports.parquet"},
	} {
		if _, content, err := a.Open(t.Context(), test.id, test.name); fault.KindOf(err) != fault.NotFound || content != nil {
			t.Errorf("%s of %s: %v", test.name, test.id, err)
		}
	}
	// The file has one byte, and its manifest says five.
	_, content, err := a.Open(t.Context(), id, "reports.parquet")
	if err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(content); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a file that is shorter than it should be: %q, %v", body, err)
	}
	if err := content.Close(); err != nil {
		t.Error(err)
	}
	_, content, err = a.Open(t.Context(), id, "issuers.parquet")
	if err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(content); err != nil || string(body) != "x" {
		t.Errorf("%q, %v", body, err)
	}
	if err := os.Remove(dir.path(id, "issuers.parquet")); err != nil {
		t.Fatal(err)
	}
	if _, err := content.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(content); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a file that was removed: %q, %v", body, err)
	}
	failing := &faulty{dir, map[string]error{"ids": errPlace}}
	if _, _, err := New(failing, slog.New(slog.DiscardHandler)).Open(t.Context(), id, "reports.parquet"); !errors.Is(err, errPlace) {
		t.Errorf("a place that fails: %v", err)
	}
}

func TestSeek(t *testing.T) {
	opened := []int64{}
	content := &Content{File: File{Bytes: 10}, open: func(offset int64) (io.ReadCloser, error) {
		opened = append(opened, offset)
		return io.NopCloser(strings.NewReader("0123456789"[offset:])), nil
	}}
	for _, test := range []struct {
		offset int64
		whence int
		want   int64 // -1: refused
		next   string
	}{
		{0, io.SeekStart, 0, "0"},
		{2, io.SeekCurrent, 3, "3"},
		{-1, io.SeekEnd, 9, "9"},
		{0, io.SeekEnd, 10, ""},
		{1, io.SeekEnd, -1, ""},
		{-1, io.SeekStart, -1, ""},
		{4, io.SeekStart, 4, "4"},
		{0, io.SeekCurrent, 5, "5"},
	} {
		got, err := content.Seek(test.offset, test.whence)
		if test.want < 0 {
			if fault.KindOf(err) != fault.Invalid || got != 0 {
				t.Errorf("%+v: %d, %v; want a refusal", test, got, err)
			}
			continue
		}
		if err != nil || got != test.want {
			t.Errorf("%+v: %d, %v", test, got, err)
		}
		next := make([]byte, 1)
		n, err := content.Read(next)
		if string(next[:n]) != test.next || (err == io.EOF) != (test.next == "") {
			t.Errorf("%+v: the next byte is %q, %v", test, next[:n], err)
		}
	}
	if want := []int64{0, 3, 9, 4}; !slices.Equal(opened, want) {
		t.Errorf("opened at %v, want %v", opened, want)
	}
}

// Files of a directory that cannot be read are a failure, not a missing snapshot.
func TestDirThatCannotBeRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if ids, err := Dir(file).ids(t.Context()); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a file in the place of the directory: %q, %v", ids, err)
	}
	if _, err := Dir(file).open(t.Context(), "x", manifestName, 0); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a file of a snapshot in a file: %v", err)
	}
	if _, err := Dir(t.TempDir()).open(t.Context(), "x", manifestName, 0); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a file that does not exist: %v", err)
	}
	if err := Dir(file).remove(t.Context(), "x"); err == nil {
		t.Error("a snapshot in a file was removed")
	}
	if err := Dir(file).clean(t.Context()); err == nil {
		t.Error("a file in the place of the directory was cleaned")
	}
	if err := Dir(filepath.Join(t.TempDir(), "none")).clean(t.Context()); err != nil {
		t.Errorf("a directory that does not exist yet: %v", err)
	}
}

// No snapshot is made of an empty log, nor while something that is needed fails. What
// was begun is removed.
func TestNothingIsMade(t *testing.T) {
	full := newStore(t, 5)
	for _, test := range []struct {
		name  string
		log   Log
		fails map[string]error
		want  error
	}{
		{"the log cannot be read", &faultyLog{full, errPlace}, nil, errPlace},
		{"the place cannot be listed", full, map[string]error{"ids": errPlace}, errPlace},
		{"the place cannot be cleaned", full, map[string]error{"clean": errPlace}, errPlace},
		{"it cannot be published", full, map[string]error{"publish": errPlace}, errPlace},
	} {
		dir := t.TempDir()
		m := newMaker(test.log, &faulty{Dir(dir), test.fails})
		if _, err := m.makeDue(t.Context(), time.Now()); !errors.Is(err, test.want) || m.Stats().Made != 0 {
			t.Errorf("%s: %v, %+v", test.name, err, m.Stats())
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
			t.Errorf("%s: %v are left, %v", test.name, left, err)
		}
	}
	m := newMaker(newEmptyStore(t), Dir(t.TempDir()))
	if made, err := m.makeDue(t.Context(), time.Now()); made || err != nil {
		t.Errorf("an empty log: %v, %v; want that nothing is made", made, err)
	}
}

func newEmptyStore(t *testing.T) Log {
	t.Helper()
	return &emptyLog{Log: newStore(t, 0)}
}

// emptyLog is a store without any change.
type emptyLog struct{ Log }

func (e *emptyLog) Head(ctx context.Context) (disclosure.Head, error) {
	head, err := e.Log.Head(ctx)
	head.Seq = 0
	return head, err
}

// A snapshot that was made counts although older ones cannot be removed, and the failure
// is returned.
func TestPruneFails(t *testing.T) {
	p := &faulty{Dir(t.TempDir()), map[string]error{"remove": errPlace}}
	m := newMaker(newStore(t, 5), p)
	head, err := m.Log.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for day := range kept {
		made := published.AddDate(0, 0, day)
		publish(t, p, &Snapshot{ID: newID(made, head.Seq), Seq: head.Seq, Epoch: head.Epoch, CreatedAt: made})
	}
	if _, err := m.makeDue(t.Context(), time.Now()); !errors.Is(err, errPlace) || m.Stats().Made != 1 {
		t.Errorf("%v, %+v", err, m.Stats())
	}
}

// A process that loses the lease, or no longer leads, stops making a snapshot.
func TestLeaseIsLost(t *testing.T) {
	for _, test := range []struct {
		name string
		lose func(t *testing.T, db Log, leads *atomic.Bool)
		want bool // it is stopped
	}{
		{"nothing happens", func(*testing.T, Log, *atomic.Bool) {}, false},
		{"it no longer leads", func(_ *testing.T, _ Log, leads *atomic.Bool) { leads.Store(false) }, true},
		{"another process has the lease", func(t *testing.T, db Log, _ *atomic.Bool) {
			t.Helper()
			lease, err := db.AcquireLease(t.Context(), leaseName, "test", leaseTime)
			if err == nil {
				err = db.ReleaseLease(t.Context(), lease)
			}
			if err == nil {
				_, err = db.AcquireLease(t.Context(), leaseName, "other", time.Hour)
			}
			if err != nil {
				t.Fatal(err)
			}
		}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				db := newStore(t, 5)
				m := newMaker(db, Dir(t.TempDir()))
				var leads atomic.Bool
				leads.Store(true)
				m.Leads = leads.Load
				err := m.holding(t.Context(), func(ctx context.Context) error {
					test.lose(t, db, &leads)
					select {
					case <-ctx.Done():
						return ctx.Err()
					case <-time.After(time.Hour):
						return nil
					}
				})
				if stopped := fault.KindOf(err) == fault.Conflict; stopped != test.want || !test.want && err != nil {
					t.Errorf("%v, want that it is stopped: %v", err, test.want)
				}
			})
		})
	}
}

// The lease is released at the end, so that another process need not wait for it.
func TestLeaseIsReleased(t *testing.T) {
	db := newStore(t, 5)
	m := newMaker(db, Dir(t.TempDir()))
	if err := m.holding(t.Context(), func(context.Context) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := db.AcquireLease(t.Context(), leaseName, "other", time.Hour); err != nil {
		t.Errorf("another process cannot take the lease: %v", err)
	}
}

// full is a place that has no room for snapshots while is is set.
type full struct {
	Place
	is atomic.Bool
}

func (f *full) publish(ctx context.Context, dir string, s *Snapshot) error {
	if f.is.Load() {
		return errPlace
	}
	return f.Place.publish(ctx, dir, s)
}

// Run makes snapshots while the process leads. After a failure it tries again later, and
// reports the failure and its end.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		p := &full{Place: Dir(t.TempDir())}
		p.is.Store(true)
		m := newMaker(newStore(t, 5), p)
		m.Logger = slog.New(slog.NewTextHandler(&log, nil))
		var leads atomic.Bool
		m.Leads = leads.Load
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- m.Run(ctx) }()
		after := func(wait time.Duration, made, failed int64) {
			t.Helper()
			time.Sleep(wait)
			synctest.Wait()
			if s := m.Stats(); s.Made != made || s.Failed != failed {
				t.Errorf("made %d, failed %d; want %d and %d", s.Made, s.Failed, made, failed)
			}
		}
		after(time.Hour, 0, 0)
		leads.Store(true)
		after(time.Minute, 0, 1)
		after(4*time.Minute, 0, 1)
		p.is.Store(false)
		after(20*time.Minute, 1, 1)
		after(30*time.Minute, 1, 1) // until five to three in Madrid
		after(10*time.Minute, 2, 1)
		after(23*time.Hour, 2, 1)
		after(time.Hour, 3, 1)
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Run returned %v", err)
		}
		for _, want := range []string{"could not be made", "snapshots are made again", "made a snapshot"} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("the log does not say %q: %s", want, &log)
			}
		}
	})
}

// While another process holds the lease, that is not a failure.
func TestRunBesideAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := newStore(t, 5)
		m := newMaker(db, Dir(t.TempDir()))
		lease, err := db.AcquireLease(t.Context(), leaseName, "other", 2*time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- m.Run(ctx) }()
		time.Sleep(time.Hour)
		synctest.Wait()
		if s := m.Stats(); s.Made != 0 || s.Failed != 0 {
			t.Errorf("%+v while another process makes snapshots", s)
		}
		if err := db.ReleaseLease(t.Context(), lease); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if s := m.Stats(); s.Made != 1 || s.Failed != 0 {
			t.Errorf("%+v after the other released the lease", s)
		}
		cancel()
		<-ended
	})
}
