package disclosure

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"pregon/internal/fault"
	"pregon/internal/text"
)

// ReadReport reads one line of an import file and validates it. The id or the
// number may be missing if the other is there. A line may also be a report as
// the API returns it, with some fields under other names and some that are
// derived.
func ReadReport(line []byte) (Report, error) {
	var values map[string]json.RawMessage
	if err := readLine(line, &values); err != nil {
		return Report{}, err
	}
	in := reading{values: make(map[string]json.RawMessage, len(values))}
	for name, raw := range values {
		in.values[strings.ToLower(name)] = raw
	}
	var r Report
	for i := range fields {
		if raw, ok := in.take(fields[i].name); ok {
			fields[i].read(&in, &r, raw)
		}
	}
	r.ID, r.CorrectedBy = strings.ToLower(r.ID), strings.ToLower(r.CorrectedBy)
	if r.Number == 0 {
		r.Number = in.number("cnmv_registration_number", nil, r.ID)
	}
	in.api(&r)
	// The text of the document is not in the line, and neither is what proves its facts.
	r.Document, r.TextReadyAt = Document{}, time.Time{}
	r.FactsDetail = ""
	if in.err != nil {
		return Report{}, in.err
	}
	return r, r.Validate()
}

// relationLine is a Relation in an import line.
type relationLine struct {
	ID     string          `json:"id"`
	Number json.RawMessage `json:"cnmv_registration_number"`
	At     json.RawMessage `json:"published_at"`
	Text   string          `json:"text"`
}

func (l *relationLine) relation(in *reading) Relation {
	id := strings.ToLower(l.ID)
	return Relation{
		ID:     id,
		Number: in.number("related: cnmv_registration_number", l.Number, id),
		At:     in.instant("related: published_at", l.At),
		Text:   l.Text,
	}
}

// evidenceLine is an Evidence in an import line. The API names its text
// sentence.
type evidenceLine struct {
	Text     string `json:"text"`
	Sentence string `json:"sentence"`
	Page     int    `json:"page"`
	Quote    string `json:"quote"`
}

func (l *evidenceLine) evidence() Evidence {
	return Evidence{Text: cmp.Or(l.Text, l.Sentence), Page: l.Page, Quote: l.Quote}
}

// reading holds the values of an import line and the first error. The errors
// name the field and are in the words of the import format, not those of Go.
type reading struct {
	values   map[string]json.RawMessage // not read yet
	examined bool                       // there is a list of facts, perhaps an empty one
	err      error
}

func (in *reading) fail(format string, args ...any) {
	if in.err == nil {
		in.err = fault.New(fault.Invalid, format, args...)
	}
}

func (in *reading) take(name string) (raw json.RawMessage, ok bool) {
	raw, ok = in.values[name]
	delete(in.values, name)
	return raw, ok
}

// api reads the fields that only the API has, and rejects unknown ones: skipping
// a misspelled field would lose its value.
func (in *reading) api(r *Report) {
	var categories []string
	var precision string
	if raw, ok := in.take("categories"); ok {
		in.decode("categories", raw, &categories)
	}
	if raw, ok := in.take("time_precision"); ok {
		in.decode("time_precision", raw, &precision)
	}
	for _, derived := range []string{
		"issuer_id", "categories_en", "eu_class", "headline", "headline_en", "registered_at", "suspect_time", "attribution", "as_of_seq",
	} {
		delete(in.values, derived)
	}
	if len(in.values) > 0 {
		in.fail("unknown field %q", slices.Min(slices.Collect(maps.Keys(in.values))))
	}
	r.Category = cmp.Or(r.Category, strings.Join(categories, " - "))
	if r.SummaryMethod != "" {
		r.SummaryOf = cmp.Or(r.SummaryOf, r.Document.SHA256)
	}
	if in.examined {
		r.FactsRules = cmp.Or(r.FactsRules, 1) // the API does not state the version
		r.FactsOf = cmp.Or(r.FactsOf, r.Document.SHA256)
	}
	from, ok := map[string]Surface{"": "", "minute": FromList, "second": FromPermalink}[precision]
	if !ok {
		in.fail("report: time_precision %q must be minute or second", text.Clip(precision, maxShown))
	}
	r.TimeFrom = cmp.Or(r.TimeFrom, from)
}

// decode reads a value of the type of into.
func (in *reading) decode(name string, raw json.RawMessage, into any) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		in.fail("%s", explain(name, err))
	}
}

// number reads a registration number. If there is none, it takes that of the id.
func (in *reading) number(name string, raw json.RawMessage, id string) int64 {
	s := bare(raw)
	if s == "" {
		_, n, ok := ParseReportID(id)
		if !ok {
			in.fail("report: %s is missing", name)
		}
		return n
	}
	n, ok := ParseNumber(s)
	if !ok {
		in.fail("report: %s %q must be digits, without a leading zero, 18 at most", name, text.Clip(s, maxShown))
	}
	return n
}

func (in *reading) instant(name string, raw json.RawMessage) (t time.Time) {
	var s string
	if len(raw) > 0 {
		in.decode(name, raw, &s)
	}
	if s == "" {
		return t
	}
	if err := t.UnmarshalText([]byte(s)); err != nil {
		in.fail("report: %s %q is not a date and time with its offset, such as 2026-04-22T10:00:33+02:00", name,
			text.Clip(s, maxShown))
	}
	return t
}

func (in *reading) flag(name string, raw json.RawMessage) bool {
	s := bare(raw)
	if s != "" && s != "true" && s != "false" {
		in.fail("report: %s %q must be true or false", name, text.Clip(s, maxShown))
	}
	return s == "true"
}

// bare returns a value as text: a string without its quotes, "" for null.
func bare(raw json.RawMessage) string {
	value := string(raw)
	if s, err := strconv.Unquote(value); err == nil {
		value = s
	}
	if value == "null" {
		return ""
	}
	return value
}

// ReadIssuer reads one line of an import file and validates it. The id may be
// missing if there is a cif. A line may also be an issuer as the API returns it.
func ReadIssuer(line []byte) (Issuer, error) {
	var in struct {
		Issuer
		Manager     partyName       `json:"manager"`
		Depositary  partyName       `json:"depositary"`
		Count       json.RawMessage `json:"report_count"`
		Latest      json.RawMessage `json:"latest_reports"`
		Attribution json.RawMessage `json:"attribution"`
		AsOfSeq     json.RawMessage `json:"as_of_seq"`
	}
	if err := readLine(line, &in); err != nil {
		return Issuer{}, err
	}
	i := in.Issuer
	i.Manager, i.Depositary = string(in.Manager), string(in.Depositary)
	return i, i.Validate()
}

// partyName is the name of a manager or depositary. The API returns an object
// with the name and the id in the directory.
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

// readLine decodes one JSON object. An unknown field is an error: skipping a
// misspelled field would lose its value.
func readLine(line []byte, into any) error {
	if !utf8.Valid(line) {
		return fault.New(fault.Invalid, "the line is not UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return fault.New(fault.Invalid, "%s", explain("", err))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return fault.New(fault.Invalid, "the line holds more than one JSON value")
	}
	return nil
}

// explain describes an error of encoding/json. The name is that of the field
// that was decoded, "" for the whole line.
func explain(name string, err error) string {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		field := strings.TrimPrefix(strings.TrimPrefix(e.Field, "Issuer."), "Position.")
		field = strings.Trim(name+"."+field, ".")
		if field == "" {
			return fmt.Sprintf("the line is a JSON %s, not an object", e.Value)
		}
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
