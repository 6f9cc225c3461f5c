package fact

import (
	"embed"
	"slices"
	"strings"
	"unicode/utf8"

	"pregon/internal/document/lexicon"
	"pregon/internal/document/value"
)

// The words of names and roles are sets of words, not phrases: lists/*.txt.
//
//go:embed lists/*.txt
var listFiles embed.FS

var lists = lexicon.Load(listFiles, "lists")

// name is the name of a person or of a company in a part.
type name struct {
	from int // first token, without the title of a person
	to   int
	text string
}

var (
	// particles stand between the words of a name.
	particles = lexicon.NewSet("de del la las los da do dos das di du van von der den zu le el san bin ben al d")
	// noName are words that begin with a capital letter in documents and are part of no
	// name of a person.
	noName = lists.Set("no name")
	// noCompany are words before the name of a company, often with a capital letter.
	noCompany = lists.Set("no company")
	titles    = lists.Set("titles")
	// firmWords end the name of a firm that has no legal form: "Grant Mirón Consultores".
	firmWords  = lists.Set("firm")
	legalForms = legalFormSet(lists.Section("legal forms"))
)

// legalFormSet returns legal forms of companies without their points, folded.
func legalFormSet(forms string) map[string]bool {
	set := map[string]bool{}
	for form := range strings.FieldsSeq(forms) {
		set[strings.ReplaceAll(lexicon.Fold(strings.NewReplacer(".", "", "/", "").Replace(form)), " ", "")] = true
	}
	return set
}

// longestName is the most tokens that a name has.
const longestName = 16

// legalForm reads the legal form of a company that begins at a token: S.A., "S. A.", SA,
// plc. It returns its end.
func (p *part) legalForm(i int) (end int, ok bool) {
	if !isCapitalAt(p, i) && p.word(i) != "plc" {
		return 0, false
	}
	if end, ok := p.luxembourgForm(i); ok {
		return end, true
	}
	letters := ""
	for k := i; k < min(i+12, len(p.tokens)); k++ {
		w := p.word(k)
		if w == "" || len(w) > 2 && k > i || k > i && p.mark(k-1) != "." {
			break
		}
		letters += w
		dotted := p.mark(k+1) == "."
		if legalForms[letters] && (k > i || dotted || len(w) > 1) {
			end = k + 1
			if dotted && (k > i || isAbbreviation(w)) {
				end++
			}
		}
		if !dotted {
			break
		}
		k++
	}
	return end, end > 0
}

// luxembourgForm reads "S.à r.l.", the only form with a space within.
func (p *part) luxembourgForm(i int) (end int, ok bool) {
	if p.word(i) != "s" || p.mark(i+1) != "." || p.word(i+2) != "a" {
		return 0, false
	}
	k := i + 3
	if p.mark(k) == "." {
		k++
	}
	if p.word(k) != "r" || p.mark(k+1) != "." || p.word(k+2) != "l" {
		return 0, false
	}
	if p.mark(k+3) == "." {
		return k + 4, true
	}
	return k + 3, true
}

func isAbbreviation(w string) bool { return w == "inc" || w == "ltd" || w == "corp" || w == "ltda" }

func isCapitalAt(p *part, i int) bool {
	return i >= 0 && i < len(p.tokens) && p.tokens[i].Folded != "" && p.tokens[i].IsCapital()
}

// companies returns the companies that a part names with their legal form.
func (p *part) companies() (found []name) {
	last := 0
	for i := 1; i < len(p.tokens); i++ {
		end, ok := p.legalForm(i)
		if !ok {
			continue
		}
		for range 2 { // "SOCIMI, S.A."
			next := end
			if p.mark(next) == "," {
				next++
			}
			if further, ok := p.legalForm(next); ok {
				end = further
			}
		}
		from := p.companyStart(i, last)
		if from < i {
			found = append(found, name{from, end, p.textOf(from, end)})
		}
		last = end
		i = end - 1
	}
	return found
}

// companyStart returns the first token of the name of a company whose legal form begins
// at a token.
func (p *part) companyStart(form, last int) int {
	from := form
	for k := form - 1; k >= max(last, form-longestName); k-- {
		w := p.word(k)
		switch {
		case p.startsCell(k + 1), isDashAlone(p, k): // "Madrid, 11 de mayo de 2026 - X, S.A."
			return from
		case p.mark(k) == "," && k == form-1, p.mark(k) == "&", p.mark(k) == "-", p.mark(k) == "'", p.mark(k) == "’":
			continue
		case p.mark(k) == "." && utf8.RuneCountInString(p.mark(k-1)) <= 2 && isCapitalAt(p, k-1):
			continue
		case p.mark(k) == "," && (p.word(k+1) == "socimi" || p.word(k+1) == "sicav"):
			continue
		case w == "", noCompany.Has(w) && !(k == form-1):
			return from
		case p.tokens[k].IsCapital() && !value.StopWords.Has(w), p.tokens[k].IsNumber() && isCapitalAt(p, k-1):
			from = k
		case particles.Has(w), w == "y", w == "e", w == "i", w == "and", w == "of":
			continue
		default:
			return from
		}
	}
	return from
}

// isDashAlone reports whether a dash with a space on both sides stands at a token.
func isDashAlone(p *part, k int) bool {
	return p.mark(k) == "-" && p.tokens[k].Spaced && k+1 < len(p.tokens) && p.tokens[k+1].Spaced
}

// startsCell reports whether a cell of a row begins at a token.
func (p *part) startsCell(i int) bool {
	_, found := slices.BinarySearchFunc(p.cells, i, func(c cell, i int) int { return c.from - i })
	return found
}

// textOf returns the words of a range of tokens in one line.
func (p *part) textOf(from, to int) string {
	if from >= to {
		return ""
	}
	return oneLine(p.text[p.tokens[from].At:p.tokens[to-1].End()])
}

// skipTitle returns the index behind the title of a person: D., D.ª, don, Ms.
func (p *part) skipTitle(i int) int {
	start := i
	for titles.Has(p.word(i)) && i-start < 8 {
		short := len(p.word(i)) <= 2
		if (p.word(i) == "en" || p.word(i) == "na") && !isCapitalAt(p, i) && p.mark(i-1) == "" {
			return start
		}
		i++
		if p.mark(i) == "." {
			i++
		}
		if m := p.mark(i); short && (m == "ª" || m == "º" || m == "*" || m == "°" || m == "a" && !p.tokens[i].Spaced) {
			i++
		}
	}
	return i
}

// person reads the name of a person that begins at a token, perhaps with a title. It
// needs two words with capital letters; without a title, none in a text in capitals.
func (p *part) person(i int) (found name, ok bool) {
	from := p.skipTitle(i)
	titled := from > i
	if !titled && (p.cells == nil && p.isShouted(i) || value.StopWords.Has(p.word(i))) {
		return name{}, false
	}
	words := 0
	to := from
	for k := from; k < min(from+longestName, len(p.tokens)); k++ {
		w := p.word(k)
		if k > from && p.startsCell(k) {
			break
		}
		switch {
		case p.isOfName(k):
			words++
			to = k + 1
			if len(w) == 1 && p.mark(k+1) == "." {
				k++
			}
			continue
		case k == from:
			return name{}, false
		case isJoint(p.mark(k)) && !p.tokens[k].Spaced && isCapitalAt(p, k+1):
			continue
		case particles.Has(w):
			continue
		case (w == "y" || w == "i") && words > 1 && p.isOfName(k+1) && !isCapitalAt(p, k+2):
			continue // Puig i Cadafalch
		}
		break
	}
	if words < 2 || !p.hasLongWord(from, to) || p.isCompanyAt(to) || firmWords.Has(p.word(to)) && isCapitalAt(p, to) {
		return name{}, false
	}
	return name{from, to, p.textOf(from, to)}, true
}

// hasLongWord reports whether a range of tokens has a word that is more than an initial:
// "L.P." is no name.
func (p *part) hasLongWord(from, to int) bool {
	return slices.ContainsFunc(p.tokens[from:to], func(t value.Token) bool { return len(t.Folded) > 2 })
}

// isOfName reports whether a token may be a word of the name of a person, or an initial.
func (p *part) isOfName(k int) bool {
	w := p.word(k)
	if !isCapitalAt(p, k) || noName.Has(w) || titles.Has(w) {
		return false
	}
	if len(w) == 1 {
		return p.mark(k+1) == "." || p.mark(k+1) == "'" || p.mark(k+1) == "’"
	}
	return !value.StopWords.Has(w)
}

// isJoint reports whether a mark joins two words of a name.
func isJoint(mark string) bool { return mark == "-" || mark == "‑" || mark == "'" || mark == "’" }

// isShouted reports whether all words around a token are in capitals, so that capital
// letters tell nothing about names.
func (p *part) isShouted(i int) bool {
	for k := max(0, i-6); k < min(i+9, len(p.tokens)); k++ {
		if text := p.tokens[k].Text; len(text) > 2 && text != strings.ToUpper(text) {
			return false
		}
	}
	return true
}

// isCompanyAt reports whether a legal form stands at the end of a name.
func (p *part) isCompanyAt(i int) bool {
	if p.mark(i) == "," {
		i++
	}
	_, ok := p.legalForm(i)
	return ok
}

// people returns the names of people in a range of tokens, in their order. The names of
// companies are none.
func (p *part) people(from, to int) (found []name) {
	for i := from; i < min(to, len(p.tokens)); i++ {
		n, ok := p.person(i)
		if !ok {
			if isCapitalAt(p, i) {
				i = p.skipCapitals(i)
			}
			continue
		}
		found = append(found, n)
		i = n.to - 1
	}
	return found
}

// skipCapitals returns the last word of a company that begins at a token, else the token.
func (p *part) skipCapitals(i int) int {
	for k := i; k < min(i+longestName, len(p.tokens)); k++ {
		w := p.word(k)
		if k > i && p.isCompanyAt(k) {
			return k
		}
		word := w != "" && (p.tokens[k].IsCapital() || particles.Has(w) || w == "y")
		if !word && p.mark(k) != "&" && p.mark(k) != "-" {
			break
		}
	}
	return i
}

// isCompany reports whether a name is that of the company of the report.
func (r *reading) isCompany(text string) bool {
	if r.Company == "" {
		return false
	}
	found, own := withoutForm(text), withoutForm(r.Company)
	return found == own || strings.HasSuffix(found, " d "+own) // "Consell d'Administració d'X, S.A."
}

// withoutForm returns a folded name without the legal form at its end: registers write
// "Sociedad Anónima" where documents write S.A.
func withoutForm(text string) string {
	words := strings.Fields(lexicon.Fold(text))
	for len(words) > 1 && (legalForms[words[len(words)-1]] || spelledForms.Has(words[len(words)-1])) {
		words = words[:len(words)-1]
	}
	return strings.Join(words, " ")
}

var spelledForms = lexicon.NewSet("sociedad anonima limitada unipersonal europea cotizada")
