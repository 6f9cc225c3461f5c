package disclosure

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"pregon/internal/fault"
)

// ReadReport reads one line of an import file and validates it. Id or number
// may be missing when the other tells it.
func ReadReport(line []byte) (Report, error) {
	// The fields whose own decoders would answer in Go's words, not the user's,
	// are taken as they come.
	var in struct {
		Report
		Number      json.RawMessage `json:"cnmv_registration_number"`
		PublishedAt string          `json:"published_at"`
		FirstSeenAt string          `json:"first_seen_at"`
		AvailableAt string          `json:"available_at"`
	}
	if err := readLine(line, &in); err != nil {
		return Report{}, err
	}
	r := in.Report
	r.ID = strings.ToLower(r.ID)
	if err := r.readNumber(in.Number); err != nil {
		return Report{}, err
	}
	for _, f := range []struct {
		name, text string
		into       *time.Time
	}{
		{"published_at", in.PublishedAt, &r.PublishedAt},
		{"first_seen_at", in.FirstSeenAt, &r.FirstSeenAt},
		{"available_at", in.AvailableAt, &r.AvailableAt},
	} {
		if f.text == "" {
			continue
		}
		if err := f.into.UnmarshalText([]byte(f.text)); err != nil {
			return Report{}, fault.New(fault.Invalid,
				"report: %s %q is not a date and time with its offset, such as 2026-04-22T10:00:33+02:00", f.name, clip(f.text))
		}
	}
	return r, r.Validate()
}

func (r *Report) readNumber(raw json.RawMessage) error {
	text := string(raw)
	if s, err := strconv.Unquote(text); err == nil {
		text = s
	}
	if text == "" || text == "null" {
		if _, n, ok := ParseReportID(r.ID); ok {
			r.Number = n
			return nil
		}
		return fault.New(fault.Invalid, "report: cnmv_registration_number is missing")
	}
	n, ok := ParseNumber(text)
	if !ok {
		return fault.New(fault.Invalid, "report: cnmv_registration_number %q must be digits, without a leading zero, 18 at most", clip(text))
	}
	r.Number = n
	return nil
}

// ReadIssuer reads one line of an import file and validates it. The id may be
// missing when there is a cif to take it from.
func ReadIssuer(line []byte) (Issuer, error) {
	var i Issuer
	if err := readLine(line, &i); err != nil {
		return Issuer{}, err
	}
	return i, i.Validate()
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
		field := strings.TrimPrefix(e.Field, "Report.")
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
