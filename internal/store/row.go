package store

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"pregon/internal/disclosure"
)

// Row is a change as both engines store it. The body is the JSON of the record,
// kept byte for byte.
type Row struct {
	Seq        int64
	Event      string
	Subject    string
	OccurredAt time.Time
	Changed    string // names joined by commas
	Body       string
}

// EncodeRow turns a change into its row.
func EncodeRow(c disclosure.Change) (Row, error) {
	var record any = c.Report
	if c.Report == nil {
		record = c.Issuer
	}
	body, err := json.Marshal(record)
	if err != nil {
		return Row{}, fmt.Errorf("encoding %s: %w", c.Subject(), err)
	}
	return Row{
		Seq: c.Seq, Event: string(c.Event), Subject: c.Subject(), OccurredAt: c.OccurredAt,
		Changed: strings.Join(c.Changed, ","), Body: string(body),
	}, nil
}

// Decode turns a row back into its change.
func (r Row) Decode() (disclosure.Change, error) {
	c := disclosure.Change{Seq: r.Seq, Event: disclosure.Event(r.Event), OccurredAt: r.OccurredAt.UTC()}
	if r.Changed != "" {
		c.Changed = strings.Split(r.Changed, ",")
	}
	var err error
	if c.Event == disclosure.IssuerUpdated {
		c.Issuer = new(disclosure.Issuer)
		err = json.Unmarshal([]byte(r.Body), c.Issuer)
	} else {
		c.Report, err = disclosure.DecodeReport(r.Body)
	}
	if err != nil {
		return disclosure.Change{}, fmt.Errorf("change %d of the log cannot be read: %w", r.Seq, err)
	}
	return c, nil
}
