package summary

import (
	"regexp"
	"slices"
	"strings"

	"pregon/internal/document/lexicon"
	"pregon/internal/document/value"
	plain "pregon/internal/text"
)

// Weights of the features of a sentence. A sentence with no feature except its
// position is a last resort.
const (
	worthPlace   = 2.5 // for the first sentence; half of it for the ninth
	worthTitle   = 3.0 // for a sentence with all the words of the title
	worthCue     = 0.8 // each, up to mostCues
	mostCues     = 4
	worthDeed    = 2.0
	worthDoing   = 0.6
	worthFigure  = 0.7
	worthDate    = 0.4
	worthStated  = 3.0 // each value of a fact, up to mostStated
	mostStated   = 3
	costLeaning  = 1.0 // it refers to the sentence before: "Dicha operación…"
	costTalk     = 2.0 // it is an opinion
	costLaw      = 0.5 // each law it cites, up to mostLaws
	mostLaws     = 3
	costLength   = 0.8 // it is longer than the constant comfortable
	comfortable  = 380 // bytes
	costHyphen   = 1.0 // it contains a word with a hyphen from the end of a line
	worthBeside  = 0.5 // share of the best score that another sentence needs
	enoughBeside = 2.8 // score that is enough beside any best score
	leastBeside  = 1.4 // substance that another sentence needs
	halfwayPlace = 8
	aboutTitle   = 2   // words of the title that a sentence on its topic contains
	aboutCues    = 2   // cues that a sentence on the topic contains
	worthItem    = 1.0 // it is an item of a list of decisions
	costLabel    = 2.0 // it is a label with a value: "Precio: 0,6 euros."
	addedWords   = 2   // most words that a repetition of the title adds to it
)

var (
	money = regexp.MustCompile(`(?i)\d\s?(?:%|€|\$|por ciento|puntos|euros?|eur\b|m€|mill|miles|mil\b|` +
		`d[oó]lares|dollars|per cent|acciones|shares|participaciones)`)
	dated = regexp.MustCompile(`(?i)\d{1,2} (?:de )?(?:enero|febrero|marzo|abril|mayo|junio|julio|agosto|` +
		`septiembre|setiembre|octubre|noviembre|diciembre|` +
		`january|february|march|april|may|june|july|august|september|october|november|december)|\d{1,2}[/.-]\d{1,2}[/.-]\d{2}`)
	label         = regexp.MustCompile(`^[^:.]{3,90}: `)
	titleMark     = regexp.MustCompile(`^\[[^\]]*\]`)
	broken        = regexp.MustCompile(`\p{Ll}- \p{Ll}`)
	laws          = phrasesOf("laws")
	pointing      = lexiconOf("pointing")
	leaningStarts = phrasesOf("leaningStarts")
	talk          = phrasesOf("talk")
)

// rate scores the candidates. Those without substance are never chosen, and those that
// only repeat the title are a last resort.
func rate(s Source, all []candidate) {
	cues, sure := cuesFor(s)
	heading := lexicon.Fold(titleMark.ReplaceAllString(s.Title, ""))
	title := stems(heading)
	for w := range stems(lexicon.Fold(s.Company)) {
		delete(title, w)
	}
	best := -1 // the first that only repeats the title
	told := false
	for n := range all {
		c := &all[n]
		c.substance = c.says(title, cues, sure) + worthStated*float64(min(c.states(s.Stated), mostStated))
		about := cues.Count(c.folded)
		c.topical = shared(c.stems, title) >= aboutTitle || sure && (about >= aboutCues || about > 0 && c.item)
		c.score = c.substance + worthPlace*halfwayPlace/float64(halfwayPlace+n) - c.cost()
		again := repeats(c.folded, heading) && !tells(c.folded)
		switch {
		case c.substance == 0:
			c.kind = never // no summary is better than one about nothing
		case again:
			c.kind = lastResort
		}
		if again && best < 0 {
			best = n
		}
		told = told || c.kind == news && shared(c.stems, title) >= aboutTitle
	}
	if best >= 0 && !told {
		all[best].kind = news // no other sentence is on the topic of the title
	}
}

// says returns the substance of a sentence: how much it reports about the event.
func (c *candidate) says(title map[string]bool, cues lexicon.Phrases, sure bool) float64 {
	worth := worthCue
	if !sure {
		worth /= 2
	}
	deed := deeds.In(c.folded)
	score := worth*float64(min(cues.Count(c.folded), mostCues)) + when(deed, worthDeed) + when(!deed &&
		doings.In(c.folded), worthDoing) +
		when(money.MatchString(c.Text), worthFigure) + when(dated.MatchString(c.Text), worthDate)
	if len(title) > 0 {
		score += worthTitle * float64(shared(c.stems, title)) / float64(len(title))
	}
	return score + when(score > 0 && c.item, worthItem)
}

// states returns how many values of facts a sentence has.
func (c *candidate) states(stated []Stated) (n int) {
	for _, place := range stated {
		if place.Page == c.Page && strings.Contains(c.Text, place.Words) {
			n++
		}
	}
	return n
}

// cost returns the sum of the weights against a sentence.
func (c *candidate) cost() float64 {
	return costLaw*float64(min(laws.Count(c.folded), mostLaws)) + when(leans(c.Text),
		costLeaning) + when(talk.In(c.folded), costTalk) +
		when(len(c.Text) > comfortable, costLength) + when(broken.MatchString(c.Text), costHyphen) +
		when(label.MatchString(c.Text) && !deeds.In(c.folded) && !doings.In(c.folded), costLabel)
}

func when(is bool, weight float64) float64 {
	if is {
		return weight
	}
	return 0
}

// leans reports whether a sentence cannot be understood without the one before.
// Accents are significant: "está" is not "esta".
func leans(text string) bool {
	start := lexicon.Fold(plain.Prefix(text, 200))
	if slices.ContainsFunc(leaningStarts, func(phrase string) bool { return strings.HasPrefix(start, phrase) }) {
		return true
	}
	n := 0
	for w := range strings.FieldsSeq(text) {
		if n++; n > 5 {
			break
		}
		if pointing.Has(strings.ToLower(strings.Trim(w, ",;:"))) {
			return true
		}
	}
	return false
}

// repeats reports whether a sentence is the title with at most a few more words.
func repeats(sentence, title string) bool {
	if more := strings.Count(sentence, " ") - strings.Count(title, " "); strings.Contains(sentence, title) {
		return len(title) > 2 && more <= addedWords
	}
	return strings.Contains(title, sentence)
}

// tells reports whether a sentence reports an event without help of other sentences.
func tells(folded string) bool {
	return (deeds.In(folded) || doings.In(folded)) && !announced.MatchString(folded)
}

// stems returns the set of the stems of a folded text, without stop words.
func stems(folded string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(folded) {
		if !value.StopWords.Has(w) {
			set[plain.Stem(w)] = true
		}
	}
	return set
}

// shared returns the number of stems in both sets.
func shared(a, b map[string]bool) int {
	if len(a) > len(b) {
		a, b = b, a
	}
	n := 0
	for s := range a {
		if b[s] {
			n++
		}
	}
	return n
}
