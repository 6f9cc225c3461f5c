package query

import (
	"encoding/json"

	"pregon/internal/disclosure"
)

// RecordFields returns all fields that an answer with a report may have, with the values
// that follow from its record.
func RecordFields(record *disclosure.Report) (map[string]any, error) {
	answer := DescribeReport(record)
	answer.AsOfSeq = new(int64) // otherwise it is left out
	text, err := json.Marshal(answer)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	err = json.Unmarshal(text, &fields)
	return fields, err
}
