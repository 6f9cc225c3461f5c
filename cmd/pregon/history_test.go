package main_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/disclosure"
	"pregon/internal/query"
	"pregon/internal/test/longtest"
)

// TestHistoryOfMarket: in the simulated market, whose reports change as their pages
// and documents are read and as others rectify them, the history of a report leads
// from one of its past states to the next, up to the present one.
func TestHistoryOfMarket(t *testing.T) {
	longtest.Skip(t, "it follows the market for a while")
	t.Parallel()
	for _, name := range slices.Sorted(maps.Keys(engines)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := engines[name](t)
			s := startReplica(t, store, "--source", "demo", "--rate", "60/min")
			key := pregon(t, store, "keys", "create", "--plan", "pro")
			get := func(path string, into any) error {
				_, err := call(t.Context(), s.url, key, http.MethodGet, path, nil, into)
				return err
			}
			var id string
			var all query.History
			eventually(t, func() error { // a report whose page and document were read
				var list struct{ Data []struct{ ID string } }
				if err := get("/api/v1/reports?search=sociedad&in=document&limit=1", &list); err != nil {
					return err
				}
				if len(list.Data) == 0 {
					return errors.New("no document is read yet")
				}
				id = list.Data[0].ID
				if err := get("/api/v1/reports/"+id+"/history?limit=50", &all); err != nil {
					return err
				}
				if len(all.Data) < 3 {
					return fmt.Errorf("%s has changed %d times", id, len(all.Data)-1)
				}
				return nil
			})
			replayed := map[string]json.RawMessage{}
			for _, v := range slices.Backward(all.Data) {
				var then map[string]json.RawMessage
				if err := get("/api/v1/reports/"+id+"?as_of="+v.Cursor, &then); err != nil {
					t.Fatal(err)
				}
				for _, c := range v.Changed {
					if before, ok := replayed[c.Field]; ok && string(before) != string(c.Old) {
						t.Errorf("%s: %s was %s before seq %d, not %s", id, c.Field, before, v.Seq, c.Old)
					}
					replayed[c.Field] = c.New
				}
				for field, value := range replayed {
					got := then[field]
					if field == "facts" {
						got = briefFacts(t, got)
					}
					if field != "ticker" && string(got) != string(value) {
						t.Errorf("%s as of %d: %s is %s, want %s", id, v.Seq, field, got, value)
					}
				}
				if link := string(then["pdf_url"]); link != "null" && !strings.Contains(link, "/simulator/") {
					t.Errorf("the link of a past state is %s", link)
				}
				var before struct{ Data []struct{ ID string } }
				path := fmt.Sprintf("/api/v1/reports?search=%s&as_of=%d", id, v.Seq-1)
				if err := get(path, &before); err != nil {
					t.Fatal(err)
				}
				if known := len(before.Data) == 1; known != (v.Seq > all.Data[len(all.Data)-1].Seq) {
					t.Errorf("%s is known: %v", path, known)
				}
			}
			var now, then map[string]json.RawMessage
			if err := errors.Join(get("/api/v1/reports/"+id, &now), get("/api/v1/reports/"+id+"?as_of="+all.Data[0].Cursor, &then)); err != nil {
				t.Fatal(err)
			}
			for _, later := range []string{"as_of_seq", "ticker", "issuer_id"} { // the directory may have changed since
				delete(then, later)
				delete(now, later)
			}
			if diff := cmp.Diff(now, then); diff != "" && !changedSince(t, get, id, all.Data[0].Seq) {
				t.Errorf("the present state (-) and that as of the newest change (+):\n%s", diff)
			}
		})
	}
}

// briefFacts returns facts as lists and the history have them: without rows and evidence.
func briefFacts(t *testing.T, whole json.RawMessage) json.RawMessage {
	t.Helper()
	var facts []disclosure.Fact
	if err := json.Unmarshal(whole, &facts); err != nil {
		t.Fatal(err)
	}
	brief, err := json.Marshal(facts)
	if err != nil {
		t.Fatal(err)
	}
	return brief
}

// changedSince reports whether a report has changed while a test read it.
func changedSince(t *testing.T, get func(string, any) error, id string, seq int64) bool {
	t.Helper()
	var newest query.History
	if err := get("/api/v1/reports/"+id+"/history?limit=1", &newest); err != nil {
		t.Fatal(err)
	}
	return newest.Data[0].Seq != seq
}
