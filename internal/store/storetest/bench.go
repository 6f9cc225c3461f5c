package storetest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/store"
)

// BenchDocuments measures what a store does with many documents and with a very
// large one. Size returns how many bytes are stored for documents, by kind.
func BenchDocuments(b *testing.B, s store.Store, size func() map[string]int64) {
	const documents = 20_000
	w := newAuthor()
	start := time.Now()
	for n := range documents {
		d := w.document(fmt.Sprint(n), 1, 1500)
		words := d.Parts[0].Words
		if n%5 > 0 {
			words[700] = "frecuente"
		}
		if n%1000 == 0 {
			words[800] = "rarísimo"
		}
		w.put(b, s, d, int64(n+1))
	}
	took := time.Since(start)
	b.Logf("%d documents of 1500 words: %.0f a second", documents, documents/took.Seconds())
	for what, n := range size() {
		b.Logf("%s: %.1f MB", what, float64(n)/1e6)
	}
	common := func(rank uint64) string { return wordOf(rank) }
	for _, search := range []struct {
		name string
		q    store.WordQuery
	}{
		{"rare", all(phrase("rarísimo"))},
		{"common", all(phrase("frecuente"))},
		{"phrase", all(phrase(common(3) + " " + common(4)))},
		{"prefix2", all(prefix("ba"))},
		{"prefix4", all(prefix(common(70)[:4]))},
		{"stem", all(stem(stemLike(common(200))))},
		{"both", all(phrase("rarísimo"), phrase("frecuente"))},
		{"commonBut", store.WordQuery{All: all(phrase("frecuente")).All, None: []store.Phrase{phrase(common(40))}}},
	} {
		b.Run(search.name, func(b *testing.B) {
			found := 0
			for b.Loop() {
				ids, err := s.FindInDocuments(b.Context(), search.q)
				if err != nil {
					b.Fatal(err)
				}
				found = len(ids)
			}
			b.ReportMetric(float64(found), "reports")
		})
	}
	benchLarge(b, s, w)
}

// benchLarge puts a document of the largest expected size, during appends.
func benchLarge(b *testing.B, s store.Store, w *author) {
	large := w.document("large", 250, 4000)
	for range 2000 {
		large.Pages = append(large.Pages, strings.Repeat("quinientas palabras ", 200))
	}
	body := make([]byte, 50<<20)
	for i := range body {
		body[i] = byte(rand.Uint32())
	}
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"a document of 2000 pages and 1M words", func() error { return s.PutDocument(b.Context(), large) }},
		{"the same again", func() error { return s.PutDocument(b.Context(), large) }},
		{"50 MB of bytes", func() error { return s.PutOriginal(b.Context(), large.SHA256, body) }},
		{"those bytes read", func() error { _, err := s.Original(b.Context(), large.SHA256); return err }},
		{"the pages read", func() error { _, err := s.DocumentPages(b.Context(), large.SHA256); return err }},
	} {
		done, worst := make(chan struct{}), make(chan time.Duration)
		go func() {
			var most time.Duration
			for n := int64(1_000_000); ; n++ {
				start := time.Now()
				if _, err := s.Append(b.Context(), published(newReport(n, step.name))); err != nil {
					b.Error(err)
				}
				most = max(most, time.Since(start))
				select {
				case <-done:
					worst <- most
					return
				case <-time.After(time.Millisecond):
				}
			}
		}()
		start := time.Now()
		if err := step.do(); err != nil {
			b.Fatal(err)
		}
		took := time.Since(start)
		close(done)
		b.Logf("%s: %v; the slowest append meanwhile took %v", step.name, took.Round(time.Millisecond), (<-worst).Round(time.Millisecond))
	}
}

// author makes documents whose words are about as frequent as those of a
// language.
type author struct {
	random *rand.Rand
	ranks  *rand.Zipf
}

func newAuthor() *author {
	random := rand.New(rand.NewPCG(1, 2))
	return &author{random: random, ranks: rand.NewZipf(random, 1.1, 8, 100_000)}
}

func (w *author) document(name string, parts, words int) store.Document {
	d := store.Document{SHA256: hashOf(name), Head: "{}"}
	for range parts {
		var p store.Part
		times := map[string]int{}
		for range words {
			word := wordOf(w.ranks.Uint64())
			if times[word]++; times[word] > store.MostWordRepeat {
				word = fmt.Sprint(w.random.Uint32())
			}
			p.Words, p.Stems = append(p.Words, word), append(p.Stems, stemLike(word))
		}
		d.Parts = append(d.Parts, p)
		if parts == 1 {
			d.Pages = append(d.Pages, strings.Join(p.Words, " "))
		}
	}
	return d
}

func (w *author) put(b *testing.B, s store.Store, d store.Document, number int64) {
	b.Helper()
	if err := s.PutDocument(b.Context(), d); err != nil {
		b.Fatal(err)
	}
	if _, err := s.Append(b.Context(), store.Batch{Reports: []disclosure.Report{withDocument(number, d)}}); err != nil {
		b.Fatal(err)
	}
}

// wordOf spells a number in syllables, so that words begin alike.
func wordOf(rank uint64) string {
	const consonants, vowels = "bcdfglmnprst", "aeiou"
	var word []byte
	for n := rank*7919 + 61; n > 0; n /= 60 {
		word = append(word, consonants[n%12], vowels[n/12%5])
	}
	return string(word)
}

func stemLike(word string) string { return word[:max(len(word)-1, 1)] }
