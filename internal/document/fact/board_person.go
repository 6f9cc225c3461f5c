package fact

// named returns the people behind a change: the first, and those in a list with them.
func (p *part) named(c change, from, to int) (found []name) {
	last := from
	for _, n := range p.people(from, to) {
		if p.hasBetween(max(from, n.from-7), n.from, "board replaced") || p.endsBetween(last, n.from) {
			if len(found) > 0 {
				break
			}
			continue
		}
		if len(found) == 0 {
			farthest := farthestPerson
			if c.form == participle && p.isObject(n) && p.hasBetween(c.to, n.from, "board on proposal") {
				farthest *= 2 // "ha nombrado, a propuesta de … y previo informe de …, a D. …"
			}
			if n.from-from > farthest || p.word(c.to) == "que" || c.form == subject && p.isUnderHolder(n) {
				return nil
			}
		} else if !p.continuesList(n) || p.isNamedHolder(n) ||
			p.hasBetween(last, n.from, "board current", "board reason") {
			break
		}
		found = append(found, n)
		last = n.to
	}
	return found
}

// isUnderHolder reports whether a person is named as the holder of a role to whom someone belongs or
// reports: "reportará al consejero delegado, …". The person who takes a role has no such preposition.
func (p *part) isUnderHolder(n name) bool {
	const reach = 8
	for k := n.from - 1; k >= max(0, n.from-reach); k-- {
		switch w := p.word(k); {
		case w == "al", w == "del", (w == "la" || w == "the") &&
			(p.word(k-1) == "a" || p.word(k-1) == "de" || p.word(k-1) == "to"):
			return true
		case w == "", titles.Has(w), roleHeads.Has(w), roleAdjectives.Has(w), roleModifiers.Has(w), w == "de":
		default:
			return false
		}
	}
	return false
}

// isNamedHolder reports whether a person is only named as the holder of a role: "por haber transcurrido
// el plazo del presidente, don …".
func (p *part) isNamedHolder(n name) bool {
	const reach = 4 // tokens: "del hasta hoy presidente"
	k := n.from - 1
	for k >= 0 && (titles.Has(p.word(k)) || p.mark(k) == "." || p.mark(k) == "ª") {
		k--
	}
	if p.mark(k) != "," || !roleHeads.Has(p.word(k-1)) && !roleAdjectives.Has(p.word(k-1)) {
		return false
	}
	for i := k - 1; i >= max(0, k-1-reach); i-- {
		if w := p.word(i); isArticle(w) || w == "del" || w == "al" {
			return true
		}
	}
	return false
}

// continuesList reports whether a person is the next of a list: "y a D. …", ", D. …".
func (p *part) continuesList(n name) bool {
	k := n.from - 1
	for k >= 0 && (titles.Has(p.word(k)) || p.word(k) == "" && p.mark(k) != ",") {
		k--
	}
	if p.word(k) == "a" || p.word(k) == "of" || p.word(k) == "de" {
		k--
	}
	switch p.mark(k) {
	case ",", "y", "e", "i", "and", "como":
		return true
	}
	return false
}

// lastNamed returns the last person before a change.
func (p *part) lastNamed(from, to int) (found name) {
	farthest := farthestPerson
	if isPossessive(p.word(to - 1)) {
		farthest *= 2 // "D. …, que fue nombrado a propuesta de …, ha presentado su dimisión"
	}
	for _, n := range p.people(from, to) {
		replaced := p.hasBetween(max(from, n.from-7), n.from, "board replaced")
		relative := p.mark(n.to) == "," && isRelative(p.word(n.to+1)) && to-n.to < 9
		if p.isOfFirm(n) {
			continue
		}
		isNear := to-n.to <= farthest || p.isFarSubject(n, from, to)
		if isNear && (!replaced || relative) && !p.endsBetween(n.to, to) {
			found = n
		}
	}
	return found
}

// isFarSubject reports whether a person is the only one before a verb, and the words between stand
// between two commas: "D. …, por medio de carta de fecha …, ha presentado su dimisión".
func (p *part) isFarSubject(n name, from, verb int) bool {
	const farthest = 80 // tokens
	if p.mark(n.to) != "," || verb-n.to > farthest || len(p.people(from, verb)) != 1 {
		return false
	}
	k := verb - 1
	for k > n.to && (isPerfect(p.word(k)) || p.word(k) == "been" || p.word(k) == "sido" || p.word(k) == "estat") {
		k--
	}
	return k > n.to && k < verb-1 && p.mark(k) == ","
}

// isOfFirm reports whether a name without a title is behind a preposition, as that of a firm
// without its legal form: "consejero delegado de Beta Motores".
func (p *part) isOfFirm(n name) bool {
	switch p.word(n.from - 1) {
	case "de", "of", "en", "at", "con", "with", "del":
		return true
	}
	return false
}

func isRelative(w string) bool {
	switch w {
	case "que", "quien", "who", "qui":
		return true
	}
	return false
}

// isObject reports whether a person is the object of a verb: "a D. …".
func (p *part) isObject(n name) bool {
	for k := n.from - 1; k >= max(0, n.from-5); k-- {
		if p.word(k) == "a" {
			return true
		}
	}
	return false
}
