package catalog

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"pregon/internal/disclosure"
)

// A record is a report as the catalogue keeps it, encoded once when it arrives:
// the JSON of the API, ready to be sent, and the other fields after it.
//
//	hash        8 bytes  hash of the JSON, for entity tags
//	split       4 bytes  where to insert the directory's ticker; 0 if the report has its own
//	end         4 bytes  end of the JSON
//	first seen  8 bytes  Unix microseconds
//	available   8 bytes
//	enriched    8 bytes
//	flags       1 byte   see below
//	JSON
//	facts       if the flag is set: the length as a varint, and the facts: see appendFacts
//	extras      if the flag is set: the length as a varint, and JSON: see extrasOf
//	NIF         its length as a varint, and its text
//	source      the remaining bytes: the address, its beginning replaced by a number: see links
//
// The directory's ticker is inserted when the report is sent, so that a change of
// the directory changes no record. The index keeps the categories.
type record string

const recordHead = 41

// The flags of a record.
const (
	surfaceFlags   = 3 // index in surfaces
	historyFlag    = 1 << 2
	extrasFlag     = 1 << 3
	unresolvedFlag = 1 << 4 // a related report is unknown
	unreadFlag     = 1 << 5 // its document is to be read, summarized or examined
	suspectFlag    = 1 << 6 // its time of publication is not that by which it is listed
	factsFlag      = 1 << 7
)

var surfaces = [...]disclosure.Surface{"", disclosure.FromList, disclosure.FromPermalink, disclosure.FromFeed}

// extrasOf returns a report with only the fields that are not elsewhere in the
// record. Its JSON form has only these. Most reports of history have none, and a
// field that is new to Report is one of them.
func extrasOf(r *disclosure.Report) disclosure.Report {
	x := *r
	x.ID = ""
	x.CompanyName = ""
	x.Ticker = ""
	x.Type = ""
	x.Title = ""
	x.Summary = ""
	x.PublishedAt = time.Time{}
	x.Number = 0
	x.PDFURL = ""
	x.NIF = ""
	x.SourceURL = ""
	x.Category = ""
	x.TimeFrom = ""
	x.Backfilled = false
	x.FirstSeenAt = time.Time{}
	x.AvailableAt = time.Time{}
	x.EnrichedAt = time.Time{}
	x.Facts = nil
	x.FactsRules = 0
	x.FactsOf = ""
	x.FactsDetail = ""
	x.FactsReadyAt = time.Time{}
	return x
}

// encoder makes records.
type encoder struct {
	links links
	b     []byte
}

// encode returns the record of a report. It is valid until the next call.
func (e *encoder) encode(r *disclosure.Report) []byte {
	b := append(e.b[:0], make([]byte, recordHead)...)
	b = disclosure.AppendReportHead(b, r)
	split := len(b)
	if r.Ticker != "" {
		b = disclosure.AppendTicker(b, r.Ticker)
		split = 0
	}
	b = disclosure.AppendReportTail(b, r)
	binary.LittleEndian.PutUint64(b, hash(b[recordHead:]))
	binary.LittleEndian.PutUint32(b[8:], uint32(split))
	binary.LittleEndian.PutUint32(b[12:], uint32(len(b)))
	binary.LittleEndian.PutUint64(b[16:], uint64(micros(r.FirstSeenAt)))
	binary.LittleEndian.PutUint64(b[24:], uint64(micros(r.AvailableAt)))
	binary.LittleEndian.PutUint64(b[32:], uint64(micros(r.EnrichedAt)))
	extras := extrasOf(r)
	b[40] = flags(r)
	if hasFacts(r) {
		b[40] |= factsFlag
		b = appendFacts(b, r)
	}
	if !reflect.ValueOf(extras).IsZero() {
		b[40] |= extrasFlag
		b = appendExtras(b, &extras)
	}
	b = append(binary.AppendUvarint(b, uint64(len(r.NIF))), r.NIF...)
	e.b = e.links.append(b, r.SourceURL)
	return e.b
}

func flags(r *disclosure.Report) (f byte) {
	f = byte(max(slices.Index(surfaces[:], r.TimeFrom), 0))
	if r.Backfilled {
		f |= historyFlag
	}
	if r.WantsDocument() || r.WantsRest() {
		f |= unreadFlag
	}
	if slices.ContainsFunc(r.Related, func(other disclosure.Relation) bool { return other.ID == "" }) {
		f |= unresolvedFlag
	}
	if r.SuspectTime() {
		f |= suspectFlag
	}
	return f
}

func appendExtras(b []byte, extras *disclosure.Report) []byte {
	text, err := json.Marshal(extras)
	if err != nil {
		panic(fmt.Sprintf("encoding a report: %v", err)) // only a time that Validate rejects
	}
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// links replaces the common beginnings of addresses by numbers. The addresses of
// the regulator have a few.
type links struct{ shared []string }

// maxLinks is more than a source has. Beyond it, addresses are kept whole.
const maxLinks = 250

// append appends an address: the number of its beginning, and the end.
func (l *links) append(b []byte, address string) []byte {
	cut := strings.LastIndexAny(address, "/=") + 1
	n := slices.Index(l.shared, address[:cut])
	if n < 0 && len(l.shared) < maxLinks {
		n = len(l.shared)
		l.shared = append(l.shared, address[:cut])
	}
	if n < 0 {
		return append(append(b, maxLinks), address...)
	}
	return append(append(b, byte(n)), address[cut:]...)
}

func (l *links) address(s string) string {
	if n := int(s[0]); n < len(l.shared) {
		return l.shared[n] + s[1:]
	}
	return s[1:]
}

func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func instant(micros uint64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(int64(micros)).UTC()
}

// hash reads eight bytes at a time, because a start hashes every report. It is
// not cryptographic.
func hash(b []byte) uint64 {
	h := uint64(len(b))
	for ; len(b) >= 8; b = b[8:] {
		h = (h ^ binary.LittleEndian.Uint64(b)) * fnvPrime
		h ^= h >> 29
	}
	for _, c := range b {
		h = (h ^ uint64(c)) * fnvPrime
	}
	return h
}

func (r record) hash() uint64 { return r.long(0) }

func (r record) split() int { return int(uint32(r.long(8))) }

func (r record) end() int { return int(r.long(8) >> 32) }

func (r record) firstSeen() time.Time { return instant(r.long(16)) }

func (r record) available() time.Time { return instant(r.long(24)) }

func (r record) enriched() time.Time { return instant(r.long(32)) }

func (r record) suspect() bool { return r[40]&suspectFlag != 0 }

// published returns the time of publication as the source states it.
func (r record) published() time.Time {
	t, err := time.Parse(time.RFC3339Nano, r.text(`"published_at":`))
	if err != nil {
		panic(fmt.Sprintf("decoding a record: %v", err))
	}
	return t.UTC()
}

func (r record) backfilled() bool { return r[40]&historyFlag != 0 }

func (r record) long(at int) uint64 {
	b := r[at : at+8] // compiles to one load
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// appendJSON appends the JSON of the API, with the directory's ticker unless the
// report has its own.
func (r record) appendJSON(b []byte, ticker string) []byte {
	split := r.split()
	if split == 0 {
		return append(b, r[recordHead:r.end()]...)
	}
	b = append(b, r[recordHead:split]...)
	b = disclosure.AppendTicker(b, ticker)
	return append(b, r[split:r.end()]...)
}

// report decodes the record, except for the categories.
func (r record) report(l *links) *disclosure.Report {
	var out disclosure.Report
	mustDecode(string(r.appendJSON(nil, "")), &out)
	out.PublishedAt = out.PublishedAt.UTC()
	out.FirstSeenAt = r.firstSeen()
	out.AvailableAt = r.available()
	out.EnrichedAt = r.enriched()
	out.TimeFrom, out.Backfilled = surfaces[r[40]&surfaceFlags], r.backfilled()
	rest := string(r[r.end():])
	var facts string
	if r[40]&factsFlag != 0 {
		facts, rest = cut(rest)
	}
	if r[40]&extrasFlag != 0 {
		var extras string
		extras, rest = cut(rest)
		mustDecode(extras, &out)
	}
	if facts != "" {
		readFacts(facts, &out)
	}
	var address string
	out.NIF, address = cut(rest)
	out.SourceURL = l.address(address)
	return &out
}

// text returns one text of the JSON without decoding the rest. Quotation marks
// within a text are escaped, so a quoted name occurs only once.
func (r record) text(name string) string {
	s := string(r[recordHead:r.end()])
	s = s[strings.Index(s, name)+len(name)+1:]
	for i := 0; ; i++ {
		switch s[i] {
		case '"':
			return s[:i]
		case '\\':
			end := i
			for ; s[end] != '"'; end++ {
				if s[end] == '\\' {
					end++
				}
			}
			var out string
			mustDecode(`"`+s[:end+1], &out)
			return out
		}
	}
}

// mustDecode decodes JSON that encode has written.
func mustDecode(text string, into any) {
	if err := json.Unmarshal([]byte(text), into); err != nil {
		panic(fmt.Sprintf("decoding a record: %v", err))
	}
}

// cut takes a text that is preceded by its length off the front.
func cut(s string) (text, rest string) {
	length, n := binary.Uvarint([]byte(s[:min(len(s), binary.MaxVarintLen64)]))
	return s[n : n+int(length)], s[n+int(length):]
}
