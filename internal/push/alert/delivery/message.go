package delivery

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/push/alert"
	"pregon/internal/push/alert/message"
	"pregon/internal/retry"
	"pregon/internal/store"
)

const maxReadTime = 30 * time.Second // for changes that the catalogue does not have yet

// compose returns the message of deliveries. Reports and positions are as they are now, so
// that facts are in it that became known after the change.
func (d *dispatcher) compose(ctx context.Context, c *alert.Channel, some []store.Delivery) (*message.Message, error) {
	shown := some[:min(len(some), message.MaxItems)]
	changes, err := d.read(ctx, shown)
	if err != nil {
		return nil, err
	}
	m := &message.Message{
		ID:       messageID(c.ID, some),
		Kind:     message.News,
		Language: c.Language,
		At:       time.Now(),
		More:     len(some) - len(shown),
		Links:    d.o.Links(*c),
	}
	directory := d.o.Directory()
	for i := range changes {
		change := &changes[i]
		var issuer *disclosure.Issuer
		switch change.Of() {
		case disclosure.OfReport:
			issuer = directory.IssuerOf(change.Report)
		case disclosure.OfPosition:
			issuer = directory.AnalyzePosition(change.Position).Issuer
		}
		if item, ok := d.o.Writer.Item(change, issuer, c.Language); ok {
			m.Items = append(m.Items, item)
		}
	}
	if len(m.Items) == 0 {
		return nil, errors.New("the changes are not in the log")
	}
	m.Links.All += "?" + days(m).Encode()
	return m, nil
}

// days returns the parameters of a list with the days of a message.
func days(m *message.Message) url.Values {
	var from, to disclosure.Day
	for i := range m.Items {
		day := disclosure.DayOf(m.Items[i].At)
		if from == 0 || day < from {
			from = day
		}
		to = max(to, day)
	}
	return url.Values{
		"from": {from.String()},
		"to":   {to.String()},
		"lang": {m.Language},
	}
}

// messageID returns the same id for the same events of a channel, and another one if there
// are others: receivers may drop a message with an id that they have.
func messageID(channel string, some []store.Delivery) string {
	sum := sha256.New()
	for _, d := range some {
		fmt.Fprintf(sum, "%s %d\n", d.Epoch, d.Seq)
	}
	return channel + "." + hex.EncodeToString(sum.Sum(nil)[:12])
}

// read returns the changes of deliveries, with reports and positions as they are now.
func (d *dispatcher) read(ctx context.Context, some []store.Delivery) ([]disclosure.Change, error) {
	before, err := d.store.Head(ctx)
	if err != nil {
		return nil, err
	}
	seqs := make([]int64, len(some))
	last := disclosure.Cursor{Epoch: before.Epoch}
	for i := range some {
		seqs[i] = some[i].Seq
		last.Seq = max(last.Seq, some[i].Seq)
	}
	// The catalogue of this process may be behind, and the directory with it.
	for start := time.Now(); !d.catalogHas(last); _ = retry.Sleep(ctx, 5*time.Millisecond) {
		if d.queue.Ended() || ctx.Err() != nil || time.Since(start) > maxReadTime {
			return nil, errors.New("the catalogue does not have them yet")
		}
	}
	changes, err := d.store.ChangesAt(ctx, seqs...)
	if err != nil {
		return nil, err
	}
	if len(changes) != len(seqs) { // a replica may be behind the catalogue
		return nil, fmt.Errorf("the store returned %d changes of %d", len(changes), len(seqs))
	}
	if err := d.update(ctx, changes); err != nil {
		return nil, err
	}
	after, err := d.store.Head(ctx)
	if err != nil || after.Epoch != before.Epoch {
		return nil, cmp.Or(err, errors.New("a backup of the store was restored meanwhile"))
	}
	return changes, nil
}

// update replaces the reports and positions of changes with those of now.
func (d *dispatcher) update(ctx context.Context, changes []disclosure.Change) error {
	var reports, positions []string
	for i := range changes {
		switch c := &changes[i]; c.Of() {
		case disclosure.OfReport:
			reports = append(reports, c.Report.ID)
		case disclosure.OfPosition:
			positions = append(positions, c.Position.ID)
		}
	}
	report := map[string]*disclosure.Report{}
	if len(reports) > 0 {
		all, err := d.store.Reports(ctx, reports...)
		if err != nil {
			return err
		}
		for i := range all {
			report[all[i].ID] = &all[i]
		}
	}
	position := map[string]*disclosure.Position{}
	if len(positions) > 0 {
		all, err := d.store.Positions(ctx, positions...)
		if err != nil {
			return err
		}
		for i := range all {
			position[all[i].ID] = &all[i]
		}
	}
	for i := range changes {
		switch c := &changes[i]; c.Of() {
		case disclosure.OfReport:
			c.Report = cmp.Or(report[c.Report.ID], c.Report)
		case disclosure.OfPosition:
			c.Position = cmp.Or(position[c.Position.ID], c.Position)
		}
	}
	return nil
}

// catalogHas reports whether the catalogue contains a change.
func (d *dispatcher) catalogHas(c disclosure.Cursor) bool {
	head := d.o.Encoder.Head()
	return head.Epoch == c.Epoch && head.Seq >= c.Seq
}
