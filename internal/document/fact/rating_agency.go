package fact

import "strings"

// named is an agency in a part.
type named struct {
	name     string
	from, to int
}

// knownAgencies are the short names of agencies by their first word.
var knownAgencies = map[string]string{
	"moody": "Moody's", "moodys": "Moody's", "fitch": "Fitch", "dbrs": "DBRS", "scope": "Scope", "axesor": "Axesor",
	"ethifinance": "EthiFinance", "creditreform": "Creditreform", "kbra": "KBRA", "jcr": "JCR", "inbonis": "Inbonis",
	"beka": "Beka", "arc": "ARC", "modefinance": "modefinance",
}

// agencyWords are words in the names of agencies.
var agencyWords = map[string]bool{
	"ratings": true, "rating": true, "calificacion": true, "crediticia": true, "crediticio": true, "credit": true, "calificaciones": true,
	"qualificacio": true, "crediticies": true, "creditici": true, "qualificacions": true, "crediticias": true, "crediticios": true,
}

// agencyCuts are the words for ratings that people leave out, with what follows, when they name
// an agency. "Calificación Crediticia" stays: it is how such an agency is called.
var agencyCuts = map[string]bool{
	"ratings": true, "rating": true, "calificaciones": true, "qualificacions": true, "credit": true,
}

// agencyEnds are other words at the end of the name of an agency. Others have them too, such
// as the analysts of banks.
var agencyEnds = map[string]bool{
	"research": true, "analisis": true, "analysis": true, "analytics": true, "services": true, "agency": true, "agencia": true,
	"analisi": true, "riesgos": true, "riesgo": true, "risk": true,
}

// agencyTitles are words before the name of an agency, or of a heading.
var agencyTitles = map[string]bool{
	"agencia": true, "agency": true, "la": true, "the": true, "el": true, "nueva": true, "nuevo": true, "primera": true, "primer": true,
	"comunicacion": true, "confirmacion": true, "mejora": true, "rebaja": true, "retirada": true, "asignacion": true, "que": true,
	"action": true, "upgrade": true, "downgrade": true, "accion": true, "long": true, "term": true, "issuer": true, "new": true, "default": true,
	"informacion": true, "a": true, "outlook": true, "watch": true, "service": true, "revision": true, "agencies": true, "subida": true, "corporate": true,
	"previous": true, "current": true, "short": true,
}

// mostAgencies is the number of names that are read in one part.
const mostAgencies = 20

// agencies returns the different agencies that a part names.
func (p *part) agencies(company string) (found []named) {
	for i := 0; i < len(p.tokens) && len(found) < mostAgencies; {
		a, ok := p.agencyAt(i)
		if !ok {
			i++
			continue
		}
		i = max(a.to, i+1)
		if company != "" && strings.Contains(strings.ToLower(company), strings.ToLower(a.name)) || p.isFormerName(a) {
			continue
		}
		if !hasAgency(found, a.name) {
			found = append(found, a)
		}
	}
	return found
}

// isFormerName reports whether an agency is only the old name of another: "EthiFinance
// Ratings (antes Axesor Rating)".
func (p *part) isFormerName(a named) bool {
	if p.mark(a.from-2) != "(" {
		return false
	}
	switch p.word(a.from - 1) {
	case "antes", "anteriormente", "formerly", "abans":
		return true
	}
	return false
}

// agenciesIn returns the agencies that begin in a range of tokens.
func (p *part) agenciesIn(from, to int) (found []named) {
	for i := from; i < min(to, len(p.tokens)); i++ {
		if a, ok := p.agencyAt(i); ok {
			found = append(found, a)
		}
	}
	return found
}

func hasAgency(all []named, name string) bool {
	for _, a := range all {
		if strings.EqualFold(a.name, name) {
			return true
		}
	}
	return false
}

// agencyAt reads the name of an agency that begins at a token.
func (p *part) agencyAt(i int) (named, bool) {
	if a, ok := p.knownAgency(i); ok {
		return a, true
	}
	if !p.tokens[i].IsCapital() || i > 0 && p.isNamePart(i-1) {
		return named{}, false
	}
	from := i
	end := i
	for end < len(p.tokens) && end-i < 8 && p.isNamePart(end) && (p.cells == nil || p.cellOf(end) == p.cellOf(i)) {
		end++
	}
	for from < end && agencyTitles[p.word(from)] {
		from++
	}
	own := 0
	typical := false
	for k := from; k < end; k++ {
		switch w := p.word(k); {
		case agencyWords[w]:
			typical = true
		case !agencyTitles[w]:
			own++
		}
	}
	announced := p.isAnnouncedAgency(i) || from > i && isAgencyWord(p.word(from-1)) || p.isAgencyKind(from+1, end)
	if own == 0 || from == end || !typical && !announced || agencyWords[p.word(from)] {
		return named{}, false
	}
	return named{p.shortName(from, end), from, end}, true
}

// shortName returns the name of an agency as people say it: "Fitch", not "Fitch Ratings
// España", "Balanza", not "Balanza Credit Research". The words for what it does and where stay
// only where nothing else is left.
func (p *part) shortName(from, to int) string {
	for k := from + 1; k < to; k++ {
		_, isForm := p.legalForm(k)
		if isForm || agencyCuts[p.word(k)] || p.isLegalMark(k) {
			to = k
		}
	}
	for to > from+1 && (agencyPlaces[p.word(to-1)] || agencyEnds[p.word(to-1)]) {
		to--
	}
	return p.tokenText(from, to)
}

// isLegalMark reports whether a comma stands before a legal form.
func (p *part) isLegalMark(k int) bool {
	if p.mark(k) != "," {
		return false
	}
	_, ok := p.legalForm(k + 1)
	return ok
}

// agencyPlaces are the places at the end of the name of an agency.
var agencyPlaces = map[string]bool{
	"espana": true, "iberica": true, "iberia": true, "spain": true, "europe": true, "europa": true, "global": true, "international": true,
	"espanya": true,
}

// isNamePart reports whether a token may be part of a name: a capital letter, and not a
// rating.
func (p *part) isNamePart(i int) bool {
	t := &p.tokens[i]
	return t.Folded != "" && t.IsCapital() && !(longTerm.MatchString(t.Text) && len(t.Text) > 1)
}

// isAnnouncedAgency reports whether the words before a name say that it is that of an agency:
// "la agencia de calificación crediticia X".
func (p *part) isAnnouncedAgency(i int) bool {
	const reach = 5
	for k := i - 1; k >= max(0, i-reach); k-- {
		switch w := p.word(k); {
		case isAgencyWord(w):
			return true
		case w != "de" && !agencyWords[w]:
			return false
		}
	}
	return false
}

// isAgencyKind reports whether a name has the word agency at its end, and what follows says of
// which kind: "Nivel Agencia de Calificación".
func (p *part) isAgencyKind(from, end int) bool {
	return from < end && isAgencyWord(p.word(end-1)) && p.word(end) == "de" && agencyWords[p.word(end+1)]
}

func isAgencyWord(w string) bool { return w == "agencia" || w == "agency" }

// knownAgency reads the name of one of the agencies that most issuers have.
func (p *part) knownAgency(i int) (named, bool) {
	w := p.word(i)
	if !p.tokens[i].IsCapital() && w != "modefinance" {
		return named{}, false
	}
	name, end := "", i+1
	switch {
	case w == "s" && p.mark(i+1) == "&" && p.word(i+2) == "p":
		name, end = "S&P", i+3
	case w == "standard" && (p.word(i+2) == "poor" || p.word(i+2) == "poors"):
		name, end = "S&P", i+3
	case w == "morningstar" && p.word(i+1) == "dbrs":
		name, end = "DBRS", i+2
	case w == "japan" && p.word(i+1) == "credit":
		name, end = "JCR", i+2
	case w == "kroll" && p.word(i+1) == "bond":
		name, end = "KBRA", i+2
	case w == "am" && p.word(i+1) == "best":
		name, end = "AM Best", i+2
	case knownAgencies[w] != "" &&
		(w != "scope" && w != "arc" && w != "beka" || agencyWords[p.word(i+1)] || isAgencyWord(p.word(i-1)) ||
			w == "scope" && p.isRatingVerb(i+1)):
		name = knownAgencies[w]
	default:
		return named{}, false
	}
	if isQuote(p.mark(end)) && p.word(end+1) == "s" {
		end += 2
	}
	for end < len(p.tokens) && p.isAgencySuffix(end) {
		end++
	}
	return named{name, i, end}, true
}

// isRatingVerb reports whether what an agency does stands at a token: "Scope mejora la perspectiva".
func (p *part) isRatingVerb(i int) bool {
	if isPerfect(p.word(i)) {
		return p.hasActionBetween(i, i+2)
	}
	return p.hasActionBetween(i, i+1)
}

// isAgencySuffix reports whether a word continues the long name of an agency.
func (p *part) isAgencySuffix(i int) bool {
	if !p.tokens[i].IsCapital() {
		return false
	}
	switch p.word(i) {
	case "ratings", "rating", "global", "investors", "service", "morningstar", "espana", "iberica", "gmbh", "agency":
		return true
	}
	return false
}

// tokenText returns the text of a range of tokens.
func (p *part) tokenText(from, to int) string {
	return oneLine(p.text[p.tokens[from].At:p.tokens[to-1].End()])
}
