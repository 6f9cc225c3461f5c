package query

import (
	"context"
	"strings"
	"sync"
	"unicode"

	"pregon/internal/disclosure"
	"pregon/internal/document"
)

// OpeningChars is how many characters of the text of a document are returned without a
// credential.
const OpeningChars = 1500

// Opening is the beginning of the text of a document.
type Opening struct {
	Pages []document.PagePiece
	Whole bool // the document has no more text
}

// Opening returns the beginning of the text of a report's document, which needs no
// credential. It is nil if the text is not ready, or cannot be read at present: pages are
// shown without it then.
func (q *Service) Opening(ctx context.Context, r *disclosure.Report) *Opening {
	now := r.DocumentNow()
	if now.Status != disclosure.DocumentReady || q.Documents == nil {
		return nil
	}
	if found := q.openings.get(now.SHA256); found != nil {
		return found
	}
	ctx, cancel := context.WithTimeout(ctx, detailWait)
	defer cancel()
	piece, _, err := q.ReadDocument(ctx, r, 0, OpeningChars)
	if err != nil || piece == nil {
		return nil
	}
	out := &Opening{Pages: piece.Pages, Whole: piece.Next == 0}
	if !out.Whole {
		endAtWord(out.Pages)
	}
	q.openings.put(now.SHA256, out)
	return out
}

// endAtWord removes what the limit left of a word at the end of the last page, and marks
// the cut.
func endAtWord(pages []document.PagePiece) {
	last := &pages[len(pages)-1]
	if end := strings.LastIndexFunc(last.Text, unicode.IsSpace); end > 0 {
		last.Text = strings.TrimRightFunc(last.Text[:end], unicode.IsSpace)
	}
	last.Text += "…" // a new string: the whole page does not stay in memory
}

// maxOpenings is the number of openings in one generation of the cache. One has a few
// kilobytes.
const maxOpenings = 512

// openings keeps the openings that were asked for lately, since a text of 10 MB would be
// read for each page. The text of a hash never changes. When the newer generation is full
// it becomes the older one.
type openings struct {
	mu           sync.Mutex // held for a few operations on memory
	newer, older map[string]*Opening
}

func (o *openings) get(sha256 string) *Opening {
	o.mu.Lock()
	defer o.mu.Unlock()
	if found := o.newer[sha256]; found != nil {
		return found
	}
	found := o.older[sha256]
	if found != nil {
		o.add(sha256, found)
	}
	return found
}

func (o *openings) put(sha256 string, opening *Opening) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.add(sha256, opening)
}

// add adds an opening to the newer generation. o.mu is held.
func (o *openings) add(sha256 string, opening *Opening) {
	if len(o.newer) >= maxOpenings || o.newer == nil {
		o.older = o.newer
		o.newer = map[string]*Opening{}
	}
	o.newer[sha256] = opening
}
