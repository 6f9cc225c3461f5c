package demo_test

import (
	"reflect"
	"testing"

	"pregon/internal/disclosure"
	"pregon/internal/store"
)

// withReports are the methods of a store that take or return reports. TestLinks tests
// the links in each of them.
var withReports = map[string]bool{
	"Append":    true,
	"AsOf":      true,
	"Changes":   true,
	"ChangesAt": true,
	"ChangesOf": true,
	"Current":   true,
	"Reports":   true, // returns the stored links
}

// TestMethods: it was decided of every method of the store that has reports which
// links they have.
func TestMethods(t *testing.T) {
	all := reflect.TypeFor[store.Store]()
	for i := range all.NumMethod() {
		m := all.Method(i)
		if mentionsReport(m.Type) && !withReports[m.Name] {
			t.Errorf("%s of store.Store takes or returns reports: decide whether their links should lead to the pages of the demo; "+
				"if so, replace it in links; add it to the table and to TestLinks in either case", m.Name)
		}
	}
}

// mentionsReport reports whether a type has a report in it.
func mentionsReport(t reflect.Type) bool {
	if t == reflect.TypeFor[disclosure.Report]() {
		return true
	}
	switch t.Kind() {
	case reflect.Func:
		for i := range t.NumIn() {
			if mentionsReport(t.In(i)) {
				return true
			}
		}
		for i := range t.NumOut() {
			if mentionsReport(t.Out(i)) {
				return true
			}
		}
	case reflect.Slice, reflect.Pointer, reflect.Map, reflect.Array:
		return mentionsReport(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if mentionsReport(t.Field(i).Type) {
				return true
			}
		}
	}
	return false
}
