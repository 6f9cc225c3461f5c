package disclosure

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"pregon/internal/fault"
	"pregon/internal/text"
)

// ReadReport reads one line of an import file and validates it. Id or number
// may be missing when the other has it. A line may also be what the API returns
// of a report, which has some fields in other words and some that are derived.
func ReadReport(line []byte) (Report, error) {
	// The fields whose own decoders would answer in Go's words, not the user's,
	// are taken as they come.
	var in struct {
		Report
		Number      json.RawMessage `json:"cnmv_registration_number"`
		PublishedAt string          `json:"published_at"`
		Backfilled  json.RawMessage `json:"backfilled"`
		Related     []relationLine  `json:"related"`
		FirstSeenAt string          `json:"first_seen_at"`
		AvailableAt string          `json:"available_at"`
		EnrichedAt  string          `json:"enriched_at"`
		TextReadyAt string          `json:"text_ready_at"`
		SummaryAt   string          `json:"summary_ready_at"`

		Evidence    []evidenceLine  `json:"evidence"`
		Categories  []string        `json:"categories"`
		Precision   string          `json:"time_precision"`
		IssuerID    json.RawMessage `json:"issuer_id"`
		Registered  json.RawMessage `json:"registered_at"`
		Attribution json.RawMessage `json:"attribution"`
	}
	if err := readLine(line, &in); err != nil {
		return Report{}, err
	}
	r, read := in.Report, reading{}
	r.ID, r.CorrectedBy = strings.ToLower(r.ID), strings.ToLower(r.CorrectedBy)
	r.Number = read.number("cnmv_registration_number", in.Number, r.ID)
	r.PublishedAt = read.instant("published_at", in.PublishedAt)
	r.Backfilled = read.flag("backfilled", in.Backfilled)
	for _, a := range in.Related {
		r.Related = append(r.Related, a.read(&read))
	}
	r.FirstSeenAt = read.instant("first_seen_at", in.FirstSeenAt)
	r.AvailableAt = read.instant("available_at", in.AvailableAt)
	r.EnrichedAt = read.instant("enriched_at", in.EnrichedAt)
	r.SummaryReadyAt = read.instant("summary_ready_at", in.SummaryAt)
	read.api(&r, in.Categories, in.Precision)
	for _, e := range in.Evidence {
		r.Evidence = append(r.Evidence, Evidence{Text: cmp.Or(e.Text, e.Sentence), Page: e.Page, Quote: e.Quote})
	}
	r.Document = Document{} // whose text is not in the line
	if read.err != nil {
		return Report{}, read.err
	}
	return r, r.Validate()
}

// relationLine is a Relation as it comes.
type relationLine struct {
	ID     string          `json:"id"`
	Number json.RawMessage `json:"cnmv_registration_number"`
	At     string          `json:"published_at"`
	Text   string          `json:"text"`
}

func (a *relationLine) read(r *reading) Relation {
	id := strings.ToLower(a.ID)
	return Relation{
		ID: id, Number: r.number("related: cnmv_registration_number", a.Number, id),
		At: r.instant("related: published_at", a.At), Text: a.Text,
	}
}

// evidenceLine is an Evidence as it comes; the API calls its text a sentence.
type evidenceLine struct {
	Text     string `json:"text"`
	Sentence string `json:"sentence"`
	Page     int    `json:"page"`
	Quote    string `json:"quote"`
}

// api completes a report with what the API says in other words.
func (r *reading) api(report *Report, categories []string, precision string) {
	report.Category = cmp.Or(report.Category, strings.Join(categories, " - "))
	if report.SummaryMethod != "" {
		report.SummaryOf = cmp.Or(report.SummaryOf, report.Document.SHA256)
	}
	from, ok := map[string]Surface{"": "", "minute": FromList, "second": FromPermalink}[precision]
	if !ok {
		r.fail("time_precision %q must be minute or second", text.Clip(precision, maxShown))
	}
	report.TimeFrom = cmp.Or(report.TimeFrom, from)
}

// reading makes sense of fields and keeps the first error.
type reading struct{ err error }

func (r *reading) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fault.New(fault.Invalid, "report: "+format, args...)
	}
}

// number reads a registration number, from the id where it is missing.
func (r *reading) number(name string, raw json.RawMessage, id string) int64 {
	s := bare(raw)
	if s == "" {
		_, n, ok := ParseReportID(id)
		if !ok {
			r.fail("%s is missing", name)
		}
		return n
	}
	n, ok := ParseNumber(s)
	if !ok {
		r.fail("%s %q must be digits, without a leading zero, 18 at most", name, text.Clip(s, maxShown))
	}
	return n
}

func (r *reading) instant(name, s string) (t time.Time) {
	if s == "" {
		return t
	}
	if err := t.UnmarshalText([]byte(s)); err != nil {
		r.fail("%s %q is not a date and time with its offset, such as 2026-04-22T10:00:33+02:00", name, text.Clip(s, maxShown))
	}
	return t
}

func (r *reading) flag(name string, raw json.RawMessage) bool {
	s := bare(raw)
	if s != "" && s != "true" && s != "false" {
		r.fail("%s %q must be true or false", name, text.Clip(s, maxShown))
	}
	return s == "true"
}

// bare returns what a value says, a string's quotes left out; nothing for null.
func bare(raw json.RawMessage) string {
	text := string(raw)
	if s, err := strconv.Unquote(text); err == nil {
		text = s
	}
	if text == "null" {
		return ""
	}
	return text
}

// ReadIssuer reads one line of an import file and validates it. The id may be
// missing when there is a cif to take it from. A line may also be what the API
// returns of an issuer.
func ReadIssuer(line []byte) (Issuer, error) {
	var in struct {
		Issuer
		Manager     partyName       `json:"manager"`
		Depositary  partyName       `json:"depositary"`
		Count       json.RawMessage `json:"report_count"`
		Latest      json.RawMessage `json:"latest_reports"`
		Attribution json.RawMessage `json:"attribution"`
	}
	if err := readLine(line, &in); err != nil {
		return Issuer{}, err
	}
	i := in.Issuer
	i.Manager, i.Depositary = string(in.Manager), string(in.Depositary)
	return i, i.Validate()
}

// partyName is the name of a manager or depositary; the API returns an object
// that has it, and the id that the directory knows.
type partyName string

// UnmarshalJSON implements json.Unmarshaler.
func (p *partyName) UnmarshalJSON(raw []byte) error {
	if raw[0] != '{' {
		return json.Unmarshal(raw, (*string)(p))
	}
	var object struct {
		Name string          `json:"name"`
		ID   json.RawMessage `json:"id"`
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	err := dec.Decode(&object)
	*p = partyName(object.Name)
	return err
}

// readLine decodes one JSON object. A field it does not know is an error: to
// pass over a misspelt one would lose what it says.
func readLine(line []byte, into any) error {
	if !utf8.Valid(line) {
		return fault.New(fault.Invalid, "the line is not UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return fault.New(fault.Invalid, "%s", explain(err))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return fault.New(fault.Invalid, "the line holds more than one JSON value")
	}
	return nil
}

func explain(err error) string {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if e.Field == "" {
			return fmt.Sprintf("the line is a JSON %s, not an object", e.Value)
		}
		field := strings.TrimPrefix(strings.TrimPrefix(e.Field, "Report."), "Issuer.")
		return fmt.Sprintf("%s must be a %s, not a %s", field, jsonKind(e.Type.Kind().String()), e.Value)
	}
	msg := strings.TrimPrefix(err.Error(), "json: ")
	if strings.HasPrefix(msg, "unknown field") {
		return msg
	}
	return "the line is not a JSON object: " + msg
}

func jsonKind(goKind string) string {
	if goKind == "slice" {
		return "list"
	}
	return goKind
}
