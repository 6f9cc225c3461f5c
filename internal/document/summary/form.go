package summary

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const longestText = 350 // characters of a generated sentence

// badText returns the reason to drop a sentence independently of the document.
func badText(text string) Reason {
	folded := fold(text)
	switch {
	case !plainSentence(text):
		return BadForm
	case speaksToMachine(text) || machineTalk.in(folded):
		return AboutMachines
	case advice.in(folded):
		return Advice
	case !inSpanish(text, "es"):
		return NotSpanish
	}
	return ""
}

// plainSentence reports whether a text is one short sentence without invisible
// characters or markup.
func plainSentence(text string) bool {
	if len(text) < 10 || utf8.RuneCountInString(text) > longestText {
		return false
	}
	for _, r := range text {
		if !plainRune(r) {
			return false
		}
	}
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(text, `«"“¿¡`))
	last, _ := utf8.DecodeLastRuneInString(text)
	if !unicode.IsUpper(first) && !unicode.IsDigit(first) || addresses.MatchString(text) {
		return false
	}
	if !hasStop(text) && !inWord(last) && last != '%' && last != '€' && last != ')' {
		return false
	}
	return len(sentences(text, span{0, len(text)})) == 1
}

func plainRune(r rune) bool {
	if unicode.IsLetter(r) {
		return unicode.Is(unicode.Latin, r)
	}
	return r == ' ' || '0' <= r && r <= '9' || strings.ContainsRune(`.,;:¿?¡!()"'%‰€$£&/+-–—«»“”‘’º…·`, r)
}

var addresses = regexp.MustCompile(`(?i)https?:|www\.|[a-z0-9]\.(?:com|es|org|net|io|example)\b|//|--`)

// advice are phrases of investment advice, which a summary must not give.
var advice = newPhrases(`
	compre
	venda
	invierta
	inviertan
	aproveche
	aprovechen
	recomendamos
	aconsejamos
	sugerimos
	le recomiendo
	te recomiendo
	se recomienda comprar
	se recomienda vender
	se aconseja
	deberia comprar
	deberia vender
	deberia invertir
	deberian comprar
	deberian vender
	oportunidad de compra
	oportunidad de inversion
	buena inversion
	usted
	ustedes
	no se lo pierda
	haga clic
	pulse
	visite
	llame`)

// machineTalk are phrases of a model about itself or its task.
var machineTalk = newPhrases(`
	instrucciones
	asistente
	inteligencia artificial
	como ia
	soy
	lo siento
	no puedo
	este resumen
	el resumen
	el texto proporcionado
	documento proporcionado
	json
	usuario
	openai`)
