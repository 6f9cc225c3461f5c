package store

import (
	"context"
	"slices"
	"unicode/utf8"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
)

// Documents are the texts of reports' documents and the words in them, by the
// SHA-256 of a document's bytes, so that one that several reports link to is
// kept once. They are not in the log. Which report has which document is told
// by the newest state of the report: see disclosure.Report.
//
// A hash is written as 64 lower-case hex digits. Nothing is kept under anything
// else: it is Invalid to put, and NotFound to ask for.
type Documents interface {
	// PutDocument keeps a document's text and words under its hash, over what
	// was kept of it before, all or nothing: no reader and no crash ever shows a
	// part of it. It fails, Invalid, unless the parts are as Part says.
	PutDocument(ctx context.Context, d Document) error

	// Document returns what is kept under a hash, without the parts. It fails,
	// NotFound, when nothing is.
	Document(ctx context.Context, sha256 string) (Document, error)

	// DocumentPages returns the texts of several documents' pages, by hash. Those
	// that are not kept are left out.
	DocumentPages(ctx context.Context, sha256 ...string) (map[string][]string, error)

	// PutOriginal keeps a document's bytes, all or nothing. What is kept under a
	// hash already is left alone, since other bytes have another hash.
	PutOriginal(ctx context.Context, sha256 string, body []byte) error

	// Original returns a document's bytes. It fails, NotFound, when they were
	// not kept.
	Original(ctx context.Context, sha256 string) ([]byte, error)

	// FindInDocuments returns the ids of the reports whose document, as the
	// newest state of the report tells it, has the words: each once, in no
	// particular order. It fails, Invalid, when a query has nothing in All, since
	// all documents are nobody's answer, or is not as WordQuery says.
	FindInDocuments(ctx context.Context, q WordQuery) ([]string, error)
}

// Document is the text of a document and the words in it. What is not text in
// its texts is replaced.
type Document struct {
	SHA256 string
	Bytes  int64
	Head   string   // JSON of whoever read it, kept to the byte
	Pages  []string // may be empty texts
	Parts  []Part   // what FindInDocuments looks through
}

// The most that engines can index.
const (
	MostPartWords  = 4000 // words, and stems, of a part
	MostWordRepeat = 250  // of one word in a part
	MostWordBytes  = 100  // of a word or a stem
	MostParts      = 10_000
	MostQueryWords = 256 // in all phrases of a query
)

// Part is a run of a document's words. Phrases are found within one part, so
// that whoever cuts a document lets parts overlap where a phrase may stand.
//
// A word is taken as it is, and is equal only to itself: digits, lower-case
// letters of ASCII and anything beyond ASCII, but nothing else of ASCII.
type Part struct {
	Words []string // in order
	Stems []string // of the words, in any order; repeats do not matter
}

// WordQuery asks for the documents in which every group of All has a phrase that
// stands in them, and in which none of None does. Each phrase stands whole in
// one part, and any of them in any part.
type WordQuery struct {
	All  [][]Phrase // not empty, and no group is
	None []Phrase
}

// Phrase is words that follow each other in a part. A phrase of a stem is that
// one word, is compared with the stems of a part and not with its words, and
// is no prefix.
type Phrase struct {
	Words  []string
	Stem   bool
	Prefix bool // the last word may be the beginning of one
}

// StemMark stands before a stem where engines keep stems among words. No word
// has it.
const StemMark = "~"

// IsHash reports whether it is the SHA-256 of something, as Documents wants it.
func IsHash(s string) bool {
	if len(s) != 64 {
		return false
	}
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// CheckHash fails, Invalid, unless something can be put under the hash.
func CheckHash(sha256 string) error {
	if !IsHash(sha256) {
		return fault.New(fault.Invalid, "%q is no SHA-256: use 64 lower-case hex digits", sha256)
	}
	return nil
}

// NoDocument is what an engine says when it keeps nothing under a hash.
func NoDocument(sha256 string) error {
	return fault.New(fault.NotFound, "there is no document %q", sha256)
}

// Clean returns the document as both engines can keep it, or says what keeps
// them from it. Parts without words are dropped.
func (d Document) Clean() (Document, error) {
	if err := CheckHash(d.SHA256); err != nil {
		return d, err
	}
	if len(d.Parts) > MostParts {
		return d, fault.New(fault.Invalid, "the document has %d parts: at most %d", len(d.Parts), MostParts)
	}
	parts := make([]Part, 0, len(d.Parts))
	for i, p := range d.Parts {
		if err := p.check(); err != nil {
			return d, fault.Wrap(fault.Invalid, err, "part %d of the document cannot be indexed", i)
		}
		if len(p.Words)+len(p.Stems) > 0 {
			parts = append(parts, p)
		}
	}
	d.Parts = parts
	d.Head = text(d.Head)
	d.Pages = slices.Clone(d.Pages)
	for i, page := range d.Pages {
		d.Pages[i] = text(page)
	}
	return d, nil
}

func (p *Part) check() error {
	if n := max(len(p.Words), len(p.Stems)); n > MostPartWords {
		return fault.New(fault.Invalid, "it has %d words: at most %d", n, MostPartWords)
	}
	times := make(map[string]int, len(p.Words))
	for _, word := range p.Words {
		if err := checkWord(word); err != nil {
			return err
		}
		times[word]++
		if times[word] > MostWordRepeat {
			return fault.New(fault.Invalid, "it has %q more than %d times", word, MostWordRepeat)
		}
	}
	for _, stem := range p.Stems {
		if err := checkWord(stem); err != nil {
			return err
		}
	}
	return nil
}

// checkWord keeps out what one engine would take for something else than the
// other: each has characters of ASCII that it folds, or that end a word.
func checkWord(word string) error {
	if word == "" {
		return fault.New(fault.Invalid, "an empty word")
	}
	if len(word) > MostWordBytes {
		return fault.New(fault.Invalid, "a word of %d bytes: at most %d", len(word), MostWordBytes)
	}
	for _, c := range []byte(word) {
		if c < utf8.RuneSelf && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return fault.New(fault.Invalid, "%q is no word: use letters, folded, and digits", word)
		}
	}
	if !utf8.ValidString(word) {
		return fault.New(fault.Invalid, "%q is no text", word)
	}
	return nil
}

// Check fails, Invalid, unless the query can be asked. What it lets through has
// so few words that an engine can ask for all of them at once.
func (q *WordQuery) Check() error {
	if len(q.All) == 0 {
		return fault.New(fault.Invalid, "a search for nothing: name a word")
	}
	words := 0
	for _, group := range append(slices.Clip(q.All), q.None) {
		for _, phrase := range group {
			if err := phrase.check(); err != nil {
				return err
			}
			words += len(phrase.Words)
		}
	}
	if words > MostQueryWords {
		return fault.New(fault.Invalid, "a search for %d words: use at most %d", words, MostQueryWords)
	}
	if slices.ContainsFunc(q.All, func(group []Phrase) bool { return len(group) == 0 }) {
		return fault.New(fault.Invalid, "a search for one of no words")
	}
	return nil
}

func (p *Phrase) check() error {
	switch {
	case len(p.Words) == 0:
		return fault.New(fault.Invalid, "a search for an empty phrase")
	case p.Stem && (p.Prefix || len(p.Words) > 1):
		return fault.New(fault.Invalid, "a stem is one whole word")
	}
	for _, word := range p.Words {
		if err := checkWord(word); err != nil {
			return err
		}
	}
	return nil
}

// Filed returns the reports of changes whose document is another now, and its
// hash, empty when there is none. It is the part of Append that is the same for
// every engine, and empty for almost all batches.
func Filed(changes []disclosure.Change) map[string]string {
	filed := map[string]string{}
	for i := range changes {
		c := &changes[i]
		if c.Report == nil {
			continue
		}
		d := &c.Report.Document
		ready := d.Status == disclosure.DocumentReady && IsHash(d.SHA256)
		switch {
		case ready && (len(c.Changed) == 0 || slices.Contains(c.Changed, "document")): // new, or news of it
			filed[c.Report.ID] = d.SHA256
		case !ready && slices.Contains(c.Changed, "document"):
			filed[c.Report.ID] = ""
		}
	}
	return filed
}
