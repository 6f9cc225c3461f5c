package site_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"pregon/internal/query/querytest"
)

// The time to render pages, which readers with a credential always need.
func BenchmarkPages(b *testing.B) {
	s := start(b, "", querytest.Market())
	for name, target := range map[string]string{"feed": "/", "report": "/reports/oir-40374", "live": "/live"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := httptest.NewRequest(http.MethodGet, target, nil)
				r.Header.Set("Accept", "text/html")
				r.Header.Set("Authorization", "Bearer read:reports")
				s.mux.ServeHTTP(httptest.NewRecorder(), r)
			}
		})
	}
}
