package summary

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Dropped is a rejected generated sentence and the reason.
type Dropped struct {
	Sentence
	Reason Reason
}

// Reason is the reason why a sentence was dropped. There are few values, so that a
// metric can use them as a label.
type Reason string

// The reasons.
const (
	BadForm         Reason = "form" // not one short sentence of plain text
	NotSpanish      Reason = "language"
	Advice          Reason = "advice"        // it gives advice to readers
	AboutMachines   Reason = "machine"       // it is about instructions or models
	QuoteNotFound   Reason = "quote"         // the quote is not in the document
	QuoteHostile    Reason = "hostile quote" // its evidence addresses a program
	WrongFigure     Reason = "figure"        // a figure, date or number that is not in the quote
	WrongPlace      Reason = "place"         // a correct figure attached to the wrong noun
	WrongName       Reason = "name"
	WrongPolarity   Reason = "negation"  // it denies a statement of the quote, or the reverse
	WrongDirection  Reason = "direction" // the opposite: up for down, bought for sold
	WrongWord       Reason = "word"      // a significant word that is not in the quote
	WrongCertainty  Reason = "certainty" // a plan presented as a completed event
	TooFarFromQuote Reason = "distance"  // it contains more than the quote
	Repeated        Reason = "repeated"
	Leaning         Reason = "leaning" // it refers to a sentence before it that was dropped
	TooMany         Reason = "too many"
)

const mostProposed = 12 // the rest is not checked

// Judge verifies generated sentences against the document and keeps at most three,
// in their order. A kept sentence has the complete sentence of the document that
// proves it, verbatim, and its page. A sentence that cannot be proved by comparing
// words is dropped: a missing sentence does no harm, a wrong one does.
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

// judge verifies one sentence. It returns the sentence to keep, or the reason to
// drop it.
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
	for n, st := range found.statements { // a single sentence must prove it
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

// contradicts compares a sentence with its evidence, a sentence of the document.
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

// factsAgree reports whether the quote contains every fact of a sentence.
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

// loses reports whether a sentence expresses in words that a figure is negative.
func loses(tokens []token) bool {
	return hasWord(tokens, opposites[upDown][1]) || hasWord(tokens, opposites[profitLoss][1]) || hasWord(tokens, negative)
}

var negative = newLexicon("negativ*")

// bothEnds reports whether a sentence that contains one end of a range also
// contains the other, in the same order.
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

// indexOf returns the index of the fact of a sentence that equals a fact of the
// document, or -1.
func (t text) indexOf(document fact) int {
	return slices.IndexFunc(t.facts, func(f fact) bool { return f.agrees(document) })
}

// withoutFigures returns the tokens with marks in place of figures and dates, whose
// capitals are not names: 5 M€.
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

// namesAgree reports whether the names of a sentence come from the quote, the title
// or the company, and are in the order of the quote: a sale has a buyer and a seller.
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
