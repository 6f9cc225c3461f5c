package storetest

import (
	"context"
	"reflect"
	"slices"
	"testing"

	"pregon/internal/store"
)

// CheckMethods calls check for every method of store.Store, with what a table of a
// test says of it, and fails if the table and the methods differ. decide says what to
// decide for a new method.
//
// A type that embeds a store and replaces some methods passes a new one on without
// anybody having thought of it. A test with CheckMethods makes somebody think.
func CheckMethods[T any](t *testing.T, table map[string]T, decide string, check func(t *testing.T, method string, want T)) {
	t.Helper()
	all := reflect.TypeFor[store.Store]()
	var methods []string
	for i := range all.NumMethod() {
		methods = append(methods, all.Method(i).Name)
	}
	for _, method := range methods {
		want, decided := table[method]
		if !decided {
			t.Errorf("store.Store has a method %s that the table of this test does not have: %s", method, decide)
			continue
		}
		check(t, method, want)
	}
	for method := range table {
		if !slices.Contains(methods, method) {
			t.Errorf("the table of this test has %s, which is no method of store.Store any more: remove it", method)
		}
	}
}

// Call calls a method of a store with zero values, and with functions that do nothing.
// It reports whether the method panicked, as one of a store that is nil does.
func Call(ctx context.Context, s store.Store, method string) (panicked bool) {
	defer func() { panicked = recover() != nil }()
	m := reflect.ValueOf(s).MethodByName(method)
	fixed := m.Type().NumIn()
	if m.Type().IsVariadic() {
		fixed--
	}
	args := make([]reflect.Value, fixed)
	for i := range args {
		of := m.Type().In(i)
		switch {
		case of == reflect.TypeFor[context.Context]():
			args[i] = reflect.ValueOf(ctx)
		case of.Kind() == reflect.Func:
			args[i] = reflect.MakeFunc(of, func([]reflect.Value) []reflect.Value { return zeroResults(of) })
		default:
			args[i] = reflect.Zero(of)
		}
	}
	m.Call(args)
	return false
}

func zeroResults(of reflect.Type) []reflect.Value {
	results := make([]reflect.Value, of.NumOut())
	for i := range results {
		results[i] = reflect.Zero(of.Out(i))
	}
	return results
}
