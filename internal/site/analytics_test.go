package site_test

import (
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/query/querytest"
)

var (
	linkedNumber = regexp.MustCompile(`<td><a href="(/\?[^"]*)">(\d+)</a>`)
	linkedDate   = regexp.MustCompile(`<th scope="row"><a href="(/\?[^"]*)">[^<]*</a>\s*<td>(\d+)`)
	linkedBar    = regexp.MustCompile(`<a href="(/\?[^"]*)" tabindex="-1"><rect class="hit"[^>]*><title>[^<]*: (\d+)[^<]*</title>`)
)

// compareCounts compares the numbers that a pattern finds with the lists to which they lead,
// and returns how many it compared.
func (s *service) compareCounts(page string, pattern *regexp.Regexp) (compared int) {
	s.t.Helper()
	seen := map[string]bool{}
	for _, match := range pattern.FindAllStringSubmatch(page, -1) {
		address, number := html.UnescapeString(match[1]), match[2]
		if seen[address] || number == "0" && compared > 3 { // nearly all days have none
			continue
		}
		seen[address] = true
		compared++
		list := s.get(http.StatusOK, address).Body.String()
		if want := `<p class="count">` + number + ` `; !strings.Contains(list, want) {
			_, got, _ := strings.Cut(list, `<p class="count">`)
			s.t.Errorf("%s: got %.20q, want %s", address, got, number)
		}
	}
	return compared
}

// The numbers and bars of the figures lead to lists with as many reports.
func TestFiguresLeadToLists(t *testing.T) {
	t.Parallel()
	b := querytest.Market()
	now := time.Now()
	for n := range 3 {
		at := now.Add(-time.Duration(n) * 24 * time.Hour).UTC().Format(time.RFC3339)
		r := querytest.Report(disclosure.OIR, int64(9001+n), at)
		r.NIF = "A69000024"
		b.Reports = append(b.Reports, r)
	}
	s := start(t, "", b)
	page := s.get(http.StatusOK, "/analytics").Body.String()
	issuer := s.get(http.StatusOK, "/issuers/A69000024").Body.String()
	for name, pattern := range map[string]*regexp.Regexp{"numbers": linkedNumber, "dates": linkedDate, "bars": linkedBar} {
		if compared := s.compareCounts(page, pattern); compared < 4 {
			t.Errorf("the page of figures has %d linked %s", compared, name)
		}
	}
	for _, conditions := range []string{
		"type=OIR", "market=BME+Growth", "issuer=A69000024", "from=" + disclosure.DayOf(now.AddDate(0, 0, -6)).String(),
		"without=routine&from=2026-01-01", "category=Sobre+resultados", "type=IP&from=1990-01-01&to=2026-04-30",
	} {
		page := s.get(http.StatusOK, "/analytics?"+conditions).Body.String()
		if compared := s.compareCounts(page, linkedBar) + s.compareCounts(page, linkedDate) + s.compareCounts(page, linkedNumber); compared < 2 {
			t.Errorf("the figures with %s have %d links", conditions, compared)
		}
		total := regexp.MustCompile(`<dd><a href="(/\?[^"]*)">(\d+)</a>`)
		if compared := s.compareCounts(page, total); compared < 1 {
			t.Errorf("the figures with %s have no linked total", conditions)
		}
	}
	if compared := s.compareCounts(issuer, linkedBar); compared < 2 {
		t.Errorf("the page of an issuer has %d linked bars", compared)
	}
	chosen := s.get(http.StatusOK, "/analytics?lang=en").Body.String()
	for _, match := range linkedBar.FindAllStringSubmatch(chosen, 3) {
		if !strings.Contains(match[1], "lang=en") {
			t.Errorf("%s loses the language", match[1])
		}
	}
}

// The figures of some reports have CSV with the same conditions. Conditions that nothing
// meets, and wrong ones, are answered as in lists.
func TestCountedFigures(t *testing.T) {
	t.Parallel()
	s := start(t, "", querytest.Market())
	page := s.get(http.StatusOK, "/analytics?type=OIR&from=2020-01-01")
	has(t, page, "Por mes", "Por emisor", `href="/analytics/issuers.csv?from=2020-01-01&amp;type=OIR"`, `name="robots" content="noindex`,
		`href="/api/v1/reports/counts?by=month&amp;from=2020-01-01&amp;type=OIR"`)
	lacks(t, page.Body.String(), "Ritmo de hoy", "NaN", "%!", "style=")
	rows := s.rows("/analytics/months.csv?type=OIR&from=2020-01-01", "month,total,IP,HR,OIR")
	for _, row := range rows {
		if row[2] != "0" || row[3] != "0" || row[1] != row[4] {
			t.Errorf("other types are counted: %v", row)
		}
	}
	has(t, s.get(http.StatusOK, "/analytics?type=OIR&lang=en"), "By month", `aria-current="true">OIR</a>`)
	has(t, s.get(http.StatusOK, "/analytics?from=2099-01-01"), "No hay datos todavía")
	s.get(http.StatusBadRequest, "/analytics?issuer=nobody")
	s.get(http.StatusBadRequest, "/analytics?type=X")
	s.get(http.StatusBadRequest, "/analytics?from=2026-02-30")
	s.get(http.StatusNotFound, "/analytics/hours.csv?type=OIR")
	if rows := s.rows("/analytics/days.csv?from=2026-04-01&to=2026-04-30", "date,total,IP,HR,OIR"); len(rows) != 30 {
		t.Errorf("got %d days, want 30", len(rows))
	}
}

// In the simulated market a bar that would leave no room for the others is cut off, and the
// page says so. In the real one none is.
func TestCutBars(t *testing.T) {
	t.Parallel()
	b := querytest.Market()
	now := time.Now()
	for n := range 70 {
		at := now.Add(-time.Duration(n/60*(n-59)) * 24 * time.Hour).UTC().Format(time.RFC3339) // 60 today, then one a day
		b.Reports = append(b.Reports, querytest.Report(disclosure.OIR, int64(9001+n), at))
	}
	const note, mark = "Las barras con flecha están cortadas", "↑ 60"
	has(t, start(t, "demo", b).get(http.StatusOK, "/analytics"), note, mark)
	lacks(t, start(t, "", b).get(http.StatusOK, "/analytics").Body.String(), note, mark)
}
