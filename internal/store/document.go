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
// kept once. They are not in the log. The newest state of a report has the hash
// of its document: see disclosure.Report.
//
// A hash is written as 64 lower-case hex digits. Any other string is Invalid
// when a document is put, and NotFound when one is read.
type Documents interface {
	// PutDocument stores a document's text and words under its hash and replaces
	// any earlier version, all or nothing: neither a reader nor a crash ever
	// reveals a part of it. It fails, Invalid, unless the parts are as Part says.
	PutDocument(ctx context.Context, d Document) error

	// Document returns the document with a hash, without its parts. It fails,
	// NotFound, when there is none.
	Document(ctx context.Context, sha256 string) (Document, error)

	// DocumentPages returns the texts of several documents' pages, by hash.
	// Documents that are not stored are left out.
	DocumentPages(ctx context.Context, sha256 ...string) (map[string][]string, error)

	// PutOriginal stores a document's bytes, all or nothing. Bytes that are stored
	// under the hash already are left alone, since other bytes have another hash.
	PutOriginal(ctx context.Context, sha256 string, body []byte) error

	// Original returns a document's bytes. It fails, NotFound, when they are
	// not stored.
	Original(ctx context.Context, sha256 string) ([]byte, error)

	// FindInDocuments returns the ids of the reports whose document, by the
	// newest state of the report, matches the query: each once, in no particular
	// order. It fails, Invalid, when All is empty, since the query would match
	// nearly every document, or when the query is not as WordQuery says.
	FindInDocuments(ctx context.Context, q WordQuery) ([]string, error)
}

// Document is the text of a document and the words in it. Bytes that are not
// valid text are replaced.
type Document struct {
	SHA256 string
	Bytes  int64
	Head   string   // JSON of the document reader, kept byte for byte
	Pages  []string // may be empty strings
	Parts  []Part   // what FindInDocuments searches
}

// Limits of the engines' indexes.
const (
	MostPartWords  = 4000 // words, and stems, of a part
	MostWordRepeat = 250  // of one word in a part
	MostWordBytes  = 100  // of a word or a stem
	MostParts      = 10_000
	MostQueryWords = 256 // in all phrases of a query
)

// Part is a run of a document's words. A phrase is found only within one
// part, so the caller that splits a document lets the parts overlap.
//
// Words are compared byte for byte. A word consists of ASCII digits, lower-case
// ASCII letters and any characters beyond ASCII.
type Part struct {
	Words []string // in order
	Stems []string // of the words, in any order; repeats do not matter
}

// WordQuery matches the documents that contain at least one phrase of every
// group of All, and no phrase of None. A phrase must be within one part, but
// different phrases may be in different parts.
type WordQuery struct {
	All  [][]Phrase // not empty, and no group is empty
	None []Phrase
}

// Phrase is a sequence of adjacent words in a part. A phrase with Stem has one
// word, is compared with the stems of a part and not with its words, and has no
// Prefix.
type Phrase struct {
	Words  []string
	Stem   bool
	Prefix bool // the last word matches all words that begin with it
}

// StemMark is the prefix of stems where engines keep stems among words. No word
// contains it.
const StemMark = "~"

// IsHash reports whether s is a SHA-256 in the form that Documents requires.
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

// CheckHash fails, Invalid, unless IsHash(sha256).
func CheckHash(sha256 string) error {
	if !IsHash(sha256) {
		return fault.New(fault.Invalid, "%q is no SHA-256: use 64 lower-case hex digits", sha256)
	}
	return nil
}

// NoDocument returns the error of an engine that has no document with a hash.
func NoDocument(sha256 string) error {
	return fault.New(fault.NotFound, "there is no document %q", sha256)
}

// Clean returns a copy of the document that both engines can store, or an error
// that gives the reason why they cannot. Parts without words are dropped.
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

// checkWord rejects words that the engines would index differently: each of them
// folds some ASCII characters and ends words at others.
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

// Check fails, Invalid, unless the query is valid. A valid query has so few words
// that an engine can search for all of them in one statement.
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

// ChangedDocuments returns the reports whose document the changes replace, with
// the hash of the new document, empty when there is none. It is the part of
// Append that is the same for every engine. It is empty for almost all batches.
func ChangedDocuments(changes []disclosure.Change) map[string]string {
	filed := map[string]string{}
	for i := range changes {
		c := &changes[i]
		if c.Report == nil {
			continue
		}
		d := &c.Report.Document
		ready := d.Status == disclosure.DocumentReady && IsHash(d.SHA256)
		switch {
		case ready && (len(c.Changed) == 0 || slices.Contains(c.Changed, "document")): // a new report, or a changed document
			filed[c.Report.ID] = d.SHA256
		case !ready && slices.Contains(c.Changed, "document"):
			filed[c.Report.ID] = ""
		}
	}
	return filed
}
