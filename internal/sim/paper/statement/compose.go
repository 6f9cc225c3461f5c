package statement

import (
	"strings"

	"pregon/internal/sim/filler"
	"pregon/internal/sim/paper"
)

// compose writes the document: the text, and what its layout has around it.
func (w *writer) compose(title string) {
	switch base := w.template.layout; base {
	case "bilingual":
		w.composeBilingual(title)
		return
	case "press":
		w.composePress(title)
	default:
		w.composeLetter(title, base)
	}
	w.add(paper.Heading, w.say("Aviso legal", "Disclaimer", "Avís legal"))
	w.add(paper.Paragraph, w.line("notice"))
}

// composeLetter writes a letter to the regulator, or a form or a table that is sent
// to it.
func (w *writer) composeLetter(title, layout string) {
	w.add(paper.Letterhead, w.company)
	w.add(paper.Small, w.fill("{street}, {1-140} · {town}"))
	switch layout {
	case "letter":
		w.add(paper.Small, w.line("addressee"))
		w.add(paper.Paragraph, w.fill("{town}, ")+w.say("a ", "", "")+w.date(w.day, "long"))
		w.add(paper.Paragraph, w.line("opening"))
	case "table":
		if w.Percent(60) {
			w.add(paper.Paragraph, w.line("opening"))
		}
	}
	w.addTitle(paper.Heading, title)
	w.writeBody()
	if layout == "letter" {
		w.add(paper.Paragraph, w.line("closing"))
		post := w.say(", Secretaría del Consejo", ", Company Secretary", ", Secretaria del Consell")
		w.add(paper.Small, w.fill("{signatory}")+post)
	}
}

// composePress writes a release for newspapers.
func (w *writer) composePress(title string) {
	w.add(paper.Small, w.say("NOTA DE PRENSA", "PRESS RELEASE", "NOTA DE PREMSA"))
	w.addTitle(paper.Letterhead, title)
	w.add(paper.Small, w.fill("{town}, ")+w.date(w.day, "long"))
	w.writeBody()
	w.add(paper.Heading, w.say("Sobre ", "About ", "Sobre ")+w.company)
	w.add(paper.Paragraph, w.line("about"))
	w.add(paper.Small, w.line("contact"))
}

// composeBilingual writes two columns.
func (w *writer) composeBilingual(title string) {
	second := w.template.second
	w.add(paper.Letterhead, w.company)
	w.addTitle(paper.Heading, title)
	w.writeLines(w.template.lines)
	if w.Percent(40) {
		w.writePair(filler.Pick(w.Random, linesFor(common, "pair", second)))
	}
	w.writePair(linesFor(common, "notices", second)[0])
}

// writeBody writes the text, and perhaps paragraphs that state nothing about the
// fact, after it or, in a letter, before it.
func (w *writer) writeBody() {
	asides := w.asides()
	early := 0
	if w.template.layout == "letter" && len(asides) > 0 && w.Percent(25) {
		early = 1
	}
	for _, text := range asides[:early] {
		w.add(paper.Paragraph, w.fill(text))
	}
	w.writeLines(w.template.lines)
	for _, text := range asides[early:] {
		w.add(paper.Paragraph, w.fill(text))
	}
}

// asides returns up to two paragraphs of the kind, and perhaps one that any document
// may have. A document without a fact has some of any kind.
func (w *writer) asides() []string {
	kind, _, _ := strings.Cut(w.template.voice, " ")
	most := w.IntN(3)
	if kind == None {
		kind = filler.Pick(w.Random, Kinds())
		most = 2
	}
	var out []string
	all := linesFor(kind, "aside", w.template.language)
	for _, n := range w.Perm(len(all)) {
		if len(out) < most && w.canFill(all[n]) {
			out = append(out, all[n])
		}
	}
	if w.Percent(40) {
		out = append(out, filler.Pick(w.Random, linesFor(common, "aside", w.template.language)))
	}
	return out
}

// canFill reports whether a paragraph needs no value of a fact that this document
// does not have.
func (w *writer) canFill(text string) bool {
	for part := range strings.SplitSeq(text, "{") {
		name, _, isBlank := strings.Cut(part, "}")
		if !isBlank {
			continue
		}
		name, _, _ = strings.Cut(name, ":")
		name, derived := strings.CutPrefix(name, "prev.")
		stated := len(w.sets) > 0 && w.sets[0].values[name] != nil
		if !stated && (derived || w.newGeneral(name) == nil) {
			return false
		}
	}
	return true
}

// line returns one of the common lines of a layout.
func (w *writer) line(layout string) string {
	return w.fill(filler.Pick(w.Random, linesFor(common, layout, w.template.language)))
}
