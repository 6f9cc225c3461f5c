package summary

import (
	"regexp"
	"strings"
)

// What the signs are worth. A sentence that has none of substance, only its
// place, is a last resort.
const (
	worthPlace   = 2.5 // of the first sentence; the ninth has half of it
	worthTitle   = 3.0 // of one that has all the words of the title
	worthCue     = 0.8 // each, up to mostCues
	mostCues     = 4
	worthDeed    = 2.0
	worthDoing   = 0.6
	worthFigure  = 0.7
	worthDate    = 0.4
	costLeaning  = 1.0 // it leans on the sentence before: "Dicha operación…"
	costTalk     = 2.0 // it is somebody's opinion
	costLaw      = 0.5 // each law it cites, up to mostLaws
	mostLaws     = 3
	costLength   = 0.8 // it is longer than comfortable
	comfortable  = 380 // bytes
	costHyphen   = 1.0 // a word is still broken as it was at the end of a line
	worthBeside  = 0.5 // of the best score, to stand beside it
	enoughBeside = 2.8 // to stand beside any
	leastBeside  = 1.4 // of substance, to stand beside any
	halfwayPlace = 8
	aboutTitle   = 2   // words of the title that a sentence has which is about the same
	aboutCues    = 2   // and such cues
	worthItem    = 1.0 // it is an item of what was decided
	costLabel    = 2.0 // it is a label with a value: "Precio: 0,6 euros."
	addedWords   = 2   // to the title, which do not make a sentence of it
)

var (
	money         = regexp.MustCompile(`(?i)\d\s?(?:%|€|\$|por ciento|puntos|euros?|eur\b|m€|mill|miles|mil\b|d[oó]lares|acciones|participaciones)`)
	dated         = regexp.MustCompile(`(?i)\d{1,2} de (?:enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|setiembre|octubre|noviembre|diciembre)|\d{1,2}[/.-]\d{1,2}[/.-]\d{2}`)
	label         = regexp.MustCompile(`^[^:.]{3,90}: `)
	broken        = regexp.MustCompile(`\p{Ll}- \p{Ll}`)
	laws          = newPhrases("articulo*\nley\nreglamento*\nreal decreto\ntexto refundido\ncircular\ndirectiva")
	pointing      = newLexicon("dicho dicha dichos dichas este esta estos estas esto ello ese esa esos esas tal tales ambas ambos aquel aquella mismo misma")
	leaningStarts = newPhrases(`
		asimismo
		ademas
		tambien
		igualmente
		tampoco
		finalmente
		adicionalmente
		consecuentemente
		asi
		por otro lado
		por otra parte
		por su parte
		no obstante
		sin embargo
		por tanto
		por lo tanto
		en consecuencia
		por ultimo
		en concreto
		a tal efecto`)
	talk = newPhrases(`
		estamos
		estoy
		nuestro
		nuestra
		nuestros
		nuestras
		nos
		satisfech*
		orgullos*
		ha declarado
		ha senalado
		ha afirmado
		en palabras de
		segun ha explicado
		agradec*`)
)

// rate scores the candidates, and makes a last resort of those without
// substance and of those that only repeat the title.
func rate(s Source, all []candidate) {
	cues, sure := cuesFor(s)
	heading := fold(withoutMark(s.Title))
	title := stems(heading)
	for w := range stems(fold(s.Company)) {
		delete(title, w)
	}
	best := -1 // of those that only repeat the title
	told := false
	for n := range all {
		c := &all[n]
		c.substance = c.says(title, cues, sure)
		about := cues.count(c.folded)
		c.topical = shared(c.stems, title) >= aboutTitle || sure && (about >= aboutCues || about > 0 && c.item)
		c.score = c.substance + worthPlace*halfwayPlace/float64(halfwayPlace+n) - c.cost()
		again := repeats(c.folded, heading) && !tells(c.folded)
		if c.substance == 0 || again {
			c.kind = lastResort
		}
		if again && best < 0 {
			best = n
		}
		told = told || c.kind == news && shared(c.stems, title) >= aboutTitle
	}
	if best >= 0 && !told {
		all[best].kind = news // nothing else says what it is about
	}
}

// says returns how much a sentence says of what happened.
func (c *candidate) says(title map[string]bool, cues phrases, sure bool) float64 {
	score := 0.0
	if len(title) > 0 {
		score += worthTitle * float64(shared(c.stems, title)) / float64(len(title))
	}
	worth := worthCue
	if !sure {
		worth /= 2
	}
	score += worth * float64(min(cues.count(c.folded), mostCues))
	if deeds.in(c.folded) {
		score += worthDeed
	} else if doings.in(c.folded) {
		score += worthDoing
	}
	if money.MatchString(c.Text) {
		score += worthFigure
	}
	if dated.MatchString(c.Text) {
		score += worthDate
	}
	if score > 0 && c.item {
		score += worthItem
	}
	return score
}

// cost is what speaks against a sentence.
func (c *candidate) cost() float64 {
	cost := costLaw * float64(min(laws.count(c.folded), mostLaws))
	if leans(c.Text) {
		cost += costLeaning
	}
	if talk.in(c.folded) {
		cost += costTalk
	}
	if len(c.Text) > comfortable {
		cost += costLength
	}
	if broken.MatchString(c.Text) {
		cost += costHyphen
	}
	if label.MatchString(c.Text) && !deeds.in(c.folded) && !doings.in(c.folded) {
		cost += costLabel
	}
	return cost
}

// leans reports whether a sentence cannot be understood without the one before.
// Accents count: "está" is no "esta".
func leans(text string) bool {
	if leaningStarts.at(fold(clip(text, 200))) {
		return true
	}
	n := 0
	for w := range strings.FieldsSeq(text) {
		if n++; n > 5 {
			break
		}
		if pointing.has(strings.ToLower(strings.Trim(w, ",;:"))) {
			return true
		}
	}
	return false
}

// repeats reports whether a sentence is the title again, with a few words more.
func repeats(sentence, title string) bool {
	if more := strings.Count(sentence, " ") - strings.Count(title, " "); strings.Contains(sentence, title) {
		return len(title) > 2 && more <= addedWords
	}
	return strings.Contains(title, sentence)
}

// tells reports whether a sentence says by itself that something happened.
func tells(folded string) bool {
	return (deeds.in(folded) || doings.in(folded)) && !announced.MatchString(folded)
}

// withoutMark returns a title without what stands in brackets before it.
func withoutMark(title string) string {
	if strings.HasPrefix(title, "[") {
		_, title, _ = strings.Cut(title, "]")
	}
	return title
}
