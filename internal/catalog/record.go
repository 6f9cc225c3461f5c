package catalog

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"time"

	"pregon/internal/disclosure"
)

// A record is what the catalogue keeps of a filing, encoded once when it
// comes: the contract's JSON, ready to be sent, and behind it the rest.
//
//	hash   8 bytes  of the JSON, for entity tags
//	split  4 bytes  where the directory's ticker goes in; 0: the filing has its own
//	end    4 bytes  of the JSON
//	JSON
//	rest            JSON of what only the detail shows
//
// The directory's ticker is put in when the filing is shown, so that a change
// of the directory touches no filing.
type record string

const recordHead = 16

// rest is what the contract's JSON does not tell of a report.
type rest struct {
	NIF         string    `json:"nif,omitempty"`
	Category    string    `json:"category,omitempty"`
	SourceURL   string    `json:"source_url,omitempty"`
	FirstSeenAt time.Time `json:"first_seen_at,omitzero"`
	AvailableAt time.Time `json:"available_at,omitzero"`
}

// appendRecord encodes a report.
func appendRecord(b []byte, r *disclosure.Report) []byte {
	start := len(b)
	b = append(b, make([]byte, recordHead)...)
	b = disclosure.AppendReportHead(b, r)
	split := len(b) - start
	if r.Ticker != "" {
		b = disclosure.AppendTicker(b, r.Ticker)
		split = 0
	}
	b = disclosure.AppendReportTail(b, r)
	head := b[start : start+recordHead]
	binary.LittleEndian.PutUint64(head, hash(b[start+recordHead:]))
	binary.LittleEndian.PutUint32(head[8:], uint32(split))
	binary.LittleEndian.PutUint32(head[12:], uint32(len(b)-start))
	more, err := json.Marshal(rest{r.NIF, r.Category, r.SourceURL, r.FirstSeenAt, r.AvailableAt})
	if err != nil {
		panic(err) // strings and times of this century always encode
	}
	return append(b, more...)
}

func hash(b []byte) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(b)
	return h.Sum64()
}

func (r record) hash() uint64 {
	return uint64(r.number(0)) | uint64(r.number(4))<<32
}

func (r record) split() int { return int(r.number(8)) }

func (r record) end() int { return int(r.number(12)) }

func (r record) number(at int) uint32 {
	return uint32(r[at]) | uint32(r[at+1])<<8 | uint32(r[at+2])<<16 | uint32(r[at+3])<<24
}

// appendJSON appends the contract's JSON, with the directory's ticker unless
// the filing has its own.
func (r record) appendJSON(b []byte, ticker string) []byte {
	split := r.split()
	if split == 0 {
		return append(b, r[recordHead:r.end()]...)
	}
	b = append(b, r[recordHead:split]...)
	b = disclosure.AppendTicker(b, ticker)
	return append(b, r[split:r.end()]...)
}

// report decodes the record.
func (r record) report() *disclosure.Report {
	var out disclosure.Report
	var more rest
	err := json.Unmarshal(r.appendJSON(nil, ""), &out)
	if err == nil {
		err = json.Unmarshal([]byte(r[r.end():]), &more)
	}
	if err != nil {
		panic(fmt.Sprintf("a record of our own cannot be read: %v", err))
	}
	out.PublishedAt = out.PublishedAt.UTC()
	out.NIF, out.Category, out.SourceURL = more.NIF, more.Category, more.SourceURL
	out.FirstSeenAt, out.AvailableAt = more.FirstSeenAt, more.AvailableAt
	return &out
}
