package paper

import (
	"strconv"
	"strings"

	"pregon/internal/disclosure"
	"pregon/internal/sim/filler"
	"pregon/internal/sim/market"
)

// document is the content of a document, without a form.
type document struct {
	title      string // of the file, with the mark of the simulation
	head, foot string // of every page
	blocks     []block
}

// block is a part of a document.
type block struct {
	kind blockKind
	text string
	rows [][]string // of a table
	head bool       // the first row of the table is its head
}

type blockKind int

const (
	paragraph blockKind = iota
	letterhead
	small   // an address or a signature
	heading // of the document, or of a part of it
	chapter // of a long document
	section // of a chapter
	item    // of an enumeration
	table
	newPage // what follows begins a page
)

func (d *document) add(kind blockKind, text string) {
	d.blocks = append(d.blocks, block{kind: kind, text: text})
}

// Words returns about the text that is extracted from the document, without making the
// file: paragraphs are separated by an empty line, the rows of a table by a line break and
// its cells by a tab.
func (s *Source) Words(seed uint64) string {
	var paragraphs []string
	d := s.write(seed)
	for _, b := range d.blocks {
		switch {
		case len(b.rows) > 0:
			lines := make([]string, len(b.rows))
			for n, row := range b.rows {
				lines[n] = strings.Join(row, "\t")
			}
			paragraphs = append(paragraphs, strings.Join(lines, "\n"))
		case b.text != "":
			paragraphs = append(paragraphs, b.text)
		}
	}
	return strings.Join(append([]string{d.head}, append(paragraphs, d.foot)...), "\n\n")
}

// write returns the content of the document.
func (s *Source) write(seed uint64) *document {
	at := s.PublishedAt.In(disclosure.Madrid)
	subject := strings.TrimPrefix(s.Title, market.Mark)
	d := &document{
		title: s.Title,
		head:  s.CompanyName + " — DOCUMENTO SIMULADO",
		foot:  "Simulación: ni la entidad ni los hechos de este documento son reales.",
	}
	texts := readTexts()
	w := newWriter(d, s.random(seed, forText), at)
	town := d.addLetterhead(s.Report)
	d.add(paragraph, town+", a "+filler.LongDate(at))
	d.add(paragraph, w.pick(texts.Openings[s.Type.Index()]))
	d.add(heading, subject)
	if s.Text != "" {
		for text := range strings.SplitSeq(strings.ReplaceAll(s.Text, "\r\n", "\n"), "\n\n") {
			d.add(paragraph, strings.TrimSpace(text))
		}
	} else {
		w.writeBody(s, subject, s.form(seed))
	}
	d.add(heading, "Aviso legal")
	d.add(paragraph, texts.Disclaimer)
	return d
}

// writeBody writes the text about a subject, and perhaps further chapters.
func (w *writer) writeBody(s *Source, subject, form string) {
	texts := readTexts()
	script, values := scriptFor(subject, s.Category)
	w.values = values
	w.values["asunto"], w.values["dia"] = strings.TrimRight(subject, "."), filler.LongDate(w.Day)
	w.writeLines(script.lines)
	for _, rel := range s.Related {
		w.document.add(paragraph, rel.Text+".")
	}
	long := w.IntN(1000) < 10*script.long+2 && form != "scan" || form == "long" // no scan is long
	w.forget = true
	switch kind := fundKindOf(s.Report); {
	case long:
		w.writeVolume(kind)
	case w.IntN(3) == 0:
		w.writeChapters(kind, 1+w.IntN(2), heading)
	}
	w.document.add(small, w.pick(texts.Closings)+" "+w.party("persona")+".")
}

// Towns are the places of issuers and of their business.
var Towns = []string{"Valdebrisa", "Fuentelmirlo", "Torrealmena", "Campoluengo", "Sotohondo", "Montecárdeno"}

// addLetterhead adds the name and the address of the issuer, which are the same in
// all its documents, and returns the town.
func (d *document) addLetterhead(r *disclosure.Report) (town string) {
	rng := filler.NewRandom(issuerKey(r), 1)
	town = filler.Pick(rng, Towns)
	text := filler.Pick(rng, readTexts().Streets) + ", " + strconv.Itoa(1+rng.IntN(140)) + " · " + town
	if r.NIF != "" {
		text += " · NIF " + r.NIF
	}
	d.add(letterhead, r.CompanyName)
	d.add(small, text+" · Mercado simulado")
	return town
}

// fundKind is the kind of fund that the issuer is.
type fundKind int

const (
	noFund fundKind = iota
	investmentFund
	securitisationFund
)

func fundKindOf(r *disclosure.Report) fundKind {
	name := strings.Join(strings.Fields(strings.ToUpper(r.CompanyName)), " ")
	switch {
	case r.Type == disclosure.HR:
		return investmentFund
	case strings.Contains(strings.ReplaceAll(name, "Ó", "O"), "FONDO DE TITULIZACION"):
		return securitisationFund
	}
	return noFund
}

// writeLines writes the lines of a script.
func (w *writer) writeLines(lines []line) {
	d := w.document
	join := w.IntN(2) == 0
	first := len(d.blocks)
	for _, l := range lines {
		switch l.mark {
		case "?":
			if w.IntN(2) == 0 {
				w.writeSentence(l.text, join && len(d.blocks) > first)
			}
		case "-":
			d.add(item, w.Fill(l.text))
		case "|!":
			d.blocks = append(d.blocks, block{kind: table, rows: tables[l.text](w), head: true})
		case "||", "|":
			row := strings.Split(w.Fill(l.text), " | ")
			last := len(d.blocks) - 1
			if l.mark == "||" || d.blocks[last].kind != table {
				d.blocks = append(d.blocks, block{kind: table, head: l.mark == "||"})
				last++
			}
			d.blocks[last].rows = append(d.blocks[last].rows, row)
		default:
			w.writeSentence(l.text, join && len(d.blocks) > first)
		}
	}
}

// writeSentence writes a sentence, as a paragraph or joined to the last one.
func (w *writer) writeSentence(text string, join bool) {
	text = w.Fill(text)
	last := &w.document.blocks[len(w.document.blocks)-1]
	if join && last.kind == paragraph && !strings.HasSuffix(last.text, ":") {
		last.text += " " + text
		return
	}
	w.document.add(paragraph, text)
}

// writeChapters writes up to most different chapters under titles of a kind. The
// titles of the scripts say which funds a chapter is for.
func (w *writer) writeChapters(of fundKind, most int, kind blockKind) {
	all := readTexts().chapters
	for _, n := range w.Perm(len(all)) {
		audience, title, forFunds := strings.Cut(all[n].lines[0].text, ": ")
		if !forFunds {
			title = audience
		}
		if forFunds != (of != noFund) || audience == "Titulización" && of != securitisationFund {
			continue
		}
		if most--; most < 0 {
			return
		}
		w.document.add(kind, title)
		w.writeLines(all[n].lines[1:])
	}
}

// writeVolume writes a long document: a chapter with sections for each area.
func (w *writer) writeVolume(of fundKind) {
	areas, count := readTexts().Areas, 4+w.IntN(10)
	if of != noFund { // whose chapters have fewer sections
		areas, count = readTexts().FundAreas, 10+w.IntN(20)
	}
	for n := range count {
		suffix := ""
		if n >= len(areas) {
			suffix = " (continuación)"
		}
		w.document.add(chapter, strconv.Itoa(n+1)+". "+areas[n%len(areas)]+suffix)
		w.writeChapters(of, 20, section)
	}
}
