package store

import (
	"context"

	"pregon/internal/fault"
)

// CoverageKind is the kind of the records of package coverage. They have a table
// and a counter of their own, which processes of earlier versions use too.
const CoverageKind = "coverage"

// AnyRevision is the revision of a record that replaces one of any revision.
const AnyRevision = -1

// PutRecord writes one record without a lease, as Records.PutRecords does.
func PutRecord(ctx context.Context, s Records, r Record) (Record, error) {
	written, err := s.PutRecords(ctx, nil, r)
	if err != nil {
		return Record{}, err
	}
	return written[0], nil
}

// PlanRecords is the part of PutRecords that is the same for every engine.
// known are the stored records by id, and newest is the newest revision. It
// returns the records with their new revisions, and those that must be written.
func PlanRecords(given []Record, known map[string]Record, newest int64) (result, written []Record, err error) {
	last := make(map[string]int, len(given))
	for i, r := range given {
		last[r.ID] = i
	}
	for i, r := range given {
		if last[r.ID] != i {
			continue
		}
		stored := known[r.ID]
		switch {
		case r.Body == stored.Body:
			r.Revision = stored.Revision
		case r.Revision != stored.Revision && r.Revision != AnyRevision:
			return nil, nil, fault.New(fault.Conflict,
				"the %s %q is at revision %d by now, not at %d", r.Kind, r.ID, stored.Revision, r.Revision)
		default:
			newest++
			r.Revision = newest
			written = append(written, r)
		}
		result = append(result, r)
	}
	return result, written, nil
}

// RecordsByID returns records by their ids.
func RecordsByID(records []Record) map[string]Record {
	byID := make(map[string]Record, len(records))
	for _, r := range records {
		byID[r.ID] = r
	}
	return byID
}
