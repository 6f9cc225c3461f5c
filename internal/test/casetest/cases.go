// Package casetest reads the cases that describe how the clients behave, and injects
// their faults between a client and the service.
package casetest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
)

// Case is one case of clients/cases.json. clients/README.md describes its fields.
type Case struct {
	Name   string         `json:"name"`
	About  string         `json:"about"`
	Key    string         `json:"key,omitempty"`
	Client Options        `json:"client"`
	Call   string         `json:"call"`
	Args   map[string]any `json:"args"`
	Take   int            `json:"take,omitempty"`
	During []Action       `json:"during,omitempty"`
	Faults []Fault        `json:"faults,omitempty"`
	Expect Expectation    `json:"expect"`
}

// Options are those of a client.
type Options struct {
	Retries *int    `json:"retries,omitempty"`
	Timeout float64 `json:"timeout,omitempty"` // in seconds
}

// Action is what the runner sends to the control server when the client has given the
// caller a number of items.
type Action struct {
	After int            `json:"after"`
	Post  string         `json:"post"`
	Body  map[string]any `json:"body,omitempty"`
}

// Expectation is what the runner compares with. A field that is not there is not compared.
type Expectation struct {
	IDs      []string       `json:"ids,omitempty"`
	IDsOf    string         `json:"ids_of,omitempty"`
	Count    any            `json:"count,omitempty"` // a number when the case begins
	Unique   bool           `json:"unique,omitempty"`
	Files    *[]string      `json:"files,omitempty"`
	Field    map[string]any `json:"field,omitempty"`
	Events   []string       `json:"events,omitempty"`
	Reset    *int           `json:"reset,omitempty"`
	Error    *Failure       `json:"error,omitempty"`
	Requests *Range         `json:"requests,omitempty"`
}

// Failure is an error that the call must raise.
type Failure struct {
	Kind       string `json:"kind"`
	Status     int    `json:"status,omitempty"`
	Type       string `json:"type,omitempty"`
	RetryAfter bool   `json:"retry_after,omitempty"`
}

// Range bounds the number of requests.
type Range struct {
	Min int  `json:"min,omitempty"`
	Max *int `json:"max,omitempty"`
}

// Calls are the calls that a case can make.
var Calls = []string{
	"reports.search", "reports.get", "reports.counts",
	"facts.list", "calendar.list", "positions.list", "issuers.search", "watchlists.list",
	"document", "stream", "changes", "bulk.download",
	"webhooks.verify", "proofs.verify",
}

// Kinds are the kinds of errors that a client raises.
var Kinds = []string{
	"not_found", "unauthorized", "forbidden", "rate_limited", "invalid",
	"conflict", "unavailable", "connection", "integrity", "signature",
}

// Read reads a file of cases and checks them.
func Read(path string) ([]Case, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var file struct {
		Cases []Case `json:"cases"`
	}
	if err := strict(text, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(file.Cases) == 0 {
		return nil, fmt.Errorf("%s: no case", path)
	}
	known := map[string]bool{}
	for _, c := range file.Cases {
		if err := c.check(); err != nil {
			return nil, fmt.Errorf("%s: case %q: %w", path, c.Name, err)
		}
		if known[c.Name] {
			return nil, fmt.Errorf("%s: two cases have the name %q", path, c.Name)
		}
		known[c.Name] = true
	}
	return file.Cases, nil
}

// strict decodes one JSON value and refuses unknown fields.
func strict(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one JSON value")
	}
	return nil
}

// check returns an error that says what is wrong with the case.
func (c Case) check() error {
	switch {
	case c.Name == "":
		return errors.New("name is missing")
	case c.About == "":
		return errors.New("about is missing")
	case !slices.Contains(Calls, c.Call):
		return fmt.Errorf("unknown call %q: use one of %s", c.Call, strings.Join(Calls, ", "))
	case c.Expect.empty():
		return errors.New("expect is empty: the case cannot fail")
	case c.Expect.Error != nil && !slices.Contains(Kinds, c.Expect.Error.Kind):
		return fmt.Errorf("unknown kind of error %q: use one of %s", c.Expect.Error.Kind, strings.Join(Kinds, ", "))
	case c.Call == "stream" && c.Take == 0 && c.Expect.Error == nil:
		return errors.New("take is missing: a stream does not end")
	}
	for _, a := range c.During {
		if !slices.Contains([]string{"/publish", "/faults", "/restart"}, a.Post) {
			return fmt.Errorf("unknown action %q: use /publish, /faults or /restart", a.Post)
		}
		if a.After > 0 && c.Take > 0 && a.After >= c.Take {
			return fmt.Errorf("%s after %d items is never sent: take is %d", a.Post, a.After, c.Take)
		}
	}
	for _, f := range c.Faults {
		if err := f.check(); err != nil {
			return err
		}
	}
	return nil
}

// empty reports whether nothing would be compared.
func (e Expectation) empty() bool {
	text, err := json.Marshal(e)
	return err == nil && string(text) == "{}"
}

// Expand replaces each {name} in the texts of a case. A text that consists of one name
// becomes the value itself, which may be of any type.
func (c Case) Expand(value func(name string) (any, error)) (Case, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return c, err
	}
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		return c, err
	}
	if tree, err = expand(tree, value); err != nil {
		return c, fmt.Errorf("case %q: %w", c.Name, err)
	}
	if text, err = json.Marshal(tree); err != nil {
		return c, err
	}
	var out Case
	return out, strict(text, &out)
}

func expand(node any, value func(string) (any, error)) (any, error) {
	switch node := node.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(node)) {
			replaced, err := expand(node[key], value)
			if err != nil {
				return nil, err
			}
			node[key] = replaced
		}
	case []any:
		for i := range node {
			replaced, err := expand(node[i], value)
			if err != nil {
				return nil, err
			}
			node[i] = replaced
		}
	case string:
		return expandText(node, value)
	}
	return node, nil
}

// placeholder matches a name that a text of a case refers to.
var placeholder = regexp.MustCompile(`\{([a-z_]+(?:\.[a-z0-9_]+)?)\}`)

func expandText(text string, value func(string) (any, error)) (any, error) {
	found := placeholder.FindStringSubmatch(text)
	if found != nil && found[0] == text {
		return value(found[1])
	}
	var failed error
	out := placeholder.ReplaceAllStringFunc(text, func(name string) string {
		v, err := value(strings.Trim(name, "{}"))
		failed = cmp.Or(failed, err)
		return fmt.Sprint(v)
	})
	return out, failed
}
