package remote

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
)

// positionContract are the fields that every answer with a position has.
var positionContract = []string{"id", "kind", "state"}

// notOfPosition are the fields of an answer that come from the directory, the service and
// the request.
var notOfPosition = []string{"issuer_id", "attribution", "as_of_seq"}

// nameFields are the fields that have the name of a position.
var nameFields = []string{"holder", "holder_erased", "person", "person_erased"}

// comparePosition is like compareReport for a position. A name that is sealed in the record
// is compared with its seal, if there is a salt.
func (c *ReportCheck) comparePosition(
	given map[string]any,
	leaf disclosure.Leaf,
	salt []byte,
) (same, differ, unchecked []string, err error) {
	var record disclosure.Position
	if err := json.Unmarshal(leaf.Record, &record); err != nil {
		return nil, nil, nil, fault.New(fault.Conflict, "the record of seq %d cannot be read: %v", leaf.Seq, err)
	}
	if err := c.checkID(given, "position", record.ID); err != nil {
		return nil, nil, nil, err
	}
	var sealed []string // the fields that cannot be compared without a salt
	if name := givenName(given); record.Sealed != "" && !record.Erased && name != "" {
		switch {
		case len(salt) == 0:
			sealed = nameFields
		case disclosure.Seal(salt, name) == record.Sealed:
			record.Name = name
		default:
			record.Name = "" // it differs
		}
	}
	want, err := positionFields(&record)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		value, expected := given[name], want[name]
		switch _, known := want[name]; {
		case slices.Contains(notOfPosition, name), known && slices.Contains(sealed, name):
			unchecked = append(unchecked, name)
		case !known:
			return nil, nil, nil, fault.New(fault.Invalid, "%s: a position of the kind %s has no field %.80q: remove it, "+
				"or use a newer pregon if the API has it", c.Report, record.Kind, name)
		case reflect.DeepEqual(value, expected) || simulated(value, expected):
			same = append(same, name)
		default:
			differ = append(differ, name)
		}
	}
	for _, name := range positionContract {
		if _, ok := given[name]; !ok {
			differ = append(differ, name+" (missing)")
		}
	}
	return same, differ, unchecked, nil
}

// givenName returns the name in an answer.
func givenName(given map[string]any) string {
	for _, field := range nameFields {
		if name, ok := given[field].(string); ok && !strings.HasSuffix(field, "_erased") {
			return name
		}
	}
	return ""
}

// positionFields returns the fields of an answer with a position, and the values that follow
// from its record.
func positionFields(record *disclosure.Position) (fields map[string]any, err error) {
	if err := json.Unmarshal(disclosure.AppendPosition(nil, record), &fields); err != nil {
		return nil, fmt.Errorf("the record of %s cannot be shown: %w", record.ID, err)
	}
	return fields, nil
}
