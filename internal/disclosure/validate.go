package disclosure

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"pregon/internal/fault"
	"pregon/internal/text"
)

// earliest and latest bound plausible times: the register begins in 1988.
var (
	earliest = time.Date(1988, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
)

// Validate completes the id and returns an error that lists every invalid field
// of a report from outside. It converts the times to UTC.
func (r *Report) Validate() error {
	var bad problems
	if _, ok := ParseType(string(r.Type)); !ok {
		bad.add("type", string(r.Type), "use IP, HR or OIR")
	}
	if _, ok := ParseNumber(strconv.FormatInt(r.Number, 10)); !ok {
		bad.add("cnmv_registration_number", strconv.FormatInt(r.Number, 10),
			"must be a positive number of 18 digits at most")
	}
	if id := ReportID(r.Type, r.Number); r.ID == "" {
		r.ID = id
	} else if r.ID != id && len(bad) == 0 {
		bad.add("id", r.ID, "type and number make it "+id)
	}
	for i := range fields {
		if validate := fields[i].validate; validate != nil {
			validate(&bad, r)
		}
	}
	return bad.err("report")
}

func (a *Relation) validate(bad *problems) {
	number := strconv.FormatInt(a.Number, 10)
	if _, ok := ParseNumber(number); !ok {
		bad.add("related", number, "must be a positive number of 18 digits at most")
	}
	if _, n, ok := ParseReportID(a.ID); ok && n != a.Number {
		bad.add("related", a.ID, "is not the report with the number "+number)
	}
	bad.reportID("related", a.ID)
	bad.instant("related", &a.At)
	bad.text("related", a.Text, false)
}

// problems collects the invalid fields of a record.
type problems []fault.Field

func (p *problems) add(name, value, reason string) {
	*p = append(*p, fault.Field{Name: name, Value: value, Reason: reason})
}

func (p *problems) text(name, value string, required bool) {
	switch {
	case strings.TrimSpace(value) == "":
		if required {
			p.add(name, value, "is missing")
		} else if value != "" {
			p.add(name, value, "must not be blank")
		}
	case !utf8.ValidString(value):
		p.add(name, value, "must be UTF-8")
	case strings.ContainsFunc(value, isForbidden):
		p.add(name, value, "must not hold control characters")
	}
}

// maxIdent is more than the length of any identifier, and less than the limit of
// a database index.
const maxIdent = 200

func (p *problems) ident(name, value string) {
	if len(value) > maxIdent {
		p.add(name, value, "is too long")
		return
	}
	p.text(name, value, false)
}

func (p *problems) reportID(name, value string) {
	if value == "" {
		return
	}
	if t, n, ok := ParseReportID(value); !ok || ReportID(t, n) != value {
		p.add(name, value, "must be the id of a report, such as oir-40374")
	}
}

// instant converts a time to UTC and checks that it is plausible. A zero time is
// valid.
func (p *problems) instant(name string, t *time.Time) {
	if t.IsZero() {
		return
	}
	if t.Before(earliest) || t.After(latest) {
		p.add(name, t.Format(time.RFC3339), "must lie between 1988 and 2100")
	}
	*t = t.UTC()
}

func isForbidden(c rune) bool { return unicode.IsControl(c) && c != '\n' && c != '\t' && c != '\r' }

func (p *problems) link(name, value string) {
	if value == "" {
		return
	}
	u, err := url.Parse(value)
	if err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
		p.add(name, value, "must be an http or https address")
	}
}

func (p problems) err(what string) error {
	if len(p) == 0 {
		return nil
	}
	parts := make([]string, len(p))
	for i, f := range p {
		parts[i] = f.Name + " " + f.Reason
		if f.Value != "" {
			parts[i] = fmt.Sprintf("%s %q %s", f.Name, text.Clip(f.Value, maxShown), f.Reason)
		}
	}
	return &fault.Error{Kind: fault.Invalid, Message: what + ": " + strings.Join(parts, "; "), Fields: p}
}

// maxShown is how many characters of a wrong value an error message shows.
const maxShown = 60
