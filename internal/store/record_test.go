package store_test

import (
	"slices"
	"testing"

	"pregon/internal/fault"
	"pregon/internal/store"
)

func TestPlanOneRecord(t *testing.T) {
	record := func(body string, revision int64) store.Record {
		return store.Record{Kind: "key", ID: "a", Body: body, Revision: revision}
	}
	var none store.Record
	for name, test := range map[string]struct {
		given, known store.Record
		want         int64 // the revision that the record has then; -1 is a conflict
	}{
		"new":                       {record("1", 0), none, 8},
		"changed":                   {record("2", 3), record("1", 3), 8},
		"taken away":                {record("", 3), record("1", 3), 8},
		"back":                      {record("1", 4), record("", 4), 8},
		"unchanged":                 {record("1", 3), record("1", 3), 3},
		"new, done already":         {record("1", 0), record("1", 3), 3},
		"changed, done already":     {record("2", 3), record("2", 5), 5},
		"taken away already":        {record("", 3), record("", 4), 4},
		"never there":               {record("", 0), none, 0},
		"never there, any revision": {record("", 3), none, 0},
		"new, but there":            {record("2", 0), record("1", 3), -1},
		"changed meanwhile":         {record("3", 3), record("2", 5), -1},
		"taken away meanwhile":      {record("3", 3), record("", 5), -1},
		"back, not knowing":         {record("1", 0), record("", 4), -1},
		"changed, never there":      {record("1", 3), none, -1},
		"away, changed meanwhile":   {record("", 3), record("2", 5), -1},
		"of the future":             {record("2", 9), record("1", 3), -1},
	} {
		t.Run(name, func(t *testing.T) {
			result, written, err := store.PlanRecords([]store.Record{test.given}, map[string]store.Record{"a": test.known}, 7)
			if test.want < 0 {
				if fault.KindOf(err) != fault.Conflict || written != nil || result != nil {
					t.Errorf("got %+v, %+v, %v; want a conflict", result, written, err)
				}
				return
			}
			want := []store.Record{record(test.given.Body, test.want)}
			if err != nil || !slices.Equal(result, want) || (len(written) == 1) != (test.want == 8) {
				t.Errorf("got %+v, %+v, %v; want %+v", result, written, err, want)
			}
		})
	}
}

func TestPlanRecordsOverAnyRevision(t *testing.T) {
	record := func(id, body string, revision int64) store.Record {
		return store.Record{Kind: "key", ID: id, Body: body, Revision: revision}
	}
	known := store.RecordsByID([]store.Record{record("a", "1", 3), record("b", "2", 4), record("gone", "", 5)})
	put := func(id, body string) store.Record { return record(id, body, store.AnyRevision) }
	for name, test := range map[string]struct {
		given, want []store.Record
	}{
		"nothing":         {},
		"new":             {[]store.Record{put("c", "3"), put("d", "4")}, []store.Record{record("c", "3", 8), record("d", "4", 9)}},
		"unchanged":       {[]store.Record{put("a", "1"), put("b", "3")}, []store.Record{record("b", "3", 8)}},
		"removed":         {[]store.Record{put("a", "")}, []store.Record{record("a", "", 8)}},
		"never there":     {[]store.Record{put("c", "")}, nil},
		"already removed": {[]store.Record{put("gone", "")}, nil},
		"back":            {[]store.Record{put("gone", "5")}, []store.Record{record("gone", "5", 8)}},
		"twice": {
			[]store.Record{put("a", "2"), put("b", "3"), put("a", "3")},
			[]store.Record{record("b", "3", 8), record("a", "3", 9)},
		},
		"there and back": {[]store.Record{put("a", "2"), put("a", "1")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, written, err := store.PlanRecords(test.given, known, 7)
			if err != nil || !slices.Equal(written, test.want) {
				t.Errorf("got %+v, %v; want %+v", written, err, test.want)
			}
		})
	}
}
