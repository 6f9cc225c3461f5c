package summary

import (
	"regexp"
	"strings"
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
	folded := fold(text)
	if toMachines.in(folded) || givesOrders(folded) {
		return true
	}
	return (strings.ContainsAny(text, "<[#`\"") || roles.in(folded)) && markers.MatchString(text)
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
		if commands.has(w) {
			reach = fewWords
		} else if reach > 0 {
			if commanded.has(w) {
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
	span
	sentences []span
	hostile   []bool // of each sentence: it or a neighbour addresses a program
}

// paragraphs reads a page.
func paragraphs(page string) []paragraph {
	var found []paragraph
	announced := false // the paragraph before ends with a colon and is hostile
	for _, block := range blocks(page) {
		p := paragraph{span: block, sentences: sentences(page, block)}
		text := block.of(page)
		switch {
		case announced || speaksToMachine(text):
			p.hostile = suspects(page, p)
			announced = strings.HasSuffix(text, ":")
		default:
			p.hostile = make([]bool, len(p.sentences))
		}
		found = append(found, p)
	}
	return found
}

// suspects returns which sentences of a hostile paragraph are not trusted: all of
// them, unless the paragraph is as long as a page.
func suspects(page string, p paragraph) []bool {
	hostile := make([]bool, len(p.sentences))
	some := false
	if p.end-p.start > longestPassage {
		for n, s := range p.sentences {
			if !speaksToMachine(s.of(page)) {
				continue
			}
			some = true
			for k := max(0, n-1); k <= min(n+1, len(hostile)-1); k++ {
				hostile[k] = true
			}
		}
	}
	if !some {
		for n := range hostile {
			hostile[n] = true
		}
	}
	return hostile
}
