package storetest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

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

// document returns a document with the words of each text as a part, and the first
// letters of words as their stems.
func document(name string, parts ...string) store.Document {
	d := store.Document{SHA256: hashOf(name), Bytes: int64(len(name)), Head: `{"name":"` + name + `"}`, Pages: parts}
	for _, text := range parts {
		p := store.Part{Words: strings.Fields(text)}
		for _, word := range p.Words {
			p.Stems = append(p.Stems, stemOf(word))
		}
		d.Parts = append(d.Parts, p)
	}
	return d
}

func stemOf(word string) string { return string([]rune(word)[:1]) }

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

func phrase(words string) store.Phrase { return store.Phrase{Words: strings.Fields(words)} }
func prefix(words string) store.Phrase {
	return store.Phrase{Words: strings.Fields(words), Prefix: true}
}
func stem(word string) store.Phrase { return store.Phrase{Words: []string{word}, Stem: true} }

// all returns a query that requires each of the phrases.
func all(phrases ...store.Phrase) (q store.WordQuery) {
	for _, p := range phrases {
		q.All = append(q.All, []store.Phrase{p})
	}
	return q
}

func find(t *testing.T, s store.Store, q store.WordQuery) []string {
	t.Helper()
	ids, err := s.FindInDocuments(patiently(t), q)
	if err != nil {
		t.Fatalf("searching for %+v: %v", q, err)
	}
	slices.Sort(ids)
	return ids
}

func checkFound(t *testing.T, s store.Store, q store.WordQuery, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, find(t, s, q), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("reports found by %+v (-want +got):\n%s", q, diff)
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
	want.Parts = nil
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
	a, b, none := document("a", "uno dos", "", "tres"), document("b"), hashOf("none")
	a.Head = "{ \"b\" : 1,\n\"a\":\"<ñ>\" }"
	_, err := s.Document(ctx, a.SHA256)
	checkKind(t, "a document that was never put", err, fault.NotFound)
	putDocuments(t, s, a, b)
	checkDocument(t, other, a)
	checkDocument(t, other, b)

	a.Pages, a.Bytes, a.Head = []string{"otra"}, 1<<40, ""
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
	d.Pages[0], d.Pages[1], d.Head = "a\uFFFDb", "\uFFFD", "\"\uFFFD\uFFFD\""
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

// testReportDocuments: the newest state of a report determines its document.
func testReportDocuments(t *testing.T, e Engine) {
	s := e.fresh(t)()
	a, b := document("a", "uno dos"), document("b", "dos tres")
	putDocuments(t, s, a)
	uno, dos, tres := all(phrase("uno")), all(phrase("dos")), all(phrase("tres"))
	checkFound(t, s, dos) // no report has it

	mustAppend(t, s, published(withDocument(1, a), withDocument(2, a), withDocument(3, b), newReport(4, "Sin")))
	checkFound(t, s, dos, "oir-1", "oir-2") // b is not stored yet
	putDocuments(t, s, b)
	checkFound(t, s, dos, "oir-1", "oir-2", "oir-3")
	checkFound(t, s, tres, "oir-3")

	mustAppend(t, s, store.Batch{Reports: []disclosure.Report{withDocument(5, a)}, New: disclosure.Backfilled})
	mustAppend(t, s, published(withDocument(2, b), withDocument(4, a), withDocument(4, b)))
	checkFound(t, s, uno, "oir-1", "oir-5")
	checkFound(t, s, tres, "oir-2", "oir-3", "oir-4")

	mustAppend(t, s, published(newReport(1, "Otro título"))) // does not mention the document
	checkFound(t, s, uno, "oir-1", "oir-5")
	failed, odd := newReport(1, "Otro título"), newReport(5, "La sociedad informa")
	failed.Document = disclosure.Document{Status: disclosure.DocumentFailed, SHA256: a.SHA256}
	odd.Document = disclosure.Document{Status: disclosure.DocumentReady}
	mustAppend(t, s, published(failed, odd, withDocument(6, a)))
	checkFound(t, s, uno, "oir-6")

	putDocuments(t, s, document("a", "tres")) // read again, with another text
	checkFound(t, s, uno)
	checkFound(t, s, tres, "oir-2", "oir-3", "oir-4", "oir-6")
	CheckLog(t, s)
}

func testFindInDocuments(t *testing.T, e Engine) {
	s := e.fresh(t)()
	a := document("a", "la junta general de accionistas", "aprueba el dividendo")
	b := document("b", "la junta aprueba de nuevo las cuentas generales")
	odd := document("odd", "año ñ σοφία 日本 ß a\u0301b 10 2025 straße \U0001F600z")
	odd.Parts[0].Words = append(odd.Parts[0].Words, "x\u00a0y\u2028")
	for i, d := range []store.Document{a, b, odd} {
		putDocuments(t, s, d)
		mustAppend(t, s, published(withDocument(int64(i+1), d)))
	}
	checkFound(t, s, all(phrase("junta")), "oir-1", "oir-2")
	checkFound(t, s, all(phrase("la junta general")), "oir-1")
	checkFound(t, s, all(phrase("junta la")))
	checkFound(t, s, all(phrase("accionistas aprueba"))) // in two parts
	checkFound(t, s, all(phrase("junta"), phrase("dividendo")), "oir-1")
	checkFound(t, s, all(prefix("general")), "oir-1", "oir-2")
	checkFound(t, s, all(prefix("cuentas gen")), "oir-2")
	checkFound(t, s, all(prefix("cue generales")))
	checkFound(t, s, all(stem("g")), "oir-1", "oir-2")
	checkFound(t, s, all(phrase("g")))   // a stem is not a word
	checkFound(t, s, all(stem("junta"))) // and a word is not a stem
	checkFound(t, s, store.WordQuery{All: [][]store.Phrase{{phrase("dividendo"), phrase("nuevo")}, {stem("l")}}}, "oir-1", "oir-2")
	checkFound(t, s, store.WordQuery{All: all(phrase("la")).All, None: []store.Phrase{phrase("nada"), phrase("el dividendo")}}, "oir-2")
	checkFound(t, s, store.WordQuery{All: all(phrase("la")).All, None: []store.Phrase{prefix("div"), stem("n")}})

	for _, word := range odd.Parts[0].Words {
		checkFound(t, s, all(store.Phrase{Words: []string{word}}), "oir-3")
	}
	checkFound(t, s, all(phrase("σοφία 日本 ß"), prefix("日"), stem("\U0001F600")), "oir-3")
	for _, words := range []string{"ano", "Ñ", "ss", "strasse", "日 本", "x", "x y", "ab", "σοφια", "b", "z"} {
		checkFound(t, s, all(phrase(words)))
	}
}

// testFindAgreesWithLoops compares the engine's results with those of a simple
// loop, over many small documents of few words. Some are put repeatedly.
func testFindAgreesWithLoops(t *testing.T, e Engine) {
	s := e.fresh(t)()
	random := rand.New(rand.NewPCG(1, 2))
	kept := map[string]store.Document{} // by report
	for range 3 {
		for range 50 {
			n := random.Int64N(70)
			d := document(fmt.Sprint(n), randomTexts(random)...)
			putDocuments(t, s, d)
			for _, number := range []int64{n + 1, n + 1001}[:random.IntN(3)] {
				mustAppend(t, s, published(withDocument(number, d)))
				kept[disclosure.ReportID(disclosure.OIR, number)] = d
			}
			for id, old := range kept { // earlier reports with the same document have the new text too
				if old.SHA256 == d.SHA256 {
					kept[id] = d
				}
			}
		}
		for range 200 {
			q := randomQuery(random)
			var want []string
			for id, d := range kept {
				if holds(d, q) {
					want = append(want, id)
				}
			}
			slices.Sort(want)
			checkFound(t, s, q, want...)
			if t.Failed() {
				t.FailNow()
			}
		}
	}
}

var randomWords = []string{"a", "ab", "abc", "b", "ba", "1", "10", "ñ", "ñu", "日", "日本", "ab\u0301"}

func randomText(random *rand.Rand, most int) string {
	words := make([]string, random.IntN(most+1))
	for i := range words {
		// The first words are more frequent than the others.
		words[i] = randomWords[min(random.IntN(len(randomWords)), random.IntN(len(randomWords)))]
	}
	return strings.Join(words, " ")
}

func randomTexts(random *rand.Rand) []string {
	texts := make([]string, random.IntN(4))
	for i := range texts {
		texts[i] = randomText(random, 6)
	}
	return texts
}

func randomPhrase(random *rand.Rand) store.Phrase {
	if random.IntN(4) == 0 {
		return stem(stemOf(randomWords[random.IntN(len(randomWords))]))
	}
	for {
		if p := phrase(randomText(random, 3)); len(p.Words) > 0 {
			p.Prefix = random.IntN(3) == 0
			return p
		}
	}
}

func randomQuery(random *rand.Rand) (q store.WordQuery) {
	for range 1 + random.IntN(3) {
		var group []store.Phrase
		for range 1 + random.IntN(2) {
			group = append(group, randomPhrase(random))
		}
		q.All = append(q.All, group)
	}
	for range random.IntN(3) {
		q.None = append(q.None, randomPhrase(random))
	}
	return q
}

// holds reports whether a document matches a query, as FindInDocuments should.
func holds(d store.Document, q store.WordQuery) bool {
	matches := func(p store.Phrase) bool {
		return slices.ContainsFunc(d.Parts, func(part store.Part) bool { return contains(part, p) })
	}
	for _, group := range q.All {
		if !slices.ContainsFunc(group, matches) {
			return false
		}
	}
	return !slices.ContainsFunc(q.None, matches)
}

func contains(part store.Part, p store.Phrase) bool {
	if p.Stem {
		return slices.Contains(part.Stems, p.Words[0])
	}
	last := len(p.Words) - 1
	for i := 0; i+last < len(part.Words); i++ {
		here := part.Words[i : i+last+1]
		if slices.Equal(here[:last], p.Words[:last]) &&
			(here[last] == p.Words[last] || p.Prefix && strings.HasPrefix(here[last], p.Words[last])) {
			return true
		}
	}
	return false
}

// longestWord returns a word of a number that is as long as a word may be.
func longestWord(i int) string { return fmt.Sprintf("ñ%0*d", store.MostWordBytes-2, i) }

// fullPart returns as many words as a part may have, with x among the last ones
// as often as it may be.
func fullPart() (p store.Part) {
	for i := range store.MostPartWords {
		p.Words, p.Stems = append(p.Words, longestWord(i)), append(p.Stems, longestWord(i))
		if i%2 == 0 && i >= store.MostPartWords-2*store.MostWordRepeat {
			p.Words[i] = "x"
		}
	}
	return p
}

// testDocumentLimits: documents and queries at the limits work.
func testDocumentLimits(t *testing.T, e Engine) {
	s := e.fresh(t)()
	word, last := longestWord, fullPart()
	full := document("full")
	for range 105 {
		full.Parts = append(full.Parts, store.Part{Words: []string{"y"}})
	}
	full.Parts = append(full.Parts, store.Part{}, last)
	end := len(last.Words) - 1
	putDocuments(t, s, full)
	mustAppend(t, s, published(withDocument(1, full)))
	checkFound(t, s, all(phrase("y"), phrase(last.Words[end]), stem(word(end)), stem(word(0)), phrase(word(0))), "oir-1")
	checkFound(t, s, all(phrase("x "+last.Words[end]), phrase(word(1)+" "+word(2))), "oir-1")
	checkFound(t, s, all(phrase(last.Words[end]+" x")))

	long := store.Phrase{Words: last.Words[end+1-store.MostQueryWords:]}
	checkFound(t, s, all(long), "oir-1")
	var many, none store.WordQuery
	for i := range store.MostQueryWords {
		many.All = append(many.All, []store.Phrase{stem(word(i))})
	}
	checkFound(t, s, many, "oir-1")
	none.All, none.None = all(phrase("y")).All, make([]store.Phrase, store.MostQueryWords-1)
	for i := range none.None {
		none.None[i] = stem("nada")
	}
	checkFound(t, s, none, "oir-1")
}

// testDocumentsRefused: documents and queries beyond the limits are rejected, not
// truncated.
func testDocumentsRefused(t *testing.T, e Engine) {
	s := e.fresh(t)()
	kept, full := document("a", "uno"), fullPart()
	putDocuments(t, s, kept)
	for what, q := range map[string]store.WordQuery{
		"nothing":           {None: []store.Phrase{phrase("x")}},
		"one of nothing":    {All: [][]store.Phrase{{phrase("x")}, {}}},
		"an empty phrase":   all(phrase("")),
		"an empty word":     all(store.Phrase{Words: []string{"x", ""}}),
		"two words":         all(store.Phrase{Words: []string{"x y"}}),
		"a quote":           all(phrase(`x"`)),
		"another quote":     all(phrase(`x'`)),
		"a mark":            all(phrase(store.StemMark + "x")),
		"NUL":               all(phrase("x\x00")),
		"no text":           all(phrase("x\xff")),
		"a long word":       all(phrase(strings.Repeat("x", store.MostWordBytes+1))),
		"the begin of stem": all(store.Phrase{Words: []string{"x"}, Stem: true, Prefix: true}),
		"two stems":         all(store.Phrase{Words: []string{"x", "y"}, Stem: true}),
		"too many words":    {All: all(phrase("x")).All, None: slices.Repeat([]store.Phrase{phrase("y")}, store.MostQueryWords)},
	} {
		_, err := s.FindInDocuments(patiently(t), q)
		checkKind(t, what, err, fault.Invalid)
	}
	for what, p := range map[string]store.Part{
		"too many words": {Words: append(slices.Clone(full.Words), "y")},
		"too many stems": {Stems: append(slices.Clone(full.Stems), "y")},
		"too often":      {Words: slices.Repeat([]string{"x"}, store.MostWordRepeat+1)},
		"a long word":    {Words: []string{strings.Repeat("x", store.MostWordBytes+1)}},
		"an odd word":    {Words: []string{"x-y"}},
		"an odd stem":    {Words: []string{"x"}, Stems: []string{"X"}},
	} {
		d := document("a", "x")
		d.Parts = append(d.Parts, p)
		checkKind(t, what, s.PutDocument(patiently(t), d), fault.Invalid)
	}
	d := document("a")
	d.Parts = make([]store.Part, store.MostParts+1)
	checkKind(t, "too many parts", s.PutDocument(patiently(t), d), fault.Invalid)
	checkDocument(t, s, kept)
}

// testDocumentFailures: a document whose commit failed is stored completely or not
// at all, and can be put again.
func testDocumentFailures(t *testing.T, e Engine) {
	s := e.fresh(t)()
	older, newer := document("a", "uno", "dos"), document("a", "tres")
	mustAppend(t, s, published(withDocument(1, older)))
	putDocuments(t, s, older)
	broken := errors.New("broken")
	e.FailCommit(s, false, broken)
	if err := s.PutDocument(patiently(t), newer); !errors.Is(err, broken) {
		t.Errorf("PutDocument: %v", err)
	}
	checkDocument(t, s, older)
	checkFound(t, s, all(phrase("uno"), phrase("dos")), "oir-1")
	checkFound(t, s, all(phrase("tres")))

	e.FailCommit(s, true, broken)
	if err := s.PutDocument(patiently(t), newer); !errors.Is(err, broken) {
		t.Errorf("PutDocument: %v", err)
	}
	for range 2 {
		checkDocument(t, s, newer)
		checkFound(t, s, store.WordQuery{All: [][]store.Phrase{{phrase("uno"), phrase("dos")}}})
		checkFound(t, s, all(phrase("tres")), "oir-1")
		putDocuments(t, s, newer)
	}

	e.FailCommit(s, false, broken)
	if _, err := s.Append(patiently(t), published(withDocument(2, newer))); !errors.Is(err, broken) {
		t.Errorf("Append: %v", err)
	}
	checkFound(t, s, all(phrase("tres")), "oir-1")
	CheckLog(t, s)
}

// testDocumentRace: of two concurrent puts of a document one wins completely, and
// concurrent readers find one or the other.
func testDocumentRace(t *testing.T, e Engine) {
	open := e.fresh(t)
	s := open()
	versions := []store.Document{document("a", "uno", "uno", "común"), document("a", "dos", "común"), document("a", "común", "tres", "tres")}
	putDocuments(t, s, versions[0])
	mustAppend(t, s, published(withDocument(1, versions[0])))
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
	either := [][]store.Phrase{{phrase("uno"), phrase("dos"), phrase("tres")}}
	for range 20 {
		checkFound(t, s, store.WordQuery{All: append(all(phrase("común")).All, either...)}, "oir-1")
		checkFound(t, s, all(phrase("uno"), phrase("dos")))
	}
	if err := writers.Wait(); err != nil {
		t.Fatal(err)
	}
	last, err := s.Document(ctx, versions[0].SHA256)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range versions {
		wins := slices.Equal(d.Pages, last.Pages)
		var want []string
		if wins {
			want = []string{"oir-1"}
		}
		word := "uno"
		for _, page := range d.Pages {
			if page != "común" {
				word = page
			}
		}
		checkFound(t, s, all(phrase(word)), want...)
	}
}
