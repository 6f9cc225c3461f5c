package rest_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/store"
)

// Every day is in the analytics, also days without reports. Today is the last,
// and the totals agree.
func TestAnalytics(t *testing.T) {
	b := market() // all of it long ago
	today := disclosure.DayOf(time.Now())
	b.Reports = nil
	for i, age := range []disclosure.Day{0, 1, 1, 7, 29, 35, 400} {
		r := newReport(disclosure.Types[i%3], int64(i+1), "2026-01-01T00:00:00Z")
		r.PublishedAt = (today - age).Start().Add(12 * time.Hour)
		r.Category = "Sobre resultados - Sobre dividendos"
		b.Reports = append(b.Reports, r)
	}
	s := start(t, "demo", b)
	a := analytics(s)

	if last := a.Daily[len(a.Daily)-1].Date; last != disclosure.DayOf(a.GeneratedAt).String() {
		t.Errorf("the last day is %s, worked out at %v", last, a.GeneratedAt)
	}
	days := map[string]catalog.Daily{}
	for i, d := range a.Daily {
		if day, _ := disclosure.ParseDay(d.Date); i > 0 && (day-1).String() != a.Daily[i-1].Date {
			t.Errorf("%s follows %s", d.Date, a.Daily[i-1].Date)
		}
		if d.Total != d.IP+d.HR+d.OIR {
			t.Errorf("the total of %+v", d)
		}
		days[d.Date] = d
	}
	for age, want := range map[disclosure.Day]int{1: 2, 2: 0, 7: 1} { // still in sight should midnight pass meanwhile
		if d, found := days[(today - age).String()]; !found || d.Total != want {
			t.Errorf("%d days ago: %+v, want %d", age, d, want)
		}
	}

	var weekdays, hours int
	for _, w := range a.Weekdays {
		weekdays += w.Total
	}
	for _, h := range a.Hours {
		hours += h.Total
	}
	by := a.Totals.ByType
	if a.Totals.All != 7 || by.IP != 3 || by.HR != 2 || by.OIR != 2 || weekdays != 7 || hours != 7 {
		t.Errorf("%+v, by weekday %d, by hour %d, want 7", a.Totals, weekdays, hours)
	}
	if total := s.get(http.StatusOK, "/api/v1/reports").reports().Total; total != a.Totals.All {
		t.Errorf("the list has %d reports, the analytics %d", total, a.Totals.All)
	}
	want := "[{Sobre dividendos Sobre dividendos (es) 7} {Sobre resultados Results 7}] [{BME Growth 7 1} {SIBE 0 1}]"
	if got := fmt.Sprint(a.Categories, a.Markets); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if len(a.Issuers) != 1 || a.Issuers[0].ID != "A69000024" || a.Issuers[0].Name != "ACEROS DE NAVALBRUMA, S.A." || *a.Issuers[0].Ticker != "ANB" {
		t.Errorf("%+v", a.Issuers)
	}
	if a.AsOfSeq != int64(len(b.Issuers)+len(b.Reports)) {
		t.Errorf("as of %d", a.AsOfSeq)
	}
}

// A market without reports has analytics too, and no list in them is null.
func TestAnalyticsWithoutReports(t *testing.T) {
	a := analytics(start(t, "demo", store.Batch{}))
	if len(a.Daily) != 30 || len(a.Weekdays) != 7 || len(a.Hours) != 24 || a.Pace.Ratio != nil || a.Totals.All != 0 || a.AsOfSeq != 0 {
		t.Errorf("%+v", a)
	}
}

func TestAnalyticsETag(t *testing.T) {
	s := start(t, "demo", market())
	first := s.get(http.StatusOK, "/api/v1/analytics")
	second := s.do(http.MethodGet, "/api/v1/analytics", http.Header{"If-None-Match": {first.header.Get("ETag")}})
	if second.status == http.StatusOK { // the minute may have passed between the two
		var one, other catalog.Analytics
		first.decode(&one)
		second.decode(&other)
		if one.GeneratedAt.Truncate(time.Minute).Equal(other.GeneratedAt.Truncate(time.Minute)) {
			t.Errorf("worked out twice in a minute: %v and %v", one.GeneratedAt, other.GeneratedAt)
		}
	}
}

func analytics(s *service) (a catalog.Analytics) {
	s.t.Helper()
	s.get(http.StatusOK, "/api/v1/analytics").decode(&a)
	return a
}
