package query

import (
	"context"
	"strconv"
	"strings"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
)

// Point is what the parameter as_of means.
type Point struct {
	Seq int64
	// Settled means that the answer never changes. A time after the newest change may
	// mean a later seq soon.
	Settled bool
}

const maxAsOf = 64 // bytes

// Point reads the parameter as_of: a seq, a cursor, a time or a day. It returns nil if
// there is none.
func (q *Service) Point(ctx context.Context, s *catalog.Snapshot, p *Params) (*Point, error) {
	value := p.LimitedText("as_of", maxAsOf)
	if value == "" {
		return nil, nil
	}
	at, reason, err := q.point(ctx, s, value, time.Now())
	if reason != "" && err == nil {
		p.Reject("as_of", value, "%s", reason)
	}
	return at, err
}

func (q *Service) point(
	ctx context.Context,
	s *catalog.Snapshot,
	value string,
	now time.Time,
) (at *Point, reason string, err error) {
	if c, ok := disclosure.ParseCursor(value); ok {
		reason := unknownCursor(s.Head(), c)
		if reason != "" && q.Lacks != nil {
			err = q.Lacks(ctx, c)
		}
		return &Point{c.Seq, true}, reason, err
	}
	t, reason := parseMoment(value, now)
	if reason != "" {
		return nil, reason, nil
	}
	seq, err := q.past.At(ctx, s, t)
	return &Point{seq, seq < s.Seq()}, "", err
}

// unknownCursor returns why a cursor is not a point of the log, or "".
func unknownCursor(head disclosure.Head, c disclosure.Cursor) string {
	if c.Seq > head.Seq {
		return "must not be above the newest seq, " + strconv.FormatInt(head.Seq, 10)
	}
	if c.Epoch == "" || c.Epoch == head.Epoch {
		return ""
	}
	if !head.Had(c.Epoch) {
		return "is the cursor of another log: the cursors of this one begin with " + head.Epoch
	}
	if shared, _ := head.Resume(c); shared < c.Seq {
		return "is a change that was lost when a backup was restored: the log before and this one are the " +
			"same up to seq " + strconv.FormatInt(shared, 10)
	}
	return ""
}

// parseMoment reads a time, or a day, which means its end in Madrid.
func parseMoment(value string, now time.Time) (t time.Time, reason string) {
	if d, ok := disclosure.ParseDay(value); ok {
		end := (d + 1).Start()
		if end.After(now) {
			return t, "must be a day that has ended in Madrid, or a time"
		}
		return end.Add(-time.Microsecond), ""
	}
	// A plus that was not escaped arrives as a space.
	t, err := time.Parse(time.RFC3339, strings.Replace(value, " ", "+", 1))
	switch {
	case err != nil:
		return t, "must be the seq or the cursor of a change, a time with its zone such as " +
			"2026-04-22T10:00:00Z, or a day as YYYY-MM-DD"
	case t.After(now):
		return t, "must not be in the future: it is " + now.UTC().Format(time.RFC3339) + " now"
	}
	return t, ""
}

// Past returns the catalogue as of a point, the present one if at is nil.
func (q *Service) Past(ctx context.Context, s *catalog.Snapshot, at *Point) (*catalog.Snapshot, error) {
	if at == nil {
		return s, nil
	}
	return q.past.State(ctx, s, at.Seq)
}

// ReportAsOf returns the report with an id as it was known at a point.
func (q *Service) ReportAsOf(ctx context.Context, s *catalog.Snapshot, id string, at Point) (*Report, error) {
	known, err := Find(s, id)
	if err != nil {
		return nil, err
	}
	rep, dir, err := q.past.Report(ctx, s, known.ID(), at.Seq)
	if err != nil {
		return nil, err
	}
	if rep == nil {
		return nil, fault.New(fault.NotFound, "The report %s was not known yet as of seq %d.", known.ID(), at.Seq)
	}
	joined := dir.Analyze(rep)
	issuer := rep.IssuerKey()
	if joined.Issuer != nil {
		issuer = joined.Issuer.ID
	}
	out := q.joined(ctx, rep, joined.Ticker, issuer)
	out.AsOfSeq = &at.Seq
	return out, nil
}

// IssuerAsOf returns an issuer as it was known at a point. Its reports are left out if
// too many reports have changed since.
func (q *Service) IssuerAsOf(
	ctx context.Context,
	s *catalog.Snapshot,
	id string,
	by access.Principal,
	at Point,
) (*Issuer, error) {
	id = knownIssuer(s, id)
	dir, err := q.past.Directory(ctx, s, at.Seq)
	if err != nil {
		return nil, err
	}
	state, err := q.past.State(ctx, s, at.Seq)
	if err != nil && fault.KindOf(err) != fault.Invalid {
		return nil, err
	}
	out, err := q.issuer(dir, state, id, by)
	if _, known := findIssuer(s.Directory(), id); err != nil && known == nil {
		return nil, fault.New(fault.NotFound, "No issuer had that id as of seq %d.", at.Seq)
	}
	if err != nil {
		return nil, err
	}
	out.AsOfSeq = &at.Seq
	return out, nil
}
