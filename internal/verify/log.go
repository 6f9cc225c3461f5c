package verify

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/store"
	"pregon/internal/store/relational"
)

// subject identifies an issuer, a report or a position. Their ids are independent.
type subject struct {
	of disclosure.Subject
	id string
}

func (s subject) String() string { return string(s.of) + " " + s.id }

// table is the table of pointers.
func (s subject) table() string { return string(s.of) }

func reportOf(id string) subject { return subject{disclosure.OfReport, id} }

type hash [32]byte

func (h hash) String() string { return hex.EncodeToString(h[:]) }

// state is what the log says of a subject.
type state struct {
	seq     int64 // of its newest change
	text    hash  // of the document, if ready
	ready   bool
	detail  hash // of the evidence of its facts, if proved
	proved  bool
	link    bool // the document can be fetched
	unknown bool // the newest change cannot be decoded
	pointed bool // it was found in the table of pointers
	filed   bool // it was found in filed_document
}

// replay is the present state by the log.
type replay struct {
	subjects map[subject]state
	head     int64 // up to which the log was read
	complete bool  // the log was read to its end
}

const page = 1000 // rows of the log that are read at once

// checkLog reads the log, what is derived from it, and what refers to it, in one
// snapshot.
func (c *Checker) checkLog(ctx context.Context) error {
	return c.base.Snapshot(ctx, func(tx relational.Tx) error {
		for _, check := range []func(context.Context, relational.Tx) error{
			c.readLog, c.checkPointers, c.checkNames, c.checkFiled, c.checkReadyTexts, c.checkEvidence, c.checkDeliveries,
		} {
			if err := check(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	})
}

func (c *Checker) readLog(ctx context.Context, tx relational.Tx) error {
	var head, leaves int64
	var epoch, past string
	found, err := relational.One(ctx, tx, []any{&head, &epoch, &past, &leaves},
		`SELECT seq, epoch, past, leaves FROM log_head`)
	if err != nil {
		return err
	}
	_, err = disclosure.ParsePast(past)
	if !found || epoch == "" || err != nil {
		c.found(Finding{
			Kind:  LogHead,
			Where: "log_head",
			Text:  "the counter of the log is missing, or has no valid epoch",
		})
	}
	hashes := hashReader{c: c, tx: tx, leaves: leaves}
	const before = -1 << 62 // there is no change 0
	expected, after := int64(1), int64(before)
	for {
		rows, err := readRows(ctx, tx, `seq > $1 ORDER BY seq LIMIT $2`, after, page)
		if err != nil {
			return fmt.Errorf("after change %d: %w", after, err)
		}
		for _, r := range rows {
			c.checkSeq(&expected, r.Seq)
			if err := hashes.check(ctx, r); err != nil {
				return err
			}
		}
		if err := c.checkRows(ctx, tx, rows); err != nil {
			return err
		}
		if len(rows) > 0 {
			after = rows[len(rows)-1].Seq
		}
		c.progress("reading the log", after, head)
		if len(rows) < page {
			break
		}
	}
	if err := hashes.end(ctx); err != nil {
		return err
	}
	c.log.head, c.log.complete = max(after, 0), true
	switch {
	case expected <= head:
		c.gap(expected, head)
	case after > head:
		c.found(Finding{
			Kind:  LogHead,
			Where: fmt.Sprintf("change %d", after),
			Text:  fmt.Sprintf("the counter of the log says that change %d is the newest", head),
		})
	case leaves > head:
		c.found(Finding{
			Kind:  LogHead,
			Where: fmt.Sprintf("change %d", leaves),
			Text:  fmt.Sprintf("it is hashed, but change %d is the newest", head),
		})
	}
	return nil
}

func (c *Checker) checkSeq(expected *int64, seq int64) {
	switch {
	case seq < *expected:
		c.found(Finding{Kind: LogGap, Where: fmt.Sprintf("change %d", seq), Text: "the log begins with change 1"})
		return
	case seq > *expected:
		c.gap(*expected, seq-1)
	}
	*expected = seq + 1
}

func (c *Checker) gap(first, last int64) {
	c.found(Finding{Kind: LogGap, Where: changes(first, last), Text: "missing in the log"})
}

// changes names the changes of a range.
func changes(first, last int64) string {
	if last > first {
		return fmt.Sprintf("changes %d to %d", first, last)
	}
	return fmt.Sprintf("change %d", first)
}

func readRows(ctx context.Context, tx relational.Tx, where string, args ...any) (rows []store.Row, err error) {
	var r store.Row
	dest := []any{&r.Subject, &r.Seq, &r.Event, &r.OccurredAt, &r.Changed, &r.Body, &r.Name}
	err = relational.Each(ctx, tx, dest, func() error {
		rows = append(rows, r)
		return nil
	}, `SELECT subject, `+relational.RowColumns+` FROM change WHERE `+where, args...)
	return rows, err
}

// checkRows checks a page of the log. The changes before those of the page are
// read from the log again, so that memory does not grow with it.
func (c *Checker) checkRows(ctx context.Context, tx relational.Tx, rows []store.Row) error {
	changes, earlier := make([]*disclosure.Change, len(rows)), []int64(nil)
	wanted := map[subject]bool{}
	for i, r := range rows {
		change, err := r.Decode()
		if err != nil {
			c.found(Finding{Kind: LogRow, Where: rowName(r), Text: err.Error()})
			continue
		}
		changes[i] = &change
		s := subjectOf(&change)
		if known, ok := c.log.subjects[s]; ok && !wanted[s] && !known.unknown {
			wanted[s] = true
			earlier = append(earlier, known.seq)
		}
	}
	last, err := c.readBefore(ctx, tx, earlier)
	if err != nil {
		return err
	}
	now := time.Now()
	for i, r := range rows {
		if changes[i] == nil {
			c.log.lose(subject{disclosure.Event(r.Event).Of(), r.Subject}, r.Seq)
			continue
		}
		c.checkRow(r, changes[i], last, now)
		last[subjectOf(changes[i])] = changes[i]
		c.log.add(changes[i])
		if p := changes[i].Position; p != nil {
			c.seals.add(p)
		}
	}
	return nil
}

func rowName(r store.Row) string { return fmt.Sprintf("change %d (%s)", r.Seq, r.Subject) }

func subjectOf(c *disclosure.Change) subject { return subject{c.Of(), c.Subject()} }

// readBefore returns the changes with some seqs, by subject.
func (c *Checker) readBefore(
	ctx context.Context,
	tx relational.Tx,
	seqs []int64,
) (map[subject]*disclosure.Change, error) {
	last := make(map[subject]*disclosure.Change, len(seqs))
	if len(seqs) == 0 {
		return last, nil
	}
	rows, err := readRows(ctx, tx, `seq `+c.base.SQL.In(`$1`), seqs)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		change, err := r.Decode()
		if err != nil {
			return nil, err // it was decoded before
		}
		last[subjectOf(&change)] = &change
	}
	return last, nil
}

func (c *Checker) checkRow(r store.Row, change *disclosure.Change, last map[subject]*disclosure.Change, now time.Time) {
	s, where := subjectOf(change), rowName(r)
	if s.id != r.Subject {
		c.found(Finding{Kind: LogSubject, Where: where, Text: fmt.Sprintf("its record has the id %q", s.id)})
	}
	if err := valid(change); err != nil {
		c.found(Finding{Kind: LogRow, Where: where, Text: err.Error()})
	}
	if !plausible(change.OccurredAt, now) {
		c.found(Finding{Kind: LogTime, Where: where, Text: "it occurred at " +
			change.OccurredAt.Format(time.RFC3339Nano)})
	}
	if c.log.subjects[s].unknown {
		return // it cannot be compared
	}
	if err := Change(last[s], change); err != nil {
		c.found(Finding{Kind: LogStep, Where: where, Text: err.Error()})
	}
}

// lose records a change that cannot be decoded.
func (l *replay) lose(s subject, seq int64) {
	l.subjects[subject{s.of, strings.Clone(s.id)}] = state{seq: seq, unknown: true}
}

// add records a change as the newest of its subject.
func (l *replay) add(c *disclosure.Change) {
	s := subjectOf(c)
	now := state{seq: c.Seq}
	if c.Report != nil {
		d := &c.Report.Document
		if d.Status == disclosure.DocumentReady {
			now.text, now.ready = parseHash(d.SHA256)
		}
		now.link = c.Report.PDFURL != ""
		now.detail, now.proved = parseHash(c.Report.FactsDetail)
	}
	if _, known := l.subjects[s]; !known {
		s.id = strings.Clone(s.id) // it is a part of the row
	}
	l.subjects[s] = now
}
