package index_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"pregon/internal/document/index"
	"pregon/internal/fault"
	"pregon/internal/search"
	"pregon/internal/store"
	"pregon/internal/store/postgres"
	"pregon/internal/store/postgres/pgtest"
	"pregon/internal/store/sqlite"
	"pregon/internal/text"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Main(m)) }

// world is a store, and the texts that it should have.
type world struct {
	*testing.T
	db      store.Store
	numbers search.Numbers
	index   *index.Index
	keeper  *index.Keeper
	texts   map[string][]string // words by hash
}

// engines runs a test with both engines.
func engines(t *testing.T, test func(w *world)) {
	for name, open := range map[string]func(t *testing.T) (store.Store, error){
		"sqlite": func(t *testing.T) (store.Store, error) {
			return sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "pregon.db"), sqlite.Options{Create: true})
		},
		"postgres": func(t *testing.T) (store.Store, error) { return postgres.Open(t.Context(), pgtest.Database(t)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, err := open(t)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			test(newWorld(t, db))
		})
	}
}

func newWorld(t *testing.T, db store.Store) *world {
	w := &world{T: t, db: db, texts: map[string][]string{}}
	w.index = index.New(db, &w.numbers)
	w.keeper = &index.Keeper{Store: db, Holder: "test", Logger: slog.New(slog.DiscardHandler)}
	return w
}

func hashOf(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:])
}

func (w *world) number(hash string) uint32 {
	h, _ := search.ParseHash(hash)
	return w.numbers.Of(h)[0]
}

// put stores a document.
func (w *world) put(name string, pages ...string) {
	w.Helper()
	hash := hashOf(name)
	d := store.Document{SHA256: hash, Head: "{}", Pages: pages, Index: index.Build(hash, pages)}
	if err := w.db.PutDocument(w.Context(), d); err != nil {
		w.Fatal(err)
	}
	w.texts[hash] = text.Words(strings.Join(pages, " "))
}

// maintain does all work of the keeper that is due.
func (w *world) maintain() {
	w.Helper()
	for {
		done, err := w.keeper.Step(w.Context())
		if err != nil {
			w.Fatal(err)
		}
		if !done {
			return
		}
	}
}

// check compares the documents that a query finds with those that a loop finds.
func (w *world) check(q index.Query) {
	w.Helper()
	found, err := w.index.Find(w.Context(), q)
	if err != nil {
		w.Fatalf("searching for %+v: %v", q, err)
	}
	some := search.NumberSet{0x5555555555555555, 0x5555555555555555}
	among, err := w.index.FindAmong(w.Context(), q, some)
	if err != nil {
		w.Fatalf("searching for %+v among some: %v", q, err)
	}
	for hash, words := range w.texts {
		number := w.number(hash)
		if got, want := among.Has(number), found.Has(number) && some.Has(number); got != want {
			w.Fatalf("searching for %+v among some, in %q: got %t, want %t", q, words, got, want)
		}
		if got, want := found.Has(w.number(hash)), matches(words, q); got != want {
			w.Fatalf("searching for %+v in %q: got %t, want %t", q, words, got, want)
		}
	}
}

func matches(words []string, q index.Query) bool {
	contains := func(p index.Phrase) bool {
		for i := range words {
			switch {
			case p.Stem && text.Stem(words[i]) == p.Words[0],
				p.Prefix && strings.HasPrefix(words[i], p.Words[0]),
				!p.Stem && i+len(p.Words) <= len(words) && slices.Equal(words[i:i+len(p.Words)], p.Words):
				return true
			}
		}
		return false
	}
	for _, group := range q.All {
		if !slices.ContainsFunc(group, contains) {
			return false
		}
	}
	return !slices.ContainsFunc(q.None, contains)
}

func phrase(words ...string) index.Phrase { return index.Phrase{Words: words} }

func all(phrases ...index.Phrase) (q index.Query) {
	for _, p := range phrases {
		q.All = append(q.All, []index.Phrase{p})
	}
	return q
}

func TestFind(t *testing.T) {
	engines(t, func(w *world) {
		w.check(all(phrase("nada")))
		w.put("a", "La Junta General de Accionistas", "aprueba el dividendo")
		w.put("b", "la junta aprueba de nuevo las cuentas generales")
		w.put("c", "año ñ σοφία 日本 ß 10 2025 straße", "", strings.Repeat("x", 5000)+" fin")
		w.put("d")
		for range 2 {
			for _, q := range []index.Query{
				all(phrase("junta")), all(phrase("la", "junta", "general")), all(phrase("junta", "la")),
				all(phrase("accionistas", "aprueba")), // on two pages
				all(phrase("junta"), phrase("dividendo")),
				all(index.Phrase{Words: []string{"general"}, Prefix: true}), all(index.Phrase{Words: []string{"g"}, Prefix: true}),
				all(index.Phrase{Words: []string{"gener"}, Stem: true}), all(index.Phrase{Words: []string{"cuent"}, Stem: true}),
				all(phrase("gener")), all(phrase("2025", "strasse")), all(phrase("日本")), all(index.Phrase{Words: []string{"日"}, Prefix: true}),
				{All: [][]index.Phrase{{phrase("dividendo"), phrase("nuevo")}}},
				{All: all(phrase("la")).All, None: []index.Phrase{phrase("nada"), phrase("el", "dividendo")}},
				{All: all(phrase("la")).All, None: []index.Phrase{{Words: []string{"div"}, Prefix: true}, phrase("nuevo")}},
			} {
				w.check(q)
			}
			for n := range 8 { // then everything is merged
				w.put(fmt.Sprint("other", n), "otra")
			}
			w.maintain()
		}
		list, err := w.db.Segments(w.Context())
		if err != nil || len(list) >= 8 {
			w.Errorf("%d segments, %v, want fewer than 8", len(list), err)
		}
	})
}

var randomWords = []string{"a", "ab", "abc", "abcd", "abcde", "b", "ba", "1", "10", "ñ", "ñu", "日", "日本", "cosas", "cosa", "coses"}

func randomText(random *rand.Rand, most int) []string {
	words := make([]string, random.IntN(most+1))
	for i := range words {
		// The first words are more frequent than the others.
		words[i] = randomWords[min(random.IntN(len(randomWords)), random.IntN(len(randomWords)))]
	}
	return words
}

func randomQuery(random *rand.Rand) (q index.Query) {
	single := func() index.Phrase {
		word := randomWords[random.IntN(len(randomWords))]
		switch random.IntN(3) {
		case 0:
			return index.Phrase{Words: []string{text.Stem(word)}, Stem: true}
		case 1:
			return index.Phrase{Words: []string{word}, Prefix: true}
		}
		return phrase(word)
	}
	several := func() index.Phrase { return phrase(append(randomText(random, 2), single().Words[0])...) }
	for range 1 + random.IntN(3) {
		switch random.IntN(3) {
		case 0:
			q.All = append(q.All, []index.Phrase{several()})
		case 1: // as a market term with its alternatives
			q.All = append(q.All, []index.Phrase{single(), single(), several(), several()})
		default:
			q.All = append(q.All, []index.Phrase{single(), single()})
		}
	}
	for range random.IntN(3) {
		q.None = append(q.None, []index.Phrase{single(), several()}[random.IntN(2)])
	}
	return q
}

// TestFindAgreesWithLoops compares the results with those of a simple loop, over many
// small documents. Some are put repeatedly, with other words.
func TestFindAgreesWithLoops(t *testing.T) {
	engines(t, func(w *world) {
		random := rand.New(rand.NewPCG(1, 2))
		for range 5 {
			for range 30 {
				var pages []string
				for range random.IntN(4) {
					pages = append(pages, strings.Join(randomText(random, 8), " "))
				}
				w.put(fmt.Sprint(random.IntN(100)), pages...)
				if random.IntN(10) == 0 {
					w.maintain()
				}
			}
			for range 50 {
				w.check(randomQuery(random))
			}
		}
	})
}

// TestChunks: documents and positions that do not fit into one chunk are found.
func TestChunks(t *testing.T) {
	w, raw := onFile(t)
	const documents = 4096 + 500 // more than one chunk
	insert(t, raw, documents, func(n int) string { return fmt.Sprintf("uno dos %s tres n%d", []string{"y", "o"}[n%2], n%100) })
	for n := range documents {
		w.texts[hashOf(fmt.Sprint(n))] = text.Words(fmt.Sprintf("uno dos %s tres n%d", []string{"y", "o"}[n%2], n%100))
	}
	w.maintain()
	for _, q := range []index.Query{
		all(phrase("dos", "y")), all(phrase("o", "tres", "n77")), all(phrase("uno", "tres")), all(phrase("tres", "n5")),
		{All: all(phrase("dos", "y")).All, None: []index.Phrase{phrase("tres", "n42")}},
	} {
		w.check(q)
	}
	list, err := w.db.Segments(t.Context())
	if err != nil || len(list) > 16 {
		t.Errorf("%d segments, %v, want few", len(list), err)
	}
}

// onFile returns a world on SQLite, and its database for statements of the test.
func onFile(t *testing.T) (*world, *sql.DB) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pregon.db")
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	raw, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { raw.Close() })
	return newWorld(t, db), raw
}

// insert stores documents without an index, as programs with another index did.
func insert(t *testing.T, raw *sql.DB, documents int, page func(n int) string) {
	t.Helper()
	tx, err := raw.Begin()
	if err != nil {
		t.Fatal(err)
	}
	for n := range documents {
		_, err := tx.Exec(`INSERT INTO document (sha256) VALUES (?)`, hashOf(fmt.Sprint(n)))
		if err == nil {
			_, err = tx.Exec(`INSERT INTO document_text (document, bytes, head, pages) VALUES (last_insert_rowid(), 1, '{}', json_array(?))`, page(n))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}

// TestSweep: what was replaced is removed after a time, and only that.
func TestSweep(t *testing.T) {
	w, raw := onFile(t)
	for n := range 20 {
		w.put(fmt.Sprint(n), "uno dos", fmt.Sprint(n))
	}
	if _, err := w.db.NewSegment(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.maintain()
	count := func(query string) (n int) {
		t.Helper()
		if err := raw.QueryRow(query).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := count("SELECT count(*) FROM word_segment WHERE state <> 1"); n < 16 {
		t.Errorf("%d segments are not in use, want those of 16 documents", n)
	}
	if _, err := raw.Exec("UPDATE word_segment SET changed_at = 0 WHERE state <> 1"); err != nil {
		t.Fatal(err)
	}
	w.maintain()
	if n := count("SELECT count(*) FROM word_segment WHERE state <> 1"); n != 0 {
		t.Errorf("%d segments that are not in use remain, want 0", n)
	}
	if n := count("SELECT count(*) FROM word_block WHERE id >> 24 NOT IN (SELECT id FROM word_segment)"); n != 0 {
		t.Errorf("%d blocks of no segment remain, want 0", n)
	}
	w.check(all(phrase("dos", "7")))
}

// TestAbandoned: a process that was suspended while it wrote a segment cannot use it
// after some of its blocks were removed.
func TestAbandoned(t *testing.T) {
	w, raw := onFile(t)
	id, err := w.db.NewSegment(t.Context())
	if err == nil {
		err = w.db.PutBlocks(t.Context(), id, 0, make([][]byte, 1500))
	}
	if err == nil {
		_, err = raw.Exec("UPDATE word_segment SET changed_at = 0")
	}
	if err != nil {
		t.Fatal(err)
	}
	if more, err := w.db.SweepSegments(t.Context()); !more || err != nil {
		t.Fatalf("SweepSegments = %t, %v, want that there are more", more, err)
	}
	var blocks int
	if err := raw.QueryRow("SELECT count(*) FROM word_block").Scan(&blocks); err != nil || blocks == 0 || blocks == 1500 {
		t.Fatalf("%d blocks are left, %v, want some of 1500", blocks, err)
	}
	if err := w.db.PutBlocks(t.Context(), id, 1500, nil); fault.KindOf(err) != fault.Conflict {
		t.Errorf("PutBlocks = %v, want a conflict", err)
	}
	if err := w.db.UseSegment(t.Context(), store.Segment{ID: id}, store.Replaced{}); fault.KindOf(err) != fault.Conflict {
		t.Errorf("UseSegment = %v, want a conflict", err)
	}
}

// TestMergeFailsRepeatedly: merges that fail leave nothing for long.
func TestMergeFailsRepeatedly(t *testing.T) {
	w, raw := onFile(t)
	for n := range 8 {
		w.put(fmt.Sprint(n), "uno dos")
	}
	for range 5 {
		dying := &dyingStore{Store: w.db, left: 2} // UseSegment fails
		keeper := index.Keeper{Store: dying, Holder: "test", Logger: slog.New(slog.DiscardHandler)}
		for {
			done, err := keeper.Step(t.Context())
			if errors.Is(err, errDead) {
				break
			}
			if err != nil || !done {
				t.Fatalf("Step = %t, %v, want the failure of the store", done, err)
			}
		}
		var writing, left int
		err := raw.QueryRow("SELECT count(*) FILTER (WHERE state = 0), count(*) FILTER (WHERE state <> 1) FROM word_segment").Scan(&writing, &left)
		if err != nil || writing > 0 || left > 1 {
			t.Fatalf("%d segments are being written, %d are not in use, %v; want none and 1", writing, left, err)
		}
		if _, err := raw.Exec("UPDATE word_segment SET changed_at = 1 WHERE state = 2"); err != nil { // some time passes
			t.Fatal(err)
		}
	}
	w.maintain()
	w.check(all(phrase("uno", "dos")))
}

// TestKilled: a merge that ends at any write leaves the index as it was, and the next
// one completes it.
func TestKilled(t *testing.T) {
	for writes := range 4 {
		w, _ := onFile(t)
		for n := range 8 {
			w.put(fmt.Sprint(n), "uno dos", strings.Repeat(fmt.Sprint("muchas palabras ", n, " "), 1000))
		}
		dying := &dyingStore{Store: w.db, left: writes}
		keeper := index.Keeper{Store: dying, Holder: "test", Logger: slog.New(slog.DiscardHandler)}
		for {
			if done, err := keeper.Step(t.Context()); err != nil || !done {
				break
			}
		}
		w.check(all(phrase("dos", "muchas")))
		w.maintain()
		w.check(all(phrase("dos", "muchas")))
		w.check(all(phrase("palabras", "7")))
	}
}

// dyingStore fails after some writes.
type dyingStore struct {
	store.Store
	left int
}

var errDead = errors.New("dead")

func (s *dyingStore) write() error {
	if s.left--; s.left < 0 {
		return errDead
	}
	return nil
}

func (s *dyingStore) NewSegment(ctx context.Context) (int64, error) {
	if err := s.write(); err != nil {
		return 0, err
	}
	return s.Store.NewSegment(ctx)
}

func (s *dyingStore) PutBlocks(ctx context.Context, segment int64, from int, blocks [][]byte) error {
	if err := s.write(); err != nil {
		return err
	}
	return s.Store.PutBlocks(ctx, segment, from, blocks)
}

func (s *dyingStore) UseSegment(ctx context.Context, segment store.Segment, in store.Replaced) error {
	if err := s.write(); err != nil {
		return err
	}
	return s.Store.UseSegment(ctx, segment, in)
}
