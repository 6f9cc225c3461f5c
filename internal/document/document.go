// Package document keeps the texts of reports' documents: it has them read,
// finds words in them, shows pieces of them, and sums them up.
//
// A document is known by the SHA-256 of its bytes, so that one which several
// reports link to is read and kept once. Its bytes are opened by the package
// extract, in a process of their own; what comes back is text, and text is data:
// nothing that stands in it is ever obeyed.
package document

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"pregon/internal/document/extract"
	"pregon/internal/document/summary"
	"pregon/internal/fault"
	"pregon/internal/store"
)

// Reader reads documents, one at a time.
type Reader interface {
	Read(ctx context.Context, body []byte) (*extract.Text, error)
	// Warm makes it ready, so that the first document need not wait.
	Warm(ctx context.Context) error
}

// Options are what a Keeper works with.
type Options struct {
	Store   store.Documents
	Readers []Reader // as many documents are read at once
	// Originals says that the bytes are kept too.
	Originals bool
	Model     summary.Model // nil: summaries are extractive
	Logger    *slog.Logger
}

// Keeper has documents read and keeps them.
type Keeper struct {
	Options
	idle     chan Reader
	mu       sync.Mutex
	left     *sync.Cond      // on mu: somebody is done with a document
	busy     map[string]bool // guarded by mu: the documents that are being read
	outcomes [Failed + 1]atomic.Uint64
}

// Outcome is what came of a try to read a report's document.
type Outcome int

// The outcomes.
const (
	Ready  Outcome = iota // it is read
	Again                 // it is tried again
	Failed                // it is given up
)

var outcomes = []string{"ready", "again", "failed"}

func (o Outcome) String() string { return outcomes[o] }

// Outcomes are all of them.
var Outcomes = []Outcome{Ready, Again, Failed}

// Count notes what came of a try.
func (k *Keeper) Count(o Outcome) { k.outcomes[o].Add(1) }

// Counted returns how many tries came out so.
func (k *Keeper) Counted(o Outcome) uint64 { return k.outcomes[o].Load() }

// NewKeeper returns a keeper.
func NewKeeper(o Options) *Keeper {
	k := &Keeper{Options: o, idle: make(chan Reader, len(o.Readers)), busy: map[string]bool{}}
	k.left = sync.NewCond(&k.mu)
	for _, r := range o.Readers {
		k.idle <- r
	}
	return k
}

// Kept is a document that was read.
type Kept struct {
	SHA256 string
	Bytes  int64
	Text   *extract.Text
}

// Keep reads a document and keeps its text, unless it is kept already. The
// error is extract.Unreadable when it is the document's fault.
func (k *Keeper) Keep(ctx context.Context, body []byte) (Kept, error) {
	sum := sha256.Sum256(body)
	kept := Kept{SHA256: hex.EncodeToString(sum[:]), Bytes: int64(len(body))}
	defer k.alone(kept.SHA256)() // a document that several reports link to often comes at once
	if k.Originals {
		if err := k.Store.PutOriginal(ctx, kept.SHA256, body); err != nil {
			return kept, fmt.Errorf("keeping the original: %w", err)
		}
	}
	text, edition, err := load(ctx, k.Store, kept.SHA256)
	if err == nil && edition == present {
		kept.Text = text
		return kept, nil
	}
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return kept, err
	}
	if kept.Text, err = k.read(ctx, body); err != nil {
		return kept, err
	}
	d, err := encode(kept)
	if err != nil {
		return kept, err
	}
	return kept, k.Store.PutDocument(ctx, d)
}

// alone waits until nobody else is at work on a document.
func (k *Keeper) alone(sha256 string) (done func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for k.busy[sha256] {
		k.left.Wait()
	}
	k.busy[sha256] = true
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		delete(k.busy, sha256)
		k.left.Broadcast()
	}
}

// Kept returns a document that is kept, without its size. It fails, NotFound,
// when it is not.
func (k *Keeper) Kept(ctx context.Context, sha256 string) (Kept, error) {
	text, err := Load(ctx, k.Store, sha256)
	return Kept{SHA256: sha256, Text: text}, err
}

// atHand is how many readers are made ready before they are needed. The others
// are for when these are busy.
const atHand = 2

// Warm makes readers ready, one after the other: what the first has compiled the
// others find.
func (k *Keeper) Warm(ctx context.Context) {
	for _, r := range k.Readers[:min(atHand, len(k.Readers))] {
		if err := r.Warm(ctx); err != nil && ctx.Err() == nil {
			k.Logger.Warn("the reader of documents does not start", "err", err) // each document tries again
		}
	}
}

func (k *Keeper) read(ctx context.Context, body []byte) (*extract.Text, error) {
	select {
	case r := <-k.idle:
		defer func() { k.idle <- r }()
		return r.Read(ctx, body)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// present is the edition of the texts that are made now. A text of an earlier
// one is made anew when its document comes by again.
const present = 1

// head is what is kept of a text beside its pages.
type head struct {
	Edition int `json:"edition"`
	extract.Text
	Pages []page `json:"pages"` // without their texts
}

// page is what is kept of a page beside its text.
type page struct {
	Method     extract.Method `json:"method"`
	Confidence float64        `json:"confidence,omitempty"`
}

func encode(k Kept) (store.Document, error) {
	h := head{Edition: present, Text: *k.Text}
	d := store.Document{SHA256: k.SHA256, Bytes: k.Bytes, Parts: parts(k.Text.Pages)}
	for _, p := range k.Text.Pages {
		h.Pages = append(h.Pages, page{p.Method, p.Confidence})
		d.Pages = append(d.Pages, p.Text)
	}
	b, err := json.Marshal(h)
	d.Head = string(b)
	return d, err
}

// Load returns a text that is kept. It fails, NotFound, when there is none.
func Load(ctx context.Context, s store.Documents, sha256 string) (*extract.Text, error) {
	text, _, err := load(ctx, s, sha256)
	return text, err
}

func load(ctx context.Context, s store.Documents, sha256 string) (*extract.Text, int, error) {
	d, err := s.Document(ctx, sha256)
	if err != nil {
		return nil, 0, err
	}
	var h head
	if err := json.Unmarshal([]byte(d.Head), &h); err != nil {
		return nil, 0, fmt.Errorf("the text of document %s is kept in a form that is not known: %w", sha256, err)
	}
	if len(h.Pages) != len(d.Pages) {
		return nil, 0, fmt.Errorf("the text of document %s is kept with %d pages and %d texts", sha256, len(h.Pages), len(d.Pages))
	}
	text := h.Text
	text.Pages = make([]extract.Page, len(d.Pages))
	for i, p := range h.Pages {
		text.Pages[i] = extract.Page{Text: d.Pages[i], Method: p.Method, Confidence: p.Confidence}
	}
	return &text, h.Edition, nil
}
