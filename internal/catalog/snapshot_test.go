package catalog_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/search"
)

// describe returns everything that a snapshot returns, as text, without the time
// of the call.
func describe(s *catalog.Snapshot) string {
	var b strings.Builder
	for _, f := range reports(s, disclosure.Filter{}, 1, 1000).Reports {
		b.Write(f.AppendJSON(nil))
		b.WriteString(" of " + f.IssuerID() + "\n")
	}
	for _, e := range issuers(s, "", "", 1000) {
		b.Write(disclosure.AppendIssuer(nil, e.Issuer))
		for _, key := range e.Issuer.Keys() {
			found, _ := s.Issuer(key)
			b.WriteString(" " + key + "=" + found.Issuer.ID)
		}
		b.WriteString("\n")
	}
	figures, err := json.Marshal(s.Analytics(time.Date(2026, 4, 30, 12, 0, 0, 0, time.UTC)))
	if err != nil {
		panic(err)
	}
	return b.String() + string(figures)
}

// A snapshot does not change when later changes are applied.
func TestSnapshotNeverChanges(t *testing.T) {
	issuer := disclosure.Issuer{NIF: "A69000016", Name: bodegas, Ticker: "BVB", Market: "SIBE", Kind: disclosure.Company}
	one := newReport(disclosure.OIR, 1, "2026-04-22T08:00:00Z", bodegas)
	following(t, func(t *testing.T, f *follower) {
		add(t, f.db, []disclosure.Issuer{issuer}, one, newReport(disclosure.IP, 2, "2026-04-22T09:00:00Z", aceros))
		f.at(t, 3, 2)
		old := f.Snapshot()
		before := describe(old)

		one.Title, one.PublishedAt = "[Simulación] Otra cosa", one.PublishedAt.Add(24*time.Hour)
		issuer.Name, issuer.Ticker, issuer.ISINs = "VINOS DE VALDEBRISA, S.A.", "VVB", []string{"ES0SIM000010"}
		add(t, f.db, []disclosure.Issuer{issuer, {NIF: "A69000024", Name: aceros, Ticker: "ANB", Market: "SIBE"}},
			one, newReport(disclosure.HR, 3, "2026-04-20T09:00:00Z", aceros))
		f.at(t, 7, 3)

		if diff := cmp.Diff(before, describe(old)); diff != "" {
			t.Errorf("an old snapshot changed: %s", diff)
		}
		if describe(f.Snapshot()) == before {
			t.Error("the new snapshot is the same as the old one")
		}
	})
}

// A report whose time is corrected moves to its new position in the list, and a
// late report is inserted at its position.
func TestOrderOfLateReports(t *testing.T) {
	following(t, func(t *testing.T, f *follower) {
		moved := newReport(disclosure.OIR, 1, "2026-04-22T08:00:00Z", bodegas)
		add(t, f.db, nil, moved, newReport(disclosure.OIR, 2, "2026-04-22T09:00:00Z", bodegas), newReport(disclosure.OIR, 3, "2026-04-22T10:00:00Z", bodegas))
		f.at(t, 3, 3)
		order(t, f, "oir-3 oir-2 oir-1")

		moved.PublishedAt = moved.PublishedAt.Add(90 * time.Minute) // to 09:30
		add(t, f.db, nil, moved)
		f.at(t, 4, 3)
		order(t, f, "oir-3 oir-1 oir-2")

		add(t, f.db, nil, newReport(disclosure.IP, 9, "2026-04-22T09:30:00Z", bodegas), newReport(disclosure.HR, 9, "2020-01-01T00:00:00Z", bodegas))
		f.at(t, 6, 5)
		order(t, f, "oir-3 ip-9 oir-1 oir-2 hr-9")
		if got, ok := f.Snapshot().Report("oir-1"); !ok || !got.Decode().PublishedAt.Equal(moved.PublishedAt) {
			t.Errorf("found by its id, the report still has the time %v", got.Decode().PublishedAt)
		}

		moved.PublishedAt = moved.PublishedAt.AddDate(0, 0, -10)
		add(t, f.db, nil, moved)
		f.at(t, 7, 5)
		order(t, f, "oir-3 ip-9 oir-2 oir-1 hr-9")
	})
}

// A report that is dated in the future is listed by its first sight, and states its
// time as it is. Once the source corrects the time, the report moves to it.
func TestOrderOfSuspectTimes(t *testing.T) {
	following(t, func(t *testing.T, f *follower) {
		wrong := newReport(disclosure.OIR, 2, "2027-04-22T09:00:00.25Z", bodegas)
		wrong.FirstSeenAt = wrong.PublishedAt.AddDate(-1, 0, 0)
		tomorrow := newReport(disclosure.OIR, 4, "2026-04-23T10:00:00Z", bodegas)
		tomorrow.FirstSeenAt = tomorrow.PublishedAt.AddDate(0, 0, -1) // within the limit
		add(t, f.db, nil, newReport(disclosure.OIR, 1, "2026-04-22T08:00:00Z", bodegas), wrong, newReport(disclosure.OIR, 3, "2026-04-22T10:00:00Z", bodegas), tomorrow)
		f.at(t, 4, 4)
		order(t, f, "oir-4 oir-3 oir-2 oir-1")

		s := f.Snapshot()
		found, _ := s.Report("oir-2")
		if !found.Published().Equal(wrong.PublishedAt) || !found.Decode().PublishedAt.Equal(wrong.PublishedAt) || !found.Listed().Equal(wrong.FirstSeenAt) {
			t.Errorf("published %v, listed %v", found.Published(), found.Listed())
		}
		if !strings.Contains(string(found.AppendJSON(nil)), `"published_at":"2027-04-22T11:00:00.25+02:00"`) {
			t.Errorf("the list has %s", found.AppendJSON(nil))
		}
		for date, want := range map[string]string{"2026-04-22": "oir-3 oir-2 oir-1", "2027-04-22": ""} {
			filter := disclosure.Filter{From: day(t, date), To: day(t, date)}
			if got := ids(s, filter); got != want {
				t.Errorf("on %s: %s, want %s", date, got, want)
			}
			matches := search.Compile(filter).Match(s.Directory().Analyze(&wrong))
			if matches != strings.Contains(want, "oir-2") {
				t.Errorf("on %s a stream and a list differ", date)
			}
		}

		wrong.PublishedAt = wrong.PublishedAt.AddDate(-1, 0, 0).Add(-2 * time.Hour)
		add(t, f.db, nil, wrong)
		f.at(t, 5, 4)
		order(t, f, "oir-4 oir-3 oir-1 oir-2")
	})
}

func order(t *testing.T, f *follower, want string) {
	t.Helper()
	if got := ids(f.Snapshot(), disclosure.Filter{}); got != want {
		t.Errorf("the list is %s, want %s", got, want)
	}
}

// An issuer that is added to the directory is joined with earlier reports.
func TestIssuerArrivesAfterItsReports(t *testing.T) {
	following(t, func(t *testing.T, f *follower) {
		plain, own := newReport(disclosure.OIR, 1, "2026-04-22T08:00:00Z", bodegas), newReport(disclosure.OIR, 2, "2026-04-22T09:00:00Z", bodegas)
		plain.NIF, own.NIF, own.Ticker = "A-69000016", "A69000016", "OWN"
		add(t, f.db, nil, plain, own, newReport(disclosure.OIR, 3, "2026-04-22T10:00:00Z", aceros))
		f.at(t, 3, 3)
		tickers(t, f, " OWN ")

		issuer := disclosure.Issuer{NIF: "A69000016", Name: bodegas, Ticker: "BVB", Kind: disclosure.Company}
		add(t, f.db, []disclosure.Issuer{issuer})
		f.at(t, 4, 3)
		tickers(t, f, " OWN BVB")
		// Package search tests reports that have another ticker of their own.
		if got := ids(f.Snapshot(), disclosure.Filter{Search: "bvb"}); !strings.Contains(got, "oir-1") {
			t.Errorf("the ticker finds %q", got)
		}
		if got := ids(f.Snapshot(), disclosure.Filter{Kind: disclosure.Company}); got != "oir-2 oir-1" {
			t.Errorf("unexpected reports of companies: %q", got)
		}

		issuer.Ticker, issuer.ISINs = "VVB", []string{"ES0SIM000010"}
		add(t, f.db, []disclosure.Issuer{issuer})
		f.at(t, 5, 3)
		tickers(t, f, " OWN VVB")
		if got := ids(f.Snapshot(), disclosure.Filter{Issuer: "es0sim000010"}); got != "oir-2 oir-1" {
			t.Errorf("unexpected reports by the new ISIN: %q", got)
		}
		if got := ids(f.Snapshot(), disclosure.Filter{Search: "bvb"}); got != "" {
			t.Errorf("the old ticker still finds %q", got)
		}

		e, _ := f.Snapshot().Issuer("A69000016")
		if page := f.Snapshot().ReportsOf(e, 1); page.Total != 2 || len(page.Reports) != 1 || page.Reports[0].Decode().ID != "oir-2" {
			t.Errorf("the issuer's reports are %+v", page)
		}
	})
}

func tickers(t *testing.T, f *follower, want string) {
	t.Helper()
	var got []string
	for _, report := range reports(f.Snapshot(), disclosure.Filter{}, 1, 10).Reports {
		got = append(got, report.Ticker())
	}
	if strings.Join(got, " ") != want {
		t.Errorf("the tickers are %q, want %q", strings.Join(got, " "), want)
	}
}

// A report without a NIF belongs to the issuer with exactly its name, and to none
// if two issuers have that name. A report with a NIF is never joined by name.
func TestLinkByName(t *testing.T) {
	following(t, func(t *testing.T, f *follower) {
		unknown := newReport(disclosure.OIR, 4, "2026-04-22T08:00:00Z", bodegas)
		unknown.NIF = "A69000032"
		add(t, f.db, nil,
			newReport(disclosure.OIR, 1, "2026-04-22T08:00:00Z", bodegas),
			newReport(disclosure.OIR, 2, "2026-04-22T08:00:00Z", "Bodegas de Váldebrisa S. A."),
			newReport(disclosure.OIR, 3, "2026-04-22T08:00:00Z", "BODEGAS DE VALDEBRISA"), // not exactly
			unknown,
		)
		issuer := disclosure.Issuer{NIF: "A69000016", Name: bodegas}
		add(t, f.db, []disclosure.Issuer{issuer})
		f.at(t, 5, 4)
		linked(t, f, "A69000032  A69000016 A69000016")

		add(t, f.db, []disclosure.Issuer{{NIF: "A69000024", Name: "bodegas de valdebrisa sa"}}) // now the name is ambiguous
		f.at(t, 6, 4)
		linked(t, f, "A69000032   ")
		add(t, f.db, []disclosure.Issuer{{ID: "fi-1", Name: bodegas}}) // still, with a third
		f.at(t, 7, 4)
		linked(t, f, "A69000032   ")

		issuer.Name = "VINOS DE VALDEBRISA, S.A."
		add(t, f.db, []disclosure.Issuer{issuer, {ID: "fi-1", Name: "ARDAZUL RENTA FIJA, FI"}})
		f.at(t, 9, 4)
		linked(t, f, "A69000032  A69000024 A69000024") // one is left
	})
}

// linked checks the issuers of the reports, highest number first.
func linked(t *testing.T, f *follower, want string) {
	t.Helper()
	var got []string
	for _, report := range reports(f.Snapshot(), disclosure.Filter{}, 1, 10).Reports {
		got = append(got, report.IssuerID())
	}
	if strings.Join(got, " ") != want {
		t.Errorf("the reports are of %q, want %q", strings.Join(got, " "), want)
	}
}

// An issuer is found by each of its identifiers, and reports are joined by any.
func TestAliases(t *testing.T) {
	following(t, func(t *testing.T, f *follower) {
		early, code := newReport(disclosure.HR, 1, "2026-04-22T08:00:00Z", "ARDAZUL RENTA FIJA, FI"), newReport(disclosure.HR, 2, "2026-04-22T09:00:00Z", "ARDAZUL MIXTO, FI")
		early.NIF, code.NIF = "V-69000107", "0194"
		add(t, f.db, []disclosure.Issuer{
			{ID: "fi-4720", Name: "ARDAZUL RENTA FIJA, FI", ISINs: []string{"ES0SIM000028"}},
			{ID: "sgiic-194", NIF: "0194", Name: "ARDAZUL GESTIÓN, SGIIC, S.A."},
		}, early, code)
		f.at(t, 4, 2)
		linked(t, f, "sgiic-194 V69000107") // the fund's NIF is not known yet

		add(t, f.db, []disclosure.Issuer{{ID: "fi-4720", Name: "ARDAZUL RENTA FIJA, FI", Aliases: []string{"V69000107"}}})
		f.at(t, 5, 2)
		linked(t, f, "sgiic-194 fi-4720")
		s := f.Snapshot()
		for key, want := range map[string]string{
			"fi-4720": "fi-4720", "FI-4720": "fi-4720", " fi-4720 ": "fi-4720", "V69000107": "fi-4720", "v-69000107": "fi-4720", "es0sim000028": "fi-4720",
			"sgiic-194": "sgiic-194", "0194": "sgiic-194",
		} {
			if e, ok := s.Issuer(key); !ok || e.Issuer.ID != want {
				t.Errorf("%q is %v, want %s", key, e, want)
			}
			if key != "0194" && key != "sgiic-194" && ids(s, disclosure.Filter{Issuer: key}) != "hr-1" {
				t.Errorf("the reports of %q are %q", key, ids(s, disclosure.Filter{Issuer: key}))
			}
		}
		for _, key := range []string{"", "fi-4721", "ARDAZUL", "V69000108"} {
			if e, ok := s.Issuer(key); ok {
				t.Errorf("%q is %s", key, e.Issuer.ID)
			}
		}
	})
}

// An id identifies its own issuer, even if another issuer has it as an alias.
func TestIDWinsOverAlias(t *testing.T) {
	db := newStore(t)
	report := newReport(disclosure.HR, 1, "2026-04-22T08:00:00Z", "X")
	report.NIF = "V69000107"
	add(t, db, []disclosure.Issuer{
		{ID: "fi-4720", Name: "ARDAZUL RENTA FIJA, FI", Aliases: []string{"V69000107"}}, // comes first by name
		{NIF: "V69000107", Name: "ZUMELARRE RENTA FIJA, FI"},
	}, report)
	s := load(t, db).Snapshot()
	if e, _ := s.Issuer("V69000107"); e.Issuer.ID != "V69000107" {
		t.Errorf("V69000107 is %s", e.Issuer.ID)
	}
	if r, _ := s.Report("hr-1"); r.IssuerID() != "V69000107" {
		t.Errorf("its report is of %s", r.IssuerID())
	}
}

// Pages split the list without gaps or repetitions and return the total.
func TestPages(t *testing.T) {
	db := newStore(t)
	for n := range int64(5) {
		add(t, db, nil, newReport(disclosure.OIR, n+1, "2026-04-22T08:00:00Z", bodegas))
	}
	s := load(t, db).Snapshot()
	for _, test := range []struct {
		page, limit int
		want        string
	}{{1, 2, "oir-5 oir-4"}, {2, 2, "oir-3 oir-2"}, {3, 2, "oir-1"}, {4, 2, ""}, {1<<31 - 1, 50, ""}, {1, 50, "oir-5 oir-4 oir-3 oir-2 oir-1"}} {
		page := reports(s, disclosure.Filter{}, test.page, test.limit)
		var got []string
		for _, f := range page.Reports {
			got = append(got, f.Decode().ID)
		}
		if strings.Join(got, " ") != test.want || page.Total != 5 {
			t.Errorf("page %d of %d: %v of %d, want %s of 5", test.page, test.limit, got, page.Total, test.want)
		}
	}
}

// The best match comes first; equal matches are ordered by name.
func TestIssuerOrder(t *testing.T) {
	db := newStore(t)
	add(t, db, []disclosure.Issuer{
		{ID: "fi-1", Name: "ZARZA ACE, S.A."},
		{ID: "fi-2", Name: "ACE DE URDANABE, S.A."},
		{ID: "fi-3", Name: "MINAS, S.A.", Ticker: "ACE"},
		{ID: "fi-4", Name: "Ácé de Benicarza", Kind: disclosure.Fund},
		{ID: "fi-5", Name: "ACE DE URDANABE, S.A."},
	})
	s := load(t, db).Snapshot()
	for _, test := range []struct {
		query string
		kind  disclosure.Kind
		limit int
		want  string
	}{
		{"ace", "", 50, "fi-3 fi-4 fi-2 fi-5 fi-1"},
		{"ace", "", 2, "fi-3 fi-4"},
		{"ace", disclosure.Fund, 50, "fi-4"},
		{"", "", 50, "fi-4 fi-2 fi-5 fi-3 fi-1"},
		{"nothing", "", 50, ""},
	} {
		var got []string
		for _, e := range issuers(s, test.query, test.kind, test.limit) {
			got = append(got, e.Issuer.ID)
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%q %s: %v, want %s", test.query, test.kind, got, test.want)
		}
	}
}

// The neighbours of a report are those of its issuer, under any name, in order of
// publication.
func TestNeighbours(t *testing.T) {
	log := newMemoryLog()
	log.append(listed(disclosure.Issuer{ID: "A69000016", Name: bodegas}))
	for i, company := range []string{bodegas, aceros, bodegas, "OLD NAME", bodegas, bodegas} {
		r := newReport(disclosure.Types[i%3], int64(i+1), fmt.Sprintf("2026-04-2%dT08:00:00Z", i), company)
		if company == "OLD NAME" {
			r.NIF = "A-69000016"
		}
		log.append(published(r))
	}
	s := load(t, log).Snapshot()
	list := func(reports []catalog.Report) string {
		var out []string
		for _, r := range reports {
			out = append(out, r.ID())
		}
		return strings.Join(out, " ")
	}
	for _, test := range []struct {
		id            string
		n             int
		before, after string
	}{
		{"ip-4", 1, "oir-3", "hr-5"},
		{"ip-4", 9, "ip-1 oir-3", "hr-5 oir-6"},
		{"ip-1", 2, "", "oir-3 ip-4"},
		{"oir-6", 2, "ip-4 hr-5", ""},
		{"hr-2", 5, "", ""},
		{"ip-4", 0, "", ""},
		{"ip-4", -1, "", ""},
		{"ip-4", 1 << 40, "ip-1 oir-3", "hr-5 oir-6"},
	} {
		r, _ := s.Report(test.id)
		if before, after := list(s.Before(r, test.n)), list(s.After(r, test.n)); before != test.before || after != test.after {
			t.Errorf("%d around %s: got %q and %q, want %q and %q", test.n, test.id, before, after, test.before, test.after)
		}
	}
}
