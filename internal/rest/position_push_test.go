package rest_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/push/events"
	"pregon/internal/query/querytest"
	"pregon/internal/store"
)

const elena = "Elena Ruiz Salvatierra"

const positionEvents = "events=position.published,position.updated,position.withdrawn"

// enter appends positions one by one, as ingest does, and returns the seq of the last.
func (s *service) enter(positions ...disclosure.Position) (seq int64) {
	s.t.Helper()
	for _, p := range positions {
		s.must(p.Validate())
		out, err := s.store.Append(s.t.Context(), store.Batch{Positions: []disclosure.Position{p}})
		s.must(err)
		seq = out.Seq
	}
	return seq
}

// changesOf returns the ids of changes, and all bodies.
func (s *service) changesOf(target string, header http.Header) (ids []string, body string) {
	s.t.Helper()
	a := s.getWith(http.StatusOK, target, header)
	var list struct{ Data []change }
	a.decode(&list)
	for _, c := range list.Data {
		ids = append(ids, c.ID)
	}
	return ids, string(a.body)
}

// Positions are pushed to those who ask for their events. A live stream, a replay, the
// change list and its CSV have the same ones.
func TestPushOfPositions(t *testing.T) {
	s, header := startLive(t)
	from := s.feed.Newest()
	filters := map[string]string{
		"":                                  "short short2 holding person company",
		"&issuer=BVB":                       "short short2 holding person company",
		"&issuer=ANB":                       "",
		"&position=short":                   "short short2",
		"&position=holding,dealing":         "holding person company",
		"&position=own_shares":              "",
		"&min_percent=0.5":                  "short holding",
		"&holder=imaginaria":                "holding",
		"&holder=elena":                     "",
		"&issuer=BVB&holder=elena":          "person",
		"&side=sell":                        "company",
		"&position=dealing&min_amount=5000": "company",
		"&side=buy&min_amount=2500":         "person",
		"&side=buy&min_amount=2501":         "",
		"&from=2026-02-10":                  "person company",
		"&market=SIBE&position=short":       "short short2",
	}
	live := map[string]*listener{}
	for filter := range filters {
		live[filter] = s.listen("/api/v1/stream?"+positionEvents+filter, header)
		live[filter].want("hello", nil)
	}
	usual := s.listen("/api/v1/stream", header)
	usual.want("hello", nil)
	entered := []disclosure.Position{
		querytest.Short(querytest.ISIN, "Fondo Imaginario Alfa LLP", "2026-02-02", "0.6", disclosure.StateCurrent, 1),
		querytest.Short(querytest.ISIN, "Fondo Imaginario Beta, Ltd.", "2026-02-02", "0.49", disclosure.StateCurrent, 2),
		querytest.Holding("2026000101", "CARTERA IMAGINARIA, S.L.", "2026-02-02", "5", disclosure.StateCurrent),
		querytest.Dealing("2026000121", elena, "2026-02-10", disclosure.StateCurrent,
			querytest.Trade("Compra", disclosure.Buy, "1000", "2.5", "EUR")),
		querytest.Dealing("2026000122", "Inversiones Lejanas, S.L.", "2026-02-10", disclosure.StateCurrent,
			querytest.Trade("Venta", disclosure.Sell, "2000", "2.5", "EUR")),
	}
	ids := map[string]string{}
	for i, name := range []string{"short", "short2", "holding", "person", "company"} {
		ids[name] = entered[i].ID
	}
	s.enter(entered...)
	s.fileNow(90001) // after them, for streams that have none of them
	usual.want("report.published", nil)
	s.enter(querytest.Short("ES0999999999", "Fin LLP", "2030-01-01", "100", disclosure.StateCurrent, 1))
	for filter, names := range filters {
		var want []string
		for _, name := range strings.Fields(names) {
			want = append(want, ids[name])
		}
		target := positionEvents + filter + "&after=" + s.at(from)
		replay := s.listen("/api/v1/stream?"+target, header)
		replay.want("hello", nil)
		for _, l := range []*listener{live[filter], replay} {
			for _, id := range want {
				var got change
				e := l.want("position.published", &got)
				if got.ID != id || e.id != s.at(got.Seq) {
					t.Errorf("%s: %+v, want %s", filter, e, id)
				}
			}
		}
		got, _ := s.changesOf("/api/v1/changes?wait=1&"+target, header)
		got = slices.DeleteFunc(got, func(id string) bool { return strings.HasPrefix(id, "short-es0999999999") })
		if !slices.Equal(got, want) {
			t.Errorf("%s: the changes are %v, want %v", filter, got, want)
		}
		rows := s.getWith(http.StatusOK, "/api/v1/changes.csv?"+target, header).csv()
		column := func(row []string, name string) string { return row[slices.Index(rows[0], name)] }
		for i, id := range want {
			if got := column(rows[1+i], "id"); got != id {
				t.Errorf("%s: row %d is %s, want %s", filter, i, got, id)
			}
			if strings.HasPrefix(id, "dealing-") && (column(rows[1+i], "trades.volume") == "" || column(rows[1+i], "person") == "") {
				t.Errorf("%s: the row is %q", filter, rows[1+i])
			}
		}
	}
	// Without a word about events, the change list has all of them.
	got, body := s.changesOf("/api/v1/changes?limit=1000&after="+s.at(from), header)
	if len(got) != len(entered)+2 || !strings.Contains(body, `"kind":"dealing"`) || !strings.Contains(body, `"issuer_id":"A69000016"`) {
		t.Errorf("all changes: %v", got)
	}
	if got, _ := s.changesOf("/api/v1/changes?type=OIR&limit=1000&after="+s.at(from), header); len(got) > 1 {
		t.Errorf("a filter for reports selects %v", got)
	}
}

// Events of positions need the scope of issuers, and a filter of positions their events.
func TestPushOfPositionsErrors(t *testing.T) {
	s := start(t, "demo", market())
	s.append(querytest.Positions())
	both := s.credentials(access.ReadReports | access.ReadIssuers)[0]
	reports := s.credentials(access.ReadReports)[0]
	for target, want := range map[string]string{
		"/api/v1/stream?position=short":                                            "events must have an event of positions",
		"/api/v1/stream?holder=alfa&events=report.published":                       "events must have an event of positions",
		"/api/v1/changes?side=buy&events=issuer.updated":                           "events must have an event of positions",
		"/api/v1/changes?type=IP&events=position.published":                        "events must have an event of reports",
		"/api/v1/changes?position=shorts":                                          "position must be some of",
		"/api/v1/changes?position=short&search=dividendo":                          "leave one of them out",
		"/api/v1/stream?min_amount=5&" + positionEvents:                            "min_amount needs",
		"/api/v1/stream?position=short&events=position.published,x":                "events must be some of",
		"/api/v1/stream?" + positionEvents + "&holder=" + strings.Repeat("a+", 40): "a filter may search for 32",
	} {
		if doc := s.getWith(http.StatusBadRequest, target, both).problem(); !strings.Contains(doc.Detail, want) {
			t.Errorf("%s: %q, want %q", target, doc.Detail, want)
		}
	}
	for _, target := range []string{
		"/api/v1/stream?" + positionEvents,
		"/api/v1/changes?" + positionEvents,
		"/api/v1/changes?position=short",
	} {
		s.getWith(http.StatusForbidden, target, reports)
	}
	if got, _ := s.changesOf("/api/v1/changes?limit=1000", reports); slices.ContainsFunc(got, func(id string) bool {
		_, position := disclosure.KindOfPosition(id)
		return position
	}) {
		t.Errorf("without the scope: %v", got)
	}
	if got, _ := s.changesOf("/api/v1/changes?position=short", both); len(got) != 4 {
		t.Errorf("with the scope: %v", got)
	}
}

// After a name was erased no stream, replay or change list has it: neither from memory,
// where events are kept as they were sent, nor from the log.
func TestPushOfErasedNames(t *testing.T) {
	s, header := startLive(t)
	from := s.feed.Newest()
	l := s.listen("/api/v1/stream?"+positionEvents+",position.backfilled", header)
	l.want("hello", nil)
	person := querytest.Dealing("2026000121", elena, "2026-02-10", disclosure.StateCurrent)
	other := querytest.Dealing("2026000123", "Elena Otra Salvatierra", "2026-02-10", disclosure.StateCurrent)
	s.enter(person, other)
	corrected := person
	corrected.State = disclosure.StateRectified
	seq := s.enter(corrected)
	for _, name := range []string{"position.published", "position.published", "position.updated"} {
		if e := l.want(name, nil); !strings.Contains(e.data, "Salvatierra") {
			t.Fatalf("before the erasure: %+v", e)
		}
	}
	_, err := s.store.EraseNames(t.Context(), nil, person.ID)
	s.must(err)
	if e := l.want("position.backfilled", nil); strings.Contains(e.data, elena) || !strings.Contains(e.data, `"changed":["holder"]`) {
		t.Errorf("the erasure: %+v", e)
	}
	if newest := s.feed.Newest(); newest != seq+1 {
		t.Fatalf("the newest change is %d, want %d", newest, seq+1)
	}
	check := func(when string) {
		t.Helper()
		target := positionEvents + ",position.backfilled&after=" + s.at(from)
		replay := s.listen("/api/v1/stream?"+target, header)
		replay.want("hello", nil)
		data := ""
		for range 4 {
			data += replay.next().data
		}
		ids, body := s.changesOf("/api/v1/changes?"+target, header)
		table := string(s.getWith(http.StatusOK, "/api/v1/changes.csv?"+target, header).body)
		if len(ids) != 4 {
			t.Errorf("%s: the changes are %v", when, ids)
		}
		for _, text := range []string{data, body, table} {
			if strings.Contains(text, elena) {
				t.Errorf("%s: the name is in %s", when, text)
			}
			if !strings.Contains(text, other.Name) {
				t.Errorf("%s: another name is not in %s", when, text)
			}
		}
		for _, text := range []string{data, body} {
			if n := strings.Count(text, `"person":null,"person_erased":true`); n != 3 {
				t.Errorf("%s: %d events say that the name was erased, want 3: %s", when, n, text)
			}
		}
		if got, _ := s.changesOf("/api/v1/changes?"+target+"&issuer=BVB&holder=ruiz", header); len(got) != 0 {
			t.Errorf("%s: the erased name selects %v", when, got)
		}
	}
	check("from memory")
	s.feed = events.NewHub(s.catalog, &s.texts) // has no events in memory
	s.append(store.Batch{})
	if _, _, ok := s.feed.Since(disclosure.Cursor{Epoch: s.feed.Head().Epoch, Seq: from}, 1); ok {
		t.Fatal("the new hub has the events in memory")
	}
	found, err := s.feed.Read(t.Context(), disclosure.Cursor{Epoch: s.feed.Head().Epoch, Seq: from}, 10)
	s.must(err)
	for _, e := range found {
		if strings.Contains(string(e.Frame), elena) {
			t.Errorf("from the log: %s", e.Frame)
		}
	}
	if len(found) != 4 {
		t.Errorf("%d events from the log, want 4", len(found))
	}
}
