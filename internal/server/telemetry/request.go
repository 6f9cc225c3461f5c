package telemetry

import (
	"encoding/json"
	"log/slog"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Request is one request that was answered.
type Request struct {
	ID       string
	Route    string // of a closed set
	Method   string // of a closed set
	Path     string
	Status   int
	Bytes    int64
	Remote   string
	Time     time.Time // when it was answered
	Duration time.Duration
	Expected bool // its status is no failure, whatever it is
}

// Request logs a request, in the words that the logger would use. It is
// written by hand since it comes with every answer and would cost more than
// finding most of them; a test holds it to log/slog.
func (l *Log) Request(r Request) {
	level := slog.LevelInfo
	if r.Status >= 500 && !r.Expected {
		level = slog.LevelError
	}
	if level < l.level {
		return
	}
	l.out.mu.Lock()
	defer l.out.mu.Unlock()
	line := line{l.out.buf, l.json}
	line.begin(r.Time, level)
	line.text("id", r.ID)
	line.text("method", r.Method)
	line.text("route", r.Route)
	line.text("path", r.Path)
	line.number("status", int64(r.Status))
	line.number("bytes", r.Bytes)
	if l.json {
		line.number("took", int64(r.Duration))
	} else {
		line.text("took", r.Duration.String())
	}
	line.text("remote", r.Remote)
	l.out.buf = line.end()
	if len(l.out.buf) >= flushSize || level >= slog.LevelWarn {
		l.out.write()
	}
}

// line is a line of the log in the making.
type line struct {
	b    []byte
	json bool
}

func (l *line) begin(t time.Time, level slog.Level) {
	if l.json {
		l.b = append(l.b, `{"time":"`...)
		l.b = t.AppendFormat(l.b, time.RFC3339Nano)
		l.b = append(l.b, `","level":"`...)
		l.b = append(l.b, level.String()...)
		l.b = append(l.b, `","msg":"request"`...)
		return
	}
	l.b = append(l.b, "time="...)
	l.b = t.AppendFormat(l.b, "2006-01-02T15:04:05.000Z07:00")
	l.b = append(l.b, " level="...)
	l.b = append(l.b, level.String()...)
	l.b = append(l.b, " msg=request"...)
}

func (l *line) key(name string) {
	if l.json {
		l.b = append(l.b, `,"`...)
		l.b = append(l.b, name...)
		l.b = append(l.b, `":`...)
		return
	}
	l.b = append(l.b, ' ')
	l.b = append(l.b, name...)
	l.b = append(l.b, '=')
}

func (l *line) number(name string, n int64) {
	l.key(name)
	l.b = strconv.AppendInt(l.b, n, 10)
}

func (l *line) text(name, s string) {
	l.key(name)
	switch {
	case plain(s) && !l.json && s != "":
		l.b = append(l.b, s...)
	case l.json && plain(s):
		l.b = append(append(append(l.b, '"'), s...), '"')
	case l.json:
		quoted, _ := json.Marshal(s) // of a string: cannot fail
		l.b = append(l.b, quoted...)
	case s == "" || strings.ContainsFunc(s, quotedInText):
		l.b = strconv.AppendQuote(l.b, s)
	default:
		l.b = append(l.b, s...)
	}
}

// plain reports whether a text is nothing but what may stand anywhere as it is,
// as most are.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= utf8.RuneSelf || c == '"' || c == '=' || c == '\\' || c == 0x7f {
			return false
		}
	}
	return true
}

func quotedInText(c rune) bool { return c <= ' ' || c == '"' || c == '=' || !unicode.IsPrint(c) }

func (l *line) end() []byte {
	if l.json {
		l.b = append(l.b, '}')
	}
	return append(l.b, '\n')
}
