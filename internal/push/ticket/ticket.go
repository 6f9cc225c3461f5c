package ticket

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/auth/secret"
	"pregon/internal/disclosure"
	"pregon/internal/push/events"
	"pregon/internal/store"
)

const kind = "stream-ticket" // of the store's records

const (
	// FirstUse is how long a ticket waits for its first use.
	FirstUse = time.Minute
	// Reuse is how long after its first use a ticket opens a stream again. A stream that is
	// open then stays open.
	Reuse = 15 * time.Minute
	// MaxOpen is the number of tickets of an account that have not expired.
	MaxOpen = 500
)

// Prefix is the beginning of every ticket.
const Prefix = "stk_"

// secretLength is the number of random letters and digits of a ticket: 238 bits.
const secretLength = 40

// Ticket opens a stream with a selection, for the caller that created it.
type Ticket struct {
	Caller    access.Principal // as it was then
	Selection events.Selection
	CreatedAt time.Time
	UsedAt    time.Time // first; zero before

	id         string
	digest     string // of the text
	connection string // the newest one; empty before the first use
	revision   int64
}

// Expires returns the time after which the ticket opens no stream.
func (t *Ticket) Expires() time.Time {
	if t.UsedAt.IsZero() {
		return t.CreatedAt.Add(FirstUse)
	}
	return t.UsedAt.Add(Reuse)
}

func newText() string { return Prefix + secret.RandomText(secretLength) }

// wellFormed reports whether a text looks like a ticket. Others are not searched for.
func wellFormed(text string) bool {
	rest, ok := strings.CutPrefix(text, Prefix)
	return ok && len(rest) == secretLength
}

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// record is a ticket as it is stored.
type record struct {
	Digest     string              `json:"digest"` // SHA-256 of the text, in hexadecimal
	Account    string              `json:"owner"`
	Mode       access.Mode         `json:"mode"`
	Scope      access.Scope        `json:"scope"`
	Ends       time.Time           `json:"credential_expires,omitzero"`
	Credential string              `json:"credential,omitempty"`
	Key        string              `json:"key,omitempty"`
	KeyText    access.Digest       `json:"key_text,omitzero"`
	SigningKey string              `json:"signing_key,omitempty"`
	Events     []disclosure.Event  `json:"events"`
	Filter     events.FilterRecord `json:"filter"`
	CreatedAt  time.Time           `json:"created_at"`
	UsedAt     time.Time           `json:"used_at,omitzero"`
	Connection string              `json:"connection,omitempty"`
}

func (t *Ticket) record() (store.Record, error) {
	body, err := json.Marshal(record{
		Digest:     t.digest,
		Account:    t.Caller.ID,
		Mode:       t.Caller.Mode,
		Scope:      t.Caller.Scope,
		Ends:       t.Caller.Expires,
		Credential: t.Caller.Credential,
		Key:        t.Caller.Key,
		KeyText:    t.Caller.KeyText,
		SigningKey: t.Caller.SigningKey,
		Events:     t.Selection.Events,
		Filter:     events.FilterRecord(t.Selection.Filter),
		CreatedAt:  t.CreatedAt,
		UsedAt:     t.UsedAt,
		Connection: t.connection,
	})
	return store.Record{
		Kind:     kind,
		ID:       t.id,
		Body:     string(body),
		Revision: t.revision,
	}, err
}

func readRecord(stored store.Record) (*Ticket, error) {
	var r record
	if err := json.Unmarshal([]byte(stored.Body), &r); err != nil {
		return nil, err
	}
	return &Ticket{
		Caller: access.Principal{
			ID:         r.Account,
			Mode:       r.Mode,
			Scope:      r.Scope,
			Expires:    r.Ends,
			Credential: r.Credential,
			Key:        r.Key,
			KeyText:    r.KeyText,
			SigningKey: r.SigningKey,
		},
		Selection:  events.Selection{Events: r.Events, Filter: disclosure.Filter(r.Filter)},
		CreatedAt:  r.CreatedAt,
		UsedAt:     r.UsedAt,
		id:         stored.ID,
		digest:     r.Digest,
		connection: r.Connection,
		revision:   stored.Revision,
	}, nil
}
