package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"pregon/internal/disclosure"
)

// Row is a change as both engines store it. The body is the JSON of the record,
// kept byte for byte. Name is not a part of it.
type Row struct {
	Seq        int64
	Event      string
	Subject    string
	OccurredAt time.Time
	Changed    string // names joined by commas
	Body       string
	Name       string // of the seal in the body, if it was read and is not erased
}

// EncodeRow turns a change into its row.
func EncodeRow(c disclosure.Change) (Row, error) {
	body, err := encodeBody(&c)
	if err != nil {
		return Row{}, fmt.Errorf("encoding %s: %w", c.Subject(), err)
	}
	return Row{
		Seq:        c.Seq,
		Event:      string(c.Event),
		Subject:    c.Subject(),
		OccurredAt: c.OccurredAt,
		Changed:    strings.Join(c.Changed, ","),
		Body:       string(body),
	}, nil
}

// encodeBody returns the record as it is stored. A sealed name is left out.
func encodeBody(c *disclosure.Change) ([]byte, error) {
	switch c.Of() {
	case disclosure.OfReport:
		return json.Marshal(c.Report)
	case disclosure.OfPosition:
		p := *c.Position
		if p.Sealed != "" {
			p.Name = ""
		}
		if p.Natural && p.Name != "" {
			return nil, errors.New("the name of a natural person is not sealed")
		}
		return json.Marshal(&p)
	}
	return json.Marshal(c.Issuer)
}

// Leaf returns the leaf of the row in the Merkle tree over the log.
func (r Row) Leaf() disclosure.Leaf {
	return disclosure.Leaf{
		Seq:     r.Seq,
		Event:   r.Event,
		Time:    r.OccurredAt,
		Changed: r.names(),
		Record:  []byte(r.Body),
	}
}

// names returns the names of the changed fields.
func (r Row) names() []string {
	if r.Changed == "" {
		return nil
	}
	return strings.Split(r.Changed, ",")
}

// JoinHashes returns the form in which engines keep the hashes of successive leaves.
func JoinHashes(hashes []tlog.Hash) []byte {
	joined := make([]byte, 0, len(hashes)*tlog.HashSize)
	for i := range hashes {
		joined = append(joined, hashes[i][:]...)
	}
	return joined
}

// SplitHashes is the inverse of JoinHashes. seq is the one of the last leaf.
func SplitHashes(seq int64, joined []byte) ([]tlog.Hash, error) {
	hashes := make([]tlog.Hash, len(joined)/tlog.HashSize)
	if len(hashes) == 0 || int64(len(hashes)) > seq || len(joined)%tlog.HashSize != 0 {
		return nil, fmt.Errorf("the hashes of the log that end with change %d have %d bytes: %w", seq,
			len(joined), ErrDamaged)
	}
	for i := range hashes {
		copy(hashes[i][:], joined[i*tlog.HashSize:])
	}
	return hashes, nil
}

// Decode turns a row back into its change.
func (r Row) Decode() (disclosure.Change, error) {
	c := disclosure.Change{
		Seq:        r.Seq,
		Event:      disclosure.Event(r.Event),
		OccurredAt: r.OccurredAt.UTC(),
		Changed:    r.names(),
	}
	var err error
	switch c.Event.Of() {
	case disclosure.OfIssuer:
		c.Issuer = new(disclosure.Issuer)
		err = json.Unmarshal([]byte(r.Body), c.Issuer)
	case disclosure.OfPosition:
		c.Position = new(disclosure.Position)
		err = json.Unmarshal([]byte(r.Body), c.Position)
		if c.Position.Sealed != "" {
			c.Position.Name = r.Name
		}
	default:
		c.Report, err = disclosure.DecodeReport(r.Body)
	}
	if err != nil {
		return disclosure.Change{}, fmt.Errorf("change %d of the log cannot be read: %w", r.Seq, err)
	}
	return c, nil
}
