package remote

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"pregon/internal/fault"
	"pregon/internal/proof"
	"pregon/internal/retry"
)

// Checker checks a log.
type Checker struct {
	Log     *Log
	Keys    Keys     // of the log
	History *History // what is known of the log; nil to keep nothing
	Entries bool     // whether to read the entries too
	// Progress receives how much of a stage is done; it may be nil.
	Progress func(stage string, done, total int64)

	entries int64 // that were checked before
}

// Result is what a check has shown.
type Result struct {
	Checkpoint proof.Checkpoint
	Before     proof.Checkpoint // that of the history before; its origin is empty if there was none
	Entries    int64            // that were read
	Unknown    []string         // further keys that say they are of the log, by name and hash
}

// A checkpoint that is older than the one before may come from a replica or a cache
// that is behind: it is read again before it counts as a log that went back.
const (
	staleReads = 5
	staleWait  = 2 * time.Second
)

// Check reads the newest checkpoint, verifies its signature, that it continues the
// history and, if requested, its entries. Then it replaces the history. The error is
// a *Mismatch if the log is wrong; the history is then unchanged, and the checkpoint
// is kept beside it.
func (c *Checker) Check(ctx context.Context) (Result, error) {
	result, text, err := c.check(ctx)
	var m *Mismatch
	if errors.As(err, &m) {
		m.Text = text
		if c.History != nil && c.History.Exists() && m.Kind != Entry && m.Kind != Tiles {
			path, saveErr := c.History.saveConflict(text)
			if saveErr != nil {
				return result, errors.Join(err, saveErr)
			}
			m.Detail = strings.TrimPrefix(m.Detail+"; the checkpoint of the server is kept in "+path, "; ")
		}
	}
	return result, err
}

func (c *Checker) check(ctx context.Context) (Result, []byte, error) {
	var before proof.Checkpoint
	if c.History != nil {
		before = c.History.Checkpoint
		if err := c.checkOwn(); err != nil {
			return Result{}, nil, err
		}
	}
	text, now, err := c.newest(ctx, before)
	result := Result{Checkpoint: now, Before: before, Unknown: c.Keys.unknown(text, now.Origin)}
	if err != nil {
		return result, text, err
	}
	tree := c.Log.tree(ctx, now)
	if err := c.compare(tree, before); err != nil {
		return result, text, err
	}
	var added []tlog.Hash
	if c.History != nil {
		if added, err = c.newHashes(tree); err != nil {
			return result, text, err
		}
	}
	if c.Entries {
		if result.Entries, err = c.checkEntries(ctx, tree); err != nil {
			return result, text, err
		}
	}
	if c.History != nil {
		return result, text, c.History.save(text, now, added, c.Keys)
	}
	return result, text, nil
}

// checkOwn verifies the signature of the history, which may be by a key that the log
// no longer has.
func (c *Checker) checkOwn() error {
	if !c.History.Exists() {
		return nil
	}
	_, err := proof.OpenCheckpoint(c.History.text, c.Keys.Verifiers())
	if _, wrong := errors.AsType[*note.InvalidSignatureError](err); wrong {
		return fault.New(fault.Invalid, "%s was changed: the log did not sign it (%v). To start over, move it away", c.History.path, err)
	}
	return nil
}

// newest returns the newest checkpoint of the server, whose signature is verified.
func (c *Checker) newest(ctx context.Context, before proof.Checkpoint) (text []byte, now proof.Checkpoint, err error) {
	for n := 0; ; n++ {
		if text, err = c.Log.Checkpoint(ctx); err != nil {
			return nil, now, err
		}
		if now, err = proof.OpenCheckpoint(text, c.Keys.Verifiers()); err != nil {
			return text, now, c.unverified(ctx, text, before, err)
		}
		switch {
		case before.Origin == "":
			return text, now, nil
		case c.History.Agrees(now) != nil: // known without a tile, which the server may refuse
			return text, now, c.contradiction(ctx, before, now)
		case before.Size <= now.Size:
			return text, now, nil
		case n == staleReads-1:
			return text, now, c.contradiction(ctx, before, now)
		}
		if err := retry.Sleep(ctx, staleWait); err != nil {
			return nil, now, err
		}
	}
}

// unverified returns the error for a checkpoint that no key verifies.
func (c *Checker) unverified(ctx context.Context, text []byte, before proof.Checkpoint, cause error) error {
	now, err := proof.ParseCheckpoint(text)
	if err != nil {
		return &Mismatch{Kind: Signature, Old: before, Detail: err.Error()}
	}
	if _, err := proof.OpenCheckpoint(text, c.Keys.named(now.Origin).Verifiers()); err == nil && before.Origin != "" {
		return c.contradiction(ctx, before, now)
	}
	m := &Mismatch{Kind: Signature, Old: before, New: now}
	if _, unknown := errors.AsType[*note.UnverifiedNoteError](cause); unknown {
		m.Detail = fmt.Sprintf("the checkpoint of %s is signed by %s, and none of these is a known key (%s)",
			now.Origin, strings.Join(signers(text), ", "), strings.Join(c.Keys.ids(), ", "))
	} else {
		m.Detail = cause.Error()
	}
	if before.Origin != "" && before.Origin != now.Origin {
		m.Kind = OtherLog
	}
	return m
}

// compare checks that the tree of the server continues that of a checkpoint. It also
// reads the tiles at its end, which must lead to its root.
func (c *Checker) compare(t *tree, before proof.Checkpoint) error {
	if _, err := t.root(t.of.Size); err != nil {
		return err
	}
	if before.Origin == "" {
		return nil
	}
	root, err := t.root(before.Size)
	if err != nil {
		return err
	}
	if root != before.Root {
		return c.contradiction(t.ctx, before, t.of)
	}
	return nil
}

// contradiction returns the error for a signed checkpoint that does not continue the
// one before.
func (c *Checker) contradiction(ctx context.Context, before, now proof.Checkpoint) error {
	m := &Mismatch{Kind: Rewritten, Old: before, New: now}
	differs := c.History.Agrees(now) != nil // in the common part, if the origin is the same
	switch {
	case before.Origin != now.Origin && logOf(before.Origin) != logOf(now.Origin):
		m.Kind = OtherLog
	case before.Origin != now.Origin:
		m.Kind = Restored
	case differs:
		m.Kind = Split
	case now.Size < before.Size:
		m.Kind = WentBack
	}
	common := min(before.Size, now.Size)
	m.First, m.Last = 1, common+1
	if m.Kind == Rewritten || m.Kind == Split {
		m.Last = common // because the roots of the common part differ
	}
	if c.History.leaves == nil {
		m.Detail = fmt.Sprintf("without %s the first wrong seq cannot be named exactly", c.History.path+hashesSuffix)
		return m
	}
	same, err := c.agreement(c.Log.tree(ctx, now), common)
	if err != nil {
		m.Detail = fmt.Sprintf("the first wrong seq cannot be named exactly (%v)", err)
		return m
	}
	m.First, m.Last = same+1, same+1
	switch {
	case same < common:
	case now.Size < before.Size:
		m.Detail = fmt.Sprintf("the first %d are the same, the others are missing", same)
	default:
		m.Detail = fmt.Sprintf("all %d that were signed before are still the same", same)
		m.First, m.Last = 0, 0
	}
	return m
}

// logOf returns the name of a log without the epoch that a restored one has after
// it.
func logOf(origin string) string {
	if at := strings.LastIndex(origin, "/log/"); at >= 0 {
		return origin[:at+len("/log")]
	}
	return origin
}

// agreement returns how many leaves the history and the server have in common, of
// the first so many.
func (c *Checker) agreement(t *tree, common int64) (same int64, err error) {
	n := sort.Search(int(common), func(n int) bool {
		ours, ourErr := c.History.leaves.Root(int64(n) + 1)
		theirs, theirErr := t.root(int64(n) + 1)
		err = errors.Join(err, ourErr, theirErr)
		return err != nil || ours != theirs
	})
	return int64(n), err
}

// newHashes returns the hashes of the leaves that the history does not have.
func (c *Checker) newHashes(t *tree) ([]tlog.Hash, error) {
	var all proof.Tree
	from := int64(0)
	if c.History.leaves != nil {
		from = c.History.leaves.Size()
	}
	added, err := t.leaves(from, t.of.Size, func(done int64) { c.progress("hashes", done-from, t.of.Size-from) })
	if err != nil || from > 0 {
		return added, err
	}
	all.Append(added...)
	if root, err := all.Root(t.of.Size); err != nil || root != t.of.Root {
		return nil, &Mismatch{Kind: Tiles, New: t.of, Detail: "all leaves together do not lead to its root"}
	}
	return added, nil
}

func (c *Checker) progress(stage string, done, total int64) {
	if c.Progress != nil {
		c.Progress(stage, done, total)
	}
}
