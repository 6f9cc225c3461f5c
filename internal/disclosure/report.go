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
	"pregon/internal/text"
)

// Report is one report. Empty strings stand for null. Its JSON form is what
// the store keeps, `export` writes and `import` reads; the names are those of
// the contract where it has one.
type Report struct {
	ID          string    `json:"id"` // see ReportID
	Type        Type      `json:"type"`
	Number      int64     `json:"cnmv_registration_number,string"`
	CompanyName string    `json:"company_name"`
	NIF         string    `json:"nif,omitempty"`    // as the source prints it; not always a NIF
	Ticker      string    `json:"ticker,omitempty"` // the report's own; the directory may know one
	Title       string    `json:"title"`            // the subject line as filed
	Summary     string    `json:"summary,omitempty"`
	PublishedAt time.Time `json:"published_at"`
	Category    string    `json:"category,omitempty"` // the regulator's heading, unsplit: see Categories
	PDFURL      string    `json:"pdf_url,omitempty"`  // set only when the link is a document
	SourceURL   string    `json:"source_url,omitempty"`

	TimeFrom    Surface    `json:"time_from,omitempty"`         // which surface PublishedAt was read from
	Backfilled  bool       `json:"backfilled,omitempty,string"` // came as history, so its clocks say nothing of latency
	Related     []Relation `json:"related,omitempty"`
	CorrectedBy string     `json:"corrected_by,omitempty"` // the report that the regulator says rectifies or cancels this one

	// Stage clocks: when the report reached each stage of the service. The
	// first stage, its registration, is PublishedAt.
	FirstSeenAt time.Time `json:"first_seen_at,omitzero"`
	AvailableAt time.Time `json:"available_at,omitzero"`
	EnrichedAt  time.Time `json:"enriched_at,omitzero"` // a page of the regulator told what its feed does not

	// What was read in its document.
	Document       Document   `json:"document,omitzero"`
	SummaryMethod  string     `json:"summary_method,omitempty"` // how the summary was made; empty when it came with the report
	SummaryOf      string     `json:"summary_of,omitempty"`     // the hash of the document that was summed up
	Evidence       []Evidence `json:"evidence,omitempty"`       // of the summary, sentence by sentence
	TextReadyAt    time.Time  `json:"text_ready_at,omitzero"`
	SummaryReadyAt time.Time  `json:"summary_ready_at,omitzero"`
}

// Relation is the regulator's word that a report has to do with another. It
// stands on both.
type Relation struct {
	ID     string    `json:"id,omitempty"` // of the other report, once it is known
	Number int64     `json:"cnmv_registration_number,string"`
	At     time.Time `json:"published_at,omitzero"` // of the other report, to the minute
	Text   string    `json:"text,omitempty"`        // the regulator's words, on the report that has them
}

// same reports whether two relations name the same report.
func (a Relation) same(b Relation) bool {
	if a.ID != "" && b.ID != "" {
		return a.ID == b.ID
	}
	return a.Number == b.Number && a.At.Equal(b.At)
}

// Surface is the part of the regulator's site that told something.
type Surface string

const (
	FromList      Surface = "list"      // minutes
	FromPermalink Surface = "permalink" // seconds
	FromFeed      Surface = "feed"      // seconds, in universal time
)

// exactness ranks where a time was read from. Who imports says nothing of it.
func (s Surface) exactness() int {
	return slices.Index([]Surface{FromList, "", FromPermalink, FromFeed}, s)
}

// ReportID joins type and number: the three series count independently, so
// only the pair names a report.
func ReportID(t Type, number int64) string {
	return t.Lower() + "-" + strconv.FormatInt(number, 10)
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

// IssuerKey is the id under which the directory would hold the report's
// issuer: the normal NIF, else the regulator's own code in lower case, else
// nothing.
func (r *Report) IssuerKey() string {
	return IssuerKey(r.NIF)
}

// Categories splits the heading: several are joined by " - ", and the
// regulator's spacing is not to be relied on.
func (r *Report) Categories() []string { return SplitCategories(r.Category) }

// few are as many categories as are quicker compared than looked up. Headings
// have one to three; only what was imported may have more.
const few = 16

// SplitCategories splits a heading into its categories, spaces collapsed,
// repeats and empties dropped.
func SplitCategories(heading string) []string {
	var out []string
	var seen map[string]bool // those in out, once they are many
	for part := range strings.SplitSeq(" "+strings.Join(strings.Fields(heading), " ")+" ", " - ") {
		part = strings.TrimSpace(part)
		if part == "" || seen[part] || seen == nil && slices.Contains(out, part) {
			continue
		}
		out = append(out, part)
		if len(out) == few {
			seen = make(map[string]bool, 2*few)
			for _, c := range out {
				seen[c] = true
			}
		}
		if seen != nil {
			seen[part] = true
		}
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
	bad.instant("enriched_at", &r.EnrichedAt)
	bad.instant("text_ready_at", &r.TextReadyAt)
	bad.instant("summary_ready_at", &r.SummaryReadyAt)
	r.Document.validate(&bad)
	if !slices.Contains([]string{"", "extractive", "model", "none"}, r.SummaryMethod) {
		bad.add("summary_method", r.SummaryMethod, "use extractive, model or none")
	}
	bad.ident("summary_of", r.SummaryOf)
	for n := range r.Evidence {
		r.Evidence[n].validate(&bad)
	}
	if r.TimeFrom.exactness() < 0 {
		bad.add("time_from", string(r.TimeFrom), "use list, permalink or feed")
	}
	bad.reportID("corrected_by", r.CorrectedBy)
	for n := range r.Related {
		r.Related[n].validate(&bad)
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

// Merge lays a new observation over what is known and names the fields that
// changed, by their contract names. An empty field of told was not told and
// changes nothing, so that a poor source never erases what a rich one said. The
// feed is the poorest: it tells names with an alias behind them, and no NIF;
// once a page of the regulator has spoken, the feed only adds texts, though its
// time is the best there is. Clocks are first come, first kept.
func (r Report) Merge(told Report) (merged Report, changed []string) {
	fromFeed := told.TimeFrom != "" && told.EnrichedAt.IsZero() // its time may be exact to the minute only
	m := merge{onlyAdds: fromFeed && !r.EnrichedAt.IsZero()}
	m.text("company_name", &r.CompanyName, told.CompanyName)
	m.text("nif", &r.NIF, told.NIF)
	m.text("ticker", &r.Ticker, told.Ticker)
	m.text("title", &r.Title, told.Title)
	m.time(&r, told)
	m.text("category", &r.Category, told.Category)
	m.text("pdf_url", &r.PDFURL, told.PDFURL)
	m.text("source_url", &r.SourceURL, told.SourceURL)
	m.relations(&r, told.Related)
	m.text("corrected_by", &r.CorrectedBy, told.CorrectedBy)
	m.clock("enriched_at", &r.EnrichedAt, told.EnrichedAt)
	m.document(&r, told)
	return r, m.changed
}

// clock keeps the first time that is told.
func (m *merge) clock(name string, have *time.Time, told time.Time) {
	if have.IsZero() && !told.IsZero() {
		*have = told
		m.changed = append(m.changed, name)
	}
}

// time takes a time that was read from an equally exact surface or a more
// exact one: the minute of a list says nothing against seconds.
func (m *merge) time(r *Report, told Report) {
	if told.PublishedAt.IsZero() || told.TimeFrom.exactness() < r.TimeFrom.exactness() {
		return
	}
	same := told.PublishedAt.Equal(r.PublishedAt)
	if !same {
		r.PublishedAt = told.PublishedAt
		m.changed = append(m.changed, "published_at")
	}
	if same && told.TimeFrom == "" {
		return // who imports the same time says nothing of where it was read
	}
	if told.TimeFrom != r.TimeFrom {
		r.TimeFrom = told.TimeFrom
		m.changed = append(m.changed, "time_from")
	}
}

// relations adds the new ones and completes those known, in a list of its own:
// the old one may be shared.
func (m *merge) relations(r *Report, told []Relation) {
	grown := slices.Clone(r.Related)
	for _, t := range told {
		n := slices.IndexFunc(grown, t.same)
		if n < 0 {
			grown = append(grown, t)
			continue
		}
		have := &grown[n]
		have.ID, have.At, have.Text = cmp.Or(have.ID, t.ID), cmp.Or(have.At, t.At), cmp.Or(have.Text, t.Text)
	}
	if !slices.Equal(grown, r.Related) {
		r.Related = grown
		m.changed = append(m.changed, "related")
	}
}

// merge collects the names of the fields that an observation changes.
type merge struct {
	changed  []string
	onlyAdds bool // texts that there are stay as they are
}

func (m *merge) text(name string, have *string, told string) {
	if told != "" && told != *have && (*have == "" || !m.onlyAdds) {
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

func (p *problems) reportID(name, value string) {
	if value == "" {
		return
	}
	if t, n, ok := ParseReportID(value); !ok || ReportID(t, n) != value {
		p.add(name, value, "must be the id of a report, such as oir-40374")
	}
}

// instant brings a time to UTC, if there is one, and returns when it cannot be
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
			parts[i] = fmt.Sprintf("%s %q %s", f.Name, text.Clip(f.Value, maxShown), f.Reason)
		}
	}
	return &fault.Error{Kind: fault.Invalid, Message: what + ": " + strings.Join(parts, "; "), Fields: p}
}

// maxShown is how many characters of a wrong value an error message shows.
const maxShown = 60
