package summary

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"pregon/internal/document/lexicon"
	"pregon/internal/document/passage"
	"pregon/internal/document/value"
)

// Reason is the reason why the wording of a model was rejected. There are few
// values, so that a metric can use them as a label.
type Reason string

// The reasons.
const (
	BadForm        Reason = "form"     // not one short sentence of plain text
	BadLanguage    Reason = "language" // not in the language that it says
	Advice         Reason = "advice"   // it gives advice or addresses the reader
	AboutMachines  Reason = "machine"  // it is about instructions or models
	BadSources     Reason = "sources"  // it names no sentence of the document
	WrongFigure    Reason = "figure"   // a figure, date or code that its sources do not have
	WrongName      Reason = "name"
	WrongPolarity  Reason = "negation"  // it denies what its sources state, or the reverse
	WrongCertainty Reason = "certainty" // a plan stated as a fact, a limit or a condition left out
	WrongDirection Reason = "direction" // the opposite: up for down, bought for sold
	NotEntailed    Reason = "unproved"  // the verifying model did not say yes
)

const longestClaim = 350 // characters

// check compares a claim with the sentences that it cites, without a model. It
// returns "" if it finds nothing wrong. It proves figures, dates, codes and names; of
// the rest of the meaning it sees only negations, words of intent and opposites.
func check(s Source, claim, language string, cited []string) Reason {
	folded := lexicon.Fold(claim)
	switch {
	case !plainSentence(claim):
		return BadForm
	case speaksToMachine(claim) || machineTalk.In(folded):
		return AboutMachines
	case advice.In(folded):
		return Advice
	case !inLanguage(claim, language):
		return BadLanguage
	}
	source := strings.Join(cited, " ")
	tokens, there := value.Tokenise(claim), value.Tokenise(source)
	facts := value.Read(tokens, language == "en")
	switch {
	case !figuresAgree(facts, sourceFacts(s, cited), folded):
		return WrongFigure
	case !namesAgree(s, withoutFacts(tokens, facts), there):
		return WrongName
	case !polarityAgrees(claim, source):
		return WrongPolarity
	case !certaintyAgrees(claim, source):
		return WrongCertainty
	case !directionAgrees(tokens, there):
		return WrongDirection
	}
	return ""
}

var (
	advice      = phrasesOf("advice")
	machineTalk = phrasesOf("machineTalk")
	addresses   = regexp.MustCompile(`(?i:https?:|www\.|//|--|[a-z0-9]\.(?:com|es|org|net|io|example)\b)|[\pL\d]\.\p{Ll}{2,}`)
)

// plainSentence reports whether a text is one short sentence without invisible
// characters or markup.
func plainSentence(text string) bool {
	if len(text) < 10 || utf8.RuneCountInString(text) > longestClaim || addresses.MatchString(text) {
		return false
	}
	for _, r := range text {
		if !plainRune(r) {
			return false
		}
	}
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(text, `«"“¿¡`))
	last, _ := utf8.DecodeLastRuneInString(text)
	if !unicode.IsUpper(first) && !unicode.IsDigit(first) && first != '€' {
		return false
	}
	if !hasStop(text) && !unicode.IsLetter(last) && !unicode.IsDigit(last) && !strings.ContainsRune("%€)", last) {
		return false
	}
	return len(passage.Sentences(text, passage.Span{End: len(text)})) == 1
}

func plainRune(r rune) bool {
	if unicode.IsLetter(r) {
		return unicode.Is(unicode.Latin, r)
	}
	return r == ' ' || '0' <= r && r <= '9' || strings.ContainsRune(`.,;:¿?¡!()"'%‰€$£&/+-–—«»“”‘’º…·`, r)
}

// sourceFacts returns the facts of the cited sentences. A sentence of a document may
// be in another language than the document.
func sourceFacts(s Source, cited []string) []value.Value {
	var all []value.Value
	for _, text := range cited {
		language := languageOf(text)
		facts := value.Read(value.Tokenise(text), language == "en" || language == "" && s.Language == "en" &&
			!inSpanish(text, "es"))
		for n := range facts {
			if facts[n].Partner >= 0 {
				facts[n].Partner += len(all)
			}
		}
		all = append(all, facts...)
	}
	return all
}

// withoutFacts returns tokens whose facts, which are compared apart, are marks.
func withoutFacts(tokens []value.Token, facts []value.Value) []value.Token {
	tokens = slices.Clone(tokens)
	for _, f := range facts {
		for k := f.From; k < f.To; k++ {
			tokens[k].Folded = ""
		}
	}
	return tokens
}

// losses are words that make a positive figure of a claim the negative one of its
// source.
var losses = lexicon.NewPhrases("perdida*; negativ*; loss*; lost; perdio; negative")

// figuresAgree reports whether the sources have every fact of a claim. Figures of one
// unit, dates and codes keep their order, so that two of them cannot change places; a range
// keeps both its ends.
func figuresAgree(claim, there []value.Value, folded string) bool {
	next := map[string]int{} // by unit: the first fact that may follow
	used := map[int]bool{}
	for _, f := range claim {
		key := strconv.Itoa(int(f.Kind)) + f.Unit
		at := slices.IndexFunc(there[next[key]:], f.Agrees)
		if at < 0 {
			return false
		}
		at += next[key]
		next[key] = at + 1
		if f.Kind == value.Date {
			next[key] = at // a part of the same date may follow
		}
		if f.Kind == value.Figure {
			if minus := there[at].Negative; minus != f.Negative && !(minus && losses.In(folded)) {
				return false
			}
		}
		used[at] = true
	}
	for at := range used {
		if p := there[at].Partner; p >= 0 && !used[p] {
			return false
		}
	}
	// A year without the quarter or half of the source would be another period.
	return !slices.ContainsFunc(claim, value.Value.IsYear) || slices.ContainsFunc(claim, value.Value.IsPeriod) ||
		!slices.ContainsFunc(there, value.Value.IsPeriod)
}

var (
	negations   = lexiconOf("negations")
	denied      = phrasesOf("denied") // those that deny a verb
	masked      = phrasesOf("masked")
	norClause   = strings.NewReplacer(" ni ", ", no ", " nor ", ", not ")
	clauseBreak = regexp.MustCompile(`[,;:()]| y | e | pero | sino | and | but `)
)

// polarityAgrees reports whether a claim has negations in as many clauses as its
// sources.
func polarityAgrees(claim, source string) bool {
	said, there := deniedClauses(claim), deniedClauses(source)
	return said == there && denied.In(unmasked(claim)) == denied.In(unmasked(source))
}

func deniedClauses(text string) int {
	n := 0
	for _, clause := range clauseBreak.Split(norClause.Replace(strings.ToLower(text)), -1) {
		for w := range strings.FieldsSeq(unmasked(clause)) {
			if negations.Has(w) {
				n++
				break
			}
		}
	}
	return n
}

// unmasked returns a folded text without the phrases that contain a negation or a
// word of intent but do not mean it: "no obstante", "lo previsto en".
func unmasked(text string) string {
	folded := lexicon.Fold(contractions.Replace(text))
	for _, phrase := range masked {
		folded = strings.ReplaceAll(folded, phrase, " ")
	}
	return folded
}

var (
	contractions = strings.NewReplacer("n't", " not", "n’t", " not")
	// unfolded are words that look like a word of intent after folding: the month May,
	// and sí.
	unfolded = regexp.MustCompile(`\bMay\b|(?:^|\PL)[sS]í(?:\PL|$)`)
)

// intents are the words that make a statement less than a plain fact. A claim has
// those of its sources, and no others.
var intents = []lexicon.Phrases{
	phrasesOf("plan"), phrasesOf("possible"), phrasesOf("proposal"), phrasesOf("condition"), phrasesOf("denial"), phrasesOf("cause"),
}

var (
	ahead  = phrasesOf("ahead")
	agreed = phrasesOf("agreed")
	future = regexp.MustCompile(`\p{Ll}(?:r(?:á|án|emos|à)|[aidb]ría|[aeidb]rían)(?:\P{L}|$)`) // "pagará", "pagaría"
)

// certaintyAgrees reports whether a claim is as certain as its sources: plans,
// possibilities, proposals, conditions, denials and causes are neither left out nor
// added, and what is still to come has not happened.
func certaintyAgrees(claim, source string) bool {
	said, there := unmasked(unfolded.ReplaceAllString(claim, " ")), unmasked(unfolded.ReplaceAllString(source, " "))
	for _, words := range intents {
		if words.In(said) != words.In(there) {
			return false
		}
	}
	toCome := func(text, folded string) bool { return ahead.In(folded) || future.MatchString(strings.ToLower(text)) }
	open := func(text, folded string) bool {
		return toCome(text, folded) || agreed.In(folded) || intents[0].In(folded) || intents[1].In(folded) ||
			intents[2].In(folded)
	}
	if toCome(claim, said) {
		return open(source, there)
	}
	return !toCome(source, there) || open(claim, said)
}

// opposites are pairs of words that a claim must not exchange.
var opposites = func() [][2]lexicon.Set {
	var all [][2]lexicon.Set
	for line := range strings.Lines(lists.Section("opposites")) {
		if one, other, ok := strings.Cut(line, " | "); ok {
			all = append(all, [2]lexicon.Set{lexicon.NewSet(one), lexicon.NewSet(other)})
		}
	}
	return all
}()

// directionAgrees reports whether a claim uses no word whose opposite, but not the
// word itself, is in its sources.
func directionAgrees(claim, there []value.Token) bool {
	uses := func(tokens []value.Token, words lexicon.Set) bool {
		return slices.ContainsFunc(tokens, func(t value.Token) bool { return t.Folded != "" && words.Has(t.Folded) })
	}
	for _, pair := range opposites {
		for side := range 2 {
			if uses(claim, pair[side]) && !uses(there, pair[side]) && uses(there, pair[1-side]) {
				return false
			}
		}
	}
	return true
}
