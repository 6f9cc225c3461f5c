package site_test

import (
	"net/http"
	"strings"
	"testing"

	"pregon/internal/query/querytest"
)

// The page of a report names its class of regulated information if it is certain.
func TestReportClass(t *testing.T) {
	t.Parallel()
	s := start(t, "", querytest.Market())
	has(t, s.get(http.StatusOK, "/reports/ip-3123"), "Clase de información regulada (UE)", "2.2 Información privilegiada")
	has(t, s.get(http.StatusOK, "/reports/ip-3123?lang=en"), "2.2 Inside information")
	if body := s.get(http.StatusOK, "/reports/oir-40374").Body.String(); strings.Contains(body, "Clase de información") {
		t.Error("a report of an unknown category has a class")
	}
}
