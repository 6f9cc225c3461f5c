package query

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/source/coverage"
)

// Completeness lets a client verify that it holds every report of a range of
// days.
type Completeness struct {
	From        string         `json:"from"`
	To          string         `json:"to"`
	GeneratedAt time.Time      `json:"generated_at"`
	Seq         int64          `json:"as_of_seq"`
	Series      []ProvedSeries `json:"series"`
	Registers   []Register     `json:"registers"`
	Days        []SeriesDay    `json:"days"`
}

// Register is what is known about a register of positions, null if it was never read. No
// gap in it can be proved.
type Register struct {
	Register   string     `json:"register"`
	ReadAt     *time.Time `json:"read_at"`
	WholeUntil *time.Time `json:"whole_until"`
	Entries    *int       `json:"entries"`
	Reason     string     `json:"reason"`
}

// registers are the names of the registers of positions in the coverage.
var registers = []string{"shorts", "dealings", "holdings", "own_shares"}

// ProvedSeries is the time for which no report of a series is missing, null
// where nothing is proved.
type ProvedSeries struct {
	Type   string     `json:"type"`
	From   *string    `json:"provable_from"`
	Until  *time.Time `json:"provable_until"`
	By     []string   `json:"by"` // ByLists, ByNumbers
	Reason string     `json:"reason"`
}

// What proves that no report is missing.
const (
	ByLists   = "lists"   // the days were compared with the source's lists by date
	ByNumbers = "numbers" // the numbers between reports were looked up
)

// SeriesDay is one day of one series.
type SeriesDay struct {
	Date    string     `json:"date"`
	Type    string     `json:"type"`
	Count   int        `json:"count"`
	First   *string    `json:"first"`
	Last    *string    `json:"last"`
	Missing []Missing  `json:"missing"` // null where it is unknown
	Checked *time.Time `json:"checked_at"`
	Proof   *Proof     `json:"proof"` // null where checked_at says it
	SHA256  string     `json:"sha256"`
}

// Proof is the first day from which missing numbers of a series are noticed,
// null for none yet, and the reason.
type Proof struct {
	From   *string `json:"from"`
	Reason string  `json:"reason"`
}

// Missing is a number between two reports that has no report.
type Missing struct {
	Number   string     `json:"cnmv_registration_number"`
	Reason   string     `json:"reason"` // NotYetSeen or NeverPublished
	LookedUp *time.Time `json:"looked_up_at"`
}

// Reasons why a number has no report.
const (
	NotYetSeen     = "not_yet_seen"
	NeverPublished = "never_published" // it was looked up, and does not exist
)

// A gap belongs to the day of the report after it. The report before it may
// be older than the range, or newer if it was registered late.
const gapMargin = 32

// Completeness returns every day of a range, the newest first.
func (q *Service) Completeness(s *catalog.Snapshot, from, to disclosure.Day) Completeness {
	now := time.Now().Truncate(time.Second)
	out := Completeness{
		From:        from.String(),
		To:          to.String(),
		GeneratedAt: Madrid(now),
		Seq:         s.Seq(),
		Days:        []SeriesDay{},
	}
	out.Series = q.provedSeries(s, now)
	for _, name := range registers {
		out.Registers = append(out.Registers, q.Register(name))
	}
	for _, t := range disclosure.Types {
		out.Days = append(out.Days, q.daysOf(s, t, from, to)...)
	}
	slices.SortStableFunc(out.Days, func(a, b SeriesDay) int { return strings.Compare(b.Date, a.Date) })
	return out
}

// Register returns what is known about a register: shorts, dealings, holdings or own_shares.
func (q *Service) Register(name string) Register {
	r, ok := q.Coverage.Register(name)
	if !ok {
		return Register{Register: name, Reason: "the register was never read as a whole"}
	}
	out := Register{
		Register:   name,
		ReadAt:     TimeOrNull(r.ReadAt.Truncate(time.Second)),
		WholeUntil: TimeOrNull(r.WholeUntil.Truncate(time.Second)),
		Entries:    &r.Entries,
		Reason:     "everything that the register showed at that time was read; ",
	}
	if out.WholeUntil == nil {
		out.Reason = "not everything that the register shows was read yet; "
	}
	out.Reason += "its numbers are not dense, so that no gap in it can be proved"
	return out
}

// proved is what is proved of all series. With years of history it takes some
// milliseconds to compute.
type proved struct {
	seq, version int64
	at           time.Time
	series       []ProvedSeries
}

// provedSeries returns what is proved of all series. Time alone changes it only a day
// after a number was missed.
func (q *Service) provedSeries(s *catalog.Snapshot, now time.Time) []ProvedSeries {
	version := q.Coverage.Version()
	if p := q.proved.Load(); p != nil && p.seq == s.Seq() && p.version == version && now.Sub(p.at) < time.Minute {
		return p.series
	}
	p := &proved{seq: s.Seq(), version: version, at: now}
	for _, t := range disclosure.Types {
		p.series = append(p.series, q.prove(s, t, now))
	}
	q.proved.Store(p)
	return p.series
}

// prove returns the time for which no report of a series is missing.
func (q *Service) prove(s *catalog.Snapshot, t disclosure.Type, now time.Time) ProvedSeries {
	span := q.Coverage.Proved(coverage.Series{
		Type:  t,
		Since: func(from disclosure.Day) []coverage.Numbered { return coverage.InOrder(s.Numbers(t, from, 0)) },
		Seen: func(number int64) (time.Time, bool) {
			r, known := s.Report(disclosure.ReportID(t, number))
			if !known {
				return time.Time{}, false
			}
			_, seen, _, _, _ := r.Clocks()
			return seen, true
		},
	}, now)
	out := ProvedSeries{Type: string(t), By: []string{ByLists, ByNumbers}}
	if t == disclosure.HR {
		out.By = out.By[1:]
	}
	if span.From > 0 {
		out.From, out.Until = OrNull(span.From.String()), TimeOrNull(span.Until.Truncate(time.Second))
	}
	out.Reason = q.reason(t, span)
	return out
}

// reason says why a span is proved, or why none is.
func (q *Service) reason(t disclosure.Type, span coverage.Span) string {
	var why string
	switch {
	case t == disclosure.HR && span.From > 0:
		why = "HR has no list by date: every number in this time is here, or was looked up and does not exist"
	case t == disclosure.HR && q.Coverage.Live(t).IsZero():
		why = "the source was never read: nothing is proved by imported reports"
	case t == disclosure.HR:
		why = "HR has no list by date, and no number was registered since the first whole day of reading it"
	case span.From > 0:
		why = "every day was compared with the regulator's list of that day after its end, and the numbers " +
			"missing between two reports were looked up"
	default:
		why = "no day was compared with the regulator's list: nothing is proved by imported reports"
	}
	if span.Open > 0 {
		why += "; number " + strconv.FormatInt(span.Open, 10) + " is missing and was not looked up yet"
	}
	return why
}

// daysOf returns every day of a series, also days without a report.
func (q *Service) daysOf(s *catalog.Snapshot, t disclosure.Type, from, to disclosure.Day) []SeriesDay {
	reports := coverage.InOrder(s.Numbers(t, max(from-gapMargin, 1), to+gapMargin))
	numbers := map[disclosure.Day][]int64{}
	for _, f := range reports {
		day := disclosure.DayOf(f.At)
		numbers[day] = append(numbers[day], f.Number)
	}
	gaps := map[disclosure.Day][]Missing{}
	for _, g := range q.Coverage.Gaps(t, reports) {
		day := disclosure.DayOf(g.Next.At)
		gaps[day] = append(gaps[day], q.missing(s, t, g)...)
	}
	proven, proof := q.proof(t)
	out := make([]SeriesDay, 0, to-from+1)
	for day := from; day <= to; day++ {
		d := SeriesDay{
			Date:    day.String(),
			Type:    string(t),
			Count:   len(numbers[day]),
			Checked: TimeOrNull(q.Coverage.Covered(t, day)),
			Proof:   proof,
			SHA256:  digest(numbers[day]),
		}
		if n := numbers[day]; len(n) > 0 {
			d.First, d.Last = number(n[0]), number(n[len(n)-1])
		}
		if day >= proven {
			d.Missing = append([]Missing{}, gaps[day]...)
		}
		out = append(out, d)
	}
	return out
}

// proof returns the first day of a series for which missing numbers are known.
// HR has no list by date to compare the days before the first start with.
func (q *Service) proof(t disclosure.Type) (disclosure.Day, *Proof) {
	if t != disclosure.HR {
		return 0, nil
	}
	const why = "HR has no list by date: from this day on its numbers are read as they are filed, and missing " +
		"ones are looked up; "
	live := q.Coverage.Live(t)
	if live.IsZero() {
		return math.MaxInt32, &Proof{Reason: why + "the series is not read yet"}
	}
	first := disclosure.DayOf(live) + 1 // the first whole day
	return first, &Proof{From: OrNull(first.String()), Reason: why + "the days before the first start hold " +
		"the reports found by issuer or by number, and may lack some"}
}

func (q *Service) missing(s *catalog.Snapshot, t disclosure.Type, g coverage.Gap) (out []Missing) {
	for n := g.First; n <= g.Last; n++ {
		if _, known := s.Report(disclosure.ReportID(t, n)); known {
			continue // its time is far from its neighbours'
		}
		m := Missing{Number: strconv.FormatInt(n, 10), Reason: NotYetSeen}
		if at := q.Coverage.Absent(t, n); !at.IsZero() {
			m.Reason, m.LookedUp = NeverPublished, TimeOrNull(at)
		}
		out = append(out, m)
	}
	return out
}

// digest returns the SHA-256 of the numbers in ascending order, joined by line
// feeds.
func digest(numbers []int64) string {
	var b []byte
	for n, number := range numbers {
		if n > 0 {
			b = append(b, '\n')
		}
		b = strconv.AppendInt(b, number, 10)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func number(n int64) *string {
	if n == 0 {
		return nil
	}
	return OrNull(strconv.FormatInt(n, 10))
}
