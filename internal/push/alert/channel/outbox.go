package channel

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"pregon/internal/push/alert"
	"pregon/internal/push/alert/message"
)

// Recorder takes messages in the place of their receivers: see Settings.Instead.
type Recorder interface {
	Record(to alert.Channel, m *message.Message) error
}

// recording sends nothing. It checks addresses as the sender of the kind does.
type recording struct {
	Sender
	recorder Recorder
}

func (r recording) Send(_ context.Context, to alert.Channel, m *message.Message) Outcome {
	if err := r.recorder.Record(to, m); err != nil {
		return Outcome{Error: "the message could not be recorded: " + err.Error()}
	}
	return Outcome{OK: true}
}

// mailAddresses checks the addresses of e-mails that are recorded, without a mail server.
type mailAddresses struct{ Sender }

func (mailAddresses) Check(address string) (Address, error) {
	normal, err := checkMailAddress(address)
	return Address{Value: normal, Shown: normal}, err
}

// Journal writes messages to a file or a terminal, one line of JSON each.
type Journal struct {
	mu sync.Mutex // lets one line be written at a time
	w  io.Writer
}

// NewJournal returns a journal that writes to w. Links in its messages are secrets.
func NewJournal(w io.Writer) *Journal { return &Journal{w: w} }

// Record implements Recorder.
func (j *Journal) Record(to alert.Channel, m *message.Message) error {
	line, err := json.Marshal(struct {
		At      time.Time    `json:"at"`
		ID      string       `json:"id"`
		Kind    alert.Kind   `json:"kind"`
		To      string       `json:"to"`
		About   message.Kind `json:"about"`
		Events  int          `json:"events"`
		Subject string       `json:"subject"`
		Text    string       `json:"text"`
	}{
		At:      time.Now().UTC().Truncate(time.Second),
		ID:      m.ID,
		Kind:    to.Kind,
		To:      to.Shown,
		About:   m.Kind,
		Events:  m.Total(),
		Subject: m.Subject(),
		Text:    m.Text(),
	})
	if err != nil {
		return fmt.Errorf("a message is not JSON: %w", err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	_, err = j.w.Write(append(line, '\n'))
	return err
}

// Posted is a message that was recorded.
type Posted struct {
	Account string
	At      time.Time
	Kind    alert.Kind
	To      string // the address without secrets
	About   message.Kind
	Subject string
	Text    string
	HTML    string
}

// Sizes of an outbox.
const (
	outboxPerAccount = 50
	outboxMessages   = 500
	outboxBytes      = 32 << 20
)

// Outbox keeps the newest messages of each account in memory, for a page that shows them.
type Outbox struct {
	mu     sync.Mutex // held for operations on memory only
	posted []Posted   // oldest first
	bytes  int
}

// Record implements Recorder.
func (b *Outbox) Record(to alert.Channel, m *message.Message) error {
	p := Posted{
		Account: to.Account,
		At:      time.Now(),
		Kind:    to.Kind,
		To:      to.Shown,
		About:   m.Kind,
		Subject: m.Subject(),
		Text:    m.Text(),
		HTML:    m.HTML(),
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.posted = append(b.posted, p)
	b.bytes += p.size()
	b.drop(func(other *Posted) bool { return other.Account == p.Account }, outboxPerAccount)
	b.drop(func(*Posted) bool { return true }, outboxMessages)
	for b.bytes > outboxBytes && len(b.posted) > 1 {
		b.remove(0)
	}
	return nil
}

// drop removes the oldest of some messages if they are more than a number.
func (b *Outbox) drop(some func(*Posted) bool, limit int) {
	oldest, n := -1, 0
	for i := range b.posted {
		if !some(&b.posted[i]) {
			continue
		}
		if oldest < 0 {
			oldest = i
		}
		n++
	}
	if n > limit {
		b.remove(oldest)
	}
}

func (b *Outbox) remove(i int) {
	b.bytes -= b.posted[i].size()
	b.posted = slices.Delete(b.posted, i, i+1)
}

func (p *Posted) size() int { return len(p.Subject) + len(p.Text) + len(p.HTML) }

// Messages returns the messages of an account, the newest first.
func (b *Outbox) Messages(account string) []Posted {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []Posted
	for _, p := range slices.Backward(b.posted) {
		if p.Account == account {
			out = append(out, p)
		}
	}
	return out
}
