package rest

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/query"
	"pregon/internal/source/coverage"
)

// completeness lets a client verify that it holds every report of a range of
// days.
type completeness struct {
	From        string      `json:"from"`
	To          string      `json:"to"`
	GeneratedAt time.Time   `json:"generated_at"`
	Seq         int64       `json:"as_of_seq"`
	Days        []seriesDay `json:"days"`
}

// seriesDay is one day of one series.
type seriesDay struct {
	Date    string     `json:"date"`
	Type    string     `json:"type"`
	Count   int        `json:"count"`
	First   *string    `json:"first"`
	Last    *string    `json:"last"`
	Missing []missing  `json:"missing"` // null where it is unknown
	Checked *time.Time `json:"checked_at"`
	Proof   *proof     `json:"proof"` // null where checked_at says it
	SHA256  string     `json:"sha256"`
}

// proof is the first day from which missing numbers of a series are noticed,
// null for none yet, and the reason.
type proof struct {
	From   *string `json:"from"`
	Reason string  `json:"reason"`
}

// missing is a number between two reports that has no report.
type missing struct {
	Number   string     `json:"cnmv_registration_number"`
	Reason   string     `json:"reason"`
	LookedUp *time.Time `json:"looked_up_at"`
}

const (
	maxDays     = 366
	defaultDays = 7
	// A gap belongs to the day of the report after it. The report before it may
	// be older than the range, or newer if it was registered late.
	gapMargin = 32
)

func (a *API) getCompleteness(r *http.Request, s *catalog.Snapshot) (response, error) {
	p := readParams(r)
	from, to := p.dayRange()
	if err := p.Err(); err != nil {
		return response{}, err
	}
	out := completeness{From: from.String(), To: to.String(), GeneratedAt: query.Madrid(time.Now().Truncate(time.Second)), Seq: s.Seq(), Days: []seriesDay{}}
	for _, t := range disclosure.Types {
		out.Days = append(out.Days, a.daysOf(s, t, from, to)...)
	}
	slices.SortStableFunc(out.Days, func(a, b seriesDay) int { return strings.Compare(b.Date, a.Date) })
	return encode(out)
}

// dayRange reads the range of days, by default the last ones.
func (p *params) dayRange() (from, to disclosure.Day) {
	from, to = p.Day("from"), p.Day("to")
	if !p.Valid() {
		return from, to
	}
	if to == 0 {
		to = disclosure.DayOf(time.Now())
	}
	if from == 0 {
		from = max(to-defaultDays+1, 1)
	}
	switch {
	case from > to:
		p.Reject("from", from.String(), "must not be later than to, "+to.String())
	case to-from >= maxDays:
		p.Reject("from", from.String(), "must be less than "+strconv.Itoa(maxDays)+" days before to, "+to.String())
	}
	return from, to
}

// daysOf returns every day of a series, also days without a report.
func (a *API) daysOf(s *catalog.Snapshot, t disclosure.Type, from, to disclosure.Day) []seriesDay {
	reports := coverage.InOrder(s.Numbers(t, max(from-gapMargin, 1), to+gapMargin))
	numbers := map[disclosure.Day][]int64{}
	for _, f := range reports {
		day := disclosure.DayOf(f.At)
		numbers[day] = append(numbers[day], f.Number)
	}
	gaps := map[disclosure.Day][]missing{}
	for _, g := range a.Query.Coverage.Gaps(t, reports) {
		day := disclosure.DayOf(g.Next.At)
		gaps[day] = append(gaps[day], a.missing(s, t, g)...)
	}
	proven, proof := a.proof(t)
	out := make([]seriesDay, 0, to-from+1)
	for day := from; day <= to; day++ {
		d := seriesDay{
			Date: day.String(), Type: string(t), Count: len(numbers[day]),
			Checked: query.TimeOrNull(a.Query.Coverage.Covered(t, day)), Proof: proof, SHA256: digest(numbers[day]),
		}
		if n := numbers[day]; len(n) > 0 {
			d.First, d.Last = number(n[0]), number(n[len(n)-1])
		}
		if day >= proven {
			d.Missing = append([]missing{}, gaps[day]...)
		}
		out = append(out, d)
	}
	return out
}

// proof returns the first day of a series for which missing numbers are known.
// HR has no list by date to compare the days before the first start with.
func (a *API) proof(t disclosure.Type) (disclosure.Day, *proof) {
	if t != disclosure.HR {
		return 0, nil
	}
	const why = "HR has no list by date: from this day on its numbers are read as they are filed, and missing ones are looked up; "
	live := a.Query.Coverage.Live(t)
	if live.IsZero() {
		return math.MaxInt32, &proof{Reason: why + "the series is not read yet"}
	}
	first := disclosure.DayOf(live) + 1 // the first whole day
	return first, &proof{From: query.OrNull(first.String()), Reason: why + "the days before the first start hold the reports found by issuer or by number, and may lack some"}
}

func (a *API) missing(s *catalog.Snapshot, t disclosure.Type, g coverage.Gap) (out []missing) {
	for n := g.First; n <= g.Last; n++ {
		if _, known := s.Report(disclosure.ReportID(t, n)); known {
			continue // its time is far from its neighbours'
		}
		m := missing{Number: strconv.FormatInt(n, 10), Reason: "not_yet_seen"}
		if at := a.Query.Coverage.Absent(t, n); !at.IsZero() {
			m.Reason, m.LookedUp = "never_published", query.TimeOrNull(at)
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
	return query.OrNull(strconv.FormatInt(n, 10))
}
