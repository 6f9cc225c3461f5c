package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/store"
)

func TestPlanNotes(t *testing.T) {
	known := map[string]string{"a": "1", "b": "2", "gone": ""}
	note := func(name, text string) store.Note { return store.Note{Name: name, Text: text} }
	for name, test := range map[string]struct {
		told, want []store.Note
	}{
		"nothing":            {},
		"new":                {[]store.Note{note("c", "3"), note("d", "4")}, []store.Note{{"c", "3", 8}, {"d", "4", 9}}},
		"unchanged":          {[]store.Note{note("a", "1"), note("b", "3")}, []store.Note{{"b", "3", 8}}},
		"taken away":         {[]store.Note{note("a", "")}, []store.Note{{"a", "", 8}}},
		"never there":        {[]store.Note{note("c", "")}, nil},
		"away already":       {[]store.Note{note("gone", "")}, nil},
		"back":               {[]store.Note{note("gone", "5")}, []store.Note{{"gone", "5", 8}}},
		"twice":              {[]store.Note{note("a", "2"), note("b", "3"), note("a", "3")}, []store.Note{{"b", "3", 8}, {"a", "3", 9}}},
		"there and back":     {[]store.Note{note("a", "2"), note("a", "1")}, nil},
		"its number is ours": {[]store.Note{{"a", "2", 99}}, []store.Note{{"a", "2", 8}}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, store.PlanNotes(test.told, known, 7)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
