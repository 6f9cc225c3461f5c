package doctor

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/source/health"
	"pregon/internal/source/regulator"
	"pregon/internal/source/throttle"
)

const (
	// permalinkPages is the number of pages of reports that are read until one has a tax
	// number. One report in thirty has none, so that three of them are no coincidence.
	permalinkPages = 3

	listDays = 7 // of the lists that are read, as in the first round of ingest
	// settled is the age from which a report should be on every surface.
	settled = 2 * time.Minute
	// ahead is how far in the future a time may be: clocks differ, and lists have minutes.
	ahead = 2 * time.Minute
	// silence is longer than any pause of a series whose reports come every day, and
	// shorter than listDays.
	silence = 5 * 24 * time.Hour
)

// series checks the feed, the lists and a page of a series.
func (e *examiner) series(ctx context.Context, t disclosure.Type) {
	defer e.release(ctx)
	var feed, listed []regulator.Row
	e.check(ctx, surface{health.Feed(t), true, "xml", func(c *Check) error {
		f, err := e.Regulator.Feed(ctx, t, [32]byte{})
		feed, c.Found = f.Rows, tell(f.Rows)
		e.times(c, feed)
		return err
	}})
	if t == disclosure.HR {
		for _, address := range regulator.LatestHRPages {
			listed = append(listed, e.latestHR(ctx, address)...)
		}
	} else {
		listed = e.list(ctx, t)
	}
	e.rows = append(e.rows, listed...)
	e.compare(t, feed, listed)
	e.permalink(ctx, t, append(slices.Clone(feed), listed...))
}

// list checks the newest page of the list of a series.
func (e *examiner) list(ctx context.Context, t disclosure.Type) (rows []regulator.Row) {
	today := disclosure.DayOf(e.now)
	e.check(ctx, surface{health.List(t), true, "text/html", func(c *Check) error {
		from := today - listDays + 1
		list, err := e.Regulator.For(throttle.Reconcile).List(ctx, t, from, today, 0)
		rows = list.Rows
		c.Found = fmt.Sprintf("%s, page %d of %d", tell(rows), list.Page+1, max(1, list.Pages))
		c.unknown(list)
		if err == nil && len(rows) == 0 {
			c.Lose(0, "the list of %d days is empty", listDays)
		}
		e.times(c, rows)
		e.gaps(c, rows)
		if t == disclosure.OIR {
			e.recent(c, rows)
		}
		for _, row := range rows {
			if day := disclosure.DayOf(row.At); day < from || day > today {
				c.Odd(e.lineOf(&row), "%s is of %s, outside the requested days", name(&row), day)
			}
		}
		return err
	}})
	return rows
}

// latestHR checks a page of the latest HR. That of venture capital may be empty.
func (e *examiner) latestHR(ctx context.Context, address string) (rows []regulator.Row) {
	e.check(ctx, surface{
		health.List(disclosure.HR) + "/" + path.Base(address), true, "text/html",
		func(c *Check) error {
			list, err := e.Regulator.For(throttle.Reconcile).LatestHR(ctx, address)
			rows, c.Found = list.Rows, tell(list.Rows)
			c.unknown(list)
			if address == regulator.HRFunds {
				if err == nil && len(rows) == 0 {
					c.Lose(0, "the page of the latest reports is empty")
				}
				e.recent(c, rows)
			}
			e.times(c, rows)
			return err
		},
	})
	return rows
}

// unknown adds the cells that the parser does not read.
func (c *Check) unknown(list regulator.List) {
	for _, d := range list.Unknown {
		c.Odd(d.Line, "%s", d.Text)
	}
}

// lineOf returns the line of a row in the last answer.
func (e *examiner) lineOf(row *regulator.Row) int {
	return lineOfNumber(e.Tape.last().body, row.Number)
}

// times adds rows whose time cannot be right.
func (e *examiner) times(c *Check, rows []regulator.Row) {
	for _, row := range rows {
		if row.At.After(e.now.Add(ahead)) {
			c.Odd(e.lineOf(&row), "%s is of %s, in the future", name(&row), inMadrid(row.At))
		}
	}
}

// recent adds that the newest of some rows is old.
func (e *examiner) recent(c *Check, rows []regulator.Row) {
	if len(rows) > 0 && !slices.ContainsFunc(rows, func(r regulator.Row) bool { return e.now.Sub(r.At) < silence }) {
		c.Odd(0, "no report is newer than %d days", int(silence.Hours()/24))
	}
}

// gaps adds numbers that are missing within a page. Numbers of a series are dense.
func (e *examiner) gaps(c *Check, rows []regulator.Row) {
	var numbers []int64
	for _, row := range rows {
		numbers = append(numbers, row.Number)
	}
	slices.Sort(numbers)
	for n := 1; n < len(numbers); n++ {
		if first, last := numbers[n-1]+1, numbers[n]-1; first == last {
			c.Odd(0, "number %d is missing", first)
		} else if first < last {
			c.Odd(0, "numbers %d to %d are missing", first, last)
		}
	}
}

// compare adds to the checks of a series what only one of feed and list shows. The
// feed shows everything since the close of the last session.
func (e *examiner) compare(t disclosure.Type, feed, listed []regulator.Row) {
	before := e.now.Add(-settled)
	checkOf := func(name string) *Check {
		for n := range e.held {
			if e.held[n].Name == name {
				return &e.held[n]
			}
		}
		return nil
	}
	if c := checkOf(health.Feed(t)); c != nil && c.Verdict != Failed {
		for _, row := range listed {
			if row.At.After(lastClose(e.now)) && row.At.Before(before) && !shows(feed, row.Number) {
				c.Odd(0, "it does not show %s of %s, which the list shows", name(&row), inMadrid(row.At))
			}
		}
	}
	c := checkOf(health.List(t))
	if c == nil || c.Verdict == Failed || len(listed) == 0 {
		return
	}
	oldest := slices.MinFunc(listed, func(a, b regulator.Row) int { return int(a.Number - b.Number) })
	for _, row := range feed {
		if row.Number > oldest.Number && row.At.Before(before) && !shows(listed, row.Number) {
			c.Odd(0, "it does not show %s of %s, which the feed shows", name(&row), inMadrid(row.At))
		}
	}
}

func shows(rows []regulator.Row, number int64) bool {
	return slices.ContainsFunc(rows, func(r regulator.Row) bool { return r.Number == number })
}

// lastClose returns the time of the last close of a session, with some minutes of
// tolerance after it. On holidays it is too late, which hides nothing.
func lastClose(now time.Time) time.Time {
	now = now.In(disclosure.Madrid)
	at := time.Date(now.Year(), now.Month(), now.Day(), 17, 45, 0, 0, disclosure.Madrid)
	for at.After(now) || at.Weekday() == time.Saturday || at.Weekday() == time.Sunday {
		at = at.AddDate(0, 0, -1)
	}
	return at
}

// permalink checks the page of the newest report that another surface shows. A report
// may have no tax number, as those of some foreign issuers: then the pages of the reports
// before it are read too, and only if all of them have none it is a finding.
func (e *examiner) permalink(ctx context.Context, t disclosure.Type, known []regulator.Row) {
	e.check(ctx, surface{health.Permalink(t), true, "text/html", func(c *Check) error {
		if len(known) == 0 {
			c.skip("neither feed nor list shows a report")
			return nil
		}
		newest := newestRows(known, permalinkPages)
		for n := range newest {
			row, err := e.permalinkPage(ctx, c, t, &newest[n])
			if err != nil {
				return err
			}
			if row.NIF != "" {
				return nil
			}
		}
		c.Odd(0, "no page of the newest %d reports has the tax number of the issuer", len(newest))
		return nil
	}})
}

// newestRows returns the n rows with the highest numbers, each number once, the newest
// first.
func newestRows(rows []regulator.Row, n int) []regulator.Row {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b regulator.Row) int { return cmp.Compare(b.Number, a.Number) })
	rows = slices.CompactFunc(rows, func(a, b regulator.Row) bool { return a.Number == b.Number })
	return rows[:min(n, len(rows))]
}

// permalinkPage reads the page of a report and compares it with the row of another
// surface.
func (e *examiner) permalinkPage(
	ctx context.Context, c *Check, t disclosure.Type, want *regulator.Row,
) (regulator.Row, error) {
	row, err := e.Regulator.For(throttle.Permalinks).Permalink(ctx, t, want.Number)
	if err != nil {
		return row, err
	}
	if c.Found == "" {
		c.Found = fmt.Sprintf("%s of %s at %s", name(&row), row.Name,
			row.At.In(disclosure.Madrid).Format("2006-01-02 15:04:05"))
	}
	line := e.lineOf(&row)
	if row.Surface != disclosure.FromPermalink {
		c.Odd(0, "%s has no time of publication with seconds (article:published_time)", name(&row))
	}
	if d := row.At.Sub(want.At).Abs(); d > time.Minute {
		c.Odd(line, "the time of %s differs from that of another surface by %v", name(&row), d.Round(time.Second))
	}
	if row.Title != want.Title {
		c.Odd(line, "the subject of %s differs from that of another surface: %.80q, not %.80q",
			name(&row), row.Title, want.Title)
	}
	return row, nil
}
