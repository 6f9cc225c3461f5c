package httpserver_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"pregon/internal/server/httpserver"
)

// TestTrace: the hook receives each request with its traceparent, and a request costs
// no allocation more than without the hook.
func TestTrace(t *testing.T) {
	var traced []string
	allocations := func(trace func(httpserver.Observation, string)) float64 {
		h := newHarness(t, map[string]http.HandlerFunc{"GET /x": hello}, func(o *httpserver.Options) {
			o.Observer.Trace = trace
			o.Observer.Request = func(httpserver.Observation) {}
		})
		r := httptest.NewRequest("GET", "/x", nil)
		r.Header.Set("Traceparent", "00-of-the-test")
		return testing.AllocsPerRun(100, func() { h.ServeHTTP(httptest.NewRecorder(), r) })
	}
	off, on := allocations(nil), allocations(func(o httpserver.Observation, traceparent string) {
		if traced == nil {
			traced = []string{o.Route, traceparent}
		}
	})
	if off != on || off == 0 {
		t.Errorf("%v allocations a request without the hook and %v with it, want the same", off, on)
	}
	if len(traced) != 2 || traced[0] != "GET /x" || traced[1] != "00-of-the-test" {
		t.Errorf("the hook received %q", traced)
	}
}
