package fact

import (
	"regexp"
	"strconv"
)

// splitYear matches a year that two calendar years share: 2026/27, 2025-2026.
var splitYear = regexp.MustCompile(`20(\d\d)(/|-|–)(?:20)?(\d\d)\b`)

// hasSplitYear reports whether the year of the company does not begin in January: the text names it by
// two years, "ejercicio 2026/27".
func (f *resultFinder) hasSplitYear() bool {
	return f.title.hasSplitYear() || anyPart(f.parts, func(p *part) bool { return !p.aside && p.hasSplitYear() })
}

// hasSplitYear reports whether a part names a year by two years that follow one another, behind the
// word for it.
func (p *part) hasSplitYear() bool {
	const near = 3 // tokens: "ejercicio social 2026/27"
	for k := range p.tokens {
		switch p.word(k) {
		case "ejercicio", "campana", "temporada", "year", "season", "fy", "exercici", "ano", "half", "semestre", "trimestre":
		default:
			continue
		}
		end := min(k+near+2, len(p.tokens)-1)
		m := splitYear.FindStringSubmatch(p.text[p.tokens[k].At:p.tokens[end].End()])
		if m == nil {
			continue
		}
		first, _ := strconv.Atoi(m[1])
		second, _ := strconv.Atoi(m[3])
		if second == first+1 {
			return true
		}
	}
	return false
}
