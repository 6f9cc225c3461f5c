// Package document reads and stores the documents of reports, searches their
// texts, returns pieces of them and summarizes them.
//
// A document is identified by the SHA-256 of its bytes, so a document that several
// reports link to is read and stored once. Package extract/sandbox reads it in a
// separate process and returns its text. The text is data: instructions in it are never
// followed.
package document

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync/atomic"

	"golang.org/x/sync/singleflight"
	"pregon/internal/document/extract"
	"pregon/internal/document/index"
	"pregon/internal/document/summary"
	"pregon/internal/fault"
	"pregon/internal/store"
)

// Reader reads documents, one at a time.
type Reader interface {
	Read(ctx context.Context, body []byte) (*extract.Text, error)
	// Warm starts the reader, so that the first document does not wait.
	Warm(ctx context.Context) error
}

// Originals keeps the bytes of documents. The store is one, and package
// document/bucket another. See store.Documents for what the methods promise.
type Originals interface {
	PutOriginal(ctx context.Context, sha256 string, body []byte) error
	Original(ctx context.Context, sha256 string) ([]byte, error)
}

// Options configure a Keeper.
type Options struct {
	Store     store.Documents
	Readers   []Reader        // one per concurrent read
	Originals Originals       // keeps the bytes of documents too; nil for none
	Models    *summary.Models // nil: summaries are extractive
	FindFacts FindFacts       // nil: fact.Find
	Logger    *slog.Logger
}

// Keeper reads documents and stores them.
type Keeper struct {
	Options
	idle     chan Reader
	reading  singleflight.Group // by the SHA-256 of a document
	outcomes [Failed + 1]atomic.Uint64
}

// Outcome is the result of an attempt to read a report's document.
type Outcome int

// The outcomes.
const (
	Ready  Outcome = iota // it was read
	Again                 // it is retried later
	Failed                // it failed permanently
)

var outcomes = []string{"ready", "again", "failed"}

func (o Outcome) String() string { return outcomes[o] }

// Outcomes lists all outcomes.
var Outcomes = []Outcome{Ready, Again, Failed}

// Count counts an outcome.
func (k *Keeper) Count(o Outcome) { k.outcomes[o].Add(1) }

// Counted returns how often an outcome was counted.
func (k *Keeper) Counted(o Outcome) uint64 { return k.outcomes[o].Load() }

// NewKeeper returns a keeper.
func NewKeeper(o Options) *Keeper {
	k := &Keeper{Options: o, idle: make(chan Reader, len(o.Readers))}
	for _, r := range o.Readers {
		k.idle <- r
	}
	return k
}

// Kept is a stored document.
type Kept struct {
	SHA256 string
	Bytes  int64
	Text   *extract.Text
}

// Keep reads a document and stores its text, unless it is stored already. The
// error is an *extract.Unreadable if the document cannot be read. Several reports
// often link to one document at the same time; it is then read once, with the
// context of the first call.
func (k *Keeper) Keep(ctx context.Context, body []byte) (Kept, error) {
	sum := sha256.Sum256(body)
	kept := Kept{SHA256: hex.EncodeToString(sum[:]), Bytes: int64(len(body))}
	result, err, _ := k.reading.Do(kept.SHA256, func() (any, error) { return k.keep(ctx, kept, body) })
	return result.(Kept), err
}

func (k *Keeper) keep(ctx context.Context, kept Kept, body []byte) (Kept, error) {
	if k.Originals != nil { // first: a document whose bytes could not be stored is tried again
		if err := k.Originals.PutOriginal(ctx, kept.SHA256, body); err != nil {
			return kept, fmt.Errorf("store the original: %w", err)
		}
	}
	// before it is read: it may be removed at this moment
	if err := k.Store.KeepDocument(ctx, kept.SHA256); err != nil {
		return kept, err
	}
	text, edition, err := load(ctx, k.Store, kept.SHA256)
	if err == nil && edition == currentEdition {
		kept.Text = text
		return kept, nil
	}
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return kept, err
	}
	if kept.Text, err = k.Read(ctx, body); err != nil {
		return kept, err
	}
	d, err := encode(kept)
	if err != nil {
		return kept, err
	}
	return kept, k.Store.PutDocument(ctx, d)
}

// Kept returns a stored document without its size. The error is of kind NotFound
// if it is not stored.
func (k *Keeper) Kept(ctx context.Context, sha256 string) (Kept, error) {
	text, err := Load(ctx, k.Store, sha256)
	return Kept{SHA256: sha256, Text: text}, err
}

// warmReaders is the number of readers that Warm starts. The others start when
// these are busy.
const warmReaders = 2

// Warm starts readers, one after the other: the first compiles code that the
// others load.
func (k *Keeper) Warm(ctx context.Context) {
	for _, r := range k.Readers[:min(warmReaders, len(k.Readers))] {
		if err := r.Warm(ctx); err != nil && ctx.Err() == nil {
			k.Logger.Warn("the reader of documents did not start", "err", err) // the next document starts it again
		}
	}
}

// Read returns the text of a document, which is not stored. The error is an
// *extract.Unreadable if the document cannot be read.
func (k *Keeper) Read(ctx context.Context, body []byte) (*extract.Text, error) {
	select {
	case r := <-k.idle:
		defer func() { k.idle <- r }()
		return r.Read(ctx, body)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// currentEdition is the edition of new texts. A text of an earlier edition is
// replaced when its document is read again.
const currentEdition = 2

// head is the stored form of a text without its pages.
type head struct {
	Edition int `json:"edition"`
	extract.Text
	Pages []page `json:"pages"` // without their texts
}

// page is the stored form of a page without its text.
type page struct {
	Method     extract.Method `json:"method"`
	Confidence float64        `json:"confidence,omitempty"`
}

func encode(k Kept) (store.Document, error) {
	h := head{Edition: currentEdition, Text: *k.Text}
	d := store.Document{SHA256: k.SHA256, Bytes: k.Bytes}
	for _, p := range k.Text.Pages {
		h.Pages = append(h.Pages, page{p.Method, p.Confidence})
		d.Pages = append(d.Pages, p.Text)
	}
	d.Index = index.Build(k.SHA256, d.Pages)
	b, err := json.Marshal(h)
	d.Head = string(b)
	return d, err
}

// Load returns a stored text. The error is of kind NotFound if there is none.
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
		return nil, 0, fmt.Errorf("decode the stored text of document %s: %w", sha256, err)
	}
	if len(h.Pages) != len(d.Pages) {
		return nil, 0, fmt.Errorf("the stored text of document %s has %d pages, but %d texts", sha256,
			len(h.Pages), len(d.Pages))
	}
	text := h.Text
	text.Pages = make([]extract.Page, len(d.Pages))
	for i, p := range h.Pages {
		text.Pages[i] = extract.Page{Text: d.Pages[i], Method: p.Method, Confidence: p.Confidence}
	}
	return &text, h.Edition, nil
}
