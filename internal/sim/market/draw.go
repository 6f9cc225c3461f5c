package market

import (
	"slices"
	"time"

	"pregon/internal/disclosure"
)

// Draw writes a report that is not of the history, as if it were filed at that
// moment: always the same for a series, a number and an issuer. The issuer is
// named by its id; none is anybody.
func (m *Market) Draw(series disclosure.Type, number int64, at time.Time, id string) disclosure.Report {
	d := m.dice(forDraws, uint64(series.Index()), uint64(number))
	about := &m.topics[series.Index()][at.In(disclosure.Madrid).Month()-1]
	t := about.draw(d)
	who := m.filers[t.who].draw(d)
	if i := m.issuer(id); i != nil {
		who = i
		for tries := 0; t.who&who.role == 0; tries++ {
			if t = about.draw(d); tries == 300 {
				t = &unspecific[series.Index()]
				break
			}
		}
	}
	return m.write(series, slot{
		at: at, day: disclosure.DayOf(at), number: number,
		who: who, topic: t, subject: d.IntN(len(t.subjects)),
	}, d)
}

// Series returns the series in which an issuer files, in the order of
// disclosure.Types.
func (m *Market) Series(id string) []disclosure.Type {
	i := m.issuer(id)
	if i == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(disclosure.Types), func(series disclosure.Type) bool {
		return !slices.ContainsFunc(topics, func(t topic) bool { return t.series == series && t.who&i.role != 0 })
	})
}

func (m *Market) issuer(id string) *issuer {
	n := slices.IndexFunc(m.issuers, func(i *issuer) bool { return i.ID == id })
	if n < 0 {
		return nil
	}
	return m.issuers[n]
}

// unspecific are topics that anybody may file about, in the order of
// disclosure.Types.
var unspecific = [3]topic{
	{category: "Sobre negocio y situación financiera", subjects: []string{"Comunicación de {nombre}"}},
	{category: "Otros hechos relevantes", subjects: []string{"Comunicación de {nombre}"}},
	{category: "Otra información relevante", subjects: []string{"Comunicación de {nombre}"}},
}
