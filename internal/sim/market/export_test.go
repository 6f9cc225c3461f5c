package market

import "pregon/internal/disclosure"

// EverySubject writes every subject there is, and every piece of news, once
// for each issuer that might file it on a day.
func (m *Market) EverySubject(day disclosure.Day) []string {
	var out []string
	for n, t := range topics {
		for _, i := range m.issuers {
			if i.role&t.who == 0 {
				continue
			}
			p := pen{dice: m.dice(forTexts, uint64(n), uint64(day)), market: m, day: day.Start(), who: i, name: i.nameOn(day)}
			subjects := t.subjects
			if i.sector != nil {
				subjects = append(subjects[:len(subjects):len(subjects)], i.sector.news...)
			}
			for _, s := range subjects {
				out = append(out, p.fill(s))
			}
		}
	}
	return out
}
