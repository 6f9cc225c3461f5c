package summary

import (
	"regexp"
	"strings"

	"pregon/internal/document/lexicon"
	"pregon/internal/document/passage"
)

// A document's text is data. A passage that addresses a program instead of a reader
// is not sent to the model, and is not accepted as evidence.

// markers matches the separators of a conversation with a model.
var markers = regexp.MustCompile(`(?i)<\||\[/?INST\]|<</?SYS>>|</?(?:system|assistant|user|instructions?|prompt|document[oa]?|s)>|` +
	`#{2,}\s*(?:instruc|system|sistema|respuesta|response|assistant|asistente|user|input|task|tarea)|` +
	`(?:^|\n|[.:;]\s)\s*(?:system|sistema|assistant|asistente|user|usuario|human|developer)\s*:|` +
	"```|\"(?:sentences|role|content)\"\\s*:|BEGIN (?:SYSTEM|PROMPT|INSTRUCTIONS)|END OF (?:DOCUMENT|PROMPT|SYSTEM)")

var toMachines = phrasesOf("toMachines")

// A command is a word of commands with a word of commanded at most fewWords later.
var (
	commands  = lexiconOf("commands")
	commanded = lexiconOf("commanded")
)

const (
	fewWords   = 6
	leastSpelt = 5 // single letters separated by spaces that spell a word
)

var speltWord = regexp.MustCompile(`ignor|instruc|prompt|asistent|assistant|sistema|system|olvid|forget`)

// roles are words of markers. Almost no passage contains them, so the slower search
// for markers is rarely needed.
var roles = phrasesOf("roles")

// speaksToMachine reports whether a passage addresses a program that reads it. A
// false positive only costs a paragraph of the document.
func speaksToMachine(text string) bool {
	folded := lexicon.Fold(text)
	if toMachines.In(folded) || givesOrders(folded) {
		return true
	}
	return (strings.ContainsAny(text, "<[#`\"") || roles.In(folded)) && markers.MatchString(text)
}

// givesOrders searches for commands, including those with separated letters.
func givesOrders(folded string) bool {
	reach := 0 // number of next words to which the last command applies
	var spelt []byte
	for w := range strings.FieldsSeq(folded) {
		if len(w) == 1 {
			spelt = append(spelt, w[0])
		} else {
			if len(spelt) >= leastSpelt && speltWord.Match(spelt) {
				return true
			}
			spelt = spelt[:0]
		}
		if commands.Has(w) {
			reach = fewWords
		} else if reach > 0 {
			if commanded.Has(w) {
				return true
			}
			reach--
		}
	}
	return len(spelt) >= leastSpelt && speltWord.Match(spelt)
}

// longestPassage is the most bytes of a page that are dropped at once.
const longestPassage = 1500

// paragraph is a block of a page with its sentences.
type paragraph struct {
	passage.Span
	sentences []passage.Span
	hostile   []bool // of each sentence: it or a neighbour addresses a program
}

// paragraphs reads a page. All sentences of a paragraph that addresses a program are
// hostile; if it is as long as a page, only those that do and their neighbours.
func paragraphs(page string) []paragraph {
	var found []paragraph
	announced := false // the paragraph before ends with a colon and is hostile
	for _, block := range passage.Blocks(page) {
		p := paragraph{Span: block, sentences: passage.Sentences(page, block)}
		p.hostile = make([]bool, len(p.sentences))
		text := block.Of(page)
		if announced || speaksToMachine(text) {
			long := len(text) > longestPassage
			for n, s := range p.sentences {
				if !long || speaksToMachine(s.Of(page)) {
					p.hostile[max(0, n-1)], p.hostile[n], p.hostile[min(n+1, len(p.hostile)-1)] = true, true, true
				}
			}
			announced = strings.HasSuffix(text, ":")
		}
		found = append(found, p)
	}
	return found
}
