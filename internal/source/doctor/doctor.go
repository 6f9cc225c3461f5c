// Package doctor reads every surface of the regulator and the exchange once, with
// the clients and parsers of the service, and reports of each what was found and
// anything unexpected, with the line of the page.
//
// The answers are on a Tape, which can be saved as a bundle of files and played
// again, so that an answer of the real site becomes a test case.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/document/extract/xls"
	"pregon/internal/fault"
	"pregon/internal/source/exchange"
	"pregon/internal/source/regulator"
)

// Verdict is the result of a check.
type Verdict string

// The verdicts.
const (
	OK      Verdict = "ok"
	Warning Verdict = "warning" // it can be used, but is not as expected
	Failed  Verdict = "failed"  // it cannot be used
	Skipped Verdict = "skipped" // it was not checked
)

// Check is the result of one check.
type Check struct {
	Name     string    `json:"name"`
	Verdict  Verdict   `json:"verdict"`
	Loses    bool      `json:"loses_reports"` // reports would be lost or damaged
	Found    string    `json:"found,omitempty"`
	Findings []Finding `json:"findings,omitempty"`
	Answers  []*Answer `json:"answers,omitempty"` // of a surface, with redirects
}

// Finding is something unexpected.
type Finding struct {
	Line int    `json:"line,omitempty"` // of the last answer, from 1
	Text string `json:"text"`

	grave bool // it makes the check worse than a warning
}

func (f Finding) String() string {
	if f.Line > 0 {
		return fmt.Sprintf("line %d: %s", f.Line, f.Text)
	}
	return f.Text
}

// Odd adds a finding that costs no reports. The line may be 0.
func (c *Check) Odd(line int, format string, args ...any) {
	if c.Verdict == OK {
		c.Verdict = Warning
	}
	c.Findings = append(c.Findings, Finding{Line: line, Text: fmt.Sprintf(format, args...)})
}

// Lose adds a finding because of which reports would be lost.
func (c *Check) Lose(line int, format string, args ...any) {
	c.Odd(line, format, args...)
	c.Loses, c.Findings[len(c.Findings)-1].grave = true, true
}

// Fail adds a finding because of which it cannot be used.
func (c *Check) Fail(line int, format string, args ...any) {
	c.Odd(line, format, args...)
	c.Verdict, c.Findings[len(c.Findings)-1].grave = Failed, true
}

// skip says why it was not checked.
func (c *Check) skip(why string) { c.Verdict, c.Found = Skipped, why }

// Conclude says in a sentence whether reports would be lost, and why.
func Conclude(checks []Check) (conclusion string, ready bool) {
	var lost []string
	for _, c := range checks {
		if c.Loses {
			n := slices.IndexFunc(c.Findings, func(f Finding) bool { return f.grave })
			lost = append(lost, fmt.Sprintf("%s (%s)", c.Name, c.Findings[n]))
		}
	}
	if len(lost) == 0 {
		return "ready", true
	}
	return "reports would be lost: " + strings.Join(lost, "; "), false
}

// Options are the parameters of Run.
type Options struct {
	Regulator *regulator.Client
	Exchange  *exchange.Client
	Tape      *Tape // the transport of both clients
	Now       func() time.Time

	// ReadDocument, if not nil, extracts the text of a document and describes it.
	ReadDocument func(ctx context.Context, body []byte) (string, error)
	// ReadWorkbook, if not nil, reads the cells of a workbook.
	ReadWorkbook func(ctx context.Context, body []byte) (xls.Book, error)
	// Done is called with every check.
	Done func(Check)
}

// Run reads every surface once and returns the checks in the order of reading. The
// error is that of the context.
func Run(ctx context.Context, o Options) ([]Check, error) {
	e := &examiner{Options: o, now: o.Now()}
	for _, t := range disclosure.Types {
		e.series(ctx, t)
	}
	e.document(ctx)
	e.entities(ctx)
	e.registers(ctx)
	e.positions(ctx)
	e.shorts(ctx)
	e.exchange(ctx)
	return e.checks, ctx.Err()
}

// examiner makes the checks and keeps what later ones need.
type examiner struct {
	Options
	now    time.Time
	checks []Check
	held   []Check         // made, and not reported yet
	rows   []regulator.Row // of all lists, in the order of reading
}

// surface is a surface to be read.
type surface struct {
	name   string
	needed bool   // reports are lost without it
	kind   string // part of the expected Content-Type; empty for any
	read   func(*Check) error
}

// check reads a surface. Its result is reported by release.
func (e *examiner) check(ctx context.Context, s surface) *Check {
	c := Check{Name: s.name, Verdict: OK}
	if ctx.Err() != nil {
		return &c
	}
	begin := e.Tape.len()
	err := s.read(&c)
	return e.hold(&c, begin, s.kind, s.needed, err)
}

// hold completes a check by the answers since begin and the error of the read.
func (e *examiner) hold(c *Check, begin int, kind string, needed bool, err error) *Check {
	c.Answers = e.Tape.since(begin)
	c.explain(err)
	if len(c.Answers) > 0 {
		c.inspect(c.Answers[len(c.Answers)-1], kind)
	}
	slices.SortStableFunc(c.Findings, func(a, b Finding) int { return a.Line - b.Line })
	c.Loses = needed && (c.Loses || c.Verdict == Failed)
	e.held = append(e.held, *c)
	return &e.held[len(e.held)-1]
}

// release reports the checks made since the last call.
func (e *examiner) release(ctx context.Context) {
	if ctx.Err() == nil {
		for _, c := range e.held {
			e.Done(c)
		}
		e.checks = append(e.checks, e.held...)
	}
	e.held = nil
}

// explain adds the error of a read. Rows that cannot be read are lost.
func (c *Check) explain(err error) {
	if err == nil {
		return
	}
	if errors.Is(err, errNotSaved) {
		c.skip(errNotSaved.Error())
		return
	}
	if m, ok := errors.AsType[*regulator.MarkupError](err); ok {
		if len(m.Defects) == 0 {
			c.Lose(0, "%s", m.Detail)
		}
		for _, d := range m.Defects {
			c.Lose(d.Line, "%s", d.Text)
		}
		if m.Whole {
			c.Verdict = Failed
		}
		return
	}
	text := err.Error()
	cause := regulator.Cause(err)
	if e, ok := errors.AsType[*url.Error](cause); ok {
		cause = e.Err // without the address, which the text has
	}
	if cause != nil && !strings.Contains(text, cause.Error()) {
		text += ": " + cause.Error()
	}
	c.Fail(0, "%s", text)
}

// missing reports whether the source says that a page does not exist.
func missing(err error) bool { return fault.KindOf(err) == fault.NotFound }

// tell describes rows.
func tell(rows []regulator.Row) string {
	if len(rows) == 0 {
		return "no reports"
	}
	newest := slices.MaxFunc(rows, func(a, b regulator.Row) int { return int(a.Number - b.Number) })
	return fmt.Sprintf("%s, newest %s at %s", count(len(rows), "report"), name(&newest), inMadrid(newest.At))
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

func name(r *regulator.Row) string { return disclosure.ReportID(r.Type, r.Number) }

func inMadrid(t time.Time) string { return t.In(disclosure.Madrid).Format("2006-01-02 15:04") }
