package catalog

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"pregon/internal/disclosure"
)

// A record is what the catalogue keeps of a report, encoded once when it
// comes: the contract's JSON, ready to be sent, and behind it the rest.
//
//	hash        8 bytes  of the JSON, for entity tags
//	split       4 bytes  where the directory's ticker goes in; 0: the report has its own
//	end         4 bytes  of the JSON
//	first seen  8 bytes  Unix microseconds
//	available   8 bytes
//	enriched    8 bytes
//	flags       1 byte   where the time was read, whether it is history, whether there are extras
//	JSON
//	extras      what few have, if any: the length as a varint, and itself as JSON
//	NIF         its length as a varint, and itself
//	source      the rest: the address, its beginning replaced by a number, see links
//
// The directory's ticker is put in when the report is shown, so that a change
// of the directory touches no report. The heading is the index's.
type record string

const recordHead = 41

// The flags of a record.
const (
	surfaceFlags = 3 // index in surfaces
	historyFlag  = 1 << 2
	extrasFlag   = 1 << 3
	looseFlag    = 1 << 4 // a report that it has to do with is not known
	unreadFlag   = 1 << 5 // its document, or the summary of it, is still to come
)

var surfaces = [...]disclosure.Surface{"", disclosure.FromList, disclosure.FromPermalink, disclosure.FromFeed}

// extras are the parts of a report that few have: most of history has none.
type extras struct {
	Related        []disclosure.Relation `json:",omitempty"`
	CorrectedBy    string                `json:",omitempty"`
	Document       disclosure.Document   `json:",omitzero"`
	SummaryMethod  string                `json:",omitempty"`
	SummaryOf      string                `json:",omitempty"`
	Evidence       []disclosure.Evidence `json:",omitempty"`
	TextReadyAt    time.Time             `json:",omitzero"`
	SummaryReadyAt time.Time             `json:",omitzero"`
}

func extrasOf(r *disclosure.Report) extras {
	return extras{r.Related, r.CorrectedBy, r.Document, r.SummaryMethod, r.SummaryOf, r.Evidence, r.TextReadyAt, r.SummaryReadyAt}
}

func (x extras) none() bool {
	return len(x.Related) == 0 && x.CorrectedBy == "" && x.Document == (disclosure.Document{}) && x.SummaryMethod == "" && x.SummaryOf == "" &&
		len(x.Evidence) == 0 && x.TextReadyAt.IsZero() && x.SummaryReadyAt.IsZero()
}

func (x extras) lay(r *disclosure.Report) {
	r.Related, r.CorrectedBy = x.Related, x.CorrectedBy
	r.Document, r.SummaryMethod, r.SummaryOf, r.Evidence = x.Document, x.SummaryMethod, x.SummaryOf, x.Evidence
	r.TextReadyAt, r.SummaryReadyAt = x.TextReadyAt, x.SummaryReadyAt
}

// encoder makes records.
type encoder struct {
	links links
	b     []byte
}

// encode returns the record of a report. It is good until the next.
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
	b[40] = flags(r)
	if b[40]&extrasFlag != 0 {
		b = appendExtras(b, extrasOf(r))
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
	if !extrasOf(r).none() {
		f |= extrasFlag
	}
	if r.WantsDocument() || r.WantsSummary() {
		f |= unreadFlag
	}
	if slices.ContainsFunc(r.Related, func(other disclosure.Relation) bool { return other.ID == "" }) {
		f |= looseFlag
	}
	return f
}

func appendExtras(b []byte, x extras) []byte {
	text, err := json.Marshal(x)
	if err != nil {
		panic(fmt.Sprintf("relations cannot be encoded: %v", err)) // of times that Validate refuses
	}
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// links replaces the beginnings that addresses share by numbers. A few do for
// all of the regulator's.
type links struct{ shared []string }

// manyLinks is more than a source has; beyond it addresses are kept whole.
const manyLinks = 250

// append appends an address: the number of its beginning, and its end.
func (l *links) append(b []byte, address string) []byte {
	cut := strings.LastIndexAny(address, "/=") + 1
	n := slices.Index(l.shared, address[:cut])
	if n < 0 && len(l.shared) < manyLinks {
		n = len(l.shared)
		l.shared = append(l.shared, address[:cut])
	}
	if n < 0 {
		return append(append(b, manyLinks), address...)
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

// hash takes eight bytes at a time, since every report passes through it at
// every start. It is no protection against anybody.
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

func (r record) backfilled() bool { return r[40]&historyFlag != 0 }

func (r record) long(at int) uint64 {
	b := r[at : at+8] // one load, as the compiler sees it
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// appendJSON appends the contract's JSON, with the directory's ticker unless
// the report has its own.
func (r record) appendJSON(b []byte, ticker string) []byte {
	split := r.split()
	if split == 0 {
		return append(b, r[recordHead:r.end()]...)
	}
	b = append(b, r[recordHead:split]...)
	b = disclosure.AppendTicker(b, ticker)
	return append(b, r[split:r.end()]...)
}

// report decodes the record, all but its heading.
func (r record) report(l *links) *disclosure.Report {
	var out disclosure.Report
	if err := json.Unmarshal(r.appendJSON(nil, ""), &out); err != nil {
		panic(fmt.Sprintf("a record of our own cannot be read: %v", err))
	}
	out.PublishedAt = out.PublishedAt.UTC()
	out.FirstSeenAt, out.AvailableAt, out.EnrichedAt = r.firstSeen(), r.available(), r.enriched()
	out.TimeFrom, out.Backfilled = surfaces[r[40]&surfaceFlags], r.backfilled()
	rest := string(r[r.end():])
	if r[40]&extrasFlag != 0 {
		var text string
		var x extras
		text, rest = cut(rest)
		if err := json.Unmarshal([]byte(text), &x); err != nil {
			panic(fmt.Sprintf("a record of our own cannot be read: %v", err))
		}
		x.lay(&out)
	}
	var address string
	out.NIF, address = cut(rest)
	out.SourceURL = l.address(address)
	return &out
}

// text returns one text of the JSON without reading the rest. Within a text
// quotation marks are escaped, so that a name with them stands nowhere else.
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
			if err := json.Unmarshal([]byte(`"`+s[:end+1]), &out); err != nil {
				panic(fmt.Sprintf("a record of our own cannot be read: %v", err))
			}
			return out
		}
	}
}

// cut takes a text with its length before it off the front.
func cut(s string) (text, rest string) {
	length, n := binary.Uvarint([]byte(s[:min(len(s), binary.MaxVarintLen64)]))
	return s[n : n+int(length)], s[n+int(length):]
}
