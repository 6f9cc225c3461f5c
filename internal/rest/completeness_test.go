package rest_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/disclosure"
	"pregon/internal/rest/resttest"
	"pregon/internal/source/coverage"
	"pregon/internal/store"
)

// completenessDoc is the completeness document as a client decodes it.
type completenessDoc struct {
	From, To    string
	GeneratedAt time.Time `json:"generated_at"`
	Seq         int64     `json:"as_of_seq"`
	Series      []provedDoc
	Days        []dayDoc
}

type provedDoc struct {
	Type   string
	From   *string    `json:"provable_from"`
	Until  *time.Time `json:"provable_until"`
	By     []string
	Reason string
}

type dayDoc struct {
	Date, Type  string
	Count       int
	First, Last *string
	Missing     []struct {
		Number   string `json:"cnmv_registration_number"`
		Reason   string
		LookedUp *time.Time `json:"looked_up_at"`
	}
	Checked *time.Time `json:"checked_at"`
	Proof   *struct {
		From   *string
		Reason string
	}
	SHA256 string
}

func (s *service) completeness(from, to string) (doc completenessDoc) {
	s.t.Helper()
	s.get(http.StatusOK, "/api/v1/completeness"+encode("from", from, "to", to)).decode(&doc)
	return doc
}

func (c completenessDoc) day(date string, t disclosure.Type) dayDoc {
	n := slices.IndexFunc(c.Days, func(d dayDoc) bool { return d.Date == date && d.Type == string(t) })
	if n < 0 {
		return dayDoc{}
	}
	return c.Days[n]
}

// missing returns the missing numbers of a series by day. It marks numbers that
// were never published with ! and those not yet seen with ?.
func (c completenessDoc) missing(t disclosure.Type) string {
	var out []string
	for _, d := range c.Days {
		for _, m := range d.Missing {
			if d.Type == string(t) {
				mark := map[string]string{"never_published": "!", "not_yet_seen": "?"}[m.Reason]
				out = append(out, d.Date[8:]+":"+m.Number+mark)
			}
		}
	}
	return strings.Join(out, " ")
}

func day(s string) disclosure.Day {
	d, ok := disclosure.ParseDay(s)
	if !ok {
		panic(s)
	}
	return d
}

// cover records that days of a series were compared.
func (s *service) cover(t disclosure.Type, from, to string) {
	s.t.Helper()
	s.must(s.coverage.Cover(s.t.Context(), nil, t, day(from), day(to), instant("2026-04-25T10:00:00Z")))
}

// hashOf computes the digest as documented, from the list of reports.
func (s *service) hashOf(date string, t disclosure.Type) string {
	s.t.Helper()
	var numbers []int64
	list := s.get(http.StatusOK, "/api/v1/reports"+encode("type", string(t), "from", date, "to", date, "limit", "50")).reports()
	for _, r := range list.Data {
		_, number, _ := disclosure.ParseReportID(r.ID)
		numbers = append(numbers, number)
	}
	slices.Sort(numbers)
	lines := strings.ReplaceAll(strings.Trim(fmt.Sprint(numbers), "[]"), " ", "\n")
	sum := sha256.Sum256([]byte(lines))
	return hex.EncodeToString(sum[:])
}

// The document has every day of every series.
func TestCompleteness(t *testing.T) {
	s := start(t, "demo", store.Batch{Reports: []disclosure.Report{
		newReport(disclosure.OIR, 1000, "2026-04-20T08:00:00Z"),
		newReport(disclosure.OIR, 999, "2026-04-20T09:00:00Z"), // the lowest number, though published later and greater as a string
		newReport(disclosure.OIR, 1001, "2026-04-20T07:00:00Z"),
		newReport(disclosure.IP, 7, "2026-04-22T08:00:00Z"),
		newReport(disclosure.HR, 500, "2026-04-20T08:00:00Z"),
		newReport(disclosure.HR, 509, "2026-04-20T08:00:00Z"),
	}})
	for _, series := range disclosure.Types {
		s.cover(series, "2026-04-19", "2026-04-20")
	}
	got := s.completeness("2026-04-19", "2026-04-22")
	if got.From != "2026-04-19" || got.To != "2026-04-22" || got.Seq != 6 || time.Since(got.GeneratedAt) > time.Minute {
		t.Errorf("%s to %s, as of %d at %v", got.From, got.To, got.Seq, got.GeneratedAt)
	}
	var order []string
	for _, d := range got.Days {
		first, last := "-", "-"
		if d.First != nil && d.Last != nil {
			first, last = *d.First, *d.Last
		}
		order = append(order, fmt.Sprintf("%s %s %d %s %s %v", d.Date[8:], d.Type, d.Count, first, last, d.Checked != nil))
		if want := s.hashOf(d.Date, disclosure.Type(d.Type)); d.SHA256 != want {
			t.Errorf("the digest of %s %s is %s, want %s", d.Date, d.Type, d.SHA256, want)
		}
		if d.Checked != nil && !d.Checked.Equal(instant("2026-04-25T10:00:00Z")) {
			t.Errorf("%s %s was checked at %v", d.Date, d.Type, d.Checked)
		}
		if hr := d.Type == "HR"; hr != (d.Missing == nil) {
			t.Errorf("%s %s: missing is %v", d.Date, d.Type, d.Missing)
		}
		if len(d.Missing) > 0 {
			t.Errorf("%s %s: missing is %v, want none", d.Date, d.Type, d.Missing)
		}
	}
	want := []string{
		"22 IP 1 7 7 false", "22 HR 0 - - false", "22 OIR 0 - - false",
		"21 IP 0 - - false", "21 HR 0 - - false", "21 OIR 0 - - false",
		"20 IP 0 - - true", "20 HR 2 500 509 true", "20 OIR 3 999 1001 true",
		"19 IP 0 - - true", "19 HR 0 - - true", "19 OIR 0 - - true",
	}
	if diff := cmp.Diff(want, order); diff != "" {
		t.Error(diff)
	}
	sum := sha256.Sum256([]byte("999\n1000\n1001"))
	if got := got.day("2026-04-20", disclosure.OIR).SHA256; got != hex.EncodeToString(sum[:]) {
		t.Errorf("the digest of 999, 1000 and 1001 is %s", got)
	}
	if got := got.day("2026-04-19", disclosure.OIR).SHA256; got != "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" {
		t.Errorf("the digest of no reports is %s", got)
	}
}

// readAtOnce returns the report as first seen when it was published.
func readAtOnce(r disclosure.Report) disclosure.Report {
	r.FirstSeenAt = r.PublishedAt
	return r
}

// gapped serves OIR 100, 103, 105 and 108, none of them on 21 April. 101, 104
// and 106 were looked up and do not exist.
func gapped(t *testing.T) *service {
	t.Helper()
	s := start(t, "demo", store.Batch{Reports: []disclosure.Report{
		newReport(disclosure.OIR, 100, "2026-04-17T08:00:00Z"),
		newReport(disclosure.OIR, 103, "2026-04-20T08:00:00Z"),
		newReport(disclosure.OIR, 105, "2026-04-20T09:00:00Z"),
		newReport(disclosure.OIR, 108, "2026-04-22T08:00:00Z"),
		readAtOnce(newReport(disclosure.HR, 100, "2026-04-20T08:00:00Z")),
		readAtOnce(newReport(disclosure.HR, 200, "2026-04-22T08:00:00Z")),
		newReport(disclosure.IP, 100, "2026-04-20T08:00:00Z"),
		newReport(disclosure.IP, 102, "2026-04-20T09:00:00Z"),
	}})
	for _, number := range []int64{101, 104, 106} {
		s.must(s.coverage.SetAbsent(t.Context(), nil, disclosure.OIR, number, instant("2026-04-23T06:07:08Z")))
	}
	return s
}

// A missing number is listed on the day of the next report, with the result of
// its lookup.
func TestMissingNumbers(t *testing.T) {
	s := gapped(t)
	if got := s.completeness("2026-04-01", "2026-04-30").missing(disclosure.OIR); got != "" {
		t.Errorf("missing before any day was compared: %s, want none", got)
	}
	s.cover(disclosure.OIR, "2026-04-17", "2026-04-20")
	if got, want := s.completeness("2026-04-01", "2026-04-30").missing(disclosure.OIR), "20:101! 20:102? 20:104!"; got != want {
		t.Errorf("missing are %s, want %s: the 22nd was not compared", got, want)
	}
	s.cover(disclosure.OIR, "2026-04-22", "2026-04-22")
	if got, want := s.completeness("2026-04-01", "2026-04-30").missing(disclosure.OIR), "20:101! 20:102? 20:104!"; got != want {
		t.Errorf("missing are %s, want %s: the 21st was not compared, and may have them", got, want)
	}
	s.cover(disclosure.OIR, "2026-04-21", "2026-04-21")
	s.cover(disclosure.HR, "2026-04-17", "2026-04-22")
	all := s.completeness("2026-04-01", "2026-04-30")
	if got, want := all.missing(disclosure.OIR), "22:106! 22:107? 20:101! 20:102? 20:104!"; got != want {
		t.Errorf("missing are %s, want %s", got, want)
	}
	if got := all.missing(disclosure.IP); got != "" { // no day of this series was compared
		t.Errorf("missing IP: %s, want none", got)
	}
	for _, m := range all.day("2026-04-22", disclosure.OIR).Missing {
		if lookedUp := m.LookedUp != nil; lookedUp != (m.Reason == "never_published") || lookedUp && !m.LookedUp.Equal(instant("2026-04-23T06:07:08Z")) {
			t.Errorf("%s was looked up at %v: %s", m.Number, m.LookedUp, m.Reason)
		}
	}
	if hr := all.day("2026-04-22", disclosure.HR); hr.Missing != nil || hr.Checked == nil || hr.Proof == nil || hr.Proof.From != nil || hr.Proof.Reason == "" {
		t.Errorf("of HR %v are missing, checked at %v, proof %+v; want null, because the series was never read live", hr.Missing, hr.Checked, hr.Proof)
	}
	s.must(s.coverage.SetLive(t.Context(), nil, disclosure.HR, instant("2026-04-20T07:00:00Z")))
	s.must(s.coverage.SetAbsent(t.Context(), nil, disclosure.HR, 101, instant("2026-04-23T06:07:08Z")))
	all = s.completeness("2026-04-01", "2026-04-30")
	if got := strings.Fields(all.missing(disclosure.HR)); len(got) != 99 || got[0] != "22:101!" || got[1] != "22:102?" {
		t.Errorf("of HR %d are missing: %v", len(got), got)
	}
	if before, first := all.day("2026-04-20", disclosure.HR), all.day("2026-04-21", disclosure.HR); before.Missing != nil || first.Missing == nil || *first.Proof.From != "2026-04-21" {
		t.Errorf("the first day: %+v, the next: %+v, proof from %s", before.Missing, first.Missing, *first.Proof.From)
	}
	if oir := all.day("2026-04-22", disclosure.OIR); oir.Proof != nil {
		t.Errorf("of OIR the proof is %+v, want null", oir.Proof)
	}

	// A number that is published later is no longer missing.
	s.append(store.Batch{Reports: []disclosure.Report{newReport(disclosure.OIR, 107, "2026-04-21T08:00:00Z")}})
	if got, want := s.completeness("2026-04-01", "2026-04-30").missing(disclosure.OIR), "21:106! 20:101! 20:102? 20:104!"; got != want {
		t.Errorf("missing are %s, want %s", got, want)
	}
}

// TestProvableFrom: what is proved of each series, and why, from nothing to days in
// a row.
func TestProvableFrom(t *testing.T) {
	s := gapped(t)
	check := func(want ...string) {
		t.Helper()
		var got []string
		for _, p := range s.completeness("2026-04-22", "2026-04-22").Series {
			text := p.Type + " by " + strings.Join(p.By, "+") + ": "
			if p.From != nil && p.Until != nil {
				text += *p.From + " " + p.Until.Format(time.RFC3339) + ": "
			}
			got = append(got, text+p.Reason)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	const (
		imported = "no day was compared with the regulator's list: nothing is proved by imported reports"
		compared = "every day was compared with the regulator's list of that day after its end, and the numbers missing between two reports were looked up"
		numbered = "HR has no list by date: every number in this time is here, or was looked up and does not exist"
	)
	check("IP by lists+numbers: "+imported, "HR by numbers: the source was never read: nothing is proved by imported reports", "OIR by lists+numbers: "+imported)
	s.cover(disclosure.IP, "2026-04-21", "2026-04-22")
	s.cover(disclosure.OIR, "2026-04-17", "2026-04-25")
	s.must(s.coverage.SetLive(t.Context(), nil, disclosure.HR, instant("2026-04-22T07:00:00Z")))
	check("IP by lists+numbers: 2026-04-21 2026-04-23T00:00:00+02:00: "+compared,
		"HR by numbers: HR has no list by date, and no number was registered since the first whole day of reading it",
		"OIR by lists+numbers: 2026-04-23 2026-04-25T11:50:00+02:00: "+compared+"; number 107 is missing and was not looked up yet")
	for n := int64(101); n < 200; n++ {
		s.must(s.coverage.SetAbsent(t.Context(), nil, disclosure.HR, n, instant("2026-04-23T06:07:08Z")))
	}
	for _, n := range []int64{102, 107} {
		s.must(s.coverage.SetAbsent(t.Context(), nil, disclosure.OIR, n, instant("2026-04-23T06:07:08Z")))
	}
	s.append(store.Batch{Reports: []disclosure.Report{readAtOnce(newReport(disclosure.HR, 201, "2026-04-24T08:00:00Z"))}})
	check("IP by lists+numbers: 2026-04-21 2026-04-23T00:00:00+02:00: "+compared,
		"HR by numbers: 2026-04-23 2026-04-24T09:50:00+02:00: "+numbered,
		"OIR by lists+numbers: 2026-04-17 2026-04-25T11:50:00+02:00: "+compared)
}

// The entry of a day does not depend on the requested range.
func TestMissingNumbersOfAnyRange(t *testing.T) {
	s := gapped(t)
	s.append(store.Batch{Reports: []disclosure.Report{
		newReport(disclosure.OIR, 110, "2026-04-24T08:00:00Z"), // registered late: 109 is missing before it, 111 is not
		newReport(disclosure.OIR, 111, "2026-04-23T08:00:00Z"),
		newReport(disclosure.OIR, 112, "2026-01-02T08:00:00Z"), // with an implausible date
		newReport(disclosure.OIR, 113, "2026-04-23T09:00:00Z"),
	}})
	s.cover(disclosure.OIR, "2026-03-01", "2026-04-30")
	whole := s.completeness("2026-04-01", "2026-04-30")
	if got, want := whole.missing(disclosure.OIR), "24:109? 22:106! 22:107? 20:101! 20:102? 20:104!"; got != want {
		t.Errorf("missing are %s, want %s", got, want)
	}
	for from := day("2026-04-15"); from <= day("2026-04-26"); from++ {
		for to := from; to <= day("2026-04-26"); to++ {
			for _, d := range s.completeness(from.String(), to.String()).Days {
				if diff := cmp.Diff(whole.day(d.Date, disclosure.Type(d.Type)), d); diff != "" {
					t.Errorf("%s %s as one of the days from %s to %s: %s", d.Date, d.Type, from, to, diff)
				}
			}
		}
	}
}

func TestCompletenessRange(t *testing.T) {
	s := start(t, "demo", market())
	path := "/api/v1/completeness"
	var got completenessDoc
	today := disclosure.DayOf(time.Now())
	s.get(http.StatusOK, path).decode(&got)
	if now := disclosure.DayOf(got.GeneratedAt); now > today { // midnight passed meanwhile
		today = now
		s.get(http.StatusOK, path).decode(&got)
	}
	if got.From != (today-6).String() || got.To != today.String() || len(got.Days) != 3*7 {
		t.Errorf("without a range: %s to %s, %d entries, want the last week", got.From, got.To, len(got.Days))
	}
	for _, test := range []struct {
		query    string
		from, to string
		days     int
	}{
		{"?from=2026-04-22&to=2026-04-22", "2026-04-22", "2026-04-22", 1},
		{"?to=2026-04-22", "2026-04-16", "2026-04-22", 7},
		{"?from=&to=2026-04-22", "2026-04-16", "2026-04-22", 7},
		{"?from=2024-01-01&to=2024-12-31", "2024-01-01", "2024-12-31", 366},
		{"?from=2025-04-22&to=2026-04-22", "2025-04-22", "2026-04-22", 366},
		{"?to=1900-01-03", "1900-01-01", "1900-01-03", 3}, // the first supported day
		{"?from=1900-02-02&to=1900-02-02", "1900-02-02", "1900-02-02", 1},
		{"?to=9999-12-31", "9999-12-25", "9999-12-31", 7},
		{encode("from", (today - 365).String()), (today - 365).String(), today.String(), 366},
	} {
		var got completenessDoc
		s.get(http.StatusOK, path+test.query).decode(&got)
		if got.From != test.from || got.To != test.to || len(got.Days) != 3*test.days {
			t.Errorf("%s: %s to %s, %d entries, want %s to %s, %d", test.query, got.From, got.To, len(got.Days), test.from, test.to, 3*test.days)
		}
	}
	s.get(http.StatusBadRequest, path+"?from=2026-04-23&to=2026-04-22").refused("from", "2026-04-23")
	s.get(http.StatusBadRequest, path+"?from=2025-04-21&to=2026-04-22").refused("from", "2025-04-21") // 367 days
	s.get(http.StatusBadRequest, path+"?from=1900-01-01").refused("from", "1900-01-01")
	s.get(http.StatusBadRequest, path+"?from=9999-12-31").refused("from", "9999-12-31") // later than today
	s.get(http.StatusBadRequest, path+"?from=2026-04-22&from=2026-04-22").refused("from", "2026-04-22, 2026-04-22")
	s.get(http.StatusBadRequest, path+"?to=hoy").refused("to", "hoy")
	// An invalid date is the only error: the range is not checked then.
	s.get(http.StatusBadRequest, path+"?from=2020-01-01&to=2026-04-00").refused("to", "2026-04-00")
	s.get(http.StatusBadRequest, path+"?from=2026-02-29&to=1950-01-01").refused("from", "2026-02-29")
}

// Days are calendar days in Madrid, also those of 23 or 25 hours.
func TestCompletenessOfClockChanges(t *testing.T) {
	s := start(t, "demo", store.Batch{Reports: []disclosure.Report{
		newReport(disclosure.IP, 1, "2026-03-28T22:59:59Z"), // 28 March 23:59:59
		newReport(disclosure.IP, 2, "2026-03-28T23:00:00Z"), // 29 March 00:00:00
		newReport(disclosure.IP, 3, "2026-03-29T21:59:59Z"), // 29 March 23:59:59, in summer time
		newReport(disclosure.IP, 5, "2026-03-29T22:00:00Z"), // 30 March 00:00:00
		newReport(disclosure.IP, 6, "2026-10-24T21:59:59Z"), // 24 October 23:59:59
		newReport(disclosure.IP, 7, "2026-10-24T22:00:00Z"), // 25 October 00:00:00
		newReport(disclosure.IP, 8, "2026-10-25T22:59:59Z"), // 25 October 23:59:59, in winter time
		newReport(disclosure.IP, 9, "2026-10-25T23:00:00Z"), // 26 October 00:00:00
	}})
	s.cover(disclosure.IP, "2026-03-28", "2026-03-30")
	for _, test := range []struct{ from, to, want, missing string }{
		{"2026-03-28", "2026-03-30", "1 5-5, 2 2-3, 1 1-1", "30:4?"},
		{"2026-10-24", "2026-10-26", "1 9-9, 2 7-8, 1 6-6", ""},
	} {
		doc := s.completeness(test.from, test.to)
		var got []string
		for _, d := range doc.Days {
			if d.Type == "IP" {
				got = append(got, fmt.Sprintf("%d %s-%s", d.Count, *d.First, *d.Last))
				if want := s.hashOf(d.Date, disclosure.IP); d.SHA256 != want {
					t.Errorf("the digest of %s is %s, want %s", d.Date, d.SHA256, want)
				}
			}
		}
		if len(doc.Days) != 9 || strings.Join(got, ", ") != test.want || doc.missing(disclosure.IP) != test.missing {
			t.Errorf("%s to %s: %q, missing %q, want %q, missing %q", test.from, test.to, got, doc.missing(disclosure.IP), test.want, test.missing)
		}
	}
}

// The documented shell command prints the digest, also for a day with more than
// one page of reports.
func TestDigestByShell(t *testing.T) {
	for _, tool := range []string{"sh", "curl", "jq", "sort", "sha256sum"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	_, script, _ := strings.Cut(resttest.Document().Paths.Value("/api/v1/completeness").Get.Description, "```sh\n")
	script, _, found := strings.Cut(script, "```")
	if !found {
		t.Fatal("the document has no command")
	}
	var b store.Batch
	for n := range int64(120) {
		b.Reports = append(b.Reports, newReport(disclosure.OIR, 950+n, "2026-04-22T08:00:00Z"))
	}
	for _, batch := range []store.Batch{b, {}} {
		s := start(t, "demo", batch)
		command := exec.CommandContext(t.Context(), "sh", "-c", script)
		command.Env = append(os.Environ(), "PREGON="+s.server.URL)
		out, err := command.Output()
		if err != nil {
			t.Fatal(err)
		}
		got, _, _ := strings.Cut(string(out), " ")
		if want := s.completeness("2026-04-22", "2026-04-22").day("2026-04-22", disclosure.OIR); got != want.SHA256 || want.Count != len(batch.Reports) {
			t.Errorf("the command prints %s for %d reports, the service says %s for %d", got, len(batch.Reports), want.SHA256, want.Count)
		}
	}
}

// The registers of positions say when they were read, and claim nothing about gaps.
func TestRegistersRead(t *testing.T) {
	s := start(t, "demo", market())
	s.must(s.coverage.SetRegister(t.Context(), nil, "shorts", coverage.Register{
		ReadAt:     instant("2026-10-06T20:25:00.5Z"),
		WholeUntil: instant("2026-10-06T18:18:29Z"),
		Entries:    12252,
	}))
	s.must(s.coverage.SetRegister(t.Context(), nil, "dealings", coverage.Register{ReadAt: instant("2026-10-06T20:25:00Z")}))
	body := string(s.get(http.StatusOK, "/api/v1/completeness?to=2026-10-06").body)
	const known = "its numbers are not dense, so that no gap in it can be proved"
	for _, want := range []string{
		`{"register":"shorts","read_at":"2026-10-06T22:25:00+02:00","whole_until":"2026-10-06T20:18:29+02:00","entries":12252,` +
			`"reason":"everything that the register showed at that time was read; ` + known + `"}`,
		`{"register":"dealings","read_at":"2026-10-06T22:25:00+02:00","whole_until":null,"entries":0,` +
			`"reason":"not everything that the register shows was read yet; ` + known + `"}`,
		`{"register":"holdings","read_at":null,"whole_until":null,"entries":null,"reason":"the register was never read as a whole"}`,
		`{"register":"own_shares","read_at":null`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("got %s, want %s in it", body, want)
		}
	}
	if rows := s.get(http.StatusOK, "/api/v1/completeness.csv?from=2026-10-06&to=2026-10-06").csv(); len(rows) != 4 {
		t.Errorf("%d rows as CSV, want those of the days", len(rows))
	}
}
