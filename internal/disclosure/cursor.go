package disclosure

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Cursor is a position in the log: the seq of the last change that a reader has
// processed. After a restored backup the log assigns the same seqs again, to other
// changes. The epoch of the log, which is renewed then, distinguishes them.
type Cursor struct {
	Epoch string // lower-case letters and digits; empty: the epoch that the log has now
	Seq   int64
}

// String returns EPOCH-SEQ, or the plain number when there is no epoch.
func (c Cursor) String() string { return string(c.Append(nil)) }

// Append appends the cursor to b, as String prints it.
func (c Cursor) Append(b []byte) []byte {
	if c.Epoch != "" {
		b = append(append(b, c.Epoch...), '-')
	}
	return strconv.AppendInt(b, c.Seq, 10)
}

const longestEpoch = 32

// ParseCursor reads what String prints. A plain number means the log's present
// epoch.
func ParseCursor(s string) (c Cursor, ok bool) {
	digits := s
	if epoch, rest, found := strings.Cut(s, "-"); found {
		if epoch == "" || len(epoch) > longestEpoch ||
			strings.ContainsFunc(epoch, func(r rune) bool { return !isLowerOrDigit(r) }) {
			return Cursor{}, false
		}
		c.Epoch, digits = epoch, rest
	}
	if digits == "" || strings.ContainsFunc(digits, func(r rune) bool { return r < '0' || r > '9' }) {
		return Cursor{}, false
	}
	seq, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return Cursor{}, false
	}
	c.Seq = seq
	return c, true
}

func isLowerOrDigit(r rune) bool { return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' }

// NewEpoch returns a random epoch.
func NewEpoch() string { return strings.ToLower(rand.Text()[:12]) }

// Head is the end of the log.
type Head struct {
	Cursor
	// Past are the epochs that the log had before this one, oldest first, each
	// with the newest seq up to which this log and that one are the same.
	Past []Cursor
}

// Had reports whether the log had an epoch before the present one.
func (h Head) Had(epoch string) bool {
	return slices.ContainsFunc(h.Past, func(c Cursor) bool { return c.Epoch == epoch })
}

// mostPast is the number of past epochs that a log keeps.
const mostPast = 32

// Renew returns the head under a new epoch. The log is the same as that of
// each shared cursor's epoch up to the cursor; the present epoch, if it is not
// among them, is shared up to its end.
func (h Head) Renew(shared ...Cursor) Head {
	of := func(epoch string) func(Cursor) bool { return func(c Cursor) bool { return c.Epoch == epoch } }
	past := slices.Clone(h.Past)
	if !slices.ContainsFunc(shared, of(h.Epoch)) {
		shared = append(slices.Clone(shared), h.Cursor)
	}
	for _, c := range shared {
		past = append(slices.DeleteFunc(past, of(c.Epoch)), Cursor{c.Epoch, min(c.Seq, h.Seq)})
	}
	for len(past) > mostPast { // the bound of the dropped epoch still applies to older ones
		past[1].Seq = min(past[0].Seq, past[1].Seq)
		past = past[1:]
	}
	return Head{Cursor: Cursor{NewEpoch(), h.Seq}, Past: past}
}

// Resume returns the seq after which the reader of a cursor of another epoch
// misses nothing. An epoch that is no longer in Past shares at most as much as the
// one that shares least. ok is false if the log has no past epochs: the cursor may
// be of an unrelated log, and seq is only a guess.
func (h Head) Resume(c Cursor) (seq int64, ok bool) {
	since := max(0, slices.IndexFunc(h.Past, func(p Cursor) bool { return p.Epoch == c.Epoch }))
	seq = min(c.Seq, h.Seq)
	for _, p := range h.Past[since:] {
		seq = min(seq, p.Seq)
	}
	return seq, len(h.Past) > 0
}

// FormatPast returns the text in which engines keep Head.Past.
func FormatPast(past []Cursor) string {
	words := make([]string, len(past))
	for i, c := range past {
		words[i] = c.String()
	}
	return strings.Join(words, " ")
}

// ParsePast reads what FormatPast wrote.
func ParsePast(s string) (past []Cursor, err error) {
	for word := range strings.FieldsSeq(s) {
		c, ok := ParseCursor(word)
		if !ok {
			return nil, fmt.Errorf("%q among the past epochs of the log is not a cursor", word)
		}
		past = append(past, c)
	}
	return past, nil
}

// Mark identifies a change among all that ever had its seq.
type Mark struct {
	Seq     int64  `json:"seq"`
	At      int64  `json:"at"` // when it occurred, in microseconds from 1970
	Event   Event  `json:"event"`
	Subject string `json:"subject"`
}

// Mark returns the change's mark.
func (c *Change) Mark() Mark {
	return Mark{
		Seq:     c.Seq,
		At:      c.OccurredAt.UnixMicro(),
		Event:   c.Event,
		Subject: c.Subject(),
	}
}
