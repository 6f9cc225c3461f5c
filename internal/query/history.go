package query

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
)

// History is a page of the changes of a report, an issuer or a position, the newest first.
type History struct {
	Data []Version `json:"data"`
	Next *int64    `json:"next_before"` // null on the last page
}

// Version is one change.
type Version struct {
	Seq        int64         `json:"seq"`
	Cursor     string        `json:"cursor"`
	Event      string        `json:"event"`
	OccurredAt time.Time     `json:"occurred_at"`
	Changed    []FieldChange `json:"changed"`
}

// FieldChange is a field with its value before and after a change. Old is null in the
// first change.
type FieldChange struct {
	Field string          `json:"field"`
	Old   json.RawMessage `json:"old"`
	New   json.RawMessage `json:"new"`
}

// HistoryQuery selects a page of a history.
type HistoryQuery struct {
	Before int64 // only lower seqs; 0: from the newest
	Limit  int
}

// ReportHistory returns the changes of a report.
func (q *Service) ReportHistory(ctx context.Context, s *catalog.Snapshot, id string, h HistoryQuery) (*History, error) {
	known, err := Find(s, id)
	if err != nil {
		return nil, err
	}
	return q.history(ctx, s, disclosure.OfReport, known.ID(), h)
}

// IssuerHistory returns the changes of an issuer, by any of its identifiers.
func (q *Service) IssuerHistory(ctx context.Context, s *catalog.Snapshot, id string, h HistoryQuery) (*History, error) {
	known, err := findIssuer(s.Directory(), knownIssuer(s, id))
	if err != nil {
		return nil, err
	}
	return q.history(ctx, s, disclosure.OfIssuer, known.Issuer.ID, h)
}

func (q *Service) history(
	ctx context.Context,
	s *catalog.Snapshot,
	of disclosure.Subject,
	id string,
	h HistoryQuery,
) (*History, error) {
	upTo := s.Seq()
	if h.Before > 0 {
		upTo = min(upTo, h.Before-1)
	}
	changes, err := q.past.Changes(ctx, s, of, id, upTo, h.Limit+1) // and the one before
	if err != nil {
		return nil, err
	}
	out := &History{Data: []Version{}}
	if len(changes) > h.Limit {
		out.Next = &changes[h.Limit-1].Seq
	}
	for i, c := range changes[:min(len(changes), h.Limit)] {
		var before *disclosure.Change
		if i+1 < len(changes) {
			before = &changes[i+1]
		}
		fields, err := q.difference(before, &c)
		if err != nil {
			return nil, err
		}
		out.Data = append(out.Data, Version{
			Seq:        c.Seq,
			Cursor:     disclosure.Cursor{Epoch: s.Head().Epoch, Seq: c.Seq}.String(),
			Event:      string(c.Event),
			OccurredAt: Madrid(c.OccurredAt),
			Changed:    fields,
		})
	}
	return out, nil
}

// derived are the fields of the API that are not a part of a change: they follow from
// the directory, the service or other fields.
var derived = []string{
	"issuer_id", "categories_en", "eu_class", "headline", "headline_en", "suspect_time", "report_count", "latest_reports", "attribution", "as_of_seq",
}

// difference compares what the API shows of two changes, field by field. before is
// nil for the first change.
func (q *Service) difference(before, after *disclosure.Change) ([]FieldChange, error) {
	old, err := q.shown(before)
	if err != nil {
		return nil, err
	}
	current, err := q.shown(after)
	if err != nil {
		return nil, err
	}
	out := []FieldChange{}
	for _, name := range fieldNames(after) {
		if slices.Contains(derived, name) {
			continue
		}
		a, b := old[name], current[name]
		if a == nil {
			a = json.RawMessage("null")
		}
		if !bytes.Equal(a, b) && !(before == nil && string(b) == "[]") {
			out = append(out, FieldChange{name, a, b})
		}
	}
	return out, nil
}

// fieldNames returns the names of the fields that the API shows of a record, in their order.
func fieldNames(c *disclosure.Change) (names []string) {
	shape := reflect.TypeFor[Report]()
	switch c.Of() {
	case disclosure.OfPosition:
		return positionFields(c.Position.Kind)
	case disclosure.OfIssuer:
		shape = reflect.TypeFor[Issuer]()
	}
	for i := range shape.NumField() {
		name, _, _ := strings.Cut(shape.Field(i).Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

// shown returns the fields of a record as the API shows them, without what the
// directory adds.
func (q *Service) shown(c *disclosure.Change) (fields map[string]json.RawMessage, err error) {
	if c == nil {
		return nil, nil
	}
	var record any
	switch c.Of() {
	case disclosure.OfReport:
		record = DescribeReport(c.Report)
	case disclosure.OfPosition:
		record = json.RawMessage(disclosure.AppendPosition(nil, c.Position))
	default:
		record = q.newIssuer(nil, c.Issuer)
	}
	body, err := Encode(record)
	if err != nil {
		return nil, err
	}
	return fields, json.Unmarshal(body, &fields)
}
