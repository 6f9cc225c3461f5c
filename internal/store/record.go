package store

import "pregon/internal/fault"

// PlanRecord works out what a PutRecord leaves of a record that is known, the
// zero one when it was never written: the record as it then is, and whether it
// must be written, with the revision that follows the newest one. It is the
// part that is the same for every engine.
func PlanRecord(told, known Record, newest int64) (r Record, written bool, err error) {
	if told.Body == known.Body {
		told.Revision = known.Revision
		return told, false, nil
	}
	if told.Revision != known.Revision {
		return Record{}, false, fault.New(fault.Conflict,
			"the %s %q is at revision %d by now, not at %d", told.Kind, told.ID, known.Revision, told.Revision)
	}
	told.Revision = newest + 1
	return told, true, nil
}
