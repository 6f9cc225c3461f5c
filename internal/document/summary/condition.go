package summary

import (
	"regexp"
	"strings"
)

// The statement of a sentence may be denied, withdrawn or made conditional by words
// that are far from it, in the same sentence or in a neighbouring one. Omitting
// these words changes the meaning.

// denials and annulments also apply to other sentences: "La siguiente información es
// falsa.", "Dicho acuerdo ha quedado sin efecto."
var denials = newPhrases(`
	fals*
	no es ciert*
	no son ciert*
	no es verdad
	no es correct*
	inciert*
	inexact*
	infundad*
	desmient*
	desminti*
	desmentid*
	niega
	niegan
	nego
	rumor*
	especulaci*
	hipotetic*
	hipotesis
	ficti*
	simulacr*
	a modo de ejemplo
	por ejemplo
	ejemplo
	bulo
	bulos
	contrari*
	carece*
	erro*
	sin efecto
	anula*
	anulo
	nulo
	nula
	nulidad
	revoc*
	retira*
	retiro
	desist*
	rectific*
	correg*
	corrig*
	false
	untrue
	denies
	denied
	rumour*
	null and void
	annul*
	withdrawn
	example`)

// conditions apply to the sentence that contains them and to the next one.
var conditions = newPhrases(`
	si
	salvo
	excepto
	siempre que
	siempre y cuando
	en caso
	en el caso
	en su caso
	en tal caso
	en el supuesto
	a menos que
	a condicion
	condicion
	condiciones suspensiv*
	condicionad*
	condicionant*
	sujet*
	subordinada a
	supedita*
	depend*
	pendiente*
	a falta de
	a la espera
	de no
	cuando
	una vez
	por ver
	if
	unless
	provided that
	subject to
	conditional*
	in case
	pending`)

// standsAlike reports whether a sentence keeps the denials, annulments and
// conditions of its evidence.
func standsAlike(sentence string, st statement) bool {
	said := fold(sentence)
	if depends := whenDone.FindString(fold(st.text)); !strings.HasPrefix(said, depends) {
		return false
	}
	if !carries(said, st.text, denials) || !carries(said, st.text, conditions) {
		return false
	}
	for _, beside := range [][]string{st.before, st.after, {st.opened}} {
		for _, text := range beside {
			if !carries(said, text, denials) {
				return false
			}
		}
	}
	// A condition in the sentence before counts if that sentence announces something.
	toCome := len(verbsOf(tokenise(sentence)).toDo) > 0
	near := []string{st.opened}
	if len(st.before) > 0 {
		near = append(near, st.before[0])
	}
	for _, text := range near {
		if !carries(said, text, provisos) || toCome && !carries(said, text, pendings) {
			return false
		}
	}
	return true
}

// whenDone is a condition by an infinitive: "De aprobarse la fusión, …".
var whenDone = regexp.MustCompile(`^ (?:de|al) [a-z]+[aei]r(?:se)? `)

// provisos are conditions that apply to whole sentences.
var provisos = newPhrases(`
	si
	siempre que
	siempre y cuando
	en caso
	en el caso
	en tal caso
	en el supuesto
	a menos que
	if
	unless`)

// pendings are conditions for future events. They do not affect past events.
var pendings = newPhrases(`
	condicionad*
	supedita*
	sujet*
	subject to`)

// carries reports whether a folded sentence contains all the markers of a text.
func carries(said, text string, markers phrases) bool {
	if text == "" {
		return true
	}
	folded := strings.ReplaceAll(fold(text), " no esta sujet", " ")
	for _, m := range markers {
		if !strings.Contains(folded, m) || strings.Contains(said, m) {
			continue
		}
		if m == " sujet" && strings.Contains(said, " requier") {
			continue
		}
		return false
	}
	return true
}
