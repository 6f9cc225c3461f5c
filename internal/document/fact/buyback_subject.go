package fact

import (
	"slices"
	"strings"
)

// isSubjectOther reports whether the name directly before a verb is that of another company:
// "Química del Sur ha comprado". A name has two words with a capital letter, and none of them
// is what a company calls itself.
func (r *reading) isSubjectOther(p *part, verb int) bool {
	const longest = 10
	if r.Company == "" || p.cells != nil || p.heading || p.tokens[verb].IsCapital() {
		return false
	}
	k := verb - 1
	for k >= 0 && isAuxiliaryOfName(p.word(k)) {
		k--
	}
	var name []string
	for ; k >= max(0, verb-longest); k-- {
		word := p.word(k)
		if word != "" && p.tokens[k].IsCapital() && !beginsSubject(word) {
			name = append(name, word)
			continue
		}
		if word != "de" && word != "del" && word != "of" && word != "y" && word != "and" {
			break
		}
	}
	if len(name) < 2 || r.sharesName(name) || r.isShortName(name) {
		return false
	}
	return slices.ContainsFunc(name, func(word string) bool { return !isOwnTitle(word) })
}

// isTopicOther reports whether a sentence begins with the name of another company and a colon,
// as the news of a week do: "Telecom Sur: el consejo aprobó un programa".
func (r *reading) isTopicOther(p *part) bool {
	const longest = 8
	if r.Company == "" || p.cells != nil {
		return false
	}
	var name []string
	for k := range min(longest, len(p.tokens)) {
		word := p.word(k)
		switch {
		case p.mark(k) == ":":
			isLabel := p.hasBetween(0, k, "generic title", "buyback", "programme", "buyback word", "buyback statement")
			return len(name) > 1 && !isLabel && !r.sharesName(name) && !r.isShortName(name) &&
				slices.ContainsFunc(name, func(word string) bool { return !isOwnTitle(word) })
		case word != "" && p.tokens[k].IsCapital() && !beginsSubject(word):
			name = append(name, word)
		case len(word) > 3:
			return false
		}
	}
	return false
}

// tellsOfIssuer reports whether a sentence, or one of the few before it, names the company of
// the report or a body of it.
func (r *reading) tellsOfIssuer(i int) bool {
	const before = 4
	for k := max(0, i-before); k <= i; k++ {
		if r.Company == "" || r.speaksOfIssuer(&r.parts[k]) {
			return true
		}
	}
	return false
}

// speaksOfIssuer reports whether a sentence names the company of the report or a body of it.
func (r *reading) speaksOfIssuer(p *part) bool {
	const shortest = 4
	for k := range p.tokens {
		word := p.word(k)
		if len(word) < shortest || !p.tokens[k].IsCapital() {
			continue
		}
		if slices.Contains(r.own, word) || isOwnTitle(word) {
			return true
		}
	}
	return false
}

// isShortName reports whether a word of a name is made of the first letters of the company.
func (r *reading) isShortName(name []string) bool {
	letters := ""
	for _, word := range r.own {
		letters += word[:1]
	}
	return slices.ContainsFunc(name, func(word string) bool {
		return len(word) > 1 && len(word) < 6 && strings.HasPrefix(letters, word)
	})
}

// isAuxiliaryOfName reports whether a word may stand between a name and its verb.
func isAuxiliaryOfName(word string) bool {
	switch word {
	case "ha", "han", "se", "has", "have", "had", "habia", "today", "hoy", "also", "tambien":
		return true
	}
	return false
}

// beginsSubject reports whether a word stands before a name, at the beginning of a sentence with a capital.
func beginsSubject(word string) bool {
	switch word {
	case "el", "la", "los", "las", "the", "l", "els", "les", "su", "dicha", "dicho", "esta", "este":
		return true
	}
	return false
}

// isOwnTitle reports whether a word is one by which a report calls its company or a body of
// it.
func isOwnTitle(word string) bool {
	switch word {
	case "sociedad", "consejo", "administracion", "banco", "compania", "grupo", "entidad", "emisor", "emisora", "company",
		"board", "directors", "bank", "group", "issuer", "junta", "general", "comision", "delegada", "ejecutiva", "programa",
		"programme", "program", "committee", "management", "recompra", "societat", "consell", "ordinaria", "extraordinaria", "accionistas", "supervisory", "meeting", "annual",
		"shareholders", "direccion":
		return true
	}
	return false
}
