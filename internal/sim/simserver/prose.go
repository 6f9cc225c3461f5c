package simserver

import (
	"math/rand/v2"
	"strconv"
	"strings"

	"pregon/internal/disclosure"
	"pregon/internal/sim/market"
)

// paper is a document before it has a form: what it says, in order.
type paper struct {
	title      string // of the file, with the mark of the simulation
	head, foot string // of every page
	blocks     []block
	long       bool
}

// block is a piece of a paper.
type block struct {
	kind blockKind
	text string
	rows [][]string // of a table
	head bool       // its first row is the head
}

type blockKind int

const (
	paragraph blockKind = iota
	letterhead
	small   // an address, a signature
	heading // of the document, or of a part of it
	chapter // of a long document
	section // of a chapter
	item    // of an enumeration
	table
)

func (p *paper) add(kind blockKind, text string) {
	p.blocks = append(p.blocks, block{kind: kind, text: text})
}

// diceOf are a report's own: the same ones every time. Each purpose has its
// own, so that to change one thing about documents leaves the others.
func diceOf(f *filing, seed, purpose uint64) *rand.Rand {
	return rand.New(rand.NewPCG(scatter(seed^uint64(f.Type.Index())^purpose<<32), scatter(uint64(f.Number))))
}

const (
	forProse uint64 = iota
	forLayout
)

// writePaper writes the document of a filing: always the same one. It says no
// more than the text that the filing was published with, if there is one.
func writePaper(f *filing, seed uint64) *paper {
	at := f.PublishedAt.In(disclosure.Madrid)
	subject := strings.TrimPrefix(f.Title, market.Mark)
	p := &paper{
		title: f.Title,
		head:  f.CompanyName + " — DOCUMENTO SIMULADO",
		foot:  "Simulación: ni la entidad ni los hechos de este documento son reales.",
	}
	w := &writer{Rand: diceOf(f, seed, forProse), day: at, paper: p}
	place := address(f, p)
	p.add(paragraph, place+", a "+market.LongDate(at))
	p.add(paragraph, pick(w, openings[f.Type.Index()]))
	p.add(heading, subject)
	if f.Text != "" {
		for text := range strings.SplitSeq(strings.ReplaceAll(f.Text, "\r\n", "\n"), "\n\n") {
			p.add(paragraph, strings.TrimSpace(text))
		}
		p.add(heading, "Aviso legal")
		p.add(paragraph, disclaimer)
		return p
	}
	s, known := scriptFor(subject, f.Category)
	w.known = known
	w.known["asunto"], w.known["dia"] = strings.TrimRight(subject, "."), market.LongDate(at)
	w.write(s.lines)
	for _, rel := range f.Related {
		p.add(paragraph, rel.Text+".")
	}
	form := f.form(seed)
	p.long = w.IntN(1000) < 10*s.long+2 && form != "scan" || form == "long" // nobody scans a book
	w.fresh = true
	switch fund := fundOf(f); {
	case p.long:
		w.volume(fund)
	case w.IntN(3) == 0:
		w.chapters(fund, 1+w.IntN(2), heading)
	}
	p.add(small, pick(w, closings)+" "+w.party("persona")+".")
	p.add(heading, "Aviso legal")
	p.add(paragraph, disclaimer)
	return p
}

// address writes the letterhead. A house does not move from one filing to the
// next, so that it has dice of its own.
func address(f *filing, p *paper) (place string) {
	var key uint64
	for _, c := range f.CompanyName {
		key = scatter(key ^ uint64(c))
	}
	w := &writer{Rand: rand.New(rand.NewPCG(key, 1))}
	place = pick(w, places)
	text := pick(w, streets) + ", " + strconv.Itoa(1+w.IntN(140)) + " · " + place
	if f.NIF != "" {
		text += " · NIF " + f.NIF
	}
	p.add(letterhead, f.CompanyName)
	p.add(small, text+" · Mercado simulado")
	return place
}

// fund is what sort of fund files, if it is one.
type fund int

const (
	noFund fund = iota
	investing
	securitising
)

func fundOf(f *filing) fund {
	switch {
	case f.Type == disclosure.HR:
		return investing
	case strings.Contains(fold(f.CompanyName), "FONDO DE TITULIZACION"):
		return securitising
	}
	return noFund
}

// write writes lines of a script.
func (w *writer) write(lines []line) {
	p := w.paper
	joined := w.IntN(2) == 0
	first := len(p.blocks)
	for _, l := range lines {
		switch l.mark {
		case "?":
			if w.IntN(2) == 0 {
				w.say(l.text, joined && len(p.blocks) > first)
			}
		case "-":
			p.add(item, w.fill(l.text))
		case "|!":
			p.blocks = append(p.blocks, block{kind: table, rows: tables[l.text](w), head: true})
		case "||", "|":
			row := strings.Split(w.fill(l.text), " | ")
			last := len(p.blocks) - 1
			if l.mark == "||" || p.blocks[last].kind != table {
				p.blocks = append(p.blocks, block{kind: table, head: l.mark == "||"})
				last++
			}
			p.blocks[last].rows = append(p.blocks[last].rows, row)
		default:
			w.say(l.text, joined && len(p.blocks) > first)
		}
	}
}

// say writes a sentence, as one more of the last paragraph if that is asked for.
func (w *writer) say(text string, on bool) {
	text = w.fill(text)
	last := &w.paper.blocks[len(w.paper.blocks)-1]
	if on && last.kind == paragraph && !strings.HasSuffix(last.text, ":") {
		last.text += " " + text
		return
	}
	w.paper.add(paragraph, text)
}

// chapters writes so many chapters, none twice, each as a part of that kind.
// Their titles say which funds they are of.
func (w *writer) chapters(of fund, most int, kind blockKind) {
	all := texts().chapters
	for _, n := range w.Perm(len(all)) {
		audience, title, funds := strings.Cut(all[n].lines[0].text, ": ")
		if !funds {
			title = audience
		}
		if funds != (of != noFund) || audience == "Titulización" && of != securitising {
			continue
		}
		if most--; most < 0 {
			return
		}
		w.paper.add(kind, title)
		w.write(all[n].lines[1:])
	}
}

// volume makes a long document: chapters on each area, of some sections.
func (w *writer) volume(of fund) {
	names, count := areas, 4+w.IntN(10)
	if of != noFund { // of whom there is less to tell
		names, count = series, 10+w.IntN(20)
	}
	for n := range count {
		round := ""
		if n >= len(names) {
			round = " (continuación)"
		}
		w.paper.add(chapter, strconv.Itoa(n+1)+". "+names[n%len(names)]+round)
		w.chapters(of, 20, section)
	}
}

var (
	streets  = []string{"Paseo de la Noria", "Calle del Almirez", "Avenida del Mirlo", "Plaza de los Arcaduces", "Camino del Batán"}
	openings = [3][]string{
		{
			"En cumplimiento de lo dispuesto en el artículo 17 del Reglamento (UE) nº 596/2014 sobre abuso de mercado y en el artículo 226 de la Ley 6/2023, de 17 de marzo, de los Mercados de Valores y de los Servicios de Inversión, se comunica la siguiente información privilegiada.",
			"De conformidad con el artículo 17 del Reglamento (UE) nº 596/2014, de 16 de abril, sobre el abuso de mercado, y con el artículo 226 de la Ley 6/2023, la Sociedad hace pública la siguiente INFORMACIÓN PRIVILEGIADA:",
		},
		{
			"En cumplimiento de la normativa de las instituciones de inversión colectiva, se comunica el siguiente hecho relevante.",
			"De conformidad con el artículo 30 del Reglamento de instituciones de inversión colectiva, se hace público el siguiente HECHO RELEVANTE:",
		},
		{
			"En cumplimiento de lo dispuesto en el artículo 227 de la Ley 6/2023, de 17 de marzo, de los Mercados de Valores y de los Servicios de Inversión, se comunica la siguiente otra información relevante.",
			"De conformidad con el artículo 227 de la Ley 6/2023, de 17 de marzo, de los Mercados de Valores y de los Servicios de Inversión, se pone en conocimiento del mercado la siguiente OTRA INFORMACIÓN RELEVANTE:",
		},
	}
	closings = []string{"Firmado:", "Por la Secretaría del Consejo de Administración,", "Contacto: relación con inversores (inversores@mercado.example).", "La persona apoderada,"}
	areas    = []string{"El grupo en su conjunto", "Área de servicios", "Área industrial", "Área internacional", "Servicios corporativos", "Nuevos desarrollos"}
	series   = []string{"El Fondo en su conjunto", "Serie A", "Serie B", "Cartera cedida", "Servicios financieros"}
)

const disclaimer = "Este documento se ha generado automáticamente para un mercado simulado. Las entidades, las personas, las cifras y los hechos que menciona son ficticios, " +
	"y cualquier parecido con la realidad es casual. No constituye una oferta de venta ni una recomendación de inversión, no ha sido remitido a ningún supervisor " +
	"y no debe utilizarse para tomar decisiones. Las estimaciones y previsiones están sujetas a riesgos e incertidumbres que, en un mercado real, podrían hacer " +
	"que los resultados fuesen distintos de los previstos."
