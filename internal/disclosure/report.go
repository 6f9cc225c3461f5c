package disclosure

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"pregon/internal/fault"
)

// Report is one filing. Empty strings stand for null. Its JSON form is what
// the store keeps, `export` writes and `import` reads; the names are those of
// the contract where it has one.
type Report struct {
	ID          string    `json:"id"` // see ReportID
	Type        Type      `json:"type"`
	Number      int64     `json:"cnmv_registration_number,string"`
	CompanyName string    `json:"company_name"`
	NIF         string    `json:"nif,omitempty"`    // as the source prints it; not always a NIF
	Ticker      string    `json:"ticker,omitempty"` // the filing's own; the directory may know one
	Title       string    `json:"title"`            // the subject line as filed
	Summary     string    `json:"summary,omitempty"`
	PublishedAt time.Time `json:"published_at"`
	Category    string    `json:"category,omitempty"` // the regulator's heading, unsplit: see Categories
	PDFURL      string    `json:"pdf_url,omitempty"`  // set only when the link is a document
	SourceURL   string    `json:"source_url,omitempty"`

	// Stage clocks: when the filing reached each stage of the service.
	FirstSeenAt time.Time `json:"first_seen_at,omitzero"`
	AvailableAt time.Time `json:"available_at,omitzero"`
}

// ReportID joins type and number: the three series count independently, so
// only the pair names a filing.
func ReportID(t Type, number int64) string {
	return t.lower() + "-" + strconv.FormatInt(number, 10)
}

// ParseReportID reads an id such as oir-40374; letters of any case.
func ParseReportID(id string) (Type, int64, bool) {
	series, digits, _ := strings.Cut(id, "-")
	t, ok := ParseType(strings.ToUpper(series))
	if !ok {
		return "", 0, false
	}
	n, ok := ParseNumber(digits)
	return t, n, ok
}

// ParseNumber reads a registration number as the regulator prints it: digits,
// no sign, no leading zero.
func ParseNumber(s string) (int64, bool) {
	if !isDigits(s) || s[0] == '0' || len(s) > 18 {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

// IssuerKey is the id under which the directory would hold the filing's
// issuer: the normal NIF, else the regulator's own code in lower case, else
// nothing.
func (r *Report) IssuerKey() string {
	return IssuerKey(r.NIF)
}

// Categories splits the heading: several are joined by " - ", and the
// regulator's spacing is not to be relied on.
func (r *Report) Categories() []string { return SplitCategories(r.Category) }

// SplitCategories splits a heading into its categories, spaces collapsed,
// repeats and empties dropped.
func SplitCategories(heading string) []string {
	var out []string
	for part := range strings.SplitSeq(" "+strings.Join(strings.Fields(heading), " ")+" ", " - ") {
		part = strings.TrimSpace(part)
		if part == "" || slices.Contains(out, part) {
			continue
		}
		out = append(out, part)
	}
	return out
}

// CompareReports orders a list: newest first, then the higher number, then the
// type. It returns a negative number when a comes before b.
func CompareReports(a, b *Report) int {
	return cmp.Or(
		b.PublishedAt.Compare(a.PublishedAt),
		cmp.Compare(b.Number, a.Number),
		cmp.Compare(a.Type, b.Type),
	)
}

// Earliest and latest plausible publication: the register begins in 1988.
var (
	earliest = time.Date(1988, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
)

// Validate completes the id and tells everything that is wrong with a report
// that comes from outside.
func (r *Report) Validate() error {
	var bad problems
	if _, ok := ParseType(string(r.Type)); !ok {
		bad.add("type", string(r.Type), "use IP, HR or OIR")
	}
	if _, ok := ParseNumber(strconv.FormatInt(r.Number, 10)); !ok {
		bad.add("cnmv_registration_number", strconv.FormatInt(r.Number, 10), "must be a positive number of 18 digits at most")
	}
	if id := ReportID(r.Type, r.Number); r.ID == "" {
		r.ID = id
	} else if r.ID != id && len(bad) == 0 {
		bad.add("id", r.ID, "type and number make it "+id)
	}
	bad.text("company_name", r.CompanyName, true)
	bad.text("title", r.Title, true)
	bad.text("summary", r.Summary, false)
	bad.ident("ticker", r.Ticker)
	bad.ident("nif", r.NIF)
	bad.text("category", r.Category, false)
	bad.link("pdf_url", r.PDFURL)
	bad.link("source_url", r.SourceURL)
	if r.PublishedAt.IsZero() {
		bad.add("published_at", "", "is missing")
	}
	bad.instant("published_at", &r.PublishedAt)
	bad.instant("first_seen_at", &r.FirstSeenAt)
	bad.instant("available_at", &r.AvailableAt)
	return bad.err("report")
}

// Merge lays a new observation over what is known and names the fields that
// changed, by their contract names. An empty field of told was not told and
// changes nothing, so that a poor source never erases what a rich one said.
// Clocks are first come, first kept.
func (r Report) Merge(told Report) (merged Report, changed []string) {
	m := merge{}
	m.text("company_name", &r.CompanyName, told.CompanyName)
	m.text("nif", &r.NIF, told.NIF)
	m.text("ticker", &r.Ticker, told.Ticker)
	m.text("title", &r.Title, told.Title)
	m.text("summary", &r.Summary, told.Summary)
	if !told.PublishedAt.IsZero() && !told.PublishedAt.Equal(r.PublishedAt) {
		r.PublishedAt = told.PublishedAt
		m.changed = append(m.changed, "published_at")
	}
	m.text("category", &r.Category, told.Category)
	m.text("pdf_url", &r.PDFURL, told.PDFURL)
	m.text("source_url", &r.SourceURL, told.SourceURL)
	return r, m.changed
}

// merge collects the names of the fields that an observation changes.
type merge struct{ changed []string }

func (m *merge) text(name string, have *string, told string) {
	if told != "" && told != *have {
		*have = told
		m.changed = append(m.changed, name)
	}
}

// problems collects what is wrong with a record.
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

// longestIdent is more than any identifier has, and less than an index of a
// database takes.
const longestIdent = 200

func (p *problems) ident(name, value string) {
	if len(value) > longestIdent {
		p.add(name, value, "is too long")
		return
	}
	p.text(name, value, false)
}

// instant brings a time to UTC, if there is one, and tells when it cannot be
// right.
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
			parts[i] = fmt.Sprintf("%s %q %s", f.Name, clip(f.Value), f.Reason)
		}
	}
	return &fault.Error{Kind: fault.Invalid, Message: what + ": " + strings.Join(parts, "; "), Fields: p}
}

// clip keeps an error message readable when the value is a page of text.
func clip(s string) string {
	const most = 60
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}
