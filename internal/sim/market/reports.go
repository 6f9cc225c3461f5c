package market

import (
	"slices"
	"strconv"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/sim/filler"
)

// origin is the host of the simulated regulator in links.
const origin = "https://regulator.example"

// permalinks are the addresses of reports, before and after the number, in the
// order of disclosure.Types.
var permalinks = [3][2]string{
	{origin + "/Portal/Informacion-privilegiada/Resultado-IP.aspx?nreg=", ""},
	{origin + "/Portal/HR/ResultadoBusquedaHR.aspx?division=2&nreg=", "&th=H"},
	{origin + "/Portal/Otra-Informacion-Relevante/Resultado-OIR.aspx?nreg=", ""},
}

func permalink(series disclosure.Type, number int64) string {
	p := permalinks[series.Index()]
	return p[0] + strconv.FormatInt(number, 10) + p[1]
}

// History returns the reports from one instant up to, and not including, another,
// oldest first. The history begins on Epoch and ends with the year 2099.
func (m *Market) History(from, until time.Time) []disclosure.Report {
	firstDay := max(disclosure.DayOf(from), Epoch)
	finalDay := min(disclosure.DayOf(until), lastDay)
	reached := epochNumbers
	for day := Epoch; day < firstDay; day++ {
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

// advance returns the last numbers after n more reports of each series.
func advance(reached [3]int64, n [3]int) [3]int64 {
	for s := range n {
		reached[s] += int64(n[s])
	}
	return reached
}

// day returns the reports of a day, n of each series, oldest first. reached are
// the last numbers of the day before.
func (m *Market) day(
	day disclosure.Day, n [3]int, reached [3]int64, write func(disclosure.Type, slot) disclosure.Report,
) []disclosure.Report {
	out := make([]disclosure.Report, 0, n[0]+n[1]+n[2])
	for s, series := range disclosure.Types {
		for _, slot := range m.plan(series, day, n[s], reached[s]+1) {
			out = append(out, write(series, slot))
		}
	}
	slices.SortFunc(out, func(a, b disclosure.Report) int { return disclosure.CompareReports(&b, &a) })
	return out
}

// report returns a report of the history.
func (m *Market) report(series disclosure.Type, s slot) disclosure.Report {
	return m.write(series, s, m.random(forTexts, uint64(series.Index()), uint64(s.number)))
}

// NewReport returns a report that is not part of the history, filed at that time.
// It is the same for the same series, number and issuer. An empty id leaves the
// issuer to the market.
func (m *Market) NewReport(series disclosure.Type, number int64, at time.Time, id string) disclosure.Report {
	rng := m.random(forNewReports, uint64(series.Index()), uint64(number))
	topics := &m.topics[series.Index()][at.In(disclosure.Madrid).Month()-1]
	t := topics.pick(rng)
	by := m.filers[t.Filers].pick(rng)
	if i := m.issuer(id); i != nil {
		by = i
		for tries := 0; t.Filers&by.role == 0; tries++ {
			if t = topics.pick(rng); tries == 300 {
				t = &unspecific[series.Index()]
				break
			}
		}
	}
	return m.write(series, slot{
		at:      at,
		day:     disclosure.DayOf(at),
		number:  number,
		issuer:  by,
		topic:   t,
		subject: rng.IntN(len(t.Subjects)),
	}, rng)
}

// write returns the report of a slot.
func (m *Market) write(series disclosure.Type, s slot, rng filler.Random) disclosure.Report {
	f := m.titleFiller(rng, s.day, s.issuer)
	r := disclosure.Report{
		ID:          disclosure.ReportID(series, s.number),
		Type:        series,
		Number:      s.number,
		CompanyName: f.name,
		NIF:         s.issuer.NIF,
		Title:       Mark + f.Fill(s.topic.Subjects[s.subject]),
		PublishedAt: s.at.UTC(),
		Category:    s.topic.Category,
		SourceURL:   permalink(series, s.number),
	}
	if rng.Percent(8) {
		r.CompanyName = withoutAccents(r.CompanyName)
	}
	if rng.Percent(3) {
		r.NIF = ""
	}
	if rng.Percent(4) {
		r.Ticker = s.issuer.Ticker
	}
	if s.topic.Also != "" && rng.Percent(15) {
		r.Category += " - " + s.topic.Also
	}
	if !s.topic.Page && rng.Percent(84) {
		r.PDFURL = origin + "/webservices/verdocumento/ver?t=%7b" + rng.GUID() + "%7d"
	}
	return r
}
