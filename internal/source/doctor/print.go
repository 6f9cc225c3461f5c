package doctor

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"pregon/internal/text"
)

// maxPrinted is how many findings of a check are printed. JSON has all.
const maxPrinted = 5

// Print writes a check as a line, and each finding indented on a line of its own.
func (c *Check) Print(w io.Writer) {
	var parts []string
	if c.Found != "" {
		parts = append(parts, c.Found)
	}
	if n := len(c.Answers); n > 0 {
		parts = append(parts, c.Answers[n-1].describe(n-1))
	}
	fmt.Fprintf(w, "%-7s  %s: %s\n", c.Verdict, c.Name, strings.Join(parts, "; "))
	for n, f := range c.Findings {
		if n == maxPrinted {
			fmt.Fprintf(w, "         and %d more\n", len(c.Findings)-n)
			break
		}
		fmt.Fprintf(w, "         %s\n", f)
	}
}

// Row is a row of the summary of checks.
type Row struct {
	Name    string
	Verdict Verdict
	Note    string
}

// maxNote is how many characters of a note are in a summary. The line of the check has all.
const maxNote = 72

// Summarize returns a row for each check in a few words. Checks whose names begin alike, such
// as registers/…, share a row while they are ok.
func Summarize(checks []Check) (rows []Row) {
	shared := map[string]int{} // the row of a family of checks
	counts := map[string]int{}
	for _, c := range checks {
		family, _, _ := strings.Cut(c.Name, "/")
		at, seen := shared[family]
		switch {
		case c.Verdict == OK && seen:
			rows[at].Name = family
			rows[at].Note = count(counts[family]+1, "check")
		case c.Verdict == OK:
			shared[family] = len(rows)
			rows = append(rows, Row{c.Name, OK, c.note()})
		default:
			rows = append(rows, Row{c.Name, c.Verdict, c.note()})
		}
		if c.Verdict == OK {
			counts[family]++
		}
	}
	return rows
}

// note returns the finding that decided the verdict, or else what was found, in one line.
func (c *Check) note() string {
	note := c.Found
	if len(c.Findings) > 0 {
		at := max(0, slices.IndexFunc(c.Findings, func(f Finding) bool { return f.grave }))
		note = c.Findings[at].String()
	}
	return text.Clip(strings.Join(strings.Fields(note), " "), maxNote)
}

// describe returns what was received, after a number of earlier answers.
func (a *Answer) describe(before int) string {
	if a.Status == 0 {
		return fmt.Sprintf("no answer in %.1f s from %s", a.Seconds, a.Request)
	}
	kind, _, _ := strings.Cut(a.Header.Get("Content-Type"), ";")
	text := fmt.Sprintf("%d %s, %d bytes in %.1f s from %s", a.Status, kind, a.Bytes, a.Seconds, a.Request)
	if before > 0 {
		text += fmt.Sprintf(" (%s before it)", count(before, "answer"))
	}
	return text
}

// Skew returns how far this machine's clock is ahead of those of the sites, and false
// if no answer had a date. It takes the answer that says the most: dates have
// seconds, and an answer takes a while.
func (t *Tape) Skew() (skew time.Duration, known bool) {
	for _, a := range t.since(0) {
		date, err := http.ParseTime(a.Header.Get("Date"))
		if err != nil {
			continue
		}
		// The server's clock was from date to date+1s at some time from sent to a.At.
		sent := a.At.Add(-time.Duration(a.Seconds * float64(time.Second)))
		var off time.Duration
		switch {
		case sent.After(date.Add(time.Second)):
			off = sent.Sub(date.Add(time.Second))
		case a.At.Before(date):
			off = a.At.Sub(date)
		}
		if !known || off.Abs() < skew.Abs() {
			skew, known = off, true
		}
	}
	return skew, known
}
