package regulator

import (
	"regexp"
	"strconv"
	"time"

	"pregon/internal/disclosure"
)

// Row is a report as read from a list, a permalink page or a feed. Fields that the
// surface does not have are empty.
type Row struct {
	Surface   disclosure.Surface // precision of At; not always the surface of the row
	FromFeed  bool               // read from a feed, which has neither NIF nor document
	Type      disclosure.Type
	Number    int64
	Name      string // of the issuer
	NIF       string // of the issuer, as spelled on the site; not always a NIF
	Category  string
	Title     string // the subject
	At        time.Time
	Later     time.Time // second meaning of a time in the repeated hour of October, or zero
	PDFURL    string    // public link of the document
	SourceURL string    // public link of the page
	Relations []disclosure.Relation
}

// Report returns the report as observed at seen. A report from a feed does not
// count as enriched, even if its time is exact.
func (r *Row) Report(seen time.Time) disclosure.Report {
	out := disclosure.Report{
		ID:          disclosure.ReportID(r.Type, r.Number),
		Type:        r.Type,
		Number:      r.Number,
		CompanyName: r.Name,
		NIF:         r.NIF,
		Title:       r.Title,
		Category:    r.Category,
		PublishedAt: r.At.UTC(),
		TimeFrom:    r.Surface,
		PDFURL:      r.PDFURL,
		SourceURL:   r.SourceURL,
		Related:     r.Relations,
		FirstSeenAt: seen.UTC(),
	}
	if !r.FromFeed {
		out.EnrichedAt = seen.UTC()
	}
	return out
}

var (
	dateForm = regexp.MustCompile(`\b(\d{1,2})/(\d{1,2})/(\d{4})\b`)
	timeForm = regexp.MustCompile(`\b(\d{1,2}):(\d{2})\b`)
)

// wallTime is a local time in Madrid. An hour of October comes twice, so that it may
// mean two instants; an hour of March does not exist.
type wallTime struct {
	year            int
	month           time.Month
	day             int
	hour, min, secs int
}

// instants returns the instant, and the later one when there are two. A time that
// does not exist is read as the one an hour later.
func (w wallTime) instants() (at, later time.Time) {
	t := time.Date(w.year, w.month, w.day, w.hour, w.min, w.secs, 0, time.UTC)
	summer, winter := t.Add(-2*time.Hour), t.Add(-time.Hour)
	isSummer, isWinter := offset(summer) == 2*time.Hour, offset(winter) == time.Hour
	switch {
	case isSummer && isWinter:
		return summer, winter
	case isSummer:
		return summer, time.Time{}
	}
	return winter, time.Time{}
}

func offset(t time.Time) time.Duration {
	_, seconds := t.In(disclosure.Madrid).Zone()
	return time.Duration(seconds) * time.Second
}

// parseWallTime reads a date and a time of day, padded or not.
func parseWallTime(date, clock string) (wallTime, bool) {
	d, t := dateForm.FindStringSubmatch(date), timeForm.FindStringSubmatch(clock)
	if d == nil || t == nil {
		return wallTime{}, false
	}
	w := wallTime{
		year:  atoi(d[3]),
		month: time.Month(atoi(d[2])),
		day:   atoi(d[1]),
		hour:  atoi(t[1]),
		min:   atoi(t[2]),
	}
	return w, w.exists()
}

// exists reports whether the calendar has the date and the day the time.
func (w wallTime) exists() bool {
	day := time.Date(w.year, w.month, w.day, 0, 0, 0, 0, time.UTC)
	return day.Day() == w.day && day.Month() == w.month && w.hour < 24 && w.min < 60 && w.secs < 60
}

// atoi converts digits that a regular expression has matched.
func atoi(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}
