package subscription

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/push/alert"
	"pregon/internal/push/events"
	"pregon/internal/store"
	"pregon/internal/store/follow"
)

const (
	channelPrefix = "ch_"
	alertPrefix   = "al_"
	refusalPrefix = "no_"
	idLength      = 16
)

// Snapshot is a set of channels and alerts that never changes.
type Snapshot struct {
	Channels map[string]*Channel // by id
	Alerts   map[string]*Alert   // by id
	Revision int64               // of the newest record
	Epoch    string              // of the catalogue when they were read; empty before the first read

	removed  map[string]removal // channels, by id, whose links in messages are still valid
	refusals map[string]refusal // by id
}

// removal is what is kept of a channel that its account deleted: its receiver can still
// refuse further messages with the link that it has.
type removal struct {
	ID        string    `json:"id"`
	RemovedAt time.Time `json:"removed_at"`
	Receiver  string    `json:"receiver"` // its digest
	End       string    `json:"end"`      // the digest of the secret

	revision int64
}

// refusal says that a receiver wants no messages, and no requests to confirm a channel.
type refusal struct {
	ID        string    `json:"id"` // with the digest of the receiver
	RefusedAt time.Time `json:"refused_at"`
}

// HasRemoved reports whether a channel was deleted by its account and something is kept of
// it.
func (s *Snapshot) HasRemoved(id string) bool {
	_, gone := s.removed[id]
	return gone
}

// refused reports whether the receiver with a digest wants no messages.
func (s *Snapshot) refused(receiver string) bool {
	_, refused := s.refusals[refusalPrefix+receiver]
	return refused
}

// CountChannels returns the number of channels in a state.
func (s *Snapshot) CountChannels(state alert.State) (n int) {
	for _, c := range s.Channels {
		if c.State == state {
			n++
		}
	}
	return n
}

// Channel is a channel with the state of its confirmation.
type Channel struct {
	alert.Channel

	confirmation confirmation
	endDigest    string // of the secret that lets the receiver end it
	revision     int64
}

// confirmation is the newest request to confirm a channel. Its zero value is none.
type confirmation struct {
	Digest  string    `json:"digest,omitempty"` // of its secret
	Expires time.Time `json:"expires,omitzero"`
}

// Alert is a stored alert.
type Alert struct {
	alert.Alert

	revision int64
}

// Revision returns the revision of the stored record, which is another after each change.
func (c *Channel) Revision() int64 { return c.revision }

// channelRecord is a channel as it is stored.
type channelRecord struct {
	alert.Channel
	Address      string       `json:"address"`       // sealed
	End          string       `json:"end,omitempty"` // sealed: the secret that lets the receiver end it
	Confirmation confirmation `json:"confirmation,omitzero"`
}

// alertRecord is an alert as it is stored.
type alertRecord struct {
	alert.Alert
	events.FilterRecord
}

func sealName(id, field string) string { return Kind + "/" + id + "/" + field }

func (c *Channel) body(s Sealer) (string, error) {
	body, err := json.Marshal(channelRecord{
		Channel:      c.Channel,
		Address:      s.Seal(sealName(c.ID, "address"), c.Address),
		End:          s.Seal(sealName(c.ID, "end"), c.EndToken),
		Confirmation: c.confirmation,
	})
	return string(body), err
}

func (a *Alert) body() (string, error) {
	body, err := json.Marshal(alertRecord{a.Alert, events.FilterRecord(a.Filter)})
	return string(body), err
}

// update returns the snapshot that follows s. The caller adds the records of the update.
func (s *Snapshot) update(u follow.Update) *Snapshot {
	next := &Snapshot{
		Channels: map[string]*Channel{},
		Alerts:   map[string]*Alert{},
		Epoch:    u.Epoch,
		removed:  map[string]removal{},
		refusals: map[string]refusal{},
	}
	if !u.Reload {
		maps.Copy(next.removed, s.removed)
		maps.Copy(next.refusals, s.refusals)
		maps.Copy(next.Channels, s.Channels)
		maps.Copy(next.Alerts, s.Alerts)
		next.Revision = s.Revision
	}
	return next
}

// forget removes what a record said before.
func (s *Snapshot) forget(id string) {
	delete(s.Channels, id)
	delete(s.Alerts, id)
	delete(s.removed, id)
	delete(s.refusals, id)
}

// add adds a record, whose body is not empty.
func (s *Snapshot) add(r store.Record, sealer Sealer) error {
	if strings.HasPrefix(r.ID, alertPrefix) {
		a, err := readAlert(r)
		if err == nil {
			s.Alerts[r.ID] = a
		}
		return err
	}
	if strings.HasPrefix(r.ID, refusalPrefix) {
		found := refusal{}
		err := json.Unmarshal([]byte(r.Body), &found)
		if err == nil {
			s.refusals[r.ID] = found
		}
		return err
	}
	gone := removal{revision: r.Revision}
	if err := json.Unmarshal([]byte(r.Body), &gone); err != nil {
		return err
	}
	if !gone.RemovedAt.IsZero() {
		s.removed[r.ID] = gone
		return nil
	}
	c, err := readChannel(r, sealer)
	if err == nil {
		s.Channels[r.ID] = c
	}
	return err
}

func readAlert(r store.Record) (*Alert, error) {
	var stored alertRecord
	if err := json.Unmarshal([]byte(r.Body), &stored); err != nil {
		return nil, err
	}
	if stored.ID != r.ID {
		return nil, fmt.Errorf("its body has the id %q", stored.ID)
	}
	a := &Alert{Alert: stored.Alert, revision: r.Revision}
	a.Filter = disclosure.Filter(stored.FilterRecord)
	return a, nil
}

func readChannel(r store.Record, sealer Sealer) (c *Channel, err error) {
	var stored channelRecord
	if err := json.Unmarshal([]byte(r.Body), &stored); err != nil {
		return nil, err
	}
	if stored.ID != r.ID {
		return nil, fmt.Errorf("its body has the id %q", stored.ID)
	}
	c = &Channel{
		Channel:      stored.Channel,
		confirmation: stored.Confirmation,
		revision:     r.Revision,
	}
	if c.Address, err = sealer.Open(sealName(c.ID, "address"), stored.Address); err != nil {
		return nil, err
	}
	if c.EndToken, err = sealer.Open(sealName(c.ID, "end"), stored.End); err != nil {
		return nil, err
	}
	c.endDigest = digest(c.EndToken)
	return c, nil
}
