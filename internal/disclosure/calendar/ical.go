package calendar

import (
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"pregon/internal/text"
)

// Feed is a calendar to which programs subscribe.
type Feed struct {
	Name     string // as programs show it
	Language string // es or en
	BaseURL  string // of the site, without a slash at the end
}

const (
	contentType = "text/calendar; charset=utf-8"
	refresh     = "PT1H" // how often programs should ask again
	maxOctets   = 75     // of a line, without its end
)

// ContentType is the media type of a feed.
func (Feed) ContentType() string { return contentType }

// Append appends entries in the format of iCalendar (RFC 5545). It writes no time of its
// own, so the same entries always give the same bytes: DTSTAMP is the time of the last
// change, as it is for a calendar without a method. Times are in UTC, so that no rules
// of time zones are needed.
func (f Feed) Append(b []byte, entries []Entry) []byte {
	b = appendLine(b, "BEGIN:VCALENDAR")
	b = appendLine(b, "VERSION:2.0")
	b = appendLine(b, "PRODID:-//Pregon//Calendar//"+strings.ToUpper(f.language()))
	b = appendLine(b, "CALSCALE:GREGORIAN")
	b = appendLine(b, "NAME:"+escape(f.Name))
	b = appendLine(b, "X-WR-CALNAME:"+escape(f.Name))
	b = appendLine(b, "X-WR-TIMEZONE:Europe/Madrid")
	b = appendLine(b, "REFRESH-INTERVAL;VALUE=DURATION:"+refresh)
	b = appendLine(b, "X-PUBLISHED-TTL:"+refresh)
	for i := range entries {
		b = f.appendEntry(b, &entries[i])
	}
	return appendLine(b, "END:VCALENDAR")
}

func (f Feed) language() string {
	if f.Language == "es" {
		return "es"
	}
	return "en"
}

func (f Feed) appendEntry(b []byte, e *Entry) []byte {
	title, description := e.TitleEN, e.HeadlineEN
	if f.language() == "es" {
		title, description = e.TitleES, e.HeadlineES
	}
	status := "CONFIRMED"
	switch {
	case e.Cancelled:
		status = "CANCELLED"
	case e.Tentative:
		status = "TENTATIVE"
	}
	updated := utc(e.Updated)
	b = appendLine(b, "BEGIN:VEVENT")
	b = appendLine(b, "UID:"+escape(e.UID))
	b = appendLine(b, "DTSTAMP:"+updated)
	b = appendLine(b, "LAST-MODIFIED:"+updated)
	b = appendLine(b, "SEQUENCE:"+strconv.Itoa(e.Sequence))
	if e.Time.IsZero() {
		b = appendLine(b, "DTSTART;VALUE=DATE:"+strings.ReplaceAll(e.Day.String(), "-", ""))
	} else {
		b = appendLine(b, "DTSTART:"+utc(e.Time))
	}
	b = appendLine(b, "STATUS:"+status)
	b = appendLine(b, "TRANSP:TRANSPARENT") // it does not make a person busy
	b = appendLine(b, "SUMMARY:"+escape(title))
	if description != "" {
		b = appendLine(b, "DESCRIPTION:"+escape(description))
	}
	address := f.BaseURL + "/reports/" + url.PathEscape(e.ReportID) + "?lang=" + f.language()
	b = appendLine(b, "URL:"+address)
	return appendLine(b, "END:VEVENT")
}

func utc(t time.Time) string { return t.UTC().Format("20060102T150405Z") }

// escape returns a value of the type TEXT. Names come from outside: what is no UTF-8 is
// replaced, and invisible characters, of which control characters are not allowed, are
// left out.
func escape(s string) string {
	var b strings.Builder
	for _, c := range strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\r\n", "\n") {
		switch {
		case c == '\n' || c == '\r':
			b.WriteString(`\n`)
		case c == '\\' || c == ';' || c == ',':
			b.WriteByte('\\')
			b.WriteRune(c)
		case c == '\t':
			b.WriteByte(' ')
		case c == '\f' || text.Invisible(c):
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// appendLine appends a line. One that is longer than 75 octets is continued on the next
// lines, which begin with a space. No character is divided.
func appendLine(b []byte, line string) []byte {
	room := maxOctets
	for len(line) > room {
		end := room
		for !utf8.RuneStart(line[end]) {
			end--
		}
		b = append(b, line[:end]...)
		b = append(b, "\r\n "...)
		line = line[end:]
		room = maxOctets - len(" ")
	}
	b = append(b, line...)
	return append(b, "\r\n"...)
}
