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

var toMachines = newPhrases(`
	system prompt
	prompt
	prompts
	prompt del sistema
	mensaje del sistema
	mensaje de sistema
	instrucciones del sistema
	instrucciones de sistema
	nuevas instrucciones
	instrucciones anteriores
	instrucciones previas
	instruccion anterior
	previous instructions
	prior instructions
	new instructions
	above instructions
	instructions above
	system message
	developer message
	as an ai
	as a language model
	como una ia
	como modelo de lenguaje
	como asistente
	modelo de lenguaje
	modelos de lenguaje
	modelo linguistico
	large language model
	language model
	language models
	llm
	llms
	chatgpt
	gpt
	chatbot
	eres un asistente
	eres una ia
	eres un modelo
	eres un sistema
	eres ahora
	ahora eres
	comportate como
	you are an assistant
	you are a helpful
	you are an ai
	you are now
	pretend to be
	asistente virtual
	asistente de ia
	asistente automatico
	ai assistant
	virtual assistant
	agente de ia
	ai agent
	responde unicamente
	responde solo
	responde solamente
	responde exactamente
	responda unicamente
	responda solo
	contesta unicamente
	contesta solo
	contesta con
	answer only
	answer with
	reply only
	reply with
	respond only
	respond with
	respond in
	output only
	al resumir
	cuando resumas
	cuando resuma
	quien resuma
	si resumes
	si estas resumiendo
	al generar el resumen
	al elaborar el resumen
	en tu resumen
	en tu respuesta
	en su respuesta incluya
	tu resumen
	tu respuesta
	your summary
	your answer
	your response
	your task
	tu tarea
	when summarizing
	when summarising
	the summary must
	the summary should
	in the summary
	el resumen debe
	el resumen debera
	el resumen tiene que
	el resumen ha de
	resumen automatico
	resumenes automaticos
	resume este documento
	resume el documento
	resumir este documento
	summarize this
	summarise this
	nota para el modelo
	nota para la ia
	nota para el sistema
	nota para el asistente
	note to the model
	note to ai
	note to the ai
	atencion modelo
	atencion ia
	modo desarrollador
	developer mode
	jailbreak
	do anything now
	devuelve json
	devuelve un json
	en formato json
	haz caso omiso
	hagase caso omiso
	haga caso omiso
	no sigas
	do not follow
	sigue estas instrucciones
	siga estas instrucciones
	follow these instructions
	incluye la frase
	incluya la frase
	escribe la frase
	escriba la frase
	escribe que
	di que
	repite la frase
	repite exactamente
	repeat after me
	ignora lo anterior
	ignora todo
	ignore all
	ignore everything
	ignore the above
	olvida todo
	olvida lo anterior
	forget everything
	disregard`)

// A command is a word of commands with a word of commanded at most fewWords later.
var (
	commands = newLexicon(`ignora ignore ignores ignoren ignorad ignorar olvida olvide olvides olviden olvidar omite omita omitir desatiende desatienda
		tengas hagas forget override bypass desobedece desobedezca`)
	commanded = newLexicon(`instruc* ordenes indicaciones directrices reglas rules guidelines prompt* contexto context anteriores previas previous prior above
		sistema system`)
)

const (
	fewWords   = 6
	leastSpelt = 5 // single letters separated by spaces that spell a word
)

var speltWord = regexp.MustCompile(`ignor|instruc|prompt|asistent|assistant|sistema|system|olvid|forget`)

// roles are words of markers. Almost no passage contains them, so the slower search
// for markers is rarely needed.
var roles = newPhrases("system*\nsistema*\nassistant*\nasistente*\nuser*\nusuario*\nhuman*\ndeveloper*\nbegin*\nend of*")

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
