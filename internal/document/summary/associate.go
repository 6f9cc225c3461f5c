package summary

import "slices"

// A correct number may be attached to the wrong noun: the revenue given as the
// profit, the date of the meeting as that of the payment. So if the document has
// several facts of a group, each of its words belongs to one of them, and a
// sentence may use a fact only with words that belong to it.

// generic are words that any figure may have.
var generic = newLexicon(`consej* administr* sociedad* compan* entidad* empresa* grupo* acord* acuerd* aprob* aprueb* decid* comunic* inform* anunci*
	ascend* ascien* alcanz* situ* obten* obtuv* registr* logr* total* importe* cantidad* cifr* euro* millon* mil miles eur ha han fue era ser
	reunion* celebr* fecha* dia partir efect* company group board announc* report* reach* amount*`)

// attaching words attach the next words to the fact before them: "12 % más", "5
// millones de beneficio".
var attaching = newLexicon("de del mas menos en por sobre anual anuales como of in more less per higher lower")

// text is a sentence, or a quote, with its facts.
type text struct {
	tokens []token
	facts  []fact
	common map[string]bool // words that any fact may have: the company's name
	only   *lexicon        // the words that count; nil if all do
}

// wordAt returns the key by which a token is compared, or "" if the token has no
// meaning of its own. Facts are compared by their value.
func (t text) wordAt(i int) string {
	for _, f := range t.facts {
		if i >= f.from && i < f.to {
			switch {
			case i > f.from:
				return ""
			case f.kind == aFigure:
				return f.value.String()
			case f.kind == aWord:
				return f.text
			}
			return ""
		}
	}
	w := t.tokens[i].folded
	if w == "" || stopWords.has(w) || generic.has(w) || t.common[meaning(w)] || t.only != nil && !t.only.has(w) {
		return ""
	}
	return meaning(w)
}

// owners returns, for each word, the facts of a group that it belongs to. Words
// between two facts belong to the first if they are attached to it or come before
// an "y", and otherwise to the second.
func (t text) owners(group string) map[string][]int {
	owners := map[string][]int{}
	claim := func(from, to, owner int) {
		for i := from; i < to; i++ {
			if w := t.wordAt(i); w != "" {
				owners[w] = append(owners[w], owner)
			}
		}
	}
	start := 0
	mine := t.inGroup(group)
	for k, n := range mine {
		f := t.facts[n]
		claim(start, f.from, n)
		if k+1 == len(mine) {
			claim(f.to, len(t.tokens), n)
			break
		}
		next := t.facts[mine[k+1]].from
		start = max(f.to+t.attached(f.to, next), t.lastAnd(f.to, next))
		claim(f.to, start, n)
	}
	return owners
}

// lastAnd returns the index of the last "y" or semicolon between two indexes, or 0.
func (t text) lastAnd(from, to int) int {
	for i := to - 1; i >= from; i-- {
		if w := t.tokens[i].folded; w == "y" || w == "e" || w == "and" || t.tokens[i].text == ";" {
			return i
		}
	}
	return 0
}

// attached returns how many of the tokens between two facts belong to the first:
// the tokens attached to it, or a figure in apposition ("84 millones, un 12 % más").
func (t text) attached(from, to int) int {
	if from >= to {
		return 0
	}
	i := from
	if mark := t.tokens[from].text; mark == "," || mark == "(" {
		beside := t.figureBeside(from + 1)
		if beside == 0 || beside >= to {
			return 0
		}
		i = beside
	} else if !attaching.has(t.tokens[from].folded) {
		return 0
	}
	for i < to && !isBreak(t.tokens[i]) {
		i++
	}
	return i - from
}

// figureBeside returns the end of a figure that begins here or after an article or
// a sign, or 0.
func (t text) figureBeside(i int) int {
	for _, f := range t.facts {
		if f.kind != aFigure || f.from < i || f.from > i+1 {
			continue
		}
		if f.from == i || articles.has(t.tokens[i].folded) || t.tokens[i].folded == "" {
			return f.to
		}
	}
	return 0
}

// inGroup returns the facts of a group.
func (t text) inGroup(group string) []int {
	var found []int
	for n, f := range t.facts {
		if f.group() == group {
			found = append(found, n)
		}
	}
	return found
}

// about returns the words of a sentence that belong to one of its facts: the words
// before it, or the words after it if there are none before.
func (t text) about(n int) []string {
	f := t.facts[n]
	start, alone := 0, true
	for _, k := range t.inGroup(f.group()) {
		if k < n {
			before := t.facts[k].to
			start = max(before+t.attached(before, f.from), t.lastAnd(before, f.from))
		}
		alone = alone && k <= n
	}
	for i := f.from - 1; i >= start; i-- { // the clause is enough
		if isBreak(t.tokens[i]) && t.hasWords(i+1, f.from) {
			start = i + 1
			break
		}
	}
	end := f.to + t.attached(f.to, len(t.tokens))
	if alone && !t.hasWords(start, f.from) {
		for end = f.to; end < len(t.tokens) && !isBreak(t.tokens[end]); {
			end++
		}
	}
	var words []string
	for i := start; i < end; i++ {
		if w := t.wordAt(i); w != "" && (i < f.from || i >= f.to) {
			words = append(words, w)
		}
	}
	return words
}

// hasWords reports whether there are words other than stop words.
func (t text) hasWords(from, to int) bool {
	for i := from; i < to; i++ {
		if w := t.tokens[i].folded; w != "" && !stopWords.has(w) {
			return true
		}
	}
	return false
}

// wellPut reports whether every fact of a sentence has the words that it has in
// the document.
func wellPut(sentence, document text) bool {
	for n, f := range sentence.facts {
		group := f.group()
		if group == "" || len(document.inGroup(group)) < 2 {
			continue
		}
		if f.compared {
			continue // its role was compared already
		}
		meant := document.withPairs(matches(f, document))
		owners := document.owners(group)
		words := sentence.about(n)
		if len(sentence.inGroup(group)) == 1 { // the words after it belong to it too
			for i := f.to; i < len(sentence.tokens) && !isBreak(sentence.tokens[i]); i++ {
				if sentence.tokens[i].isCapital() {
					words = append(words, sentence.wordAt(i))
				}
			}
		}
		for _, w := range words {
			if theirs := owners[w]; len(theirs) > 0 && !intersects(theirs, meant) {
				return false
			}
		}
	}
	return wellParted(sentence, document)
}

// wellParted compares which words belong to which fact, for a sentence with
// several facts of a group.
func wellParted(sentence, document text) bool {
	seen := map[string]bool{}
	for _, f := range sentence.facts {
		group := f.group()
		if group == "" || seen[group] || len(sentence.inGroup(group)) < 2 {
			continue
		}
		seen[group] = true
		theirs := document.owners(group)
		for w, ours := range sentence.owners(group) {
			var meant []int
			for _, n := range sentence.withPairs(ours) {
				meant = append(meant, document.withPairs(matches(sentence.facts[n], document))...)
			}
			if len(theirs[w]) > 0 && !intersects(theirs[w], meant) {
				return false
			}
		}
	}
	return true
}

// matches returns the facts of the document that a fact may come from.
func matches(f fact, document text) []int {
	var found []int
	for n, d := range document.facts {
		if f.agrees(d) {
			found = append(found, n)
		}
	}
	return found
}

// withPairs adds the facts that are paired with some facts.
func (t text) withPairs(facts []int) []int {
	all := slices.Clone(facts)
	for _, n := range facts {
		for k, other := range t.facts {
			if k != n && other.pair != 0 && other.pair == t.facts[n].pair {
				all = append(all, k)
			}
		}
	}
	return all
}

func intersects(a, b []int) bool {
	for _, x := range a {
		for _, y := range b {
			if x == y {
				return true
			}
		}
	}
	return false
}

// parts are the roles of people and companies in a report.
var parts = newLexicon(`president* vicepresident* secretari* vocal* delegad* director* dominical* independiente* ejecutiv*
	absorbent* absorbid* gestora* depositari* oferente* comprador* vendedor* emisor*`)

// wellCast reports whether every person and company has the same role in a
// sentence as in the document.
func wellCast(sentence, document []token) bool {
	there := castOf(document)
	theirs := there.owners("name")
	for _, clause := range clauses(sentence) {
		said := castOf(clause)
		for part, ours := range said.owners("name") {
			var meant []int
			for _, n := range ours {
				meant = append(meant, matches(said.facts[n], there)...)
			}
			if len(meant) > 0 && len(theirs[part]) > 0 && !intersects(theirs[part], meant) {
				return false
			}
		}
	}
	return true
}

func castOf(tokens []token) text {
	t := text{tokens: tokens, only: &parts}
	for _, n := range namesOf(tokens) {
		t.facts = append(t.facts, fact{kind: aName, from: n.from, to: n.to, text: n.String()})
	}
	return t
}
