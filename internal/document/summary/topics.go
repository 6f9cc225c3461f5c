package summary

import (
	"regexp"
	"slices"
	"strings"

	"pregon/internal/document/lexicon"
)

var (
	boilerplate = phrasesOf("boilerplate") // text that occurs in every report
	signature   = phrasesOf("signature")   // the line of a signatory
	saying      = phrasesOf("saying")      // how a company introduces its news
	preamble    = phrasesOf("preamble")    // how reports begin before their news
	// contact lines, addresses, marks of a register.
	contact = regexp.MustCompile(`(?i)@|https?:|www\.|\b(?:tel|tfno|telf|tel[eé]fono|fax|c\.?i\.?f|n\.?i\.?f)\b` +
		`\.?:?\s*[+(]?[a-z]?-?\d|\b(?:tomo|folio|hoja)\s+[\dm-]`)
	// placeAndDate is a line like "Sotohondo, a 3 de marzo de 2026."
	placeAndDate = regexp.MustCompile(`^ (?:en )?(?:[a-z]+ ){0,5}(?:a )?(?:dia )?\d{1,2} (?:de )?[a-z]+ (?:de |del )?\d{4} $`)
	// announced matches the phrases of a preamble that announce news without giving it.
	announced = regexp.MustCompile(` (?:lo siguiente|(?:la|el) siguiente (?:otra )?(?:informacion|hecho|comunicacion)` +
		`(?: (?:privilegiada|relevante|significativ[ao]))?|` +
		`the following(?: (?:inside|other relevant|relevant))?(?: information)?) `)
)

// longestSignature is in words. A longer line is a sentence about an event.
const longestSignature = 9

func isBoilerplate(text, folded string) bool {
	words := strings.Count(folded, " ") - 1
	switch {
	case boilerplate.In(folded), contact.MatchString(text), placeAndDate.MatchString(folded):
		return true
	case words <= longestSignature && signature.In(folded) && !saying.In(folded):
		return true
	}
	return words <= 14 && strings.HasPrefix(folded, " fdo ")
}

// kind is the use of a sentence for a summary.
type kind int

const (
	news       kind = iota
	lastResort      // used if there is no better sentence: the law and the news in one
	never
)

// kindOf returns the kind of a sentence.
func kindOf(text, folded string) kind {
	if isBoilerplate(text, folded) {
		return never
	}
	begins := folded[:min(len(folded), 60)]
	if !preamble.In(begins) {
		if rest := announced.FindStringIndex(folded); rest != nil && strings.Count(folded[rest[1]:], " ") < 4 {
			return never
		}
		return news
	}
	return preambleKind(folded)
}

// preambleKind searches for news after the law that a sentence begins with.
func preambleKind(folded string) kind {
	for _, phrase := range saying {
		at := strings.Index(folded, phrase)
		if at < 0 {
			continue
		}
		rest := folded[at+len(phrase)-1:]
		if promised := announced.FindStringIndex(rest); promised != nil {
			rest = rest[promised[1]-1:]
		}
		if strings.Count(rest, " ") > 6 {
			return lastResort
		}
	}
	return never
}

// topic is a subject of reports. It has the words that identify it in the category
// and the title, and the words that report the event.
type topic struct {
	about lexicon.Phrases
	cues  lexicon.Phrases
}

var topics = func() (all []topic) {
	for part := range strings.SplitSeq(strings.TrimSpace(lists.Section("topics")), "\n\n") {
		about, cues, _ := strings.Cut(part, "\n=\n")
		all = append(all, topic{lexicon.NewPhrases(about), lexicon.NewPhrases(cues)})
	}
	return all
}()

// deeds are the verbs of news of every topic.
var deeds = phrasesOf("deeds")

// doings are verbs that are as common in text without news.
var doings = phrasesOf("doings")

// cuesFor returns the cues for the topics of a report. The title identifies the
// topics, or else the category, which is broader. If neither does, cuesFor returns
// the cues of all topics.
func cuesFor(s Source) (cues lexicon.Phrases, sure bool) {
	for _, about := range []string{s.Title, s.Category} {
		about = lexicon.Fold(about)
		for _, t := range topics {
			if t.about.In(about) {
				cues = append(cues, t.cues...)
			}
		}
		if cues != nil {
			slices.Sort(cues)
			return slices.Compact(cues), true
		}
	}
	for _, t := range topics {
		cues = append(cues, t.cues...)
	}
	slices.Sort(cues)
	return slices.Compact(cues), false
}
