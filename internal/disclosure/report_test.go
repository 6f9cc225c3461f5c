package disclosure_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
)

// newReport returns a report with the required fields.
func newReport() disclosure.Report {
	return disclosure.Report{
		ID: "oir-40374", Type: disclosure.OIR, Number: 40374,
		CompanyName: "EJEMPLAR FICTICIA, S.A.", NIF: "A-69001238", Title: "La sociedad informa",
		PublishedAt: time.Date(2026, 4, 22, 8, 0, 33, 0, time.UTC),
		Category:    "Sobre instrumentos financieros - Sobre negocio y situación financiera",
	}
}

// whole returns a report with every field set. TestWholeIsWhole checks that.
func whole() disclosure.Report {
	r := newReport()
	r.Ticker, r.Summary = "EJF", "Un acuerdo."
	r.PDFURL, r.SourceURL = "https://regulator.example/d", "https://regulator.example/s?nreg=40374"
	r.TimeFrom, r.Backfilled, r.CorrectedBy = disclosure.FromFeed, true, "oir-40400"
	r.Related = []disclosure.Relation{
		{ID: "ip-3123", Number: 3123, At: time.Date(2026, 4, 21, 5, 30, 0, 0, time.UTC), Text: "Rectifica a la anterior"},
		{Number: 40400},
	}
	r.FirstSeenAt = r.PublishedAt.Add(time.Second)
	r.AvailableAt = r.PublishedAt.Add(1500 * time.Millisecond)
	r.EnrichedAt = r.PublishedAt.Add(2 * time.Second)
	r.Document = disclosure.Document{
		Status: disclosure.DocumentReady, Reason: "-", Link: r.PDFURL, SHA256: strings.Repeat("0a", 32),
		Type: "pdf", Bytes: 1000, Pages: 3, Method: "text", Language: "es",
	}
	r.SummaryOf = r.Document.SHA256
	r.SummaryMethod, r.SummaryLanguage, r.Evidence = "extractive", "es", []disclosure.Evidence{{Text: "Un acuerdo.", Page: 2, Quote: "Un acuerdo."}}
	r.SummaryEN, r.EvidenceEN = "An agreement.", []disclosure.Evidence{{Text: "An agreement.", Page: 2, Quote: "Un acuerdo."}}
	r.TextReadyAt = r.PublishedAt.Add(4 * time.Second)
	r.SummaryReadyAt = r.PublishedAt.Add(5 * time.Second)
	r.Facts = []disclosure.Fact{
		{Kind: disclosure.Dividend, Fields: map[string]string{"gross_per_share": "0.25", "currency": "EUR"}},
		{Kind: disclosure.Meeting, Fields: map[string]string{"first_call": "2026-05-30T12:00"}},
	}
	r.FactsRules, r.FactsOf, r.FactsDetail = 3, r.Document.SHA256, strings.Repeat("0c", 32)
	r.FactsReadyAt = r.SummaryReadyAt
	return r
}

func TestWholeIsWhole(t *testing.T) {
	v := reflect.ValueOf(whole())
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			t.Errorf("whole() does not set %s", v.Type().Field(i).Name)
		}
	}
}

func TestReportID(t *testing.T) {
	for id, want := range map[string]struct {
		t disclosure.Type
		n int64
	}{
		"ip-3123":   {disclosure.IP, 3123},
		"OIR-40374": {disclosure.OIR, 40374},
		"hr-256057": {disclosure.HR, 256057},
	} {
		typ, n, ok := disclosure.ParseReportID(id)
		if !ok || typ != want.t || n != want.n || disclosure.ReportID(typ, n) != strings.ToLower(id) {
			t.Errorf("ParseReportID(%q) = %v, %v, %v", id, typ, n, ok)
		}
	}
	for _, id := range []string{"", "ip", "ip-", "ip-0", "ip-012", "ip--1", "ip-1.5", "xx-1", "ip-9999999999999999999", "ip-1-2"} {
		if _, _, ok := disclosure.ParseReportID(id); ok {
			t.Errorf("ParseReportID(%q) is accepted", id)
		}
	}
}

func TestCategories(t *testing.T) {
	tests := map[string][]string{
		"":                  nil,
		" - ":               nil,
		"Sobre resultados ": {"Sobre resultados"},
		"Total número de derechos  de voto y de capital  ":                       {"Total número de derechos de voto y de capital"},
		"Otra información relevante - Sobre  negocio - ":                         {"Otra información relevante", "Sobre negocio"},
		"Sobre resultados - Sobre resultados":                                    {"Sobre resultados"},
		"Baja/Disolución/Liquidación/Absorción":                                  {"Baja/Disolución/Liquidación/Absorción"},
		"Informes financieros semestrales y de auditoría / revisiones limitadas": {"Informes financieros semestrales y de auditoría / revisiones limitadas"},
	}
	for line, want := range tests {
		if diff := cmp.Diff(want, disclosure.SplitCategories(line)); diff != "" {
			t.Errorf("%q: %s", line, diff)
		}
	}
}

// plainSplit is a simple implementation of SplitCategories.
func plainSplit(line string) (out []string) {
	for part := range strings.SplitSeq(" "+strings.Join(strings.Fields(line), " ")+" ", " - ") {
		if part = strings.TrimSpace(part); part != "" && !slices.Contains(out, part) {
			out = append(out, part)
		}
	}
	return out
}

func FuzzSplitCategories(f *testing.F) {
	long := func(n, different int) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = fmt.Sprint("Sobre ", i%different)
		}
		return strings.Join(parts, " - ")
	}
	for _, line := range []string{
		"", " - ", "a - b - a", "a  - \t- b -c", long(15, 15), long(16, 16), long(17, 17), long(17, 16), long(100, 33), long(100, 7) + " -  - Sobre  3 - x",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if len(line) > 1<<16 {
			t.Skip("the comparison takes long")
		}
		line = strings.ReplaceAll(line, "|", " - ") // so that there are many categories
		if diff := cmp.Diff(plainSplit(line), disclosure.SplitCategories(line)); diff != "" {
			t.Errorf("%q: %s", line, diff)
		}
	})
}

// Splitting a line with very many categories is fast. It would take a minute if
// every category were compared with all others.
func TestManyCategories(t *testing.T) {
	const many = 100_000
	var b strings.Builder
	for i := range 2 * many {
		fmt.Fprintf(&b, "%06d - ", i%many)
	}
	began := time.Now()
	if got := disclosure.SplitCategories(b.String()); len(got) != many || got[many-1] != fmt.Sprintf("%06d", many-1) {
		t.Errorf("%d categories, want %d", len(got), many)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("SplitCategories took %v, want at most 10s", took)
	}
}

func TestMergeKeepsUnobservedFields(t *testing.T) {
	known := newReport()
	known.Summary, known.PDFURL = "Un acuerdo.", "https://regulator.example/d"
	merged, changed := known.Merge(disclosure.Report{ID: known.ID, Type: known.Type, Number: known.Number, Title: known.Title})
	if len(changed) != 0 || !cmp.Equal(known, merged) {
		t.Errorf("an observation with few fields changed %v: %s", changed, cmp.Diff(known, merged))
	}
}

func TestMergeNamesChangedFields(t *testing.T) {
	known := newReport()
	observed := known
	observed.PDFURL, observed.PublishedAt = "https://regulator.example/d", known.PublishedAt.Add(27*time.Second)
	merged, changed := known.Merge(observed)
	if diff := cmp.Diff([]string{"published_at", "pdf_url"}, changed); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(observed, merged); diff != "" {
		t.Error(diff)
	}
	if _, changed = merged.Merge(observed); len(changed) != 0 {
		t.Errorf("the same observation twice changes %v", changed)
	}
	sameInstant := merged
	sameInstant.PublishedAt = merged.PublishedAt.In(disclosure.Madrid)
	if _, changed = merged.Merge(sameInstant); len(changed) != 0 {
		t.Errorf("another offset of the same instant changes %v", changed)
	}
}

// checkMerge merges an observation into a known report, and checks the result and
// the names of the changed fields. Merging it again must change nothing.
func checkMerge(t *testing.T, known, observed, want disclosure.Report, changed ...string) {
	t.Helper()
	got, named := known.Merge(observed)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("merged (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(changed, named); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
	if _, again := got.Merge(observed); len(again) != 0 {
		t.Errorf("merging the observation again changed %v, want nothing", again)
	}
}

// fed returns an observation of the feed, and read one of a page.
func fed(name, title string) disclosure.Report {
	r := newReport()
	r.CompanyName, r.Title, r.NIF, r.TimeFrom = name, title, "", disclosure.FromFeed
	return r
}

func read(name, title string) disclosure.Report {
	r := newReport()
	r.CompanyName, r.Title, r.TimeFrom = name, title, disclosure.FromPermalink
	r.EnrichedAt = r.PublishedAt.Add(time.Minute)
	return r
}

func TestMergePageOverFeed(t *testing.T) {
	known, observed := fed("EJEMPLAR (ALIAS)", "Informa"), read("EJEMPLAR FICTICIA, S.A.", "La sociedad informa")
	want := observed
	want.TimeFrom = disclosure.FromFeed
	checkMerge(t, known, observed, want, "company_name", "nif", "title", "enriched_at")
}

func TestMergeFeedOverPage(t *testing.T) {
	known, observed := read("EJEMPLAR FICTICIA, S.A.", "La sociedad informa"), fed("EJEMPLAR (ALIAS)", "Informa")
	known.SourceURL = "https://regulator.example/page"
	observed.Category, observed.SourceURL, observed.NIF, observed.PDFURL = "Otra", "https://regulator.example/feed", "X", "https://regulator.example/d"
	observed.PublishedAt = observed.PublishedAt.Add(time.Second)
	want := known
	want.PDFURL, want.PublishedAt, want.TimeFrom = observed.PDFURL, observed.PublishedAt, disclosure.FromFeed
	checkMerge(t, known, observed, want, "published_at", "time_from", "pdf_url")

	// A page that is read later replaces the name.
	again := read("EJEMPLAR NUEVA, S.A.", "La sociedad informa")
	again.EnrichedAt = again.EnrichedAt.Add(time.Hour)
	renamed := want
	renamed.CompanyName = again.CompanyName
	checkMerge(t, want, again, renamed, "company_name")
	// So does the feed while no page has been read.
	first, second := fed("EJEMPLAR", "Informa"), fed("EJEMPLAR", "Informa de nuevo")
	checkMerge(t, first, second, second, "title")
}

func TestMergeTimes(t *testing.T) {
	const list, imported, permalink, feed = disclosure.FromList, disclosure.Surface(""), disclosure.FromPermalink, disclosure.FromFeed
	at := func(from disclosure.Surface, clock string) disclosure.Report {
		r := newReport()
		r.TimeFrom = from
		var err error
		if r.PublishedAt, err = time.Parse(time.TimeOnly, clock); err != nil {
			t.Fatal(err)
		}
		r.PublishedAt = r.PublishedAt.AddDate(2026, 0, 0)
		return r
	}
	for _, test := range []struct {
		name                  string
		known, observed, want disclosure.Report
		changed               []string
	}{
		{"the minute of a known time", at(feed, "08:00:33"), at(list, "08:00:00"), at(feed, "08:00:33"), nil},
		{"the minute of an imported time", at(imported, "08:00:33"), at(list, "08:00:00"), at(imported, "08:00:33"), nil},
		{"another minute of a list", at(permalink, "08:00:33"), at(list, "08:05:00"), at(permalink, "08:00:33"), nil},
		{"a list corrects its own", at(list, "08:00:00"), at(list, "08:05:00"), at(list, "08:05:00"), []string{"published_at"}},
		{"an import over a list", at(list, "08:00:00"), at(imported, "08:00:33"), at(imported, "08:00:33"), []string{"published_at", "time_from"}},
		{"the same time imported", at(list, "08:00:00"), at(imported, "08:00:00"), at(list, "08:00:00"), nil},
		{"an import over a permalink", at(permalink, "08:00:33"), at(imported, "08:00:34"), at(permalink, "08:00:33"), nil},
		{"a permalink over a list", at(list, "08:00:00"), at(permalink, "08:00:33"), at(permalink, "08:00:33"), []string{"published_at", "time_from"}},
		{"a permalink over an import", at(imported, "08:00:34"), at(permalink, "08:00:33"), at(permalink, "08:00:33"), []string{"published_at", "time_from"}},
		{"a permalink after the feed", at(feed, "08:00:33"), at(permalink, "08:00:34"), at(feed, "08:00:33"), nil},
		{"the feed after a permalink", at(permalink, "08:00:33"), at(feed, "08:00:34"), at(feed, "08:00:34"), []string{"published_at", "time_from"}},
		{"the same time, better known", at(list, "08:00:00"), at(feed, "08:00:00"), at(feed, "08:00:00"), []string{"time_from"}},
		{"the feed corrects its own", at(feed, "08:00:33"), at(feed, "08:00:35"), at(feed, "08:00:35"), []string{"published_at"}},
	} {
		t.Run(test.name, func(t *testing.T) { checkMerge(t, test.known, test.observed, test.want, test.changed...) })
	}
	undated := newReport()
	undated.PublishedAt, undated.TimeFrom = time.Time{}, feed
	checkMerge(t, at(list, "08:00:00"), undated, at(list, "08:00:00"))
}

func TestMergeRelations(t *testing.T) {
	minute := time.Date(2026, 4, 21, 5, 30, 0, 0, time.UTC)
	one, two := disclosure.Relation{Number: 3123, At: minute, Text: "Rectifica"}, disclosure.Relation{ID: "ip-7", Number: 7, At: minute}
	with := func(relations ...disclosure.Relation) disclosure.Report {
		r := newReport()
		r.Related = relations
		return r
	}
	identified := one
	identified.ID = "oir-3123"
	worded, dated := two, disclosure.Relation{ID: "ip-9", Number: 9, At: minute}
	worded.Text = "Amplía"
	other := one
	other.At = minute.Add(time.Hour) // the same number of another series
	exact := two
	exact.At = minute.Add(33 * time.Second)
	for _, test := range []struct {
		name                  string
		known, observed, want disclosure.Report
		changed               bool
	}{
		{"none observed", with(one), with(), with(one), false},
		{"the first", with(), with(one, two), with(one, two), true},
		{"one more", with(one), with(two), with(one, two), true},
		{"those known", with(one, two), with(two, one), with(one, two), false},
		{"its id", with(one, two), with(disclosure.Relation{ID: "oir-3123", Number: 3123, At: minute}), with(identified, two), true},
		{"known with its id", with(identified), with(one), with(identified), false},
		{"its words", with(two), with(worded), with(worded), true},
		{"its time", with(disclosure.Relation{ID: "ip-9", Number: 9}), with(dated), with(dated), true},
		{"by its id, whatever the time", with(two), with(exact), with(two), false},
		{"another of that number", with(one), with(other), with(one, other), true},
	} {
		t.Run(test.name, func(t *testing.T) {
			var changed []string
			if test.changed {
				changed = []string{"related"}
			}
			checkMerge(t, test.known, test.observed, test.want, changed...)
		})
	}
	// The known slice may be shared, and may have spare capacity.
	known := with(append(make([]disclosure.Relation, 0, 8), one)...)
	known.Merge(with(identified, two))
	if diff := cmp.Diff([]disclosure.Relation{one, {}}, known.Related[:2]); diff != "" {
		t.Errorf("Merge wrote into the known report: %s", diff)
	}
}

func TestMergeClocksAndCorrection(t *testing.T) {
	known := whole()
	observed := whole()
	observed.CorrectedBy = "oir-40401"
	observed.Backfilled = false
	observed.FirstSeenAt, observed.AvailableAt, observed.EnrichedAt = time.Now(), time.Now(), time.Now()
	want := known
	want.CorrectedBy = "oir-40401"
	checkMerge(t, known, observed, want, "corrected_by")
	checkMerge(t, known, newReport(), known) // observes none of these fields
	bare := newReport()
	enriched := bare
	enriched.EnrichedAt = known.EnrichedAt
	checkMerge(t, bare, enriched, enriched, "enriched_at")
}

func TestReportOrder(t *testing.T) {
	base := newReport()
	later, higher, ip := base, base, base
	later.PublishedAt = base.PublishedAt.Add(time.Second)
	higher.Number++
	ip.Type = disclosure.IP
	got := []disclosure.Report{base, ip, higher, later}
	slices.SortFunc(got, func(a, b disclosure.Report) int { return disclosure.CompareReports(&a, &b) })
	if diff := cmp.Diff([]disclosure.Report{later, higher, ip, base}, got); diff != "" {
		t.Error(diff)
	}
}

func TestSuspectTime(t *testing.T) {
	seen := time.Date(2026, 4, 22, 8, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		published, seen time.Time
		want            bool
	}{
		{seen, seen, false},
		{seen.AddDate(-20, 0, 0), seen, false},
		{seen.Add(24 * time.Hour), seen, false},
		{seen.Add(24*time.Hour + 1), seen, true},
		{seen.AddDate(300, 0, 0), seen, true}, // more than a Duration holds
		{seen, time.Time{}, false},            // not seen yet
	} {
		r := newReport()
		r.PublishedAt = test.published
		r.FirstSeenAt = test.seen
		listed := test.published
		if test.want {
			listed = test.seen
		}
		if r.SuspectTime() != test.want || !r.ListedAt().Equal(listed) {
			t.Errorf("published %v, seen %v: suspect %t, listed at %v", test.published, test.seen, r.SuspectTime(), r.ListedAt())
		}
	}
}

func TestReadReportRoundTrip(t *testing.T) {
	for _, want := range []disclosure.Report{newReport(), whole()} {
		line, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := disclosure.ReadReport(line)
		if err != nil {
			t.Fatal(err)
		}
		want.Document, want.TextReadyAt = disclosure.Document{}, time.Time{} // the text stays behind
		want.FactsDetail = ""
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}

// People write these in more ways than we do.
func TestReadReportTakesOtherForms(t *testing.T) {
	r, err := disclosure.ReadReport([]byte(`{"id":"OIR-1","type":"OIR","company_name":"X","title":"Y","published_at":"2026-04-22T10:00:33+02:00",
		"backfilled":true,"corrected_by":"OIR-2","time_from":null,"enriched_at":null,
		"related":[{"id":"IP-3","published_at":"2026-04-22T10:00:00+02:00"},{"cnmv_registration_number":4,"text":null}]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []disclosure.Relation{{ID: "ip-3", Number: 3, At: time.Date(2026, 4, 22, 8, 0, 0, 0, time.UTC)}, {Number: 4}}
	if diff := cmp.Diff(want, r.Related); diff != "" || !r.Backfilled || r.CorrectedBy != "oir-2" {
		t.Errorf("%+v %s", r, diff)
	}
	if at := r.Related[0].At; at.Location() != time.UTC {
		t.Errorf("%v is not in UTC", at)
	}
}

// The English names and the class of the API are not imported: they follow from the categories.
func TestReadReportIgnoresEnglishCategories(t *testing.T) {
	r, err := disclosure.ReadReport([]byte(`{"id":"oir-1","type":"OIR","company_name":"X","title":"Y",
		"published_at":"2026-04-22T10:00:33+02:00","categories":["Sobre resultados"],"categories_en":["Results"],"eu_class":"1.1"}`))
	if err != nil || r.Category != "Sobre resultados" {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestReadReportCompletesIdentity(t *testing.T) {
	const rest = `,"company_name":"X","title":"Y","published_at":"2026-04-22T10:00:33+02:00"}`
	for _, head := range []string{
		`{"type":"IP","cnmv_registration_number":"3123"`,
		`{"type":"IP","cnmv_registration_number":3123`,
		`{"type":"IP","id":"ip-3123"`,
		`{"type":"IP","id":"IP-3123","cnmv_registration_number":"3123","ticker":null`,
	} {
		r, err := disclosure.ReadReport([]byte(head + rest))
		if err != nil || r.ID != "ip-3123" || r.Number != 3123 {
			t.Errorf("%s: %+v, %v", head, r, err)
		}
	}
}

func TestReadReportSaysWhatIsWrong(t *testing.T) {
	const good = `"type":"IP","cnmv_registration_number":"3123","company_name":"X","title":"Y","published_at":"2026-04-22T10:00:33+02:00"`
	with := func(field, value string) string {
		var m map[string]json.RawMessage
		if err := json.Unmarshal([]byte("{"+good+"}"), &m); err != nil {
			t.Fatal(err)
		}
		m[field] = json.RawMessage(value)
		out, _ := json.Marshal(m)
		return string(out)
	}
	tests := []struct{ line, want string }{
		{`nonsense`, "not a JSON object"},
		{``, "not a JSON object"},
		{`[1]`, "JSON array, not an object"},
		{`{` + good + `} {}`, "more than one"},
		{`{` + good + `}}`, "more than one"},
		{`{` + good + `}]`, "more than one"},
		{with("first_seen_at", `"ayer"`), "first_seen_at \"ayer\" is not a date"},
		{with("available_at", `"9999-12-31T23:59:59-12:00"`), "between 1988 and 2100"},
		{with("nif", `"`+strings.Repeat("9", 201)+`"`), "too long"},
		{`{` + good + `,"titel":"Y"}`, `unknown field "titel"`},
		{"{\"title\":\"\xff\"," + good + "}", "not UTF-8"},
		{with("type", `"ip"`), "use IP, HR or OIR"},
		{with("type", `null`), "use IP, HR or OIR"},
		{with("cnmv_registration_number", `"12x"`), "must be digits"},
		{with("cnmv_registration_number", `null`), "cnmv_registration_number is missing"},
		{with("cnmv_registration_number", `1.5`), "must be digits"},
		{with("id", `"oir-3123"`), "make it ip-3123"},
		{with("company_name", `"  "`), "company_name"},
		{with("company_name", `7`), "company_name must be a string, not a number"},
		{with("title", `"a\u0000b"`), "control characters"},
		{with("published_at", `"2026-04-22 10:00"`), "with its offset"},
		{with("published_at", `"0001-01-02T00:00:00Z"`), "between 1988 and 2100"},
		{with("published_at", `null`), "published_at is missing"},
		{with("time_from", `"page"`), "time_from \"page\" use list, permalink or feed"},
		{with("backfilled", `"yes"`), "backfilled \"yes\" must be true or false"},
		{with("backfilled", `1`), "must be true or false"},
		{with("enriched_at", `"ayer"`), "enriched_at \"ayer\" is not a date"},
		{with("enriched_at", `"1970-01-01T00:00:00Z"`), "between 1988 and 2100"},
		{with("corrected_by", `"40374"`), "corrected_by \"40374\" must be the id of a report"},
		{with("corrected_by", `"oir-040374"`), "must be the id of a report"},
		{with("related", `{}`), "related must be a list, not a object"},
		{with("related", `[{"number":"7"}]`), `unknown field "number"`},
		{with("related", `[{}]`), "related: cnmv_registration_number is missing"},
		{with("related", `[{"cnmv_registration_number":"x"}]`), "must be digits"},
		{with("related", `[{"id":"ip-8","cnmv_registration_number":"7"}]`), "is not the report with the number 7"},
		{with("related", `[{"id":"x","cnmv_registration_number":"7"}]`), "must be the id of a report"},
		{with("related", `[{"cnmv_registration_number":"7","text":" "}]`), "must not be blank"},
		{with("related", `[{"cnmv_registration_number":"7","published_at":"ayer"}]`), "is not a date"},
		{with("related", `[{"cnmv_registration_number":"7","published_at":"1900-01-01T00:00:00Z"}]`), "between 1988 and 2100"},
		{with("pdf_url", `"javascript:alert(1)"`), "http or https"},
		{with("facts", `{}`), "facts must be a list, not a object"},
		{with("facts", `[{"kind":"Dividend"}]`), "facts \"Dividend\" must be a kind or a field"},
		{with("facts", `[{"fields":{"a":"1"}}]`), "must be a kind or a field"},
		{with("facts", `[{"kind":"dividend","fields":{"ex-date":"1"}}]`), "facts \"ex-date\" must be a kind or a field"},
		{with("facts", `[{"kind":"`+strings.Repeat("a", 41)+`"}]`), "40 at most"},
		{with("facts", `[{"kind":"dividend","fields":{"form":""}}]`), "is missing"},
		{with("facts", `[{"kind":"dividend","fields":{"form":"a\u0000b"}}]`), "control characters"},
		{with("facts", `[{"kind":"dividend","fields":{"form":7}}]`), "must be a string, not a number"},
		{with("facts", `[{"kind":"dividend","fields":{"form":"`+strings.Repeat("a", 301)+`"}}]`), "300 bytes at most"},
		{with("facts", `[`+strings.Repeat(`{"kind":"dividend","fields":{"form":"cash"}},`, 400)+`{"kind":"a"}]`), "may have 16384"},
		{with("facts_rules", `"-1"`), "facts_rules \"-1\" must be a number"},
		{with("facts_rules", `"1000000000"`), "must be a number from 1 to 999999999"},
		{with("facts_ready_at", `"ayer"`), "facts_ready_at \"ayer\" is not a date"},
	}
	for _, tt := range tests {
		_, err := disclosure.ReadReport([]byte(tt.line))
		if err == nil || !strings.Contains(err.Error(), tt.want) || fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s\n  got  %v\n  want %q", tt.line, err, tt.want)
		}
	}
}

func TestSecondsKnown(t *testing.T) {
	whole := time.Date(2026, 4, 22, 10, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		from disclosure.Surface
		at   time.Time
		want bool
	}{
		{disclosure.FromFeed, whole, true},
		{disclosure.FromPermalink, whole, true},
		{disclosure.FromList, whole, false},
		{disclosure.FromList, whole.Add(time.Second), false},
		{"", whole, false},
		{"", whole.Add(time.Second), true},
	} {
		r := disclosure.Report{PublishedAt: test.at, TimeFrom: test.from}
		if got := r.SecondsKnown(); got != test.want {
			t.Errorf("time from %q at %s: got %t, want %t", test.from, test.at.Format(time.TimeOnly), got, test.want)
		}
	}
}

func FuzzReadReport(f *testing.F) {
	f.Add([]byte(`{"type":"IP","cnmv_registration_number":"3123","company_name":"X","title":"Y","published_at":"2026-04-22T10:00:33+02:00"}`))
	all, _ := json.Marshal(whole())
	f.Add(all)
	f.Add([]byte(`{"id":"hr-1","cnmv_registration_number":null,"category":" - "}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := disclosure.ReadReport(line)
		if err != nil {
			if fault.KindOf(err) != fault.Invalid {
				t.Fatalf("got error %v, want kind Invalid", err)
			}
			return
		}
		out, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		again, err := disclosure.ReadReport(out)
		if err != nil || !cmp.Equal(r, again) {
			t.Fatalf("accepted but does not read back: %v\n%s", err, cmp.Diff(r, again))
		}
	})
}
