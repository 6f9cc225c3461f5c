package market

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"pregon/internal/disclosure"
)

// origin is where the simulated regulator's links point.
const origin = "https://regulator.example"

// permalinks lead to one report by its number, which stands between the two
// parts, in the order of disclosure.Types.
var permalinks = [3][2]string{
	{origin + "/Portal/Informacion-privilegiada/Resultado-IP.aspx?nreg=", ""},
	{origin + "/Portal/HR/ResultadoBusquedaHR.aspx?division=2&nreg=", "&th=H"},
	{origin + "/Portal/Otra-Informacion-Relevante/Resultado-OIR.aspx?nreg=", ""},
}

func permalink(series disclosure.Type, number int64) string {
	p := permalinks[series.Index()]
	return p[0] + strconv.FormatInt(number, 10) + p[1]
}

// History returns what was filed from one instant up to, and not including,
// another, oldest first. It begins with the register, on 8 February 2020, and
// ends with the year 2099.
func (m *Market) History(from, until time.Time) []disclosure.Report {
	firstDay := max(disclosure.DayOf(from), epoch)
	finalDay := min(disclosure.DayOf(until), lastDay)
	reached := before
	for day := epoch; day < firstDay; day++ {
		reached = advance(reached, m.counts(day))
	}
	var out []disclosure.Report
	for day := firstDay; day <= finalDay; day++ {
		n := m.counts(day)
		for _, r := range m.day(day, n, reached, m.report) {
			if !r.PublishedAt.Before(from) && r.PublishedAt.Before(until) {
				out = append(out, r)
			}
		}
		reached = advance(reached, n)
	}
	return out
}

func advance(reached [3]int64, n [3]int) [3]int64 {
	for s := range n {
		reached[s] += int64(n[s])
	}
	return reached
}

// day plans and writes n reports of each series, oldest first; reached are the
// numbers of the day before.
func (m *Market) day(day disclosure.Day, n [3]int, reached [3]int64, write func(disclosure.Type, slot) disclosure.Report) []disclosure.Report {
	out := make([]disclosure.Report, 0, n[0]+n[1]+n[2])
	for s, series := range disclosure.Types {
		for _, slot := range m.plan(series, day, n[s], reached[s]+1) {
			out = append(out, write(series, slot))
		}
	}
	slices.SortFunc(out, func(a, b disclosure.Report) int { return disclosure.CompareReports(&b, &a) })
	return out
}

// report writes a report of the history.
func (m *Market) report(series disclosure.Type, s slot) disclosure.Report {
	return m.write(series, s, m.dice(forTexts, uint64(series.Index()), uint64(s.number)))
}

func (m *Market) write(series disclosure.Type, s slot, d dice) disclosure.Report {
	p := pen{dice: d, market: m, day: s.day.Start(), who: s.who, name: s.who.nameOn(s.day)}
	r := disclosure.Report{
		ID:          disclosure.ReportID(series, s.number),
		Type:        series,
		Number:      s.number,
		CompanyName: p.name,
		NIF:         s.who.NIF,
		Title:       Mark + p.fill(s.topic.subjects[s.subject]),
		PublishedAt: s.at.UTC(),
		Category:    s.topic.category,
		SourceURL:   permalink(series, s.number),
	}
	if d.percent(8) {
		r.CompanyName = plain(r.CompanyName)
	}
	if d.percent(3) {
		r.NIF = ""
	}
	if d.percent(4) {
		r.Ticker = s.who.Ticker
	}
	if s.topic.also != "" && d.percent(15) {
		r.Category += " - " + s.topic.also
	}
	if !s.topic.page && d.percent(84) {
		r.PDFURL = origin + "/webservices/verdocumento/ver?t=%7b" + guid(d) + "%7d"
	}
	return r
}

// guid returns a random UUID.
func guid(d dice) string {
	a, b := d.Uint64(), d.Uint64()
	return fmt.Sprintf("%08x-%04x-4%03x-%04x-%012x", a>>32, a>>16&0xffff, a&0xfff, b>>50|0x8000, b&(1<<48-1))
}

// nameOn is what an issuer was called on a day.
func (i *issuer) nameOn(day disclosure.Day) string {
	if day <= i.renamed {
		return i.FormerNames[0]
	}
	return i.Name
}
