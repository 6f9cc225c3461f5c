package main_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/document/bucket/buckettest"
	"pregon/internal/sim/market"
	"pregon/internal/store"
	"pregon/internal/store/postgres/pgtest"
	"pregon/internal/test/longtest"
	"pregon/internal/test/waittest"
	"pregon/internal/transfer"
)

// snapshotList is the answer of GET /api/v1/bulk.
type snapshotList struct {
	Data []bulkSnapshot
}

type bulkSnapshot struct {
	ID, Epoch, Cursor string
	Seq               int64
	Files             []struct {
		Kind, Format, URL, SHA256 string
		Bytes                     int64
		Rows                      int
	}
}

// taker is a client that takes a snapshot home and then follows the changes. It
// notices a change that is missing or comes twice.
type taker struct {
	t      *testing.T
	serve  *service
	key    string
	cursor string
	seq    int64
	titles map[string]string // of reports, names of issuers, and of who deals
}

// takeSnapshot waits for a snapshot and downloads it. The service is killed in the
// middle of a download.
func (c *taker) takeSnapshot(restart func()) bulkSnapshot {
	c.t.Helper()
	var list snapshotList
	eventually(c.t, func() error {
		status, err := call(c.t.Context(), c.serve.url, c.key, http.MethodGet, "/api/v1/bulk", nil, &list)
		if err != nil || status != http.StatusOK || len(list.Data) == 0 {
			return fmt.Errorf("got %+v, %d, %v; want a snapshot", list, status, err)
		}
		return nil
	})
	s := list.Data[0]
	c.cursor, c.seq, c.titles = s.Cursor, s.Seq, map[string]string{}
	for _, f := range s.Files {
		if f.Format != "jsonl" {
			continue
		}
		path := "/api/v1/bulk/" + s.ID + "/" + f.Kind + ".jsonl.zst"
		half, err := c.download(path, 0, f.Bytes/2)
		if err != nil {
			c.t.Fatal(err)
		}
		if f.Kind == "reports" {
			restart()
		}
		rest, err := c.download(path, f.Bytes/2, f.Bytes)
		if err != nil {
			c.t.Fatal(err)
		}
		if rows := c.read(f.Kind, append(half, rest...)); rows != f.Rows {
			c.t.Errorf("%s: got %d rows, want %d", path, rows, f.Rows)
		}
	}
	return s
}

// download returns a part of a file. It reads no more than that, however large the
// file is.
func (c *taker) download(path string, from, to int64) ([]byte, error) {
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodGet, c.serve.url+path, nil)
	if err != nil {
		return nil, err
	}
	if c.key != "" {
		req.Header.Set("X-API-Key", c.key)
	}
	want := http.StatusOK
	if from > 0 {
		req.Header.Set("Range", "bytes="+strconv.FormatInt(from, 10)+"-")
		want = http.StatusPartialContent
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != want {
		return nil, fmt.Errorf("%s from %d: got %s, want %d", path, from, res.Status, want)
	}
	part := make([]byte, to-from)
	_, err = io.ReadFull(res.Body, part)
	return part, err
}

// read adds the records of a file.
func (c *taker) read(kind string, compressed []byte) (rows int) {
	c.t.Helper()
	plain, err := transfer.NewDecompressor(bytes.NewReader(compressed))
	if err != nil {
		c.t.Fatal(err)
	}
	defer plain.Close()
	lines := bufio.NewScanner(plain)
	lines.Buffer(nil, transfer.MaxLine)
	for ; lines.Scan(); rows++ {
		var r struct{ ID, Title, Name, Holder string }
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			c.t.Fatal(err)
		}
		if _, twice := c.titles[kind+" "+r.ID]; twice {
			c.t.Errorf("%s is in the snapshot twice", r.ID)
		}
		c.titles[kind+" "+r.ID] = r.Title + r.Name + r.Holder
	}
	if err := lines.Err(); err != nil {
		c.t.Fatal(err)
	}
	return rows
}

// follow applies a page of changes. It returns how many there were.
func (c *taker) follow() (int, error) {
	var page struct {
		Data []struct {
			Seq             int64
			Event           disclosure.Event
			ID, Title, Name string
			Person          string
		}
		Next  string
		Reset *struct{ After string }
	}
	status, err := call(c.t.Context(), c.serve.url, c.key, http.MethodGet, "/api/v1/changes?limit=200&after="+c.cursor, nil, &page)
	if err != nil || status != http.StatusOK {
		return 0, fmt.Errorf("changes after %s: %d, %w", c.cursor, status, err)
	}
	if page.Reset != nil {
		return 0, fmt.Errorf("changes after %s: got a reset to %s", c.cursor, page.Reset.After)
	}
	for _, e := range page.Data {
		if c.seq++; e.Seq != c.seq {
			c.t.Fatalf("got change %d, want %d: one is missing or came twice", e.Seq, c.seq)
		}
		c.titles[string(e.Event.Of())+"s "+e.ID] = e.Title + e.Name + e.Person
	}
	c.cursor = page.Next
	return len(page.Data), nil
}

// followAll follows until the client has a change.
func (c *taker) followAll(newest int64) {
	c.t.Helper()
	eventually(c.t, func() error {
		for {
			n, err := c.follow()
			if err != nil {
				return err
			}
			if n == 0 {
				break
			}
		}
		if c.seq < newest {
			return fmt.Errorf("the client has %d changes of %d", c.seq, newest)
		}
		return nil
	})
}

// compare compares the client's state with the store's.
func (c *taker) compare(db store.Store) {
	c.t.Helper()
	truth := map[string]string{}
	_, err := db.Current(c.t.Context(), func(ch disclosure.Change) error {
		switch ch.Of() {
		case disclosure.OfReport:
			truth["reports "+ch.Report.ID] = ch.Report.Title
		case disclosure.OfPosition:
			truth["positions "+ch.Position.ID] = ch.Position.Name
		default:
			truth["issuers "+ch.Issuer.ID] = ch.Issuer.Name
		}
		return nil
	})
	if err != nil || !maps.Equal(c.titles, truth) {
		c.t.Errorf("the client has %d records, the store %d (%v), or they differ", len(c.titles), len(truth), err)
	}
}

// dealing returns a dealing of a natural person.
func dealing(n int) disclosure.Position {
	number := strconv.Itoa(2026000000 + n)
	return disclosure.Position{
		ID:           disclosure.PositionID(disclosure.Dealing, number, 1),
		Kind:         disclosure.Dealing,
		IssuerName:   "EJEMPLAR FICTICIA, S.A.",
		Name:         "Elena Ruiz Salvatierra",
		Natural:      true,
		State:        disclosure.StateCurrent,
		Number:       number,
		RegisteredOn: "2026-09-25",
	}
}

// writer appends new reports, and new titles of earlier ones, and dealings, until it is
// stopped. It erases the name of every second dealing.
func writer(t *testing.T, db store.Store, reports []disclosure.Report) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		for n := 0; ctx.Err() == nil; n++ {
			fresh := reports[n%len(reports)]
			fresh.Title = fmt.Sprintf("[Simulación] Edición %d", n)
			batch := store.Batch{
				Reports:   []disclosure.Report{fresh},
				Positions: []disclosure.Position{dealing(n)},
				New:       disclosure.Published,
			}
			_, err := db.Append(t.Context(), batch)
			if err == nil && n%2 == 1 {
				_, err = db.EraseNames(t.Context(), nil, dealing(n).ID, dealing(n/2).ID)
			}
			if err != nil {
				ended <- err
				return
			}
			waittest.Pace(ctx, 5*time.Millisecond)
		}
		ended <- nil
	}()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// A client takes a snapshot and follows the changes while reports arrive and the
// service is killed: while it makes the snapshot, while it sends it, and while the
// client follows. Nothing is missing, and nothing comes twice.
func TestBulkAndChanges(t *testing.T) {
	longtest.Skip(t, "it needs an S3 server")
	for name, engine := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec, dir, place := engine(t), t.TempDir(), filepath.Join(t.TempDir(), "bulk")
			db := openStore(t, spec)
			m := market.New(5)
			reports := slices.Collect(m.Bulk(6000, time.Now().Add(-time.Hour)))
			if _, err := db.Append(t.Context(), store.Batch{Issuers: m.Issuers(), Reports: reports[:5000]}); err != nil {
				t.Fatal(err)
			}
			stop := writer(t, db, reports[4000:])
			c := &taker{t: t, key: pregon(t, spec, "keys", "create", "--plan", "pro")}
			start := func() {
				s, err := startService([]string{"PREGON_STORE=" + spec}, dir, "--bulk-dir", place)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = s.cmd.Process.Kill() })
				c.serve = s
			}
			restart := func() {
				if err := c.serve.end(syscall.SIGKILL); err == nil {
					t.Error("a killed service ended without an error")
				}
				start()
			}
			start()
			waittest.For(t, "a snapshot that is being made", func() bool {
				making, _ := filepath.Glob(filepath.Join(place, ".making-*"))
				return len(making) > 0
			})
			restart()
			taken := c.takeSnapshot(restart)
			if left, err := filepath.Glob(filepath.Join(place, ".*")); err != nil || len(left) > 0 {
				t.Errorf("left behind: %q, %v", left, err)
			}
			for range 5 {
				if _, err := c.follow(); err != nil {
					t.Fatal(err)
				}
			}
			restart()
			newest := taken.Seq + 300
			c.followAll(newest)
			stop()
			newest, err := db.Newest(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			c.followAll(newest)
			c.compare(db)
			c.afterRestore(spec, taken, start)
		})
	}
}

// afterRestore renews the epoch as after a restored backup. The snapshot is still part
// of the log, so that it is listed, and its cursor leads to all later changes.
func (c *taker) afterRestore(spec string, taken bulkSnapshot, start func()) {
	c.t.Helper()
	if err := c.serve.end(syscall.SIGTERM); err != nil {
		c.t.Error(err)
	}
	pregon(c.t, spec, "restore")
	start()
	var list snapshotList
	demand(c.t, c.serve.url, c.key, http.MethodGet, "/api/v1/bulk", nil, &list, http.StatusOK)
	if len(list.Data) == 0 || list.Data[len(list.Data)-1].Cursor != taken.Cursor {
		c.t.Fatalf("got %+v, want the snapshot %s", list, taken.Cursor)
	}
	var page struct {
		Data  []struct{ Seq int64 }
		Reset *struct{ After string }
	}
	demand(c.t, c.serve.url, c.key, http.MethodGet, "/api/v1/changes?after="+taken.Cursor, nil, &page, http.StatusOK)
	after, ok := disclosure.Cursor{}, false
	if page.Reset != nil {
		after, ok = disclosure.ParseCursor(page.Reset.After)
	}
	if !ok || after.Seq != taken.Seq || after.Epoch == taken.Epoch || len(page.Data) == 0 || page.Data[0].Seq != taken.Seq+1 {
		c.t.Errorf("got %+v, want a reset to %d in another epoch", page, taken.Seq)
	}
}

// Snapshots are in a bucket, public, off, or have no place.
func TestBulkSettings(t *testing.T) {
	spec := pgtest.Database(t)
	pregonImport(t, spec)
	s3 := buckettest.Start(t)
	env := []string{"PREGON_STORE=" + spec, "PREGON_S3_ACCESS_KEY=" + buckettest.AccessKey, "PREGON_S3_SECRET_KEY=" + buckettest.SecretKey, "PREGON_CACHE_DIR=" + t.TempDir()}
	key := pregon(t, spec, "keys", "create", "--plan", "pro")
	ask := func(want int, key string, args ...string) {
		t.Helper()
		s, err := startService(env, t.TempDir(), args...)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := s.end(syscall.SIGTERM); err != nil {
				t.Error(err)
			}
			if log := s.log.String(); strings.Contains(log, buckettest.SecretKey) || strings.Contains(log, buckettest.AccessKey) {
				t.Errorf("the log has a key of the bucket: %s", log)
			}
		}()
		eventually(t, func() error {
			var list snapshotList
			status, err := call(t.Context(), s.url, key, http.MethodGet, "/api/v1/bulk", nil, &list)
			if err != nil || status != want || want == http.StatusOK && len(list.Data) == 0 {
				return errors.Join(err, fmt.Errorf("%v: got %d, want %d and a snapshot", args, status, want))
			}
			return nil
		})
		if want == http.StatusOK {
			c := &taker{t: t, serve: s, key: key}
			c.takeSnapshot(func() {})
			c.compare(openStore(t, spec))
		}
	}
	ask(http.StatusNotFound, key, "--bulk", "off", "--bulk-dir", t.TempDir())
	ask(http.StatusNotFound, key)
	ask(http.StatusOK, "", "--bulk", "public", "--bulk-dir", t.TempDir())
	ask(http.StatusUnauthorized, "", "--bulk-s3", buckettest.Address, "--s3-endpoint", s3.URL())
	ask(http.StatusOK, key, "--bulk-s3", buckettest.Address, "--s3-endpoint", s3.URL())
	if keys := s3.Keys(); len(keys) != 10 {
		t.Errorf("got objects %q, want nine files and a manifest", keys)
	}
}

// pregonImport imports some reports into a store.
func pregonImport(t *testing.T, spec string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "reports.jsonl")
	writeReports(t, file, 500)
	pregon(t, spec, "import", "reports", file)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
}
