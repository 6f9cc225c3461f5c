package health

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"pregon/internal/disclosure"
)

// Reason is a reason why the state is not better. Its sentence is Text; pages in
// other languages make their own from Code and Params.
type Reason struct {
	Surface string
	Code    Code
	Params  Params
	Since   time.Time
}

// Code says which reason it is.
type Code string

// The codes, and the parameters that each has.
const (
	Failed       Code = "failed"         // reads or writes fail. Detail.
	StoreFailed  Code = "store-failed"   // a part of the store of this process fails. Part, Detail.
	Stale        Code = "stale"          // a feed hides reports. Report, At.
	Overdue      Code = "overdue"        // it was not read for a while
	Unread       Code = "unread"         // a series was not read yet. Type.
	Unreadable   Code = "unreadable"     // a series can be read nowhere. Type.
	NeverRead    Code = "never-read"     // no process has read the source yet
	NotReadSince Code = "not-read-since" // a process read the source, and none does any more
	NobodyReads  Code = "nobody-reads"   // the process that read the source has stopped a moment ago
	Takeover     Code = "takeover"       // another process begins to read the source
	NobodyRead   Code = "nobody-read"    // of an incident: no process read the source at that time
)

// Params are what the sentence of a reason names.
type Params struct {
	Type   disclosure.Type `json:"type,omitempty"`
	Report string          `json:"report,omitempty"` // the id of a report that the feed lacks
	At     time.Time       `json:"at,omitzero"`      // when the list showed that report
	Part   string          `json:"part,omitempty"`   // of the store
	Detail string          `json:"detail,omitempty"` // an error, in English
}

// sentences are the sentences of all reasons in English.
var sentences = map[Code]func(p Params) string{
	Failed:      func(p Params) string { return p.Detail },
	StoreFailed: func(p Params) string { return p.Part + ": " + p.Detail },
	Stale: func(p Params) string {
		return fmt.Sprintf("it can be read, but lacks %s, which the list showed at %s; the list is read in its place",
			p.Report, p.At.In(disclosure.Madrid).Format(time.TimeOnly))
	},
	Overdue: always("it was not read for a while: more urgent requests take precedence"),
	Unread:  func(p Params) string { return string(p.Type) + " was not read yet" },
	Unreadable: func(p Params) string {
		return fmt.Sprintf("neither the feed nor the list of %s can be read",
			p.Type)
	},
	NeverRead:    always("no process has read the source yet"),
	NotReadSince: always("no process has read the source since"),
	NobodyReads:  always("no process reads the source at present"),
	Takeover:     always("another process begins to read the source"),
	NobodyRead:   always("no process read the source"),
}

// always returns the sentence of a reason without parameters.
func always(sentence string) func(Params) string { return func(Params) string { return sentence } }

// Codes are all codes, in the order of their names.
var Codes = codes()

func codes() []Code {
	out := make([]Code, 0, len(sentences))
	for c := range sentences {
		out = append(out, c)
	}
	slices.Sort(out)
	return out
}

// Text returns the reason as a sentence in English, without a full stop.
func (r Reason) Text() string {
	sentence, ok := sentences[r.Code]
	if !ok {
		return r.Params.Detail
	}
	return sentence(r.Params)
}

// storedReason is a reason in the store. The sentence is there too: earlier
// versions know nothing else, and processes of two versions may share a store.
type storedReason struct {
	Surface string    `json:"surface"`
	Text    string    `json:"reason"`
	Since   time.Time `json:"since"`
	Code    Code      `json:"code,omitempty"`
	Params  *Params   `json:"params,omitempty"`
}

// MarshalJSON returns the reason for the store.
func (r Reason) MarshalJSON() ([]byte, error) {
	out := storedReason{
		Surface: r.Surface,
		Text:    r.Text(),
		Since:   r.Since,
		Code:    r.Code,
	}
	if r.Params != (Params{}) {
		out.Params = &r.Params
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads a reason from the store. One without a code that is known here
// was stored by another version of the program.
func (r *Reason) UnmarshalJSON(body []byte) error {
	var in storedReason
	if err := json.Unmarshal(body, &in); err != nil {
		return err
	}
	*r = Reason{Surface: in.Surface, Code: in.Code, Since: in.Since}
	if in.Params != nil {
		r.Params = *in.Params
	}
	if _, known := sentences[r.Code]; !known {
		r.Code, r.Params = fromSentence(in)
	}
	return nil
}

// fromSentence returns the code and the parameters of a sentence that another version
// stored. A sentence that is not one of this package is the text of an error.
func fromSentence(in storedReason) (Code, Params) {
	guesses := []Params{{}, staleParams(in)}
	for _, t := range disclosure.Types {
		guesses = append(guesses, Params{Type: t})
	}
	for _, code := range Codes {
		for _, p := range guesses {
			quotes := code == Failed || code == StoreFailed // any text could be its sentence
			if !quotes && sentences[code](p) == in.Text {
				return code, p
			}
		}
	}
	return Failed, Params{Detail: in.Text}
}

// staleParams returns the parameters of the sentence of Stale, and others if it is
// another sentence. It names a time of the day on which the reason began.
func staleParams(in storedReason) Params {
	_, rest, _ := strings.Cut(in.Text, "lacks ")
	report, rest, _ := strings.Cut(rest, ", which the list showed at ")
	clock, _, _ := strings.Cut(rest, ";")
	day := in.Since.In(disclosure.Madrid).Format(time.DateOnly)
	at, err := time.ParseInLocation(time.DateTime, day+" "+clock, disclosure.Madrid)
	if err != nil {
		return Params{}
	}
	return Params{Report: report, At: at}
}
