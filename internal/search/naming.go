package search

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"pregon/internal/text"
)

// legalName is a folded name with and without its legal form.
type legalName struct {
	whole string // with the abbreviation of its legal form
	bare  string // the same as whole if the name has no legal form
}

// fullName folds a name. Its legal form is at its end: "S.A.", "S A" and "Sociedad
// Anónima" are one, and "S.A., S.M.E." are two.
func fullName(s string) legalName {
	words := joinLetters(text.Words(s))
	var forms []string // the last first
	for {
		n, form := lastForm(words)
		if n == 0 {
			break
		}
		words = words[:len(words)-n]
		forms = append(forms, form)
	}
	bare := strings.Join(words, " ")
	if len(forms) == 0 {
		return legalName{bare, bare}
	}
	slices.Reverse(forms)
	return legalName{bare + " " + strings.Join(forms, " "), bare}
}

// lastForm returns the number of words of the legal form at the end of a name, and its
// abbreviation. It is zero if there is none, or nothing before it.
func lastForm(words []string) (n int, form string) {
	for n := min(len(words)-1, maxFormWords); n > 1; n-- {
		if form := longForms[strings.Join(words[len(words)-n:], " ")]; form != "" {
			return n, form
		}
	}
	if last := len(words) - 1; last > 0 && legalForms[words[last]] {
		return 1, words[last]
	}
	return 0, ""
}

// joinLetters makes one word of the last letters if they are a legal form.
func joinLetters(words []string) []string {
	n := len(words)
	for n > 0 && len(words)-n < maxFormLetters && len(words[n-1]) == 1 {
		n--
	}
	form := strings.Join(words[n:], "")
	if n == 0 || !legalForms[form] {
		return words
	}
	return append(words[:n:n], form)
}

// maxFormLetters is the number of letters of the longest legal form that is written
// with a blank after each.
const maxFormLetters = 4

// longForms are the abbreviations of legal forms that are written out, which are folded.
var longForms = map[string]string{
	"sociedad anonima":              "sa",
	"sociedad anonima unipersonal":  "sau",
	"sa unipersonal":                "sau",
	"sociedad anonima europea":      "se",
	"sociedad europea":              "se",
	"sociedad anonima deportiva":    "sad",
	"sociedad limitada":             "sl",
	"sociedad limitada unipersonal": "slu",
	"sl unipersonal":                "slu",
	"sociedad limitada laboral":     "sll",
	"sociedad mercantil estatal":    "sme",
	"sociedad cooperativa":          "scoop",
	"s coop":                        "scoop",

	"sociedad de responsabilidad limitada":             "sl",
	"sociedad de responsabilidad limitada unipersonal": "slu",

	"fondo de titulizacion":             "ft",
	"fondo de titulizacion de activos":  "fta",
	"fondo de titulizacion hipotecaria": "fth",
}

// maxFormWords is the number of words of the longest of longForms.
const maxFormWords = 5

// particles are folded words that are left out of names in speech. Names that differ only
// in them rarely belong to two companies.
var particles = map[string]bool{
	"de": true, "del": true, "la": true, "el": true, "las": true, "los": true, "y": true,
	"of": true, "the": true, "and": true,
}

// brief returns a folded name without particles.
func brief(bare string) string {
	return strings.Join(slices.DeleteFunc(strings.Fields(bare), func(w string) bool { return particles[w] }), " ")
}

// briefName is fullName without particles.
func briefName(s string) legalName {
	n := fullName(s)
	return legalName{brief(n.whole), brief(n.bare)}
}

// ofName returns the issuers with a name, in any spelling: those with exactly this
// name or else, if it has no legal form, those whose name is the same apart from
// theirs. Present names take precedence over former ones. If there are none, names may
// differ in particles too.
func (d *Directory) ofName(s string) []*Issuer {
	asked := fullName(s)
	if found := named(d.byBare[asked.bare], asked, fullName); len(found) > 0 {
		return found
	}
	asked = briefName(s)
	return named(d.byBrief[asked.bare], asked, briefName)
}

// named returns those of some issuers that have a name, in the form of fold.
func named(some []*Issuer, asked legalName, fold func(string) legalName) []*Issuer {
	if asked.bare == "" {
		return nil
	}
	formerly := func(e *Issuer) bool {
		return slices.ContainsFunc(e.Issuer.FormerNames, func(s string) bool { return fold(s).whole == asked.whole })
	}
	var exact, present, former []*Issuer
	for _, e := range some {
		own := fold(e.Issuer.Name)
		switch {
		case own.whole == asked.whole:
			exact = append(exact, e)
		case own.bare == asked.bare && asked.bare == asked.whole:
			present = append(present, e)
		case asked.bare == asked.whole || formerly(e):
			former = append(former, e)
		}
	}
	for _, found := range [][]*Issuer{exact, present, former} {
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// Unresolved says why a text names no issuer, or more than one.
type Unresolved struct {
	Sentence string    // for people and models
	Near     []*Issuer // issuers that may be meant, the best first
}

// Limits of a sentence about issuers.
const (
	maxNear      = 3   // issuers that it names
	maxShown     = 100 // characters of a text in it
	maxNearWords = 8   // words of a text for which similar names are searched
)

// Resolve returns the issuer that a text names: by an identifier, a ticker or its
// name. If that is none or more than one, it says so.
func (d *Directory) Resolve(s string) (*Issuer, *Unresolved) {
	found := d.Lookup(s)
	switch len(found) {
	case 0:
		return nil, d.unknown(s)
	case 1:
		return found[0], nil
	}
	said := fmt.Sprintf("Several issuers are called %s: %s", Quoted(s), strings.Join(issuerNames(found), ", "))
	if more := len(found) - maxNear; more > 0 {
		said += fmt.Sprintf(" and %d more", more)
	}
	return nil, &Unresolved{said + ". Use an id.", found[:min(len(found), maxNear)]}
}

func (d *Directory) unknown(s string) *Unresolved {
	near := d.similar(s)
	said := "Unknown issuer " + Quoted(s) + "."
	if len(near) == 0 {
		return &Unresolved{Sentence: said + " Give its ticker, NIF, ISIN, LEI, id or full name."}
	}
	return &Unresolved{said + " Did you mean " + OrList(issuerNames(near)) + "?", near}
}

// similar returns issuers that a search finds by the words of a text. While there are
// none it leaves out the last word.
func (d *Directory) similar(s string) []*Issuer {
	words := text.Words(s)
	for n := min(len(words), maxNearWords); n > 0; n-- {
		// the text is short, so the search is
		found, _ := d.Search(context.Background(), strings.Join(words[:n], " "), "", maxNear)
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

func issuerNames(issuers []*Issuer) (out []string) {
	for _, e := range issuers[:min(len(issuers), maxNear)] {
		out = append(out, Visible(e.Issuer.Name)+" ("+e.Issuer.ID+")")
	}
	return out
}

// OrList joins alternatives for a sentence.
func OrList(all []string) string {
	if n := len(all) - 1; n > 0 {
		return strings.Join(all[:n], ", ") + " or " + all[n]
	}
	return strings.Join(all, "")
}

// Quoted returns a text of a caller for a sentence: in quotation marks, on one line,
// and not longer than a line.
func Quoted(s string) string { return strconv.Quote(text.Clip(s, maxShown)) }

// Visible returns a text of the source for a sentence: on one line, without invisible
// characters, and not longer than a line.
func Visible(s string) string {
	s = strings.Map(func(c rune) rune {
		switch {
		case unicode.IsSpace(c):
			return ' '
		case text.Invisible(c):
			return -1
		}
		return c
	}, text.Clip(s, maxShown))
	return strings.Join(strings.Fields(s), " ")
}
