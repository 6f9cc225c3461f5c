package rest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/query"
)

func TestCounts(t *testing.T) {
	s := start(t, "demo", market())
	var list reports
	s.get(http.StatusOK, "/api/v1/reports").decode(&list)
	for _, by := range []string{"issuer", "type", "category", "day", "month", "market", "sector", "kind"} {
		var got query.Counts
		a := s.get(http.StatusOK, "/api/v1/reports/counts?by="+by)
		a.decode(&got)
		if got.Total != list.Total || string(got.By) != by || got.Values < len(got.Data) || got.Limit != 10 ||
			got.Seq != s.catalog.Snapshot().Seq() {
			t.Errorf("by %s: %s, want a total of %d", by, a.body, list.Total)
		}
	}
	var types query.Counts
	s.get(http.StatusOK, "/api/v1/reports/counts?by=type&type=IP").decode(&types)
	if len(types.Data) != 1 || *types.Data[0].Value != "IP" || types.Data[0].Name != "Información privilegiada" ||
		*types.Data[0].NameEN != "Inside information" || types.Data[0].Count != types.Total {
		t.Errorf("by type: %+v", types)
	}
	// The value of a count is one that the filter of the same name accepts.
	var categories query.Counts
	s.get(http.StatusOK, "/api/v1/reports/counts?by=category&limit=50").decode(&categories)
	for _, c := range categories.Data {
		var narrowed reports
		s.get(http.StatusOK, "/api/v1/reports"+encode("category", *c.Value)).decode(&narrowed)
		if narrowed.Total != c.Count {
			t.Errorf("%s: %d reports, and the list has %d", *c.Value, c.Count, narrowed.Total)
		}
	}
}

func TestCountsRefuse(t *testing.T) {
	s := start(t, "demo", market())
	s.get(http.StatusBadRequest, "/api/v1/reports/counts").refused("by", "")
	s.get(http.StatusBadRequest, "/api/v1/reports/counts?by=color").refused("by", "color")
	s.get(http.StatusBadRequest, "/api/v1/reports/counts?by=type&limit=51").refused("limit", "51")
	s.get(http.StatusBadRequest, "/api/v1/reports/counts?by=type&category=zzzzzz").refused("category", "zzzzzz")
	s.get(http.StatusUnauthorized, "/api/v1/reports/counts?by=type&in=document&search=junta")
	s.getWith(http.StatusBadRequest, "/api/v1/reports/counts?by=type&in=document", s.key()).refused("search", "")
	s.getWith(http.StatusBadRequest, "/api/v1/reports/counts?by=type&in=document&search=junta&as_of=1", s.key()).
		refused("in", "document")
	s.get(http.StatusBadRequest, "/api/v1/values").refused("of", "")
	s.get(http.StatusBadRequest, "/api/v1/values?of=color").refused("of", "color")
}

func TestCountsAsOf(t *testing.T) {
	s, before := pastService(t)
	var then, now query.Counts
	s.get(http.StatusOK, "/api/v1/reports/counts?by=type").decode(&now)
	a := s.get(http.StatusOK, fmt.Sprintf("/api/v1/reports/counts?by=type&as_of=%d", before))
	a.decode(&then)
	if then.AsOfSeq == nil || *then.AsOfSeq != before || then.Seq != before || then.Total != now.Total-1 ||
		a.header.Get("Pregon-Seq") != fmt.Sprint(before) {
		t.Errorf("as of %d: %s", before, a.body)
	}
	// The state of that time is in two parts: what has changed since, and all other reports.
	var list reports
	s.get(http.StatusOK, fmt.Sprintf("/api/v1/reports?as_of=%d", before)).decode(&list)
	sum := 0
	for _, c := range then.Data {
		sum += c.Count
	}
	if sum != list.Total || then.Values != len(then.Data) {
		t.Errorf("the counts add up to %d, want %d: %s", sum, list.Total, a.body)
	}
}

func TestCountsAsCSV(t *testing.T) {
	s := start(t, "demo", market())
	var list query.Counts
	s.get(http.StatusOK, "/api/v1/reports/counts?by=day&limit=50").decode(&list)
	a := s.get(http.StatusOK, "/api/v1/reports/counts.csv?by=day")
	lines := strings.Split(strings.TrimSpace(string(a.body)), "\r\n")
	if lines[0] != "value,name,name_en,count" || len(lines) != list.Values+1 ||
		a.header.Get("Pregon-Total") != fmt.Sprint(list.Values) {
		t.Errorf("%s %v", a.body, a.header)
	}
	a = s.getWith(http.StatusOK, "/api/v1/reports/counts?by=day&limit=1", http.Header{"Accept": {"text/csv"}})
	if link := a.header.Get("Link"); !strings.Contains(link, "page=2") {
		t.Errorf("the link to the next page is %q", link)
	}
}

func TestValues(t *testing.T) {
	s := start(t, "demo", market())
	for _, test := range []struct {
		of, value, english string
	}{
		{"category", "Sobre resultados", "Results"},
		{"market", "SIBE", ""},
		{"sector", "CONSTRUCCIÓN", "Construction"},
		{"fact", "buyback_programme", "Buy-back programme"},
		{"type", "HR", "Significant event"},
		{"kind", "fund", "Fund"},
		{"date", "payment", "Payment"},
	} {
		var got query.Values
		s.get(http.StatusOK, "/api/v1/values?of="+test.of).decode(&got)
		names := map[string]string{}
		for _, v := range got.Data {
			if v.NameEN != nil {
				names[v.Value] = *v.NameEN
			} else {
				names[v.Value] = ""
			}
			if test.of == "date" || test.of == "fact" {
				if v.About == nil || v.AboutEN == nil || v.NameEN == nil || (test.of == "fact") != (len(v.Fields) > 0) {
					t.Errorf("%s %s is not explained: %+v", test.of, v.Value, v)
				}
				continue
			}
			var list reports
			s.get(http.StatusOK, "/api/v1/reports"+encode(test.of, v.Value)).decode(&list)
			if list.Total != v.Count {
				t.Errorf("%s %s: %d reports, and the list has %d", test.of, v.Value, v.Count, list.Total)
			}
		}
		if english, known := names[test.value]; !known || english != test.english {
			t.Errorf("%s: no %s with the English name %q in %v", test.of, test.value, test.english, names)
		}
	}
	a := s.get(http.StatusOK, "/api/v1/values.csv?of=type")
	want := "value,name,name_en,about,about_en,fields,count"
	if diff := cmp.Diff(want, strings.Split(string(a.body), "\r\n")[0]); diff != "" {
		t.Error(diff)
	}
}
