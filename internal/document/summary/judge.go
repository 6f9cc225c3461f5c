package summary

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Dropped is a generated sentence that was not good enough, and why.
type Dropped struct {
	Sentence
	Reason Reason
}

// Reason returns why a sentence was dropped. The set is closed, so that it can
// label a metric.
type Reason string

// The reasons.
const (
	BadForm         Reason = "form" // not one short sentence of plain text
	NotSpanish      Reason = "language"
	Advice          Reason = "advice"        // it tells readers what to do
	AboutMachines   Reason = "machine"       // it speaks of instructions and models
	QuoteNotFound   Reason = "quote"         // the document does not say so
	QuoteHostile    Reason = "hostile quote" // what it rests on speaks to a machine
	WrongFigure     Reason = "figure"        // a figure, date or number that the quote has not
	WrongPlace      Reason = "place"         // a true figure put to the wrong thing
	WrongName       Reason = "name"
	WrongPolarity   Reason = "negation"  // it denies what the quote says, or the other way round
	WrongDirection  Reason = "direction" // up for down, bought for sold
	WrongWord       Reason = "word"      // a word that makes a difference, and the quote has not
	WrongCertainty  Reason = "certainty" // a plan told as a deed
	TooFarFromQuote Reason = "distance"  // it says more than the quote does
	Repeated        Reason = "repeated"
	Leaning         Reason = "leaning" // the sentence before, which it leans on, is not there
	TooMany         Reason = "too many"
)

const mostProposed = 12 // the rest is not looked at

// Judge checks generated sentences against the document, and keeps at most
// three, in their order. A kept sentence carries the whole sentence of the
// document that proves it, in the document's own characters, and its page. Whatever cannot be proved by
// comparing words is dropped: a sentence less does no harm, a wrong one does.
func Judge(s Source, proposed []Sentence) (kept []Sentence, dropped []Dropped) {
	document := newPages(s)
	follows := false // the sentence before was kept
	for n, p := range proposed {
		reason := TooMany
		if len(kept) < mostSentences && n < mostProposed {
			p, reason = judge(s, document, p)
		}
		switch folded := fold(p.Text); {
		case reason != "":
		case leans(p.Text) && !follows:
			reason = Leaning
		case slices.ContainsFunc(kept, func(k Sentence) bool { return alike(stems(fold(k.Text)), stems(folded)) }):
			reason = Repeated
		}
		if follows = reason == ""; follows {
			kept = append(kept, p)
		} else {
			dropped = append(dropped, Dropped{p, reason})
		}
	}
	return kept, dropped
}

// judge checks one sentence and returns it as it is kept, or why it is not.
func judge(s Source, document *pages, p Sentence) (Sentence, Reason) {
	text := strings.TrimSpace(p.Text)
	if reason := badText(text); reason != "" {
		return p, reason
	}
	found, ok := document.find(p.Quote, p.Page)
	if !ok {
		return p, QuoteNotFound
	}
	if found.hostile {
		return p, QuoteHostile
	}
	first := TooFarFromQuote
	for n, st := range found.statements { // one sentence proves it, or none
		reason := contradicts(s, text, st)
		if reason == "" {
			return Sentence{Text: squeeze(text), Page: found.page, Quote: st.text}, ""
		}
		if n == 0 {
			first = reason
		}
	}
	return p, first
}

// contradicts compares a sentence with the one of the document that it rests on.
func contradicts(s Source, sentence string, st statement) Reason {
	if !st.whole || len(st.text) > longestProof {
		return TooFarFromQuote
	}
	english := !inSpanish(st.text, "es")
	company := contentOf(tokenise(s.Company), lexicon{})
	said := text{tokens: tokenise(sentence), common: company}
	said.facts = factsOf(said.tokens, false)
	there := text{tokens: tokenise(st.text), common: company}
	there.facts = factsOf(there.tokens, english)
	switch {
	case !factsAgree(said, there):
		return WrongFigure
	case !namesAgree(s, said.withoutFigures(), there.tokens), !sameSubject(s, said, there):
		return WrongName
	case !samePolarity(said.tokens, there.tokens), !standsAlike(sentence, st):
		return WrongPolarity
	case !sameDirection(said.tokens, there):
		return WrongDirection
	case !sameTerms(said.tokens, there.tokens), !sameQualifiers(said.tokens, there.tokens):
		return WrongWord
	case !sameCertainty(said.tokens, there.tokens), !sameTense(said.tokens, there.tokens):
		return WrongCertainty
	case !wellPut(said, there), !wellCast(said.tokens, there.tokens), !sameOrder(s, said, there), !sameVoice(said.tokens, there.tokens):
		return WrongPlace
	case !addsNothing(s, said, there), !governed(s, said, there):
		return TooFarFromQuote
	}
	return ""
}

// factsAgree reports whether the quote has every fact of a sentence.
func factsAgree(said, quote text) bool {
	for _, f := range said.facts {
		ok := false
		for _, n := range matches(f, quote) {
			d := quote.facts[n]
			ok = ok || f.compared == d.compared && (f.negative == d.negative || d.negative && !d.doubtful && loses(said.tokens)) && bothEnds(said, quote, n)
		}
		if !ok {
			return false
		}
	}
	for _, t := range quote.tokens {
		if strings.HasPrefix(t.folded, "respectiv") && len(said.facts) > 0 && !hasWord(said.tokens, newLexicon("respectiv*")) {
			return false
		}
	}
	return true
}

// loses reports whether a sentence says in words that a figure is negative.
func loses(tokens []token) bool {
	return hasWord(tokens, opposites[upDown][1]) || hasWord(tokens, opposites[profitLoss][1]) || hasWord(tokens, negative)
}

var negative = newLexicon("negativ*")

// bothEnds reports whether a sentence that has one end of a range has the other,
// on its side.
func bothEnds(said, quote text, n int) bool {
	if !quote.facts[n].between {
		return true
	}
	for _, k := range quote.withPairs([]int{n}) {
		if k == n {
			continue
		}
		first, second := said.indexOf(quote.facts[min(k, n)]), said.indexOf(quote.facts[max(k, n)])
		return first >= 0 && second > first
	}
	return false // the other end is not in the quote
}

// indexOf returns which fact of a sentence is that of the document, or -1.
func (t text) indexOf(document fact) int {
	return slices.IndexFunc(t.facts, func(f fact) bool { return f.agrees(document) })
}

// withoutFigures returns the tokens with marks in the place of figures and
// dates, whose capitals are no names: 5 M€.
func (t text) withoutFigures() []token {
	tokens := slices.Clone(t.tokens)
	for _, f := range t.facts {
		if f.kind == aFigure || f.kind == aDate {
			for i := f.from; i < f.to; i++ {
				tokens[i] = token{text: "#"}
			}
		}
	}
	return tokens
}

// namesAgree reports whether the names of a sentence are those of the quote, the
// title or the company, and in the quote's order: who buys whom.
func namesAgree(s Source, said, quote []token) bool {
	content := contentOf(quote, lexicon{})
	if !newKnown(quote, s).names(said, content) {
		return false
	}
	all, rest := capitalRun(quote), capitalRun(quote)
	for _, n := range namesOf(said) {
		run := " " + n.String() + " "
		at := strings.Index(rest, run)
		switch {
		case at >= 0:
			rest = rest[at+len(run)-1:]
		case strings.Contains(all, run):
			return false
		}
	}
	return lettersAgree(said, quote)
}

// lettersAgree compares single capital letters with the word before: "clase A".
func lettersAgree(said, quote []token) bool {
	for n, t := range said {
		if n == 0 || utf8.RuneCountInString(t.text) != 1 || t.folded == "" || !t.isCapital() || isInitial(said, n) || said[n-1].text == "." {
			continue
		}
		if !slices.ContainsFunc(quote, func(q token) bool { return q.text == t.text }) {
			return false
		}
	}
	return true
}
