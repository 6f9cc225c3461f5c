package summary

import (
	"slices"
	"strings"
)

// The subject of a sentence is a name, a role such as "el comprador", or "la
// Sociedad", which is the issuer. A sentence must have the same subject as the
// document, because not every report is about its issuer.

// actor is a person or a company in a text.
type actor struct {
	from, to int    // tokens
	key      string // a name, or the key by which a role is compared
	kind     actorKind
}

type actorKind int

const (
	byName actorKind = iota
	byPart
	theFiler
)

var (
	// references are words that refer to the issuer, after an article.
	references = newLexicon("sociedad compania empresa entidad grupo emisora company group")
	// casts are roles. Their order determines which is the subject and which the object.
	casts = newLexicon(`demandant* demandad* querellant* querellad* comprador* vendedor* proveedor* filial* participada* matriz client* acreedor* deudor*
		arrendador* arrendatari* prestamista* prestatari* absorbent* absorbid* oferent* accionista* socio* socia garante* avalista* fiador* cedent* cesionari*
		adjudicatari* contratista* competidor* tercero terceros gestora depositari* inversor* banco emplead* trabajador*
		subsidiary parent supplier* customer* shareholder* creditor* debtor* buyer seller plaintiff defendant`)
	forms  = newLexicon("sa sl sau slu sicav socimi fi fim slp se nv bv plc ltd inc gmbh ag spa llc")
	acting = newLexicon("consejo junta administracion board")
	// beside are the prepositions that make a name a circumstance.
	beside = newLexicon("en desde hasta durante segun tras con para sobre ante contra por mediante entre in from with at by on")
	direct = newLexicon("a al de del to of")
	titles = newLexicon("d dª dna don dona sr sra sres mr mrs ms el la los las the un una su")
)

// actorsOf returns the actors of a text, in their order. The first word is always
// capitalized; if no name continues it, isName reports whether it is a name.
func actorsOf(s Source, t text, isName func(first string) bool) []actor {
	tokens := t.withoutFigures()
	company := fold(s.Company)
	var found []actor
	taken := map[int]bool{}
	for _, n := range namesOf(tokens) {
		words := n.words
		if first := words[0]; n.from == 0 {
			named := strings.Contains(company, " "+first+" ") || shouted(tokens[0].text) || isName(first)
			if stopWords.has(first) || openers.has(first) || isFinite(tokens, 0) || casts.has(first) || len(words) == 1 && !named {
				words = trimParticles(words[1:])
				n.from++
			}
		}
		if len(words) == 0 || len(words) == 1 && (forms.has(words[0]) || terms.has(words[0]) || stopWords.has(words[0])) {
			continue
		}
		a := actor{from: n.from, to: n.to, key: strings.Join(words, " ")}
		if strings.Contains(company, " "+a.key+" ") {
			a.kind = theFiler
		}
		for i := n.from; i < n.to; i++ {
			taken[i] = true
		}
		found = append(found, a)
	}
	for n, tok := range tokens {
		switch {
		case tok.folded == "" || taken[n]:
		case strings.HasPrefix(tok.folded, "accionista") && hasWord(tokens[max(0, n-4):n], acting): // the meeting
		case casts.has(tok.folded):
			found = append(found, actor{n, n + 1, casts.entry(tok.folded), byPart})
		case references.has(tok.folded) && n > 0 && articles.has(tokens[n-1].folded) && tokens[n-1].folded[0] != 'u' && !taken[n+1] &&
			(n+1 == len(tokens) || !casts.has(tokens[n+1].folded)):
			found = append(found, actor{n, n + 1, "", theFiler})
		}
	}
	slices.SortFunc(found, func(a, b actor) int { return a.from - b.from })
	return found
}

// opensAsName reports whether the first word of a document's sentence is probably a
// name: a verb or a parenthesis follows it.
func opensAsName(tokens []token, first string) bool {
	return len(tokens) > 1 && (isFinite(tokens, 1) || tokens[1].text == "," || tokens[1].text == "(") && !openers.has(first)
}

// same reports whether two actors are the same person or company.
func (a actor) same(b actor) bool {
	if a.kind != b.kind {
		return false
	}
	return a.kind == theFiler || a.kind == byPart && a.key == b.key ||
		a.kind == byName && (strings.Contains(" "+a.key+" ", " "+b.key+" ") || strings.Contains(" "+b.key+" ", " "+a.key+" "))
}

func (a actor) in(others []actor) bool { return slices.ContainsFunc(others, a.same) }

// finite are verb forms that are not recognizable by their ending.
var finite = newLexicon(`ha han habia habian haya hayan fue fueron es son era eran esta estan estaba sera seran se
	obtuv* obtiene* tuvo tuvieron tiene tienen hizo hicieron redujo redujeron produjo propuso propone* dispuso vino mantuv* mantiene* puso quiso dijo puede* podr* debe* preve preven
	comunica comunican informa informan anuncia anuncian acuerda acuerdan aprueba aprueban decide deciden vende venden compra compran adquiere adquieren gana ganan pierde pierden paga pagan
	nombra nombran cesa cesan dimite dimiten renuncia renuncian sube suben baja bajan cae caen crece crecen aumenta reduce reparte emite convoca inicia finaliza cierra abre pasa pasan
	firma lanza eleva rebaja registra alcanza asciende ascienden supera superan suma requiere presenta publica recibe transmite controla posee
	has have had is are was were will reported announced bought sold acquired issued appointed agreed approved`)

// isFinite reports whether a token is a finite verb.
func isFinite(tokens []token, i int) bool {
	form := strings.ToLower(tokens[i].text)
	return tokens[i].folded != "" && (finite.has(tokens[i].folded) || len(form) > 4 && hasEnding(form, []string{"ó", "aron", "ieron", "rá", "rán", "jeron"}))
}

// verbFrom returns the index of the first verb from an index, or the number of tokens.
func verbFrom(tokens []token, from int) int {
	for i := from; i < len(tokens); i++ {
		if isFinite(tokens, i) && (i == 0 || !articles.has(tokens[i-1].folded)) {
			return i
		}
	}
	return len(tokens)
}

// deed returns the key by which a verb is compared, skipping its auxiliaries.
func deed(tokens []token, verb int) string {
	for i := verb; i < min(verb+4, len(tokens)); i++ {
		if w := tokens[i].folded; w != "" && !stopWords.has(w) {
			return meaning(w)
		}
	}
	return ""
}

// leadOf returns the word before an actor, skipping articles and "don".
func leadOf(tokens []token, a actor) (word token, at int) {
	i := a.from - 1
	for i >= 0 && (titles.has(tokens[i].folded) && tokens[i].folded != "" || tokens[i].text == "." || tokens[i].text == "ª" || strings.ContainsAny(tokens[i].text, `"«“`)) {
		if tokens[i].text == "." && (i == 0 || !titles.has(tokens[i-1].folded)) && tokens[max(0, i-1)].text != "ª" {
			break
		}
		i--
	}
	if i < 0 {
		return token{}, -1
	}
	return tokens[i], i
}

// sameSubject reports whether a sentence has the subject of the document.
func sameSubject(s Source, said, document text) bool {
	theirs := actorsOf(s, document, func(first string) bool { return opensAsName(document.tokens, first) })
	ours := actorsOf(s, said, func(first string) bool { return actor{key: first}.in(theirs) })
	verb := verbFrom(document.tokens, 0)
	filer, foreign := false, false // the subjects of the document
	for _, a := range theirs {
		if a.from >= verb {
			continue
		}
		if a.kind == theFiler {
			filer = true
			continue
		}
		if before, at := leadOf(document.tokens, a); at >= 0 && beside.has(before.folded) && before.folded != "segun" {
			continue
		}
		foreign = true
		if !a.in(ours) {
			return false
		}
	}
	if head := headOf(document.tokens, verb, theirs); head != "" && !contentOf(said.tokens, lexicon{})[head] {
		return false
	}
	mine := subjectsOf(said.tokens, ours)
	for _, a := range mine {
		switch {
		case a.kind == theFiler:
			if foreign && !filer && !opensClause(document.tokens, theirs, a) || !sameReference(said.tokens, document.tokens[:verb], theirs, document.tokens, a) {
				return false
			}
		case !slices.ContainsFunc(theirs, func(d actor) bool { return d.same(a) && d.from < verb }) && !opensClause(document.tokens, theirs, a) && !appointed(said.tokens, document.tokens):
			return false
		}
	}
	return clausesHaveTheirs(said, document, ours, theirs, mine, verb)
}

// sameReference reports whether a sentence uses the document's word for the issuer
// if the document has two: the group is not the company.
func sameReference(said, region []token, theirs []actor, document []token, a actor) bool {
	words := map[string]bool{}
	for _, d := range theirs {
		if w := document[d.from].folded; d.kind == theFiler && references.has(w) {
			words[w] = true
		}
	}
	word := said[a.from].folded
	return len(words) < 2 || slices.ContainsFunc(region, func(t token) bool { return t.folded == word })
}

// headOf returns the meaning of the first noun of a text, or "" if it is a name, the
// issuer or its board.
func headOf(tokens []token, verb int, actors []actor) string {
	start := 0
	if len(tokens) > 0 && (beside.has(tokens[0].folded) || direct.has(tokens[0].folded) || tokens[0].folded == "como" || tokens[0].folded == "asimismo" || tokens[0].folded == "ademas") {
		comma := slices.IndexFunc(tokens[:verb], func(t token) bool { return t.text == "," })
		if comma < 0 {
			return ""
		}
		start = comma + 1
	}
	for i := start; i < verb; i++ {
		t := tokens[i]
		if slices.ContainsFunc(actors, func(a actor) bool { return i >= a.from && i < a.to }) {
			return ""
		}
		if t.folded == "" || t.isNumber() || stopWords.has(t.folded) || openers.has(t.folded) {
			continue
		}
		if references.has(t.folded) || acting.has(t.folded) || forms.has(t.folded) {
			return ""
		}
		if slices.ContainsFunc(actors, func(a actor) bool { return a.from == i+1 && a.kind == byName }) {
			return "" // "la agencia Calibra"
		}
		return meaning(t.folded)
	}
	return ""
}

// subjectsOf returns the actors before a sentence's verb that do not follow a
// preposition.
func subjectsOf(tokens []token, actors []actor) []actor {
	verb := verbFrom(tokens, 0)
	var found []actor
	for _, a := range actors {
		if a.from >= verb {
			break
		}
		before, at := leadOf(tokens, a)
		if at >= 0 && (beside.has(before.folded) || direct.has(before.folded) && (at == 0 || !acting.has(tokens[at-1].folded) && !casts.has(tokens[at-1].folded))) {
			continue
		}
		found = append(found, a)
	}
	return found
}

// opensClause reports whether an actor is the subject of a clause after the first.
func opensClause(tokens []token, actors []actor, who actor) bool {
	return slices.ContainsFunc(actors, func(a actor) bool { return a.same(who) && clauseVerb(tokens, a) >= 0 })
}

// clauseVerb returns the verb of the clause that an actor is the subject of, or
// -1.
func clauseVerb(tokens []token, a actor) int {
	before, at := leadOf(tokens, a)
	if at >= 0 && !isBreak(before) && before.folded != "que" && before.text != "." {
		return -1
	}
	depth := 0
	for i := a.to; i < len(tokens); i++ {
		switch {
		case tokens[i].text == ";" || tokens[i].text == ":":
			return -1
		case tokens[i].text == "(":
			depth++
		case tokens[i].text == ")":
			depth--
		case depth == 0 && isFinite(tokens, i):
			return i
		}
	}
	return -1
}

// clausesHaveTheirs reports whether a sentence that contains the verb of a clause of
// the document also contains the subject of that clause.
func clausesHaveTheirs(said, document text, ours, theirs, mine []actor, verb int) bool {
	content := contentOf(said.tokens, lexicon{})
	for _, a := range theirs {
		if a.from < verb {
			continue
		}
		v := clauseVerb(document.tokens, a)
		if v < 0 {
			continue
		}
		what := deed(document.tokens, v)
		if what == "" || !content[what] || deed(document.tokens, verb) == what && a.kind == theFiler {
			continue
		}
		if a.kind != theFiler && !a.in(ours) {
			return false
		}
		if a.kind == theFiler && slices.ContainsFunc(mine, func(m actor) bool { return m.kind != theFiler }) && !a.in(ours) {
			return false
		}
	}
	return true
}

// appointed reports whether a sentence is the passive form of a decision of a board
// on a person, such as an appointment.
func appointed(said, document []token) bool {
	return hasWord(said, newAppointed) && hasWord(said, passive) && hasWord(document, acting)
}

var (
	newAppointed = newLexicon("nombrad* designad* reelegid* ratificad* cesad*")
	passive      = newLexicon("sido fue fueron sera seran")
)

// sameOrder reports whether the actors of a sentence are in the document's order,
// and each follows the same word as in the document: a payment has a payer and a
// payee.
func sameOrder(s Source, said, document text) bool {
	theirs := actorsOf(s, document, func(first string) bool { return opensAsName(document.tokens, first) })
	ours := actorsOf(s, said, func(first string) bool { return actor{key: first}.in(theirs) })
	next := 0
	for _, a := range ours {
		at := slices.IndexFunc(theirs[next:], a.same)
		if at >= 0 {
			next += at + 1
		} else if a.in(theirs) && !(a.kind == theFiler && a.key != "" && len(ours) == 1) {
			return false
		}
	}
	for _, a := range ours {
		if len(theirs) < 2 || !a.in(theirs) {
			continue
		}
		if !sameLead(said.tokens, document.tokens, theirs, a) {
			return false
		}
		if who, ok := behind(said.tokens, document.tokens, theirs, a); ok && !slices.ContainsFunc(who, a.same) {
			return false
		}
	}
	return true
}

// sameLead reports whether a name follows a preposition that it follows in the
// document: "para" is not "de".
func sameLead(said, document []token, theirs []actor, a actor) bool {
	ours, at := leadOf(said, a)
	if at < 0 || a.kind != byName || !beside.has(ours.folded) && !direct.has(ours.folded) {
		return true
	}
	for _, d := range theirs {
		if !d.same(a) {
			continue
		}
		lead, at := leadOf(document, d)
		if at < 0 || !beside.has(lead.folded) && !direct.has(lead.folded) || lead.folded == ours.folded || lead.folded == ours.folded+"l" || lead.folded+"l" == ours.folded {
			return true
		}
	}
	return false
}

// behind returns the actors of the document that follow the same word and
// preposition as an actor of a sentence.
func behind(said, document []token, theirs []actor, a actor) (who []actor, ok bool) {
	before, at := leadOf(said, a)
	if at < 0 || !direct.has(before.folded) {
		return nil, false
	}
	word := ""
	for i := at - 1; i >= 0 && word == ""; i-- {
		if t := said[i]; t.folded != "" && !t.isNumber() && !stopWords.has(t.folded) {
			word = meaning(t.folded)
		}
	}
	for n, t := range document {
		if t.folded == "" || stopWords.has(t.folded) || meaning(t.folded) != word {
			continue
		}
		for _, d := range theirs {
			if d.from > n && slices.ContainsFunc(document[n+1:d.from], isBreak) {
				break
			}
			if lead, _ := leadOf(document, d); d.from > n && lead.folded != "" && lead.folded[0] == before.folded[0] && direct.has(lead.folded) {
				who = append(who, d)
				break
			}
		}
	}
	return who, len(who) > 0
}
