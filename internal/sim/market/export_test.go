package market

import "pregon/internal/disclosure"

// EveryTitle returns every subject and every piece of news once for each issuer
// that may file it on a day.
func (m *Market) EveryTitle(day disclosure.Day) []string {
	var out []string
	for n, t := range m.texts.topics {
		for _, i := range m.issuers {
			if i.role&t.Filers == 0 {
				continue
			}
			f := m.titleFiller(m.random(forTexts, uint64(n), uint64(day)), day, i)
			subjects := t.Subjects
			if i.sector != nil {
				subjects = append(subjects[:len(subjects):len(subjects)], i.sector.News...)
			}
			for _, s := range subjects {
				out = append(out, f.Fill(s))
			}
		}
	}
	return out
}
