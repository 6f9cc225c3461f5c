package telemetry

import (
	"encoding/json"
	"log/slog"
	"net/netip"
	"strconv"
	"strings"
	"time"
	"unicode"

	"pregon/internal/text/mask"
)

// Request is a finished request.
type Request struct {
	ID       string
	Route    string // from a closed set
	Method   string // from a closed set
	Path     string
	Status   int
	Bytes    int64
	Client   netip.Addr
	Time     time.Time // end of the request
	Duration time.Duration
	Expected bool // the status is not a failure
}

// Request logs a request, if l.Access selects it. It encodes the line itself, as
// log/slog would, because that is a tenth faster for whole requests: see
// docs/performance.md.
func (l *Log) Request(r Request) {
	level := slog.LevelInfo
	if r.Status >= 500 && !r.Expected {
		level = slog.LevelError
	}
	if level < l.level || !l.selects(level) {
		return
	}
	l.out.mu.Lock()
	defer l.out.mu.Unlock()
	e := encoder{l.out.buf, l.json}
	e.begin(r.Time, level)
	e.text("request_id", mask.Credentials(r.ID))
	e.text("method", r.Method)
	e.text("route", r.Route)
	e.text("path", mask.Credentials(r.Path))
	e.number("status", int64(r.Status))
	e.number("bytes", r.Bytes)
	e.seconds("duration_seconds", r.Duration)
	e.address("client_ip", r.Client)
	l.out.buf = e.end()
	if len(l.out.buf) >= flushSize || level >= slog.LevelWarn {
		l.out.write()
	}
}

// encoder appends a line of the log.
type encoder struct {
	b    []byte
	json bool
}

func (e *encoder) begin(t time.Time, level slog.Level) {
	if e.json {
		e.b = append(e.b, `{"time":"`...)
		e.b = t.AppendFormat(e.b, time.RFC3339Nano)
		e.b = append(e.b, `","level":"`...)
		e.b = append(e.b, level.String()...)
		e.b = append(e.b, `","msg":"request"`...)
		return
	}
	e.b = append(e.b, "time="...)
	e.b = t.AppendFormat(e.b, "2006-01-02T15:04:05.000Z07:00")
	e.b = append(e.b, " level="...)
	e.b = append(e.b, level.String()...)
	e.b = append(e.b, " msg=request"...)
}

func (e *encoder) key(name string) {
	if e.json {
		e.b = append(append(append(e.b, `,"`...), name...), `":`...)
		return
	}
	e.b = append(append(append(e.b, ' '), name...), '=')
}

func (e *encoder) number(name string, n int64) {
	e.key(name)
	e.b = strconv.AppendInt(e.b, n, 10)
}

// seconds writes a duration with six decimals.
func (e *encoder) seconds(name string, d time.Duration) {
	e.key(name)
	micros := uint64(max(0, d.Microseconds()))
	e.b = append(strconv.AppendUint(e.b, micros/1e6, 10), '.')
	for unit := uint64(100_000); unit > 0; unit /= 10 {
		e.b = append(e.b, byte('0'+micros/unit%10))
	}
}

// address writes an IP address without a zone, which a client could choose.
func (e *encoder) address(name string, a netip.Addr) {
	e.key(name)
	if e.json {
		e.b = append(e.b, '"')
	}
	if e.b = a.WithZone("").AppendTo(e.b); e.json {
		e.b = append(e.b, '"')
	}
}

func (e *encoder) text(name, s string) {
	e.key(name)
	switch {
	case e.json && isPlain(s):
		e.b = append(append(append(e.b, '"'), s...), '"')
	case e.json:
		quoted, _ := json.Marshal(s) // a string cannot fail
		e.b = append(e.b, quoted...)
	case s == "" || !isPlain(s) && strings.ContainsFunc(s, needsQuotes):
		e.b = strconv.AppendQuote(e.b, s)
	default:
		e.b = append(e.b, s...)
	}
}

func (e *encoder) end() []byte {
	if e.json {
		e.b = append(e.b, '}')
	}
	return append(e.b, '\n')
}

// isPlain reports whether a text, like most, is written as it is in both formats.
func isPlain(s string) bool {
	for i := range len(s) {
		c := s[i]
		isPrinted := c > ' ' && c < 0x7f
		if !isPrinted || c == '"' || c == '=' || c == '\\' {
			return false
		}
	}
	return true
}

func needsQuotes(c rune) bool { return c <= ' ' || c == '"' || c == '=' || !unicode.IsPrint(c) }
