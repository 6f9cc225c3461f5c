package mcp_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"pregon/internal/query"
)

// counts calls count_reports.
func (s *service) counts(arguments string) (out query.Counts, text string) {
	s.t.Helper()
	got := s.call("count_reports", arguments)
	if got.IsError {
		s.t.Fatalf("%s: %s", arguments, got.text())
	}
	if err := json.Unmarshal(got.StructuredContent, &out); err != nil {
		s.t.Fatal(err)
	}
	return out, got.text()
}

// total returns the number of reports that a list of REST has.
func (s *service) total(parameters string) int {
	s.t.Helper()
	status, body := s.get("/api/v1/reports?" + parameters)
	if status != http.StatusOK {
		s.t.Fatalf("%s: %s", parameters, body)
	}
	return int(object(s.t, body)["total"].(float64))
}

// The address at the end of a line of counts selects the reports that the line counts.
func TestCounts(t *testing.T) {
	t.Parallel()
	s := start(t, busy(300, 60, 7))
	line := regexp.MustCompile(`(?m)^- .*: (\d+) reports?: ` + regexp.QuoteMeta(baseURL) + `/\?(.*)$`)
	filters := []string{
		``,
		`,"type":"OIR","from":"2026-05-06","to":"2026-05-20"`,
		`,"search":"dividendo","category":"dividendos"`,
		`,"kind":"company","issuer":"A69000016,fi-4720"`,
	}
	linked := 0
	for _, by := range []string{"issuer", "type", "category", "day", "month", "market", "sector", "kind"} {
		for _, filter := range filters {
			arguments := fmt.Sprintf(`{"by":%q%s}`, by, filter)
			found, text := s.counts(arguments)
			given := url.Values{}
			for name, v := range object(t, []byte(arguments)) {
				given.Set(name, v.(string))
			}
			_, body := s.get("/api/v1/reports/counts?" + given.Encode())
			var want query.Counts
			if err := json.Unmarshal(body, &want); err != nil {
				t.Fatal(err)
			}
			if found.Total != want.Total || found.Values != want.Values || len(found.Data) != len(want.Data) {
				t.Errorf("%s: %+v, want %+v", arguments, found, want)
			}
			if !strings.Contains(text, fmt.Sprintf("%d report", want.Total)) && want.Values > 0 {
				t.Errorf("%s: the text lacks the total %d: %s", arguments, want.Total, text)
			}
			for _, row := range line.FindAllStringSubmatch(text, -1) {
				if total := s.total(row[2]); fmt.Sprint(total) != row[1] {
					t.Errorf("%s: %s is counted, and its list has %d", arguments, row[0], total)
				}
				linked++
			}
		}
	}
	if linked < 60 {
		t.Errorf("%d rows have an address: the test needs more", linked)
	}
}

// The pages of counts have every value once.
func TestPagesOfCounts(t *testing.T) {
	t.Parallel()
	s := start(t, busy(300, 60, 8))
	seen := map[string]bool{}
	for page := 1; ; page++ {
		found, text := s.counts(fmt.Sprintf(`{"by":"day","limit":3,"page":%d}`, page))
		for _, c := range found.Data {
			seen[*c.Value] = true
		}
		if len(seen) == found.Values {
			if strings.Contains(text, "More: ") {
				t.Errorf("the last page has more: %s", text)
			}
			return
		}
		if !strings.Contains(text, fmt.Sprintf("More: page %d with limit 3.", page+1)) || len(found.Data) == 0 {
			t.Fatalf("page %d does not continue: %s", page, text)
		}
	}
}

// Counts of nothing say why there is nothing.
func TestCountsOfNothing(t *testing.T) {
	t.Parallel()
	s := start(t, market())
	_, text := s.counts(`{"by":"issuer","search":"dividendos zzzz"}`)
	if !strings.Contains(text, "dividendos 1; zzzz 0.") {
		t.Errorf("the text does not explain the words: %s", text)
	}
}

// Every value that list_values names is accepted, and selects as many reports as it says.
func TestValues(t *testing.T) {
	t.Parallel()
	s := start(t, busy(300, 60, 9))
	for _, of := range query.ValueSets {
		got := s.call("list_values", fmt.Sprintf(`{"of":%q}`, of))
		if got.IsError {
			t.Fatalf("%s: %s", of, got.text())
		}
		var found struct {
			Data []query.Value
			More int
		}
		if err := json.Unmarshal(got.StructuredContent, &found); err != nil {
			t.Fatal(err)
		}
		if len(found.Data) == 0 || found.More != 0 {
			t.Errorf("%s has %d values and %d more", of, len(found.Data), found.More)
		}
		for _, v := range found.Data {
			if !strings.Contains(got.text(), v.Value) {
				t.Errorf("%s: the text lacks %q: %s", of, v.Value, got.text())
			}
			if of == query.DateKinds {
				continue
			}
			if total := s.total(url.Values{string(of): {v.Value}}.Encode()); total != v.Count {
				t.Errorf("%s %q has %d reports, and its list has %d", of, v.Value, v.Count, total)
			}
		}
	}
}

func TestCountsRefuse(t *testing.T) {
	t.Parallel()
	s := start(t, market())
	for _, test := range []struct{ tool, arguments, want string }{
		{"count_reports", `{}`, "by is needed"},
		{"count_reports", `{"by":"week"}`, "unknown by 'week': use issuer, type, category, day, month, market, sector or kind"},
		{"count_reports", `{"by":"day","category":"Sobre dividentos"}`, "Did you mean «Sobre dividendos», "},
		{"count_reports", `{"by":"day","colour":"red"}`, "colour is not an argument of count_reports"},
		{"list_values", `{"of":"colour"}`, "unknown of 'colour': use category, market, sector, fact, type, kind or date"},
		{"list_values", `{}`, "of is needed"},
	} {
		got := s.call(test.tool, test.arguments)
		if !got.IsError || strings.Count(got.text(), test.want) != 1 {
			t.Errorf("%s %s: %s, want %q once", test.tool, test.arguments, got.text(), test.want)
		}
	}
}
