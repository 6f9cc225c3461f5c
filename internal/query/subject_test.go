package query_test

import (
	"net/url"
	"strings"
	"testing"
)

// A model that asks for a subject as a category gets the reports with its words. A subject
// that is a category too stays one, and other clients get an error.
func TestSubjectAsCategory(t *testing.T) {
	q, _, c := registers(t)
	for _, test := range []struct {
		values         string
		model          bool
		search         string
		warned, failed bool
	}{
		{"category=ampliación de capital", true, "ampliación de capital", true, false},
		{"category=capital increase&search=sierra", true, "capital increase sierra", true, false},
		{"category=ampliación de capital", false, "", false, true},
		{"category=resultados", true, "", false, false},
		{"category=zzzz", true, "", false, true},
		{"category=-capital increase", true, "", false, true},
	} {
		values, err := url.ParseQuery(strings.ReplaceAll(test.values, " ", "+"))
		if err != nil {
			t.Fatal(err)
		}
		p := q.NewParams(values)
		if test.model {
			p.Strict()
		}
		f := p.Filter(c.Snapshot())
		if f.Search != test.search || f.Widen != (test.search != "") || (f.Search == "") != (f.Category != "") {
			t.Errorf("%s: got the filter %+v, want to search %q", test.values, f, test.search)
		}
		if (len(p.Warnings()) > 0) != test.warned || (p.Err() != nil) != test.failed {
			t.Errorf("%s: warnings %q, error %v", test.values, p.Warnings(), p.Err())
		}
	}
}
