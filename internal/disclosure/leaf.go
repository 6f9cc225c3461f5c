package disclosure

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Leaf is a change of the log as a leaf of the Merkle tree over it: see package proof. The leaf of seq n has the
// index n-1.
type Leaf struct {
	Seq     int64
	Event   string
	Time    time.Time // to the microsecond
	Changed []string  // names of the changed fields
	Record  []byte    // the JSON of the whole record, as it is stored
}

// Append appends the bytes that the tree hashes: a JSON object with the fields
// seq, event, time, changed and record, in this order and without spaces. The
// record has the bytes of the store.
func (l Leaf) Append(b []byte) []byte {
	b = strconv.AppendInt(append(b, `{"seq":`...), l.Seq, 10)
	b = append(appendText(append(b, `,"event":`...), l.Event), `,"time":"`...)
	b = append(l.Time.UTC().AppendFormat(b, "2006-01-02T15:04:05.000000Z"), `","changed":[`...)
	for i, name := range l.Changed {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(b, name)
	}
	b = append(append(b, `],"record":`...), l.Record...)
	return append(b, '}')
}

// Hash returns the hash of the leaf as RFC 6962 defines it: that of a zero byte and
// its bytes. Every append waits for it, so it allocates only once.
func (l Leaf) Hash() [sha256.Size]byte {
	const others = 512 // bytes of all fields but the record, as a rule
	return sha256.Sum256(l.Append(make([]byte, 1, len(l.Record)+others)))
}

// appendText appends a JSON string. Events and names of fields are plain ASCII.
func appendText(b []byte, s string) []byte {
	if !strings.ContainsFunc(s, func(r rune) bool { return r != '_' && r != '.' && (r < 'a' || r > 'z') }) {
		return append(append(append(b, '"'), s...), '"')
	}
	quoted, err := json.Marshal(s)
	if err != nil {
		panic(err) // every string can be encoded
	}
	return append(b, quoted...)
}

// ParseLeaf reads what Append wrote. It fails for all other bytes, so that no two
// texts mean the same leaf.
func ParseLeaf(text []byte) (Leaf, error) {
	var read struct {
		Seq     int64           `json:"seq"`
		Event   string          `json:"event"`
		Time    time.Time       `json:"time"`
		Changed []string        `json:"changed"`
		Record  json.RawMessage `json:"record"`
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&read); err != nil {
		return Leaf{}, fmt.Errorf("the leaf is not JSON with seq, event, time, changed and record: %w", err)
	}
	l := Leaf{
		Seq:     read.Seq,
		Event:   read.Event,
		Time:    read.Time,
		Changed: read.Changed,
		Record:  read.Record,
	}
	if !bytes.Equal(l.Append(nil), text) {
		return Leaf{}, errors.New("the leaf does not have the layout that the log writes")
	}
	return l, nil
}
