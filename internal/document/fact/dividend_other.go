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
		if !p.isVerbOfPayer(i) {
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

// isVerbOfPayer reports whether a word is a verb whose subject pays or announces a dividend.
func (p *part) isVerbOfPayer(i int) bool {
	switch p.word(i) {
	case "pagara", "abonara", "repartira", "distribuira", "satisfara", "paga", "abona", "reparte", "distribuye", "pays", "will":
		return true
	case "ha", "has":
		switch p.word(i + 1) {
		case "anunciado", "acordado", "aprobado", "decidido", "declarado", "repartido", "pagado", "abonado", "distribuido", "announced", "declared", "approved", "agreed",
			"resolved", "paid":
			return !p.isBodyName(i - 1)
		}
	}
	return false
}

// isBodyName reports whether a word is the last one of the name of a body, or stands for the company.
func (p *part) isBodyName(i int) bool {
	switch p.word(i) {
	case "administracion", "administradores", "directors", "accionistas", "junta", "consejo", "sociedad", "compania", "grupo", "banco", "company", "group", "bank",
		"board", "shareholders", "meeting", "general", "ordinaria", "extraordinaria", "comision", "ejecutiva", "entidad", "emisor", "issuer", "fondo", "gestora",
		"presidente", "presidenta", "administrador", "unico", "consell", "administracio", "societat", "accionista", "socio", "asamblea", "assemblea", "delegado", "delegada",
		"directivo", "directiva", "firma", "empresa", "emisora", "universal", "consejera", "consejero", "fund", "corporation", "bond", "council", "committee", "comite":
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
		if link != "de" && link != "of" || len(name) < shortest || !p.tokens[i+2].IsCapital() ||
			isAllCapitals(p.tokens[i+2].Text) {
			continue
		}
		if !p.hasBetween(i+2, i+3, "share class") && value.Months[name] == 0 &&
			!r.sharesName([]string{name, p.word(i + 3)}) {
			return true
		}
	}
	return false
}

// namesOtherBody reports whether a sentence speaks of a body, the shareholders or the dividend of another
// company that has its legal form: "la junta de accionistas de la sociedad brasileña Rio Pardo, S.A."
func (r *reading) namesOtherBody(p *part) bool {
	if r.Company == "" || len(p.tokens) > longestNamed {
		return false
	}
	for i := range p.tokens {
		if i == 0 || !p.tokens[i].IsCapital() || p.tokens[i-1].IsCapital() || !p.isOfBody(i) {
			continue
		}
		if name := p.companyAt(i); len(name) > 0 && !r.sharesName(name) {
			return true
		}
	}
	return false
}

// isOfBody reports whether the words before a name say that it is that of the company of a body, of
// shareholders or of a dividend. One word in between may be any: "de la sociedad brasileña".
func (p *part) isOfBody(name int) bool {
	const reach = 8
	unknown := 0
	for i := name - 1; i >= max(0, name-reach); i-- {
		switch p.word(i) {
		case "junta", "asamblea", "accionistas", "consejo", "socios", "dividendo", "dividendos", "accion", "acciones", "participada", "filial", "matriz",
			"meeting", "board", "shareholders", "dividend", "dividends", "shares", "share", "subsidiary", "investee", "assemblea", "accionistes":
			return i < name-1 || unknown == 0
		case "de", "del", "la", "el", "los", "sociedad", "compania", "entidad", "mercantil", "empresa", "firma", "general", "administracion", "ordinaria",
			"extraordinaria", "of", "the", "company", "d", "societat":
		case "":
			return false
		default:
			unknown++
			if unknown > 1 {
				return false
			}
		}
	}
	return false
}

// isAboutOther reports whether a label of the document names another company as the one that it is about:
// "Compañía: Naturgía Renovables, S.A."
func (r *reading) isAboutOther() bool {
	if r.Company == "" {
		return false
	}
	return anyPart(r.parts, func(p *part) bool {
		if p.aside || p.isLong() {
			return false
		}
		from := 0
		switch p.word(0) {
		case "compania", "sociedad", "emisor", "emisora", "issuer", "company", "valor", "empresa":
			from = 1
		case "entidad":
			if p.word(1) == "emisora" {
				from = 2
			}
		}
		if from == 0 {
			return false
		}
		if p.mark(from) == ":" {
			from++
		} else if len(p.cells) < 2 || p.cells[1].from != from {
			return false
		}
		name := p.companyAt(from)
		return len(name) > 0 && !r.sharesName(name)
	})
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
