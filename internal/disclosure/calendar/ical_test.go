package calendar_test

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	ics "github.com/arran4/golang-ical"

	"pregon/internal/disclosure"
	"pregon/internal/disclosure/calendar"
	"pregon/internal/text"
)

func feed(language string) calendar.Feed {
	return calendar.Feed{Name: "Pregón; calendario, todo", Language: language, BaseURL: "https://pregon.example"}
}

// The UIDs must not change with a later version: subscribers would see every date twice.
func TestAppend(t *testing.T) {
	got := string(feed("es").Append(nil, calendar.Entries([]calendar.Statement{
		issued(1, "11-18",
			dividend("gross_per_share", "0.25", "currency", "EUR", "ex_date", "2026-12-15"),
			fact(disclosure.Meeting, "meeting_kind", "ordinary", "second_call", "2026-06-19T12:00")),
	})))
	want := strings.ReplaceAll(`BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//Pregon//Calendar//ES
CALSCALE:GREGORIAN
NAME:Pregón\; calendario\, todo
X-WR-CALNAME:Pregón\; calendario\, todo
X-WR-TIMEZONE:Europe/Madrid
REFRESH-INTERVAL;VALUE=DURATION:PT1H
X-PUBLISHED-TTL:PT1H
BEGIN:VEVENT
UID:37ef8539f0726168b1b5d59e2cba2a61@pregon
DTSTAMP:20261118T080000Z
LAST-MODIFIED:20261118T080000Z
SEQUENCE:0
DTSTART:20260619T100000Z
STATUS:TENTATIVE
TRANSP:TRANSPARENT
SUMMARY:BODEGAS\, S.A.: junta general ordinaria\, segunda convocatoria
DESCRIPTION:Junta general ordinaria: segunda convocatoria el 19 de junio de
  2026 a las 12:00
URL:https://pregon.example/reports/oir-1?lang=es
END:VEVENT
BEGIN:VEVENT
UID:0f1a8a2410ce5a7de24142ca41a34a3b@pregon
DTSTAMP:20261118T080000Z
LAST-MODIFIED:20261118T080000Z
SEQUENCE:0
DTSTART;VALUE=DATE:20261215
STATUS:CONFIRMED
TRANSP:TRANSPARENT
SUMMARY:BODEGAS\, S.A.: fecha ex-dividendo (0\,25 €)
DESCRIPTION:Dividendo bruto de 0\,25 euros por acción\; fecha ex-dividendo
  el 15 de diciembre de 2026
URL:https://pregon.example/reports/oir-1?lang=es
END:VEVENT
END:VCALENDAR
`, "\n", "\r\n")
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestParser: a parser of others reads what is written.
func TestParser(t *testing.T) {
	entries := calendar.Entries([]calendar.Statement{
		issued(1, "11-18",
			dividend("gross_per_share", "0.25", "currency", "EUR", "ex_date", "2026-12-15", "payment_date", "2026-12-17"),
			fact(disclosure.Meeting, "first_call", "2026-12-20T12:00", "second_call", "2026-12-21T12:00")),
	})
	entries[1].Cancelled = true
	read(t, feed("en"), entries)
	read(t, feed("es"), entries)
	read(t, feed("en"), nil)
}

// read parses a feed and compares it with the entries.
func read(t *testing.T, f calendar.Feed, entries []calendar.Entry) {
	t.Helper()
	body := f.Append(nil, entries)
	if again := f.Append(nil, entries); !bytes.Equal(body, again) {
		t.Fatal("the same entries were written in two ways")
	}
	if !utf8.Valid(body) || !bytes.HasSuffix(body, []byte("\r\n")) {
		t.Fatalf("%q is not UTF-8, or its last line has no end", body)
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(string(body), "\r\n"), "\r\n") {
		control := strings.ContainsFunc(line, func(c rune) bool { return c < ' ' || c == 0x7f })
		if len(line) > 75 || line == "" || !utf8.ValidString(line) || control {
			t.Fatalf("%q is not a line of a calendar", line)
		}
	}
	parsed, err := ics.ParseCalendar(bytes.NewReader(body))
	if err != nil {
		t.Fatalf("%v in\n%s", err, body)
	}
	events := parsed.Events()
	if len(events) != len(entries) {
		t.Fatalf("%d events, want %d in\n%s", len(events), len(entries), body)
	}
	for i, event := range events {
		e := entries[i]
		value := func(p ics.ComponentProperty) string {
			found := event.GetProperty(p)
			if found == nil {
				return ""
			}
			return found.Value
		}
		title, description := e.TitleEN, e.HeadlineEN
		if f.Language == "es" {
			title, description = e.TitleES, e.HeadlineES
		}
		status := "CONFIRMED"
		if e.Tentative {
			status = "TENTATIVE"
		}
		if e.Cancelled {
			status = "CANCELLED"
		}
		for _, c := range [][2]string{
			{value(ics.ComponentPropertyUniqueId), e.UID},
			{value(ics.ComponentPropertySummary), visible(title)},
			{value(ics.ComponentPropertyDescription), visible(description)},
			{value(ics.ComponentPropertyStatus), status},
			{value(ics.ComponentPropertyUrl), "https://pregon.example/reports/" + e.ReportID + "?lang=" + f.Language},
		} {
			if c[0] != c[1] {
				t.Errorf("the parser read %q, want %q", c[0], c[1])
			}
		}
		start, err := event.GetStartAt()
		want := e.Time
		if e.Time.IsZero() {
			start, err = event.GetAllDayStartAt()
			y, m, d := start.Date()
			start = time.Date(y, m, d, 0, 0, 0, 0, disclosure.Madrid)
			want = e.Day.Start()
		}
		if err != nil || !start.Equal(want) {
			t.Errorf("the parser read the start %v, %v, want %v", start, err, want)
		}
	}
}

// visible returns what a calendar keeps of a text.
func visible(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\t", " ", "\f", "").Replace(s)
	return strings.Map(func(c rune) rune {
		if text.Invisible(c) {
			return -1
		}
		return c
	}, s)
}

// FuzzNames: whatever an issuer is called, it cannot add lines to a calendar.
func FuzzNames(f *testing.F) {
	f.Add("BODEGAS, S.A.")
	f.Add("X\r\nEND:VEVENT\r\nBEGIN:VEVENT\r\nUID:evil")
	f.Add(strings.Repeat("ñ", 200) + "\\;,\\n\\N:\"")
	f.Add("\xff\xfe\x00\u2028\u202e\u0085😀" + strings.Repeat("😀", 40))
	f.Add(strings.Repeat(" ", 200))
	f.Fuzz(func(t *testing.T, name string) {
		s := issued(1, "11-18", dividend("ex_date", "2026-12-15"))
		s.Issuer = name
		read(t, feed("es"), calendar.Entries([]calendar.Statement{s}))
	})
}
