package catalog

import (
	"cmp"
	"slices"
	"time"

	"pregon/internal/disclosure"
)

// Analytics are the market's figures. Days, weekdays and hours are Madrid's.
type Analytics struct {
	GeneratedAt time.Time     `json:"generated_at"`
	AsOfSeq     int64         `json:"as_of_seq"`
	Totals      Totals        `json:"totals"`
	Daily       []Daily       `json:"daily"`         // the last 30 days, today last
	Weekdays    []Weekday     `json:"weekdays"`      // Monday first, all reports
	Hours       []Hour        `json:"hours"`         // 0 to 23, all reports
	WeekHours   [7][24]int    `json:"weekday_hours"` // a row of hours for each weekday
	Categories  []CategoryUse `json:"categories"`    // most used first, all reports
	Issuers     []IssuerUse   `json:"issuers"`       // most active first, last 30 days
	Markets     []MarketUse   `json:"markets"`       // most reports first, all reports
	Sectors     []SectorUse   `json:"sectors"`       // the same
	Pace        Pace          `json:"pace"`
}

// Counts are reports by type.
type Counts struct {
	IP  int `json:"IP"`
	HR  int `json:"HR"`
	OIR int `json:"OIR"`
}

type Totals struct {
	All    int    `json:"all"`
	ByType Counts `json:"by_type"`
}

type Daily struct {
	Date  string `json:"date"`
	Total int    `json:"total"`
	Counts
}

type Weekday struct {
	Weekday string `json:"weekday"`
	Total   int    `json:"total"`
}

type Hour struct {
	Hour  int `json:"hour"`
	Total int `json:"total"`
}

type CategoryUse struct {
	Category string `json:"category"`
	English  string `json:"category_en"` // only in Analytics: see disclosure.CategoryEN
	Total    int    `json:"total"`
}

type IssuerUse struct {
	ID     string  `json:"id"`
	Name   string  `json:"name"`
	Ticker *string `json:"ticker"`
	Total  int     `json:"total"`
}

type MarketUse struct {
	Market  string `json:"market"`
	Reports int    `json:"filings"`
	Issuers int    `json:"issuers"`
}

type SectorUse struct {
	Sector  string `json:"sector"`
	Reports int    `json:"filings"`
	Issuers int    `json:"issuers"`
}

// Pace compares today, up to now, with the same weekday up to the same time of
// day over the last eight weeks. Ratio is null when those were empty.
type Pace struct {
	Today int      `json:"today"`
	Usual float64  `json:"usual"`
	Ratio *float64 `json:"ratio"`
}

const (
	dailyDays     = 30
	topCategories = 20
	topIssuers    = 10
	paceWeeks     = 8
)

// Analytics returns the figures as of now. They are computed at most once a minute
// for each snapshot.
func (s *Snapshot) Analytics(now time.Time) *Analytics {
	a := &s.analytics
	a.mu.Lock()
	defer a.mu.Unlock()
	if minute := now.Unix() / 60; a.latest == nil || a.minute != minute {
		a.minute, a.latest = minute, s.figures(now.In(disclosure.Madrid))
	}
	return a.latest
}

func (s *Snapshot) figures(now time.Time) *Analytics {
	t := s.tally
	today := disclosure.DayOf(now)
	return &Analytics{
		GeneratedAt: now.Truncate(time.Second),
		AsOfSeq:     s.head.Seq,
		Totals:      Totals{All: t.byType[0] + t.byType[1] + t.byType[2], ByType: countsOf(t.byType)},
		Daily:       t.daily(today, dailyDays),
		Weekdays:    t.weekdayTotals(),
		Hours:       t.hourTotals(),
		WeekHours:   t.hours,
		Categories:  s.categoryUse(),
		Issuers:     s.issuerUse(today),
		Markets:     s.marketUse(),
		Sectors:     s.sectorUse(),
		Pace:        t.pace(today, clock(now)),
	}
}

func countsOf(byType [3]int) Counts { return Counts{IP: byType[0], HR: byType[1], OIR: byType[2]} }

// maxDays is the maximum number of days that Days returns.
const maxDays = 366

// Days counts the reports of each of the last Madrid days, today last. It returns
// from 1 to 366 days.
func (s *Snapshot) Days(last int) []Daily {
	return s.tally.daily(disclosure.DayOf(time.Now()), min(max(last, 1), maxDays))
}

func (t *tally) daily(today disclosure.Day, last int) []Daily {
	out := make([]Daily, 0, last)
	for d := today - disclosure.Day(last) + 1; d <= today; d++ {
		on := t.on(d)
		out = append(out, Daily{Date: d.String(), Total: len(on.reports), Counts: countsOf(on.byType)})
	}
	return out
}

func (t *tally) weekdayTotals() []Weekday {
	out := make([]Weekday, len(t.hours))
	for i, name := range []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"} {
		out[i].Weekday = name
		for _, total := range t.hours[i] {
			out[i].Total += total
		}
	}
	return out
}

func (t *tally) hourTotals() []Hour {
	out := make([]Hour, len(t.hours[0]))
	for h := range out {
		out[h].Hour = h
		for _, weekday := range t.hours {
			out[h].Total += weekday[h]
		}
	}
	return out
}

func (t *tally) pace(today disclosure.Day, clock int32) Pace {
	p := Pace{Today: t.on(today).until(clock)}
	usual := 0
	for week := 1; week <= paceWeeks; week++ {
		usual += t.on(today - disclosure.Day(7*week)).until(clock)
	}
	p.Usual = float64(usual) / paceWeeks
	if usual > 0 {
		ratio := float64(p.Today) / p.Usual
		p.Ratio = &ratio
	}
	return p
}

func (s *Snapshot) categoryUse() []CategoryUse {
	used := s.categoriesByUse()
	used = used[:min(len(used), topCategories)]
	for i := range used {
		used[i].English, _ = disclosure.CategoryEN(used[i].Category)
	}
	return used
}

func (s *Snapshot) categoriesByUse() []CategoryUse {
	used := s.categoryCounts(s.tally.categoryLines)
	slices.SortFunc(used, compareUse)
	return used
}

// CategoryNames returns the categories of all reports, the most used first.
func (s *Snapshot) CategoryNames() []string {
	used := s.categoriesByUse()
	names := make([]string, len(used))
	for i, u := range used {
		names[i] = u.Category
	}
	return names
}

// categoryCounts adds up the reports of category lines for each category. Its
// spelling varies between series; the first one is returned.
func (s *Snapshot) categoryCounts(lines []int32) []CategoryUse {
	byNumber := make([]CategoryUse, s.index.CategoryCount())
	for line, total := range lines {
		if total == 0 {
			continue // only of reports that have changed since
		}
		names, numbers := s.index.Categories(uint32(line))
		for i, n := range numbers {
			if slices.Contains(numbers[:i], n) {
				continue // in another spelling
			}
			byNumber[n].Category = cmp.Or(byNumber[n].Category, names[i])
			byNumber[n].Total += int(total)
		}
	}
	return slices.DeleteFunc(byNumber, func(u CategoryUse) bool { return u.Total == 0 })
}

// issuerUse counts the reports of each issuer in the last days, under any name. It
// returns the name in the directory, or else that in the last report.
func (s *Snapshot) issuerUse(today disclosure.Day) []IssuerUse {
	byID := map[string]*IssuerUse{}
	last := map[string]uint64{}
	for d := today - dailyDays + 1; d <= today; d++ {
		for _, f := range s.tally.on(d).reports {
			id := s.index.IssuerID(f.ref)
			if id == "" {
				continue
			}
			if byID[id] == nil {
				byID[id] = &IssuerUse{ID: id}
			}
			byID[id].Total++
			last[id] = f.key
		}
	}
	used := top(byID, topIssuers, func(a, b IssuerUse) int { return cmp.Or(b.Total-a.Total, cmp.Compare(a.ID, b.ID)) })
	for i := range used {
		f := Report{s.index.Find(last[used[i].ID]), s}
		if ticker := f.Ticker(); ticker != "" {
			used[i].Ticker = &ticker
		}
		if issuer := f.Issuer(); issuer != nil {
			used[i].Name = issuer.Name
		} else {
			used[i].Name = f.Decode().CompanyName
		}
	}
	return used
}

func (s *Snapshot) marketUse() []MarketUse {
	used := s.useBy(func(i *disclosure.Issuer) string { return i.Market })
	out := make([]MarketUse, len(used))
	for i, u := range used {
		out[i] = MarketUse{Market: u.name, Reports: u.reports, Issuers: u.issuers}
	}
	return out
}

func (s *Snapshot) sectorUse() []SectorUse {
	used := s.useBy(func(i *disclosure.Issuer) string { return i.Sector })
	out := make([]SectorUse, len(used))
	for i, u := range used {
		out[i] = SectorUse{Sector: u.name, Reports: u.reports, Issuers: u.issuers}
	}
	return out
}

// nameUse is the use of a name that issuers have in common.
type nameUse struct {
	name             string
	reports, issuers int
}

// useBy counts reports and issuers by such a name, which may be empty. The one with the
// most reports is the first.
func (s *Snapshot) useBy(nameOf func(*disclosure.Issuer) string) []nameUse {
	byName := map[string]*nameUse{}
	of := func(i *disclosure.Issuer) *nameUse {
		if i == nil || nameOf(i) == "" {
			return &nameUse{}
		}
		name := nameOf(i)
		if byName[name] == nil {
			byName[name] = &nameUse{name: name}
		}
		return byName[name]
	}
	for ref, total := range s.tally.refs {
		of(s.index.IssuerByRef(uint32(ref))).reports += int(total)
	}
	for _, e := range s.index.Directory().Issuers() {
		of(e.Issuer).issuers++
	}
	return top(byName, len(byName), func(a, b nameUse) int {
		return cmp.Or(b.reports-a.reports, cmp.Compare(a.name, b.name))
	})
}

// top returns the first n values in order.
func top[T any](values map[string]*T, n int, order func(a, b T) int) []T {
	all := make([]T, 0, len(values))
	for _, v := range values {
		all = append(all, *v)
	}
	slices.SortFunc(all, order)
	return all[:min(n, len(all))]
}
