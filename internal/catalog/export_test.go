package catalog

import (
	"crypto/sha256"
	"time"

	"pregon/internal/search"
	"pregon/internal/search/segment"
	"pregon/internal/sim/market"
	"pregon/internal/text"
)

// Save is save.
func (c *Catalog) Save() (bool, error) { return c.save() }

// SaveVersion is the version of what is saved.
const SaveVersion = saveVersion

// EncodedSample returns a hash of how some reports are encoded and split into words, and of the
// stems of the words: sets of stems are saved by the numbers of the stems.
func EncodedSample() []byte {
	sum := sha256.New()
	w := search.NewWriter(&search.Numbers{}, factsOf)
	var e encoder
	var docs []segment.Doc
	words := text.Tokenizer{}
	for r := range market.New(1).Bulk(500, time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)) {
		docs = append(docs, w.Doc(&r, e.encode(&r)))
		words.Words(r.Title, func(word []byte) { sum.Write([]byte(text.Stem(string(word)))) })
	}
	w.Apply(docs, nil)
	for _, text := range w.Index().Texts() {
		sum.Write([]byte(text))
	}
	return sum.Sum(nil)[:8]
}
