package fact

import (
	"slices"

	"pregon/internal/document/lexicon"
)

var (
	roleHeads      = lists.Set("role head")
	roleModifiers  = lists.Set("role modifier")
	roleAdjectives = lists.Set("role adjective")
	rolePlurals    = lists.Set("role plural")
	roleEnds       = lists.Set("role end")
	ownCompany     = lists.Set("own company")
)

// longestRole is the most tokens that a role has.
const longestRole = 16

// role reads the first role in a range of tokens: "consejera independiente", "chief
// financial officer". It reports none if it is not certain where it ends, or if it is
// that of several people.
func (p *part) role(from, to int) (at place, ok bool) {
	for i := from; i < min(to, len(p.tokens)); i++ {
		w := p.word(i)
		if !roleHeads.Has(w) && !rolePlurals.Has(w) {
			continue
		}
		start := p.roleStart(i, from)
		if p.hasBetween(max(from, start-3), start, "board current") {
			continue
		}
		end := p.roleEnd(i, to)
		if p.hasOtherBefore(start, from) {
			return place{0, start, end}, false
		}
		end = p.withCategory(end, to)
		if category, found := p.category(start, end, to); found {
			return category, !category.empty()
		}
		if rolePlurals.Has(w) || p.mark(end) == "(" && end < to || p.isHalfRole(start, end) {
			return place{}, false
		}
		return place{0, start, end}, true
	}
	return place{}, false
}

// hasOtherBefore reports whether an "and" joins a role to something before it that is no
// role that is known: "Presi dente y miembro del Consejo".
func (p *part) hasOtherBefore(start, from int) bool {
	switch p.word(start - 1) {
	case "y", "e", "i", "and":
		return start-1 > from && p.word(start-2) != "" && !p.startsCell(start-1)
	}
	return false
}

// withCategory returns the end of a role with the words behind a dash or a stroke that
// belong to it: "Vocal – consejero independiente", "Consejero / Independiente".
func (p *part) withCategory(end, to int) int {
	switch p.mark(end) {
	case "-", "–", "—", "/":
	default:
		return end
	}
	if end+1 >= min(to, len(p.tokens)) || p.startsCell(end+1) {
		return end
	}
	if w := p.word(end + 1); roleHeads.Has(w) || roleModifiers.Has(w) || roleAdjectives.Has(w) {
		return p.roleEnd(end+1, to)
	}
	return end
}

// roleStart returns the first of the words before the noun of a role that belong to it:
// "non-executive chair".
func (p *part) roleStart(i, from int) int {
	for i > from {
		switch {
		case roleModifiers.Has(p.word(i - 1)):
			i--
		case p.mark(i-1) == "-" && i-2 >= from && roleModifiers.Has(p.word(i-2)):
			i -= 2
		default:
			return i
		}
	}
	return i
}

// roleEnd returns the end of a role whose noun is at a token.
func (p *part) roleEnd(head, to int) int {
	if officer := p.officerEnd(head, to); officer > 0 {
		return officer
	}
	end := head + 1
	open := false // behind "de" or "of": a capital letter continues the role
	for k := end; k < min(to, len(p.tokens), head+longestRole); k++ {
		w := p.word(k)
		if p.startsCell(k) {
			break
		}
		switch {
		case p.mark(k) == "-" && !p.tokens[k].Spaced:
			continue
		case w == "de" || w == "del" || w == "of" || w == "d" && !p.tokens[k].IsCapital() || w == "dels":
			if p.ofCompany(k + 1) {
				return end
			}
			open = true
			continue
		case (p.mark(k) == "'" || p.mark(k) == "’") && open:
			continue
		case open && isArticle(w):
			continue
		case w == "y" || w == "e" || w == "i" || w == "and" || p.mark(k) == "&":
			if !p.joinsRole(k, end, to) {
				return end
			}
			continue
		case w == "", p.tokens[k].IsNumber(), roleEnds.Has(w), isArticle(w):
			return end
		case p.tokens[k].IsCapital() && !open && !roleAdjectives.Has(w) && !roleHeads.Has(w) && !roleModifiers.Has(w):
			return end
		case titles.Has(w) && p.skipTitle(k) > k && (p.mark(k+1) == "." || w == "don" || w == "dona"):
			return end
		}
		if !p.tokens[k].IsCapital() {
			open = false
		}
		end = k + 1
	}
	return end
}

// officerEnd returns the end of a role such as "Chief Scientific Officer", whose words between may be any
// with capital letters, or 0.
func (p *part) officerEnd(head, to int) int {
	const longest = 5 // tokens
	if p.word(head) != "chief" {
		return 0
	}
	for k := head + 1; k < min(head+1+longest, to, len(p.tokens)); k++ {
		switch {
		case p.startsCell(k):
			return 0
		case p.word(k) == "officer":
			return k + 1
		case !isCapitalAt(p, k) && p.mark(k) != "&" && p.word(k) != "and":
			return 0
		}
	}
	return 0
}

// isHalfRole reports whether a range of tokens is only the first word of a role, whose other words are not
// known: "Chief".
func (p *part) isHalfRole(from, to int) bool {
	return to-from == 1 && (p.word(from) == "chief" || p.word(from) == "head")
}

func isArticle(w string) bool {
	switch w {
	case "la", "el", "los", "las", "the", "l", "les", "els":
		return true
	}
	return false
}

// ofCompany reports whether the words behind "de" are the company, which is no part of
// the role.
func (p *part) ofCompany(k int) bool {
	for isArticle(p.word(k)) || p.mark(k) == "«" || p.mark(k) == "’" || p.mark(k) == "'" {
		k++
	}
	if ownCompany.Has(p.word(k)) || titles.Has(p.word(k)) && p.skipTitle(k) > k && isCapitalAt(p, p.skipTitle(k)) {
		return true
	}
	return slices.ContainsFunc(p.companies(), func(n name) bool { return n.from <= k && k < n.to })
}

// isOwnRole reports whether a role is one in the company of the report: "consejero delegado de
// Beta Motores" is none. The short name of the company itself is no part of the role.
func (r *reading) isOwnRole(f *boardFact) bool {
	at, ok := f.proof["role"]
	if !ok || r.Company == "" {
		return true
	}
	p := &r.parts[at.part]
	seat := false
	for k := at.from; k < at.to; k++ {
		w := p.word(k)
		seat = seat || seats.Has(w)
		isLink := w == "de" || w == "of" || w == "at"
		if !isLink || k+1 >= at.to || !isCapitalAt(p, k+1) || k == at.from {
			continue
		}
		switch next := p.word(k + 1); {
		case r.sharesName([]string{next}):
			f.set("role", p.textOf(at.from, k), place{at.part, at.from, k})
			return true
		case seat && !noName.Has(next) && next != "honor" && !roleHeads.Has(next) && !roleAdjectives.Has(next):
			return false
		}
		seat = false // the rest is that of a committee
	}
	return true
}

// seats are the roles that are those of a company, not of a department.
var seats = lexicon.NewSet("consejero consejera conseller consellera presidente presidenta president vicepresidente vicepresidenta chairman chairwoman " +
	"chair ceo cfo delegado delegada")

// joinsRole reports whether an "and" at a token continues a role: with another one, or
// within the name of a committee or department.
func (p *part) joinsRole(k, end, to int) bool {
	next := p.word(k + 1)
	if k+1 >= to || end != k {
		return false
	}
	if roleHeads.Has(next) || roleModifiers.Has(next) || roleAdjectives.Has(next) {
		return true
	}
	if titles.Has(next) {
		return false
	}
	_, person := p.person(k + 1)
	return isCapitalAt(p, k-1) && isCapitalAt(p, k+1) && !person
}

// category returns the role in "consejero, con la categoría de consejero independiente".
// The place is empty if there is a category that cannot be read as a role.
func (p *part) category(start, end, to int) (at place, found bool) {
	for k := end; k < min(end+9, to) && p.mark(k) != ";"; k++ {
		if p.hasBetween(k, k+1, "board keeps") {
			return place{}, false // "manteniendo su condición de consejera"
		}
		if !p.hasBetween(k, k+1, "board category") {
			continue
		}
		for n := k + 1; n < min(k+4, to); n++ {
			if roleHeads.Has(p.word(n)) {
				return place{0, n, p.roleEnd(n, to)}, true
			}
			if roleAdjectives.Has(p.word(n)) && p.word(n) != "no" && p.endsRole(n+1, to) {
				return place{0, start, n + 1}, true // "consejero, con la calificación de dominical"
			}
		}
		return place{}, true
	}
	return place{}, false
}

// endsRole reports whether a role may end before a token: a mark, or a word that is none of
// a role.
func (p *part) endsRole(k, to int) bool {
	w := p.word(k)
	return k >= min(to, len(p.tokens)) || w == "" && p.mark(k) != "-" && p.mark(k) != "(" || roleEnds.Has(w)
}

// sameRole reports whether one role says the same as the other, perhaps with fewer words.
func sameRole(a, b string) bool {
	return contains(lexicon.Fold(a), lexicon.Fold(b)) || contains(lexicon.Fold(b), lexicon.Fold(a))
}
