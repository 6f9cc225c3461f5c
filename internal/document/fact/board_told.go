package fact

import (
	"slices"
	"strings"
)

// isHonour reports whether a word that is no role stands directly behind what someone was elected: "ha sido
// elegida directiva del año".
func (p *part) isHonour(c change) bool {
	const shortest = 4 // letters
	w := p.word(c.to)
	if c.action != "appointed" || !p.isPassive(c) || len(w) < shortest || p.tokens[c.to].IsNumber() {
		return false
	}
	return !roleHeads.Has(w) && !rolePlurals.Has(w) && !roleModifiers.Has(w) && !roleEnds.Has(w) &&
		!p.hasBetween(c.to, c.to+1, "board body")
}

// isWaiver reports whether someone gives up something that is no role: "han renunciado a las dietas".
func (p *part) isWaiver(c change) bool {
	const reach = 8 // tokens
	w := p.word(c.to)
	if c.action != "resigned" || w != "a" && w != "al" || !strings.HasPrefix(p.word(c.to-1), "renunci") {
		return false
	}
	for k := c.to; k < min(c.to+reach, len(p.tokens)); k++ {
		if w := p.word(k); roleHeads.Has(w) || rolePlurals.Has(w) || p.hasBetween(k, k+1, "board body") {
			return false
		}
	}
	return true
}

// isBackstory reports whether a relative clause with a verb of the past says what someone did before:
// "la vacante que dejó D. …, que dimitió como consejero".
func (p *part) isBackstory(c change) bool {
	if c.form == finite && isRelative(p.word(c.from-1)) {
		return true // "la nulidad del acuerdo que nombró consejero a D. …"
	}
	if c.form != subject || p.hasBetween(c.to, c.to+8, "board effective") {
		return false
	}
	text := strings.ToLower(p.mark(c.from))
	if isPerfect(p.word(c.from - 1)) {
		return false
	}
	isPast := strings.HasSuffix(text, "ó") || strings.HasSuffix(text, "ieron") || strings.HasSuffix(text, "aron") ||
		text == "stepped" || text == "resigned"
	if !isPast {
		return false
	}
	return isRelative(p.word(c.from-1)) || isRelative(p.word(c.from-2))
}

// isRegistered reports whether a change is what a deed or a register has, long after it was decided:
// "inscrita la escritura por la que se elevó a público el nombramiento de D. …".
func (p *part) isRegistered(c change) bool {
	return (c.form == noun || c.form == infinitive) && p.hasBetween(0, c.from, "board registered")
}

// isLeftState reports whether what someone leaves is no role but a state: "deja de tener la
// consideración de consejera independiente", "deja de ser ejecutivo".
func (p *part) isLeftState(c change) bool {
	if c.class != "board resigns" {
		return false
	}
	return (p.word(c.to) == "de" || p.word(c.to) == "d") && isInfinitive(p.word(c.to+1))
}

// isToCome reports whether a verb before a change says that it is to come. "Por medio de la presente"
// and "el capital presente" have no such verb.
func (p *part) isToCome(from, to int) bool {
	return slices.ContainsFunc(p.all("board future"), func(c cue) bool {
		isNoun := p.word(c.from) == "presente" && !isPossessive(p.word(c.from+1)) && !isArticle(p.word(c.from+1))
		return c.from >= from && c.from < to && !isNoun
	})
}

// isResolved reports whether words before a token say that something was decided or announced. The nouns
// "informe" and "presente" do not.
func (p *part) isResolved(before int) bool {
	return slices.ContainsFunc(p.all("board decided"), func(c cue) bool {
		switch p.word(c.from) {
		case "informe", "informes", "presente", "presentes", "presentacion":
			return false
		}
		return c.from < before
	})
}

// leavesRole reports whether a sentence that names no role begins with the person who leaves, in a
// document whose title is about roles: "Luis Parra Gil, who has led the team, has resigned".
func (r *reading) leavesRole(p *part, c change) bool {
	const opening = 4
	if c.action != "resigned" || !r.title.isAboutRole() {
		return false
	}
	people := p.people(0, c.from)
	return len(people) == 1 && people[0].from < opening && !p.hasBetween(0, people[0].from, "board replaced")
}

// continuesOther reports whether a sentence goes on about the change of another company of which
// the sentence before tells: "Beta Motores B.V. has appointed … He succeeds …, who has resigned".
func (r *reading) continuesOther(i int) bool {
	p := &r.parts[i]
	if i == 0 || r.Company == "" || r.parts[i-1].paragraph != p.paragraph || !continuingWords.Has(p.word(0)) ||
		r.namesOwn(p) {
		return false
	}
	before := &r.parts[i-1]
	if len(before.changes()) == 0 || before.isLong() {
		return false
	}
	others := slices.ContainsFunc(before.companies(), func(n name) bool { return n.from < 3 && !r.isCompany(n.text) })
	return others || before.has("board subsidiary")
}
