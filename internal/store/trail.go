package store

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"

	"pregon/internal/disclosure"
)

// TrailLength is the number of changes that a Trail has.
const TrailLength = 1024

// hashSize is the number of bytes that a Trail keeps of a change: enough to tell a
// change from the few others that ever have its seq.
const hashSize = 6

// Trail identifies the newest changes of a log, without gaps. After a backup was restored
// it tells which of them the log still has. The zero value is empty.
type Trail struct {
	last   int64  // seq of the newest change
	hashes []byte // hashSize bytes for each change, the oldest first
}

// Add adds a change. If it does not follow the newest one, the trail begins with it.
func (t *Trail) Add(m disclosure.Mark) {
	if m.Seq != t.last+1 {
		t.hashes = nil
	}
	t.last = m.Seq
	t.hashes = append(t.hashes, hashOf(m)...)
	if more := len(t.hashes) - TrailLength*hashSize; more > TrailLength*hashSize { // not each time
		t.hashes = slices.Clone(t.hashes[more:])
	}
}

func hashOf(m disclosure.Mark) []byte {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %d %s %s", m.Seq, m.At, m.Event, m.Subject))
	return sum[:hashSize]
}

// Extend adds the changes of a log up to last, and reports whether the trail ends with
// it. Otherwise the trail is empty: the log could not be read, or is another one.
func (t *Trail) Extend(ctx context.Context, log interface {
	Marks(ctx context.Context, after int64, limit int) ([]disclosure.Mark, error)
}, last disclosure.Mark,
) bool {
	if t.endsWith(last) {
		return true
	}
	if t.last >= last.Seq {
		*t = Trail{}
	}
	after := max(t.last, last.Seq-TrailLength)
	marks, err := log.Marks(ctx, after, int(last.Seq-after))
	if err != nil {
		*t = Trail{}
		return false
	}
	for _, m := range marks {
		t.Add(m)
	}
	if !t.endsWith(last) {
		*t = Trail{}
		return false
	}
	return true
}

// endsWith reports whether the newest change of the trail is m.
func (t *Trail) endsWith(m disclosure.Mark) bool { return t.last == m.Seq && t.has(m) }

// has reports whether the trail has a change.
func (t *Trail) has(m disclosure.Mark) bool {
	at := len(t.hashes) - int(t.last-m.Seq+1)*hashSize
	return m.Seq >= t.first() && m.Seq <= t.last && slices.Equal(t.hashes[at:at+hashSize], hashOf(m))
}

// first returns the seq of the oldest change, above last if there is none.
func (t *Trail) first() int64 { return t.last - int64(len(t.hashes)/hashSize) + 1 }

// Clone returns a copy.
func (t *Trail) Clone() Trail { return Trail{t.last, slices.Clone(t.hashes)} }

// String returns the text from which ParseTrail makes the trail.
func (t *Trail) String() string {
	return base64.RawStdEncoding.EncodeToString(t.hashes[max(0, len(t.hashes)-TrailLength*hashSize):])
}

// ParseTrail returns the trail that ends at a seq. It is empty if the text is not one
// that String returned.
func ParseTrail(last int64, text string) Trail {
	hashes, err := base64.RawStdEncoding.DecodeString(text)
	if n := len(hashes) / hashSize; err != nil || len(hashes) != n*hashSize || n > TrailLength || int64(n) > last {
		return Trail{}
	}
	return Trail{last, hashes}
}
