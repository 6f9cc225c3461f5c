package disclosure

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Report is one report. An empty string means null. Its JSON form is what
// the store keeps, `export` writes and `import` reads. The names are those of
// the API where it has the field.
//
// To add a field, edit
//
//   - this struct, with a JSON name and omitzero or omitempty,
//   - the table in field.go: how it is read, validated and merged,
//   - the complete reports in report_test.go and ../catalog/record_test.go,
//     whose tests fail until then,
//   - ../query/report.go and the API description, if the API returns it.
//
// Storing, decoding, importing, exporting, merging and the catalogue follow.
type Report struct {
	ID          string    `json:"id,omitzero"` // see ReportID
	Type        Type      `json:"type,omitzero"`
	Number      int64     `json:"cnmv_registration_number,omitzero,string"`
	CompanyName string    `json:"company_name,omitzero"`
	NIF         string    `json:"nif,omitempty"`    // as the source prints it; not always a NIF
	Ticker      string    `json:"ticker,omitempty"` // the report's own; the directory may have one too
	Title       string    `json:"title,omitzero"`   // the subject line as filed
	Summary     string    `json:"summary,omitempty"`
	PublishedAt time.Time `json:"published_at,omitzero"`
	Category    string    `json:"category,omitempty"` // all categories in one line: see Categories
	PDFURL      string    `json:"pdf_url,omitempty"`  // set only when the link is a document
	SourceURL   string    `json:"source_url,omitempty"`

	TimeFrom    Surface    `json:"time_from,omitempty"`         // the surface from which PublishedAt was read
	Backfilled  bool       `json:"backfilled,omitempty,string"` // loaded as history, so its clocks do not show latency
	Related     []Relation `json:"related,omitempty"`
	CorrectedBy string     `json:"corrected_by,omitempty"` // the report that rectifies or cancels this one

	// Stage clocks: when the report reached each stage of the service. The
	// first stage, its registration, is PublishedAt.
	FirstSeenAt time.Time `json:"first_seen_at,omitzero"`
	AvailableAt time.Time `json:"available_at,omitzero"`
	EnrichedAt  time.Time `json:"enriched_at,omitzero"` // when a page of the regulator completed the fields of the feed

	// Results of reading the document.
	Document Document `json:"document,omitzero"`
	// how the summary was made; empty when it came with the report
	SummaryMethod   string     `json:"summary_method,omitempty"`
	SummaryLanguage string     `json:"summary_language,omitempty"`
	SummaryOf       string     `json:"summary_of,omitempty"` // hash of the document that was summarized
	Evidence        []Evidence `json:"evidence,omitempty"`   // of the summary, sentence by sentence
	SummaryEN       string     `json:"summary_en,omitempty"` // the summary in English
	EvidenceEN      []Evidence `json:"evidence_en,omitempty"`
	TextReadyAt     time.Time  `json:"text_ready_at,omitzero"`
	SummaryReadyAt  time.Time  `json:"summary_ready_at,omitzero"`

	// What the document states. Rules find it: see package document/fact.
	Facts      []Fact `json:"facts,omitempty"`
	FactsRules int    `json:"facts_rules,omitempty,string"` // version of the rules; 0: the document was not examined
	FactsOf    string `json:"facts_of,omitempty"`           // hash of the document that was examined
	// FactsDetail is the SHA-256 of the JSON of a []FactDetail, parallel to Facts, which is
	// stored beside the text. It is empty if there are no facts.
	FactsDetail  string    `json:"facts_detail,omitempty"`
	FactsReadyAt time.Time `json:"facts_ready_at,omitzero"`
}

// Relation is a link that the regulator makes between two reports. Both have it.
type Relation struct {
	ID     string    `json:"id,omitempty"` // of the other report, if it is known
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

// Surface is a part of the regulator's site from which a time was read.
type Surface string

const (
	FromList      Surface = "list"      // to the minute
	FromPermalink Surface = "permalink" // to the second
	FromFeed      Surface = "feed"      // to the second, in UTC
)

// Precision returns how exact the times of a surface are: minute, second, or "" for
// imported times, which may be either.
func (s Surface) Precision() string {
	switch s {
	case FromList:
		return "minute"
	case FromPermalink, FromFeed:
		return "second"
	}
	return ""
}

// exactness ranks surfaces by the precision of their times. An import may not
// state the surface. It is -1 for an unknown surface.
func (s Surface) exactness() int {
	return slices.Index([]Surface{FromList, "", FromPermalink, FromFeed}, s)
}

// ReportID joins type and number. The three series are numbered independently,
// so only the pair identifies a report.
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

// IssuerKey returns the id that the report's issuer has in the directory: the
// normal NIF, else the regulator's own code in lower case, else "".
func (r *Report) IssuerKey() string {
	return IssuerKey(r.NIF)
}

// Categories returns the categories of the report. The regulator joins them with
// " - " and is not consistent about spaces.
func (r *Report) Categories() []string { return SplitCategories(r.Category) }

// few is the number of categories up to which comparing is faster than a map.
// Reports have one to three; only imported ones may have more.
const few = 16

// SplitCategories splits a line of categories. It collapses spaces and drops
// repeated and empty categories.
func SplitCategories(line string) []string {
	var out []string
	var seen map[string]bool // those in out, once they are many
	for part := range strings.SplitSeq(" "+strings.Join(strings.Fields(line), " ")+" ", " - ") {
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

// maxAhead is how far a time of publication may be after the first sight of the
// report. It is more than clocks and time zones differ.
const maxAhead = 24 * time.Hour

// SuspectTime reports whether the report was seen more than a day before the time at
// which it says it was published, so that this time cannot be true.
func (r *Report) SuspectTime() bool {
	return !r.FirstSeenAt.IsZero() && r.PublishedAt.Sub(r.FirstSeenAt) > maxAhead
}

// ListedAt returns the time by which lists order and select the report: that of its
// publication, or of its first sight if that of its publication cannot be true. A
// wrong year would otherwise keep it at the top of every list for that time.
func (r *Report) ListedAt() time.Time {
	if r.SuspectTime() {
		return r.FirstSeenAt
	}
	return r.PublishedAt
}

// SecondsKnown reports whether the time of publication is exact to the second. An imported
// time, of which the surface is not known, is if it has seconds.
func (r *Report) SecondsKnown() bool {
	return r.TimeFrom.Precision() == "second" || r.TimeFrom == "" && r.PublishedAt.Second() != 0
}

// CompareReports orders a list: newest first, then the higher number, then the
// type. It returns a negative number when a comes before b.
func CompareReports(a, b *Report) int {
	return cmp.Or(
		b.ListedAt().Compare(a.ListedAt()),
		cmp.Compare(b.Number, a.Number),
		cmp.Compare(a.Type, b.Type),
	)
}
