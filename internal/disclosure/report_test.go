package disclosure_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
)

func filing() disclosure.Report {
	return disclosure.Report{
		ID: "oir-40374", Type: disclosure.OIR, Number: 40374,
		CompanyName: "EJEMPLAR FICTICIA, S.A.", NIF: "A-69001238", Title: "La sociedad informa",
		PublishedAt: time.Date(2026, 4, 22, 8, 0, 33, 0, time.UTC),
		Category:    "Sobre instrumentos financieros - Sobre negocio y situación financiera",
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
	for heading, want := range tests {
		if diff := cmp.Diff(want, disclosure.SplitCategories(heading)); diff != "" {
			t.Errorf("%q: %s", heading, diff)
		}
	}
}

func TestMergeKeepsWhatWasNotTold(t *testing.T) {
	known := filing()
	known.Summary, known.PDFURL = "Un acuerdo.", "https://regulator.example/d"
	merged, changed := known.Merge(disclosure.Report{ID: known.ID, Type: known.Type, Number: known.Number, Title: known.Title})
	if len(changed) != 0 || !cmp.Equal(known, merged) {
		t.Errorf("a poor observation changed %v: %s", changed, cmp.Diff(known, merged))
	}
}

func TestMergeNamesWhatChanged(t *testing.T) {
	known := filing()
	told := known
	told.PDFURL, told.PublishedAt = "https://regulator.example/d", known.PublishedAt.Add(27*time.Second)
	merged, changed := known.Merge(told)
	if diff := cmp.Diff([]string{"published_at", "pdf_url"}, changed); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(told, merged); diff != "" {
		t.Error(diff)
	}
	if _, changed = merged.Merge(told); len(changed) != 0 {
		t.Errorf("the same observation twice changes %v", changed)
	}
	sameInstant := merged
	sameInstant.PublishedAt = merged.PublishedAt.In(disclosure.Madrid)
	if _, changed = merged.Merge(sameInstant); len(changed) != 0 {
		t.Errorf("another offset of the same instant changes %v", changed)
	}
}

func TestReportOrder(t *testing.T) {
	base := filing()
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

func TestReadReportRoundTrip(t *testing.T) {
	want := filing()
	line, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := disclosure.ReadReport(line)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
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
		{with("pdf_url", `"javascript:alert(1)"`), "http or https"},
	}
	for _, tt := range tests {
		_, err := disclosure.ReadReport([]byte(tt.line))
		if err == nil || !strings.Contains(err.Error(), tt.want) || fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s\n  got  %v\n  want %q", tt.line, err, tt.want)
		}
	}
}

func FuzzReadReport(f *testing.F) {
	f.Add([]byte(`{"type":"IP","cnmv_registration_number":"3123","company_name":"X","title":"Y","published_at":"2026-04-22T10:00:33+02:00"}`))
	f.Add([]byte(`{"id":"hr-1","cnmv_registration_number":null,"category":" - "}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := disclosure.ReadReport(line)
		if err != nil {
			if fault.KindOf(err) != fault.Invalid {
				t.Fatalf("not told as bad input: %v", err)
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
