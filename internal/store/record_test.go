package store_test

import (
	"testing"

	"pregon/internal/fault"
	"pregon/internal/store"
)

func TestPlanRecord(t *testing.T) {
	record := func(body string, revision int64) store.Record {
		return store.Record{Kind: "key", ID: "a", Body: body, Revision: revision}
	}
	var none store.Record
	for name, test := range map[string]struct {
		told, known store.Record
		want        int64 // the revision that the record has then; -1 is a conflict
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
			got, written, err := store.PlanRecord(test.told, test.known, 7)
			if test.want < 0 {
				if fault.KindOf(err) != fault.Conflict || written || got != none {
					t.Errorf("%+v, %t, %v; want a conflict", got, written, err)
				}
				return
			}
			if want := record(test.told.Body, test.want); err != nil || got != want || written != (test.want == 8) {
				t.Errorf("%+v, %t, %v; want %+v", got, written, err, want)
			}
		})
	}
}
