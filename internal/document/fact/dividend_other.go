package fact

import (
	"strings"

	"pregon/internal/document/value"
)

// othersPay reports whether the subject of a verb of payment is the name of another company: "el
// dividendo que Cobre Austral pagará". "La Sociedad" has an article, and an acronym may be the
// company's own.
func (r *reading) othersPay(p *part) bool {
	const longestName = 6
	if r.Company == "" || len(p.tokens) > longestNamed {
		return false
	}
	for i := range p.tokens {
		switch p.word(i) {
		case "pagara", "abonara", "repartira", "distribuira", "satisfara", "paga", "abona", "reparte", "distribuye", "pays", "will":
		default:
			continue
		}
		from := i
		var name []string
		for from > max(0, i-longestName) && p.word(from-1) != "" && p.tokens[from-1].IsCapital() {
			from--
			name = append(name, p.word(from))
		}
		switch {
		case len(name) == 0 || from == 0 || isAllCapitals(p.tokens[from].Text):
			continue
		case p.word(from-1) == "", isDeterminer(p.word(from - 1)), r.sharesName(name):
			continue
		}
		return true
	}
	return false
}

// namesOtherShares reports whether a sentence speaks of the shareholders or a share of a company with
// another name, without its legal form: "los accionistas de Cobre Austral tendrán derecho".
func (r *reading) namesOtherShares(p *part) bool {
	const shortest = 4 // letters
	if r.Company == "" || len(p.tokens) > longestNamed {
		return false
	}
	for i := range p.tokens {
		switch p.word(i) {
		case "accionistas", "shareholders", "accion", "share", "accio", "accionistes", "participada", "filial", "subsidiary":
		default:
			continue
		}
		link, name := p.word(i+1), p.word(i+2)
		if link != "de" && link != "of" || len(name) < shortest || !p.tokens[i+2].IsCapital() || isAllCapitals(p.tokens[i+2].Text) {
			continue
		}
		if !p.hasBetween(i+2, i+3, "share class") && value.Months[name] == 0 && !r.sharesName([]string{name, p.word(i + 3)}) {
			return true
		}
	}
	return false
}

// isDeterminer reports whether a word is an article, or one such as "esta" and "our".
func isDeterminer(word string) bool {
	switch word {
	case "esta", "este", "dicha", "nuestra", "our", "this", "del", "al":
		return true
	}
	return isArticle(word)
}

// isAllCapitals reports whether a word has no small letter.
func isAllCapitals(word string) bool { return word == strings.ToUpper(word) }
