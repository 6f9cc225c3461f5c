package summary

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"pregon/internal/document/lexicon"
	"pregon/internal/document/passage"
	plain "pregon/internal/text"
)

const (
	mostSentences   = 3
	shortestWords   = 5
	shortestBytes   = 25
	tellingWords    = 12
	longestSentence = 600       // in characters; more is too long for a summary
	longestSource   = 1500      // in characters; more is not one sentence
	longestRead     = 256 << 10 // in bytes; the news of a document comes earlier
)

// candidate is a sentence of the document that may report the event.
type candidate struct {
	Sentence
	kind   kind
	order  int  // in the document
	place  int  // the number of the sentence in the document, those that are no candidates included
	item   bool // of a list
	aside  bool // it is in a section after the news
	folded string
	stems  map[string]bool

	topical   bool // it has the topic of the title
	substance float64
	score     float64
}

// Extract chooses the sentences of the document that report the event, in the order of
// the document. The sentences are complete and verbatim, in Spanish or else in the document's own language. If no sentence is good
// enough, the method is None. Extract is deterministic.
func Extract(s Source) Summary {
	all := candidates(s)
	for _, language := range []string{"es", s.Language} {
		fit := slices.DeleteFunc(slices.Clone(all), func(c candidate) bool {
			return !c.short() || language == "es" && !inSpanish(c.Text, s.Language) || language != "es" &&
				!inLanguage(c.Text, language)
		})
		rate(s, fit)
		fit = slices.DeleteFunc(fit, func(c candidate) bool { return c.kind == never })
		if chosen := pick(fit); len(chosen) > 0 {
			return Summary{Method: Extractive, Language: language, Sentences: chosen}
		}
		if s.Language == "" {
			break
		}
	}
	return Summary{Method: None}
}

// short reports whether a sentence is short enough for a summary.
func (c *candidate) short() bool { return utf8.RuneCountInString(c.Text) <= longestSentence }

// Join returns the text of a summary. Every sentence in it ends with a full stop.
func Join(sentences []Sentence) string {
	var texts []string
	for _, s := range sentences {
		text := squeeze(s.Text)
		if !hasStop(text) {
			text += "."
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, " ")
}

// hasStop reports whether a text ends with the punctuation of a sentence.
func hasStop(text string) bool {
	text = strings.TrimRightFunc(text, passage.IsCloser)
	last, _ := utf8.DecodeLastRuneInString(text)
	return passage.IsStop(last)
}

func closes(text string) bool { return hasStop(text) || strings.HasSuffix(text, ":") }

// candidates returns the complete sentences of the document, except those that are
// never news and those that address a program.
func candidates(s Source) []candidate {
	var found []candidate
	open := false  // the page before ended within a sentence
	aside := false // a section after the news has begun
	left := longestRead
	place := 0
	for n, page := range s.Pages {
		page = plain.Prefix(page, left)
		left -= len(page)
		page = passage.LineBreaks.Replace(page)
		all := paragraphs(page)
		for k, p := range all {
			text := p.Of(page)
			aside = aside || len(found) > 0 && heads(text)
			cut := open && prose(text) || k > 0 && breaksOff(all[k-1], page, text)
			open = open && !prose(text)
			for i, at := range p.sentences {
				place++
				if i == 0 && cut || p.hostile[i] {
					continue
				}
				if c, ok := newCandidate(page, at); ok {
					c.Page = n + 1
					c.place = place
					c.order = len(found)
					c.item = passage.Lead.MatchString(text)
					c.aside = aside
					found = append(found, c)
				}
			}
		}
		open = open || endsOpen(page, all)
	}
	return found
}

// breaksOff reports whether a paragraph continues in the next one: it ends with a
// linking word, or it is not a title and its last sentence has no full stop.
func breaksOff(p paragraph, page, next string) bool {
	text := p.Of(page)
	if passage.Dangling(text) {
		return true
	}
	if !prose(text) || heads(text) || closes(text) {
		return false
	}
	first, _ := utf8.DecodeRuneInString(next[len(passage.Lead.FindString(next)):])
	return unicode.IsDigit(first) || len(p.sentences) > 1 // a title is one sentence
}

// heads reports whether a paragraph is the title of a section.
func heads(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	last, _ := utf8.DecodeLastRuneInString(text)
	return len(text) < 80 && unicode.IsUpper(first) && !passage.IsStop(last) && !strings.ContainsAny(text, ":;,\n") &&
		!passage.HasGap(text) && strings.Count(text, " ") < 10 && !strings.ContainsFunc(text, unicode.IsDigit)
}

// prose reports whether a paragraph is text, not a title or the header of a page.
func prose(text string) bool { return len(text) > 60 && !passage.AllCaps(text) }

// endsOpen reports whether the last paragraph of a page continues on the next one.
// The footer of the page may follow it.
func endsOpen(page string, all []paragraph) bool {
	return slices.ContainsFunc(all[max(0, len(all)-3):], func(p paragraph) bool {
		text := p.Of(page)
		return prose(text) && !closes(text)
	})
}

func newCandidate(page string, at passage.Span) (candidate, bool) {
	if at.End-at.Start < shortestBytes || passage.HasGap(at.Of(page)) {
		return candidate{}, false
	}
	quote := squeeze(passage.WithoutLead(page, at).Of(page))
	text := closed(quote)
	if !wellFormed(text) {
		return candidate{}, false
	}
	folded := lexicon.Fold(text)
	k := kindOf(text, folded)
	if k == never || strings.Count(folded, " ") <= shortestWords {
		return candidate{}, false
	}
	return candidate{
		Sentence: Sentence{Text: text, Quote: quote},
		kind:     k,
		folded:   folded,
		stems:    stems(folded),
	}, true
}

// closed returns a sentence that opens a list without its colon, if it has a
// meaning without the list: "Se convoca la Junta…, con el siguiente orden del día:".
func closed(text string) string {
	open, ok := strings.CutSuffix(text, ":")
	if !ok || strings.Count(text, " ") < tellingWords || !deeds.In(lexicon.Fold(text)) {
		return text
	}
	return open + "."
}

// wellFormed reports whether a text is a complete sentence, and not a title, a row
// of a table, a fragment or garbage.
func wellFormed(text string) bool {
	if len(text) < shortestBytes || utf8.RuneCountInString(text) > longestSource || !hasStop(text) || passage.AllCaps(text) {
		return false
	}
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(text, `«"“‘'¿¡(`))
	if !unicode.IsUpper(first) && !unicode.IsDigit(first) {
		return false
	}
	if _, words := passage.Heading(text); words > 1 {
		return false
	}
	for _, r := range text {
		if plain.Invisible(r) || r == utf8.RuneError || unicode.Is(unicode.Co, r) {
			return false
		}
	}
	return !isTable(text) && strings.Count(text, "(") == strings.Count(text, ")") && !leaders.MatchString(text)
}

// leaders are the dots of a table of contents.
var leaders = regexp.MustCompile(`\.{4,}|(?:\. ){4,}|_{3,}`)

// figures matches words of figures alone, and rows four of them in a row.
var (
	figures = regexp.MustCompile(`(?:^|\s)[(+–—-]*\d[\d.,/%€-]*[).,;:*%€]*(?:\s|$)`)
	rows    = regexp.MustCompile(`(?:(?:^|\s)[(+–—€$*-]*(?:\d[\d.,/%€-]*)?[).,;:*%€-]*){4}(?:\s|$)`)
)

// isTable reports whether a text is one or more rows of figures.
func isTable(text string) bool {
	words := strings.Fields(text)
	return rows.MatchString(text) || len(words) >= 6 &&
		5*len(figures.FindAllString(strings.Join(words, "  "), -1)) > 2*len(words)
}

// pick returns the best candidate and the others that are good enough to follow it.
func pick(all []candidate) []Sentence {
	ranked := withoutAside(all)
	slices.SortStableFunc(ranked, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(b.score, a.score), cmp.Compare(a.order, b.order))
	})
	chosen := choose(ranked, true)
	if chosen == nil {
		chosen = choose(ranked, false)
	}
	slices.SortFunc(chosen, func(a, b candidate) int { return a.order - b.order })
	var result []Sentence
	for _, c := range chosen {
		result = append(result, c.Sentence)
	}
	return result
}

// withoutAside omits the candidates of sections after the news that are not on the
// topic, unless there are no others.
func withoutAside(all []candidate) []candidate {
	kept := slices.DeleteFunc(slices.Clone(all), func(c candidate) bool { return c.aside && !c.topical })
	if len(kept) == 0 {
		return slices.Clone(all)
	}
	return kept
}

// choose takes candidates from the best down. If upright is set, a sentence that
// refers to the one before is taken only together with it.
func choose(ranked []candidate, upright bool) []candidate {
	var chosen []candidate
	for _, c := range ranked {
		if len(chosen) == mostSentences {
			break
		}
		if len(chosen) > 0 && (c.kind != news || c.score < min(chosen[0].score*worthBeside, enoughBeside)) {
			break
		}
		if len(chosen) > 0 && c.substance < leastBeside {
			continue
		}
		before := func(other candidate) bool { return other.order == c.order-1 }
		if upright && leans(c.Text) && !slices.ContainsFunc(chosen, before) {
			continue
		}
		again := func(other candidate) bool { return alike(c.stems, other.stems) }
		if !slices.ContainsFunc(chosen, again) {
			chosen = append(chosen, c)
		}
	}
	return chosen
}

// alike reports whether a sentence repeats another one.
func alike(a, b map[string]bool) bool {
	least := min(len(a), len(b))
	return least == 0 || shared(a, b)*4 >= least*3
}
