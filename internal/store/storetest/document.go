package storetest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/sync/errgroup"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/store"
)

func hashOf(body string) string {
	sum := sha256.Sum256([]byte(body))
	return hex.EncodeToString(sum[:])
}

// document returns a document with pages and an index. To the store an index is
// only bytes: here the name and the pages, so that tests recognize it.
func document(name string, pages ...string) store.Document {
	d := store.Document{
		SHA256: hashOf(name),
		Bytes:  int64(len(name)),
		Head:   `{"name":"` + name + `"}`,
		Pages:  pages,
	}
	d.Index = store.Segment{Documents: 1, Head: []byte(name)}
	for _, page := range pages {
		d.Index.Blocks = append(d.Index.Blocks, []byte(page))
	}
	return d
}

func putDocuments(t *testing.T, s store.Store, documents ...store.Document) {
	t.Helper()
	for _, d := range documents {
		if err := s.PutDocument(patiently(t), d); err != nil {
			t.Fatalf("putting a document: %v", err)
		}
	}
}

// withDocument returns a report that has a document.
func withDocument(number int64, d store.Document) disclosure.Report {
	r := newReport(number, "La sociedad informa")
	r.Document = disclosure.Document{Status: disclosure.DocumentReady, SHA256: d.SHA256}
	return r
}

// checkSegments compares the segments in use, each written as its head, a colon and
// its blocks.
func checkSegments(t *testing.T, s store.Store, want ...string) {
	t.Helper()
	ctx := patiently(t)
	list, err := s.Segments(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var ids []int64
	heads := map[int64]string{}
	for _, segment := range list {
		ids = append(ids, segment.ID)
	}
	err = s.SegmentHeads(ctx, ids, func(id int64, head []byte) error {
		heads[id] = string(head)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, id := range ids {
		got = append(got, heads[id]+": "+strings.Join(blocksOf(t, s, id), ", "))
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("the segments in use (-want +got):\n%s", diff)
	}
}

// blocksOf returns the blocks of a segment.
func blocksOf(t *testing.T, s store.Store, segment int64) (blocks []string) {
	t.Helper()
	for n := 0; ; n++ {
		err := s.Blocks(patiently(t), []int64{store.BlockID(segment, n)}, func(_ int64, block []byte) {
			blocks = append(blocks, string(block))
		})
		if fault.KindOf(err) == fault.NotFound {
			return blocks
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func checkKind(t *testing.T, what string, err error, want fault.Kind) {
	t.Helper()
	if err == nil || fault.KindOf(err) != want {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}

// checkDocument compares the stored document with the one that was put.
func checkDocument(t *testing.T, s store.Store, want store.Document) {
	t.Helper()
	want.Index = store.Segment{}
	got, err := s.Document(patiently(t), want.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("the document (-want +got):\n%s", diff)
	}
}

func testDocuments(t *testing.T, e Engine) {
	open := e.fresh(t)
	s, other := open(), open()
	ctx := patiently(t)
	a := document("a", "uno dos", "", "tres")
	b := document("b")
	none := hashOf("none")
	a.Head = "{ \"b\" : 1,\n\"a\":\"<ñ>\" }"
	_, err := s.Document(ctx, a.SHA256)
	checkKind(t, "a document that was never put", err, fault.NotFound)
	putDocuments(t, s, a, b)
	checkDocument(t, other, a)
	checkDocument(t, other, b)

	a.Pages = []string{"otra"}
	a.Bytes = 1 << 40
	a.Head = ""
	putDocuments(t, other, a)
	checkDocument(t, s, a)
	checkDocument(t, s, b)

	got, err := s.DocumentPages(ctx, a.SHA256, none, "x", "\x00", b.SHA256, a.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string][]string{a.SHA256: {"otra"}, b.SHA256: nil}, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("the pages (-want +got):\n%s", diff)
	}
	if got, err := s.DocumentPages(ctx); err != nil || len(got) != 0 {
		t.Errorf("the pages of no document: %v, %v", got, err)
	}
	for _, hash := range []string{"", "x", strings.ToUpper(a.SHA256), a.SHA256 + "0", a.SHA256[1:] + "\x00", a.SHA256[1:] + "\xff"} {
		checkKind(t, "putting "+hash, s.PutDocument(ctx, store.Document{SHA256: hash}), fault.Invalid)
		checkKind(t, "putting the bytes of "+hash, s.PutOriginal(ctx, hash, nil), fault.Invalid)
		_, err := s.Document(ctx, hash)
		checkKind(t, "asking for "+hash, err, fault.NotFound)
		_, err = s.Original(ctx, hash)
		checkKind(t, "asking for the bytes of "+hash, err, fault.NotFound)
	}
}

// testDocumentOfOddTexts: the text of a document can contain invalid bytes.
func testDocumentOfOddTexts(t *testing.T, e Engine) {
	s := e.fresh(t)()
	d := document("odd")
	d.Pages = []string{"a\x00b", "\xff\xfe", "", "«ñ» \u2028\U0001F3DB\u200d \"{\\,}\" NULL", "\r\n\t\x01\x7f", "NULL"}
	d.Head = "\"\x00\xff\""
	pages := slices.Clone(d.Pages)
	putDocuments(t, s, d)
	if diff := cmp.Diff(pages, d.Pages); diff != "" {
		t.Errorf("PutDocument modified the caller's pages:\n%s", diff)
	}
	d.Pages[0] = "a\uFFFDb"
	d.Pages[1] = "\uFFFD"
	d.Head = "\"\uFFFD\uFFFD\""
	checkDocument(t, s, d)
}

func testOriginals(t *testing.T, e Engine) {
	open := e.fresh(t)
	s, other := open(), open()
	ctx := patiently(t)
	large := make([]byte, 9<<20)
	for i := range large {
		large[i] = byte(i * i >> 7)
	}
	for name, body := range map[string][]byte{"empty": {}, "nil": nil, "odd": []byte("a\x00\xff'\\"), "large": large} {
		hash := hashOf(name)
		_, err := s.Original(ctx, hash)
		checkKind(t, "bytes that were never put", err, fault.NotFound)
		for _, body := range [][]byte{body, []byte("others")} { // the first body is kept
			if err := s.PutOriginal(ctx, hash, body); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := other.Original(ctx, hash); err != nil || string(got) != string(body) {
			t.Errorf("the bytes of %s: %d of them, %v; want %d", name, len(got), err, len(body))
		}
		_, err = s.Document(ctx, hash)
		checkKind(t, "a document of which only bytes were put", err, fault.NotFound)
	}
}

// testRemoveDocuments: texts are removed that no report refers to in its newest
// state, after the grace period.
func testRemoveDocuments(t *testing.T, e Engine) {
	s := e.fresh(t)()
	ctx := patiently(t)
	a := document("a", "uno")
	b := document("b", "dos")
	c := document("c", "tres")
	putDocuments(t, s, a, b, c)
	if err := s.PutOriginal(ctx, a.SHA256, []byte("bytes")); err != nil {
		t.Fatal(err)
	}
	const never, atOnce = time.Hour, -time.Hour
	remove := func(grace time.Duration, want int) {
		t.Helper()
		removed := 0
		for {
			n, more, err := s.RemoveDocuments(ctx, grace)
			if err != nil {
				t.Fatal(err)
			}
			removed += n
			if !more {
				break
			}
		}
		if removed != want {
			t.Errorf("removed %d documents, want %d", removed, want)
		}
	}
	failed := newReport(1, "La sociedad informa")
	failed.Document = disclosure.Document{Status: disclosure.DocumentFailed, SHA256: a.SHA256}
	mustAppend(t, s, published(withDocument(1, a), withDocument(2, b), withDocument(3, b), withDocument(4, c)))
	remove(atOnce, 0)
	mustAppend(t, s, published(failed, withDocument(2, a), newReport(4, "Otro título"))) // which does not mention its document
	remove(atOnce, 0)
	mustAppend(t, s, published(withDocument(2, b)))
	remove(never, 0) // it finds that a is not used
	checkDocument(t, s, a)
	if err := s.KeepDocument(ctx, a.SHA256); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, s, published(withDocument(5, a)))
	remove(atOnce, 0)
	failed.ID, failed.Number = "oir-5", 5
	mustAppend(t, s, published(failed))
	remove(never, 0)
	remove(atOnce, 1)
	_, err := s.Document(ctx, a.SHA256)
	checkKind(t, "a document that was removed", err, fault.NotFound)
	checkDocument(t, s, b)
	checkDocument(t, s, c)
	if body, err := s.Original(ctx, a.SHA256); err != nil || string(body) != "bytes" {
		t.Errorf("the bytes of a document whose text was removed: %q, %v", body, err)
	}
	putDocuments(t, s, a) // again
	checkDocument(t, s, a)
	if err := s.KeepDocument(ctx, hashOf("none")); err != nil {
		t.Errorf("keeping a document that is not stored: %v", err)
	}
	CheckLog(t, s)
}

// testSegments: segments are used when they are complete, in place of those that
// they replace.
func testSegments(t *testing.T, e Engine) {
	open := e.fresh(t)
	s, other := open(), open()
	ctx := patiently(t)
	checkSegments(t, s)
	putDocuments(t, s, document("a", "1", "2"), document("b"), document("a", "3"))
	checkSegments(t, other, "a: 1, 2", "b: ", "a: 3")
	old, err := s.Segments(ctx)
	if err != nil {
		t.Fatal(err)
	}
	id, err := other.NewSegment(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for n, block := range []string{"", "\x00\xff'", strings.Repeat("largo", 100_000)} {
		if err := other.PutBlocks(ctx, id, n, [][]byte{[]byte(block)}); err != nil {
			t.Fatal(err)
		}
	}
	putDocuments(t, s, document("c", "4"))
	merged := store.Segment{ID: id, Documents: 2, Head: []byte("ab\x00")}
	replaced := store.Replaced{Segments: []int64{old[0].ID, old[1].ID}}
	checkSegments(t, s, "a: 1, 2", "b: ", "a: 3", "c: 4")
	wrong := store.Replaced{Segments: []int64{old[0].ID, id + 1000}}
	checkKind(t, "replacing a segment that does not exist", s.UseSegment(ctx, merged, wrong), fault.Conflict)
	wrong = store.Replaced{Segments: replaced.Segments, Unindexed: []string{hashOf("a")}}
	checkKind(t, "indexing a document that is indexed", s.UseSegment(ctx, merged, wrong), fault.Conflict)
	checkSegments(t, s, "a: 1, 2", "b: ", "a: 3", "c: 4")
	if err := s.UseSegment(ctx, merged, replaced); err != nil {
		t.Fatal(err)
	}
	checkSegments(t, other, "ab\x00: , \x00\xff', "+strings.Repeat("largo", 100_000), "a: 3", "c: 4")
	checkKind(t, "replacing them again", other.UseSegment(ctx, merged, replaced), fault.Conflict)
	checkKind(t, "adding to a segment in use", s.PutBlocks(ctx, id, 9, nil), fault.Conflict)
	checkKind(t, "adding to no segment", s.PutBlocks(ctx, id+1000, 0, nil), fault.Conflict)
	unfinished, err := s.NewSegment(ctx)
	if err := errors.Join(err, s.DropSegment(ctx, unfinished), s.DropSegment(ctx, id)); err != nil {
		t.Fatal(err)
	}
	checkKind(t, "adding to a segment that was dropped", s.PutBlocks(ctx, unfinished, 0, nil), fault.Conflict)
	checkSegments(t, s, "ab\x00: , \x00\xff', "+strings.Repeat("largo", 100_000), "a: 3", "c: 4") // id is in use
	if got := blocksOf(t, s, old[0].ID); len(got) != 2 {
		t.Errorf("blocks of a segment that was just replaced: %q, want 2", got)
	}
	if more, err := s.SweepSegments(ctx); more || err != nil {
		t.Errorf("SweepSegments = %v, %v, want nothing to remove yet", more, err)
	}
	count := 0
	err = s.Blocks(ctx, []int64{store.BlockID(id, 1), store.BlockID(id, 0)}, func(int64, []byte) { count++ })
	if err != nil || count != 2 {
		t.Errorf("reading two blocks at once: %d, %v, want 2", count, err)
	}
	checkKind(t, "the head of no segment", s.SegmentHeads(ctx, []int64{id, id + 1000}, func(int64, []byte) error { return nil }), fault.NotFound)
	if list, err := s.Unindexed(ctx, 10); len(list) > 0 || err != nil {
		t.Errorf("Unindexed = %v, %v, want none", list, err)
	}
	CheckLog(t, s)
}

// testDocumentFailures: a document whose commit failed is stored completely or not
// at all, and can be put again.
func testDocumentFailures(t *testing.T, e Engine) {
	s := e.fresh(t)()
	older, newer := document("a", "uno", "dos"), document("a", "tres")
	putDocuments(t, s, older)
	broken := errors.New("broken")
	e.FailCommit(s, false, broken)
	if err := s.PutDocument(patiently(t), newer); !errors.Is(err, broken) {
		t.Errorf("PutDocument: %v", err)
	}
	checkDocument(t, s, older)
	checkSegments(t, s, "a: uno, dos")

	e.FailCommit(s, true, broken)
	if err := s.PutDocument(patiently(t), newer); !errors.Is(err, broken) {
		t.Errorf("PutDocument: %v", err)
	}
	checkDocument(t, s, newer)
	checkSegments(t, s, "a: uno, dos", "a: tres")
	CheckLog(t, s)
}

// testDocumentRace: of concurrent puts of a document one wins completely, and the
// newest segment is that of the text.
func testDocumentRace(t *testing.T, e Engine) {
	open := e.fresh(t)
	s := open()
	versions := []store.Document{document("a", "uno", "uno"), document("a", "dos"), document("a", "tres", "tres")}
	ctx := patiently(t)
	var writers errgroup.Group
	for _, d := range versions {
		writer := open()
		writers.Go(func() error {
			for range 10 {
				if err := writer.PutDocument(ctx, d); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := writers.Wait(); err != nil {
		t.Fatal(err)
	}
	last, err := s.Document(ctx, versions[0].SHA256)
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.Segments(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 30 {
		t.Errorf("%d segments, want 30", len(list))
	}
	if got := blocksOf(t, s, list[len(list)-1].ID); !slices.Equal(got, last.Pages) {
		t.Errorf("the newest segment has %q, the text %q", got, last.Pages)
	}
	CheckLog(t, s)
}
