package verify

import "fmt"

// Kind is a kind of finding.
type Kind string

// The kinds of findings.
const (
	File       Kind = "file"       // SQLite finds its file damaged
	Unreadable Kind = "unreadable" // a part cannot be read to the end
	Setting    Kind = "setting"

	LogHead    Kind = "log-head"    // the counter of the log
	LogGap     Kind = "log-gap"     // missing changes
	LogRow     Kind = "log-row"     // a change that cannot be decoded, or is not valid
	LogSubject Kind = "log-subject" // a change with the id of another record
	LogStep    Kind = "log-step"    // a change that does not follow from the one before
	LogTime    Kind = "log-time"
	LogHash    Kind = "log-hash" // a change that is not the one that was hashed when it was appended
	LogLeaf    Kind = "log-leaf" // hashes that are missing or cannot be read

	Pointer Kind = "pointer" // to the newest change of a subject
	Filed   Kind = "filed"   // which report has which document
	Name    Kind = "name"    // of a person, that does not fit the log

	NameKept Kind = "name-kept" // of a person, that the log has erased

	Fanned         Kind = "fanned"
	Attempt        Kind = "attempt"         // without a delivery
	Delivery       Kind = "delivery"        // that contradicts itself or the log
	NoEndpoint     Kind = "no-endpoint"     // deliveries that are never sent
	OrphanEndpoint Kind = "orphan-endpoint" // of a webhook that never existed

	Record Kind = "record"
	Usage  Kind = "usage"

	TextMissing Kind = "text-missing" // of a report's document
	TextBroken  Kind = "text-broken"
	NoEvidence  Kind = "no-evidence" // of a report's facts
	Bytes       Kind = "bytes"       // that are not those of their hash
	NoBytes     Kind = "no-bytes"

	Segment  Kind = "words-segment" // damaged
	NotFound Kind = "words-missing" // a document that is not in the index
)

// Level is how bad a finding is.
type Level string

// The levels.
const (
	Error   Level = "error"   // something is lost or served wrong
	Warning Level = "warning" // it is not as this version would write it
)

// kinds has what the findings of a kind have in common.
var kinds = map[Kind]struct {
	level      Level
	repairable bool
}{
	File:           {Error, false},
	Unreadable:     {Error, false},
	Setting:        {Error, false},
	LogHead:        {Error, false},
	LogGap:         {Error, false},
	LogRow:         {Error, false},
	LogSubject:     {Error, false},
	LogStep:        {Warning, false},
	LogTime:        {Warning, false},
	LogHash:        {Error, false},
	LogLeaf:        {Error, true},
	Pointer:        {Error, true},
	Filed:          {Error, true},
	Name:           {Error, false},
	NameKept:       {Error, true},
	Fanned:         {Error, true},
	Attempt:        {Warning, true},
	Delivery:       {Error, false},
	NoEndpoint:     {Error, true},
	OrphanEndpoint: {Warning, true},
	Record:         {Error, false},
	Usage:          {Warning, false},
	TextMissing:    {Error, false},
	TextBroken:     {Error, false},
	NoEvidence:     {Error, false},
	Bytes:          {Error, false},
	NoBytes:        {Warning, false},
	Segment:        {Error, true},
	NotFound:       {Error, true},
}

// Finding is something that is wrong.
type Finding struct {
	Kind       Kind   `json:"kind"`
	Level      Level  `json:"level"`
	Where      string `json:"where"` // such as "change 17" or "report oir-40374"
	Text       string `json:"text"`
	Repairable bool   `json:"repairable"` // --repair can rebuild it
}

func (f Finding) String() string {
	repair := "not repairable"
	if f.Repairable {
		repair = "repairable"
	}
	return fmt.Sprintf("%s %s, %s: %s (%s)", f.Level, f.Kind, f.Where, f.Text, repair)
}
