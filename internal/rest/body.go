package rest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"pregon/internal/fault"
)

// readFile returns a body of any type.
func readFile(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(r.Body)
	if tooLong, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, fault.New(fault.Invalid, "The body may have %d bytes at most.", tooLong.Limit)
	}
	if err != nil {
		return nil, fault.New(fault.Invalid, "The body could not be read.")
	}
	return body, nil
}

// readBody decodes a JSON body and rejects unknown fields.
func readBody(r *http.Request, into any) error {
	body, err := readFile(r)
	if err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	err = dec.Decode(into)
	if err == nil {
		if _, more := dec.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("more follows the object")
		}
	}
	if err != nil {
		reason := strings.TrimPrefix(err.Error(), "json: ")
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok { // its text names Go types
			reason = strings.Replace("a "+wrong.Value, "a a", "an a", 1) + " is not allowed in " +
				cmp.Or(wrong.Field, "its place")
		}
		return fault.New(fault.Invalid, "The body must be a JSON object with the documented fields: %s.", reason)
	}
	return nil
}

// readOptional is readBody for a body that may be absent.
func readOptional(r *http.Request, into any) error {
	if r.ContentLength == 0 {
		return nil
	}
	return readBody(r, into)
}
