// Package calendar makes a calendar of the dates that reports state: ex-dates, record
// dates and payments of dividends, meetings, and the ends of buy-back programmes.
//
// # Identity
//
// A person subscribes to the calendar, so an entry must keep its UID while its date
// changes; otherwise the wrong date stays beside the right one. An entry is therefore
// not identified by its report: a correction is another report, and reminders of the
// same dividend are others again. Entries reads all reports of an issuer in the order of
// their publication, and follows what they state:
//
//   - A date for which the issuer has an entry of the same kind on the same day is that
//     entry, whichever report states it. A later report adds a time or an amount to it.
//   - Any other date is a new entry. Its UID follows from the issuer, the kind and the
//     day that was stated first, so that it does not depend on reports that were added
//     to the store later, unless they are earlier ones about the same date. A document
//     may state two dates of a kind for one day, such as two dividends: they are
//     numbered in the order of the document.
//   - A report that corrects another (Report.CorrectedBy) takes over its entries: those
//     of a kind that both have keep their UID and get the date of the correction. Equal
//     days are paired first, the others in their order.
//   - An entry that the correction does not state is cancelled if the regulator says that
//     it annuls or replaces the other report, or if it states facts of other kinds only.
//     Otherwise it is tentative: «donde dice… debe decir…» corrects the payment of a
//     dividend and does not mention the ex-date, which stays; a document may not be read
//     yet, or state no fact that the rules recognize. To cancel a date that is valid
//     would be as wrong as to keep one that is not.
//   - The entries of a corrected report that another report, which is not corrected, has
//     stated as well are treated in the same way: it states the same wrong date.
//   - A change of a buy-back programme moves the end of the issuer's only programme that
//     has not ended, and its end before time cancels it. If there are several, it is not
//     certain which is meant, and nothing is moved.
//
// Entries that are cancelled stay in the calendar: programs delete an event only if they
// are told that it was cancelled. A second call is always tentative, since the
// meeting is mostly held at the first.
//
// The result depends only on the reports that are given. A caller passes all reports of
// the issuers that it shows, and selects days and kinds afterwards.
package calendar

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/disclosure/headline"
)

// Kind is what happens on a day.
type Kind string

// The kinds of entries.
const (
	ExDate       Kind = "ex_date"
	RecordDate   Kind = "record_date"
	Payment      Kind = "payment"
	Meeting      Kind = "meeting" // the first call
	SecondCall   Kind = "second_call"
	ProgrammeEnd Kind = "programme_end"
)

// Kinds are all kinds.
var Kinds = []Kind{ExDate, RecordDate, Payment, Meeting, SecondCall, ProgrammeEnd}

// FactKinds are the kinds of facts that have entries.
var FactKinds = []disclosure.FactKind{disclosure.Dividend, disclosure.Meeting, disclosure.BuybackProgramme}

// Fact returns the kind of the facts that have entries of a kind.
func (k Kind) Fact() disclosure.FactKind {
	for _, fact := range FactKinds {
		if slices.ContainsFunc(fieldsOf[fact], func(d dateField) bool { return d.kind == k }) {
			return fact
		}
	}
	return ""
}

// Statement is a report with what its document states.
type Statement struct {
	Report   *disclosure.Report
	IssuerID string            // as the directory has it; reports without one have no entries
	Issuer   string            // its name
	Facts    []disclosure.Fact // nil while the document is not read
}

// Entry is a date in the calendar.
type Entry struct {
	UID        string
	Kind       Kind
	Day        disclosure.Day
	Time       time.Time // zero if only the day is known
	Tentative  bool
	Cancelled  bool
	IssuerID   string
	Issuer     string // its name
	FirstID    string // of the first report about it
	ReportID   string // of the last report about it
	TitleES    string
	TitleEN    string
	HeadlineES string // of the fact
	HeadlineEN string
	Updated    time.Time // when it was stated or changed last
	Sequence   int       // how often it was changed
}

// Entries returns the entries of reports, by day.
func Entries(statements []Statement) []Entry {
	statements = slices.Clone(statements)
	slices.SortFunc(statements, func(a, b Statement) int { return disclosure.CompareReports(b.Report, a.Report) })
	c := calendar{used: map[string]bool{}, of: map[string][]*Entry{}, stated: map[string][]*Entry{}}
	corrected := corrections(statements)
	for _, s := range statements {
		if s.IssuerID != "" {
			c.add(s, corrected[s.Report.ID])
		}
	}
	var out []Entry
	for _, entries := range c.of {
		for _, e := range entries {
			out = append(out, *e)
		}
	}
	slices.SortFunc(out, compareEntries)
	return out
}

func compareEntries(a, b Entry) int {
	return cmp.Or(
		cmp.Compare(a.Day, b.Day),
		a.Time.Compare(b.Time),
		cmp.Compare(a.IssuerID, b.IssuerID),
		cmp.Compare(slices.Index(Kinds, a.Kind), slices.Index(Kinds, b.Kind)),
		cmp.Compare(a.UID, b.UID),
	)
}

// calendar is the state after some reports.
type calendar struct {
	used   map[string]bool     // UIDs
	of     map[string][]*Entry // by issuer
	stated map[string][]*Entry // by report
}

// corrections returns the ids of the reports of the same issuer that each report
// corrects. Reports are read in order, so one that is named as the correction of a later
// one finds no entries to take over, and a circle has no effect.
func corrections(statements []Statement) map[string][]string {
	issuers := map[string]string{}
	for _, s := range statements {
		issuers[s.Report.ID] = s.IssuerID
	}
	corrected := map[string][]string{}
	for _, s := range statements {
		by := s.Report.CorrectedBy
		if issuer, known := issuers[by]; known && issuer == s.IssuerID {
			corrected[by] = append(corrected[by], s.Report.ID)
		}
	}
	return corrected
}

// add adds what a report states. It corrects the reports with the given ids.
func (c *calendar) add(s Statement, corrected []string) {
	dates := datesOf(s)
	var old []*Entry
	for _, id := range corrected {
		for _, e := range c.stated[id] {
			if !slices.Contains(old, e) {
				old = append(old, e)
			}
		}
	}
	slices.SortStableFunc(old, func(a, b *Entry) int { // a cancelled one comes back only if no other fits
		switch {
		case a.Cancelled == b.Cancelled:
			return 0
		case a.Cancelled:
			return 1
		}
		return -1
	})
	taken := map[*Entry]bool{}
	entries := make([]*Entry, len(dates))
	pair := func(i int, e *Entry) { entries[i], taken[e] = e, true }
	for _, sameDay := range []bool{true, false} {
		for i, d := range dates {
			for _, e := range old {
				matches := e.Kind == d.Kind && (e.Day == d.Day || !sameDay)
				if entries[i] == nil && !taken[e] && matches {
					pair(i, e)
				}
			}
		}
	}
	for _, e := range old {
		if !taken[e] && !e.Cancelled {
			c.leave(e, s, corrected)
		}
	}
	for i, d := range dates {
		for _, e := range c.of[s.IssuerID] {
			if entries[i] == nil && !taken[e] && !e.Cancelled && e.Kind == d.Kind && e.Day == d.Day {
				pair(i, e)
			}
		}
	}
	c.changeProgramme(s, dates, entries)
	for i, d := range dates {
		if entries[i] == nil {
			d.UID = c.newUID(d)
			entries[i] = &d
			c.of[s.IssuerID] = append(c.of[s.IssuerID], &d)
			continue
		}
		entries[i].change(d, slices.Contains(old, entries[i]))
	}
	c.stated[s.Report.ID] = append(c.stated[s.Report.ID], entries...)
}

// leave changes an entry that a correction of its report does not state.
func (c *calendar) leave(e *Entry, by Statement, corrected []string) {
	sameKind := slices.ContainsFunc(by.Facts, func(f disclosure.Fact) bool {
		return slices.ContainsFunc(fieldsOf[f.Kind], func(d dateField) bool { return d.kind == e.Kind })
	})
	next := e.endedBy(by)
	next.Cancelled = annuls(by.Report, corrected) || len(by.Facts) > 0 && !sameKind
	next.Tentative = e.Tentative || !next.Cancelled
	e.change(next, by.Facts != nil)
	c.stated[by.Report.ID] = append(c.stated[by.Report.ID], e) // a correction of the correction may confirm it
}

// endedBy returns an entry as a report that does not state its date leaves it. What was
// said of the fact before may be wrong now.
func (e *Entry) endedBy(s Statement) Entry {
	next := *e
	next.ReportID = s.Report.ID
	next.HeadlineES = headline.Spanish(s.Facts)
	next.HeadlineEN = headline.English(s.Facts)
	next.Updated = statedAt(s)
	return next
}

// change replaces what an entry says. An entry whose correction has been read was
// changed twice: when the correction appeared, and when it was read.
func (e *Entry) change(to Entry, corrected bool) {
	to.UID = e.UID
	to.FirstID = e.FirstID
	to.Sequence = e.Sequence
	if to.Time.IsZero() && to.Day == e.Day && !corrected {
		to.Time = e.Time // a reminder may say less
	}
	before, after := *e, to
	before.ReportID, before.Updated = "", time.Time{}
	after.ReportID, after.Updated = "", time.Time{}
	switch {
	case corrected:
		to.Sequence += 2
	case before != after:
		to.Sequence++
	default:
		to.Updated = e.Updated
	}
	*e = to
}

// annuls reports whether the regulator says that a report annuls or replaces one of
// others.
func annuls(r *disclosure.Report, others []string) bool {
	for _, other := range r.Related {
		if !slices.Contains(others, other.ID) {
			continue
		}
		label := strings.ToLower(other.Text)
		for _, word := range []string{"anula", "sustituye", "deja sin efecto"} {
			if strings.HasPrefix(label, word) {
				return true
			}
		}
	}
	return false
}

// changeProgramme lets a change or the end of a programme change the entry of the
// issuer's only programme that has not ended.
func (c *calendar) changeProgramme(s Statement, dates []Entry, entries []*Entry) {
	published := disclosure.DayOf(s.Report.ListedAt())
	var open []*Entry
	for _, e := range c.of[s.IssuerID] {
		if e.Kind == ProgrammeEnd && !e.Cancelled && e.Day > published {
			open = append(open, e)
		}
	}
	event := ""
	programmes := 0
	for _, f := range s.Facts {
		if f.Kind == disclosure.BuybackProgramme {
			event = f.Fields["event"]
			programmes++
		}
	}
	certain := len(open) == 1 && programmes == 1
	changes := event == "change" || event == "end"
	if !certain || !changes || slices.Contains(entries, open[0]) {
		return
	}
	for i, d := range dates {
		if d.Kind == ProgrammeEnd && entries[i] == nil {
			entries[i] = open[0]
			return
		}
	}
	if event == "end" {
		next := open[0].endedBy(s)
		next.Cancelled = true
		open[0].change(next, false)
	}
}

// newUID returns a UID for a new entry.
func (c *calendar) newUID(e Entry) string {
	for n := 1; ; n++ {
		key := strings.Join([]string{e.IssuerID, string(e.Kind), e.Day.String(), strconv.Itoa(n)}, "\x00")
		digest := sha256.Sum256([]byte(key))
		uid := hex.EncodeToString(digest[:16]) + "@pregon"
		if !c.used[uid] {
			c.used[uid] = true
			return uid
		}
	}
}

// statedAt returns when the service knew what a report states.
func statedAt(s Statement) time.Time {
	at := s.Report.ListedAt()
	if s.Report.TextReadyAt.After(at) {
		at = s.Report.TextReadyAt
	}
	return at.UTC().Truncate(time.Second)
}

// datesOf returns an entry for every date that a report states, without a UID.
func datesOf(s Statement) (out []Entry) {
	for _, f := range s.Facts {
		for _, d := range fieldsOf[f.Kind] {
			day, at, ok := readDate(f.Fields[d.field])
			if !ok {
				continue
			}
			one := []disclosure.Fact{f}
			titleES, titleEN := d.title(f)
			e := Entry{
				Kind:       d.kind,
				Day:        day,
				Time:       at,
				Tentative:  d.kind == SecondCall,
				IssuerID:   s.IssuerID,
				Issuer:     s.Issuer,
				FirstID:    s.Report.ID,
				ReportID:   s.Report.ID,
				TitleES:    s.Issuer + ": " + titleES,
				TitleEN:    s.Issuer + ": " + titleEN,
				HeadlineES: headline.Spanish(one),
				HeadlineEN: headline.English(one),
				Updated:    statedAt(s),
			}
			out = append(out, e)
		}
	}
	return out
}

// readDate reads a date of a fact. A time is Madrid's.
func readDate(s string) (day disclosure.Day, at time.Time, ok bool) {
	date, clock, timed := strings.Cut(s, "T")
	if day, ok = disclosure.ParseDay(date); !ok || !timed {
		return day, time.Time{}, ok
	}
	at, err := time.ParseInLocation("2006-01-02T15:04", s, disclosure.Madrid)
	if err != nil || len(clock) != len("15:04") {
		return 0, time.Time{}, false
	}
	return day, at.UTC(), true
}

// dateField is a field of a fact that has a place in the calendar.
type dateField struct {
	field string
	kind  Kind
	title func(disclosure.Fact) (es, en string)
}

var fieldsOf = map[disclosure.FactKind][]dateField{
	disclosure.Dividend: {
		{"ex_date", ExDate, dividendTitle("fecha ex-dividendo", "ex-dividend date")},
		{"record_date", RecordDate, dividendTitle("fecha de registro del dividendo", "dividend record date")},
		{"payment_date", Payment, dividendTitle("pago del dividendo", "dividend payment")},
	},
	disclosure.Meeting: {
		{"first_call", Meeting, meetingTitle("", "")},
		{"second_call", SecondCall, meetingTitle(", segunda convocatoria", ", second call")},
	},
	disclosure.BuybackProgramme: {
		{"ends_on", ProgrammeEnd, func(disclosure.Fact) (es, en string) {
			return "fin del programa de recompra de acciones", "end of the share buy-back programme"
		}},
	},
}

// dividendTitle returns a title with the amount of the dividend.
func dividendTitle(es, en string) func(disclosure.Fact) (string, string) {
	return func(f disclosure.Fact) (string, string) {
		amount := []disclosure.Fact{{Kind: f.Kind, Fields: map[string]string{
			"gross_per_share": f.Fields["gross_per_share"],
			"currency":        f.Fields["currency"],
		}}}
		if headline.Line(amount, "es") == "" {
			return es, en
		}
		return es + " (" + headline.Line(amount, "es") + ")", en + " (" + headline.Line(amount, "en") + ")"
	}
}

// meetingTitle returns a title with the kind of the meeting.
func meetingTitle(afterES, afterEN string) func(disclosure.Fact) (string, string) {
	return func(f disclosure.Fact) (string, string) {
		switch f.Fields["meeting_kind"] {
		case "ordinary":
			return "junta general ordinaria" + afterES, "ordinary general meeting" + afterEN
		case "extraordinary":
			return "junta general extraordinaria" + afterES, "extraordinary general meeting" + afterEN
		case "bondholders":
			return "asamblea de obligacionistas" + afterES, "meeting of bondholders" + afterEN
		}
		return "junta o asamblea" + afterES, "meeting" + afterEN
	}
}
