package statement

import (
	"embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"pregon/internal/sim/filler"
)

// A file in texts has the texts about one kind of fact, separated by empty lines.
// The first line of a text is
//
//	@ layout language title
//
// where two languages are as es+en, and a line that begins with
//
//	!   is a fact that the text states: its kind, the fields whose values are words of
//	    the text (action=increase), and options of its figures (loss)
//	%   names what is difficult about the text
//	?   is a paragraph that half of the documents have
//	-   is an item of an enumeration
//	#   is a heading
//	||  is the head of a table, | a row, and |* a row for each row of the fact
//	|^  is the same, but the table continues on the next page with the head again
//	&   is a paragraph in two languages, separated by ¦
//	^   begins a page
//
// and any other line is a paragraph. [a|b] is one of the two. A blank is in braces:
//
//	{payment_date}        a field of the fact
//	{payment_date#2}      a field of the second fact
//	{payment_date:long}   in another form: see the methods named write
//	{prev.revenue}        what it was a year before, {var.revenue} the change in per cent
//	{old.payment_date}    another value, for corrections and changes
//	{.price}              a field of a row
//	{g:nombrado|nombrada} agrees with the person of the fact
//	{20-80}               a number in a range
//
// Names that no fact has are in names.json and in general.go. The layout "aside" has
// paragraphs that state nothing about the present fact, of which every document
// about the kind may have some.
//
//go:embed texts
var textFiles embed.FS

type template struct {
	layout   string
	language string
	second   string // the other language of a text in two
	title    string
	voice    string // kind, layout and number
	trap     string
	facts    []declaration
	lines    []line
}

// declaration is what a text says about a fact besides its values.
type declaration struct {
	kind    string
	fields  map[string]string
	options map[string]bool
}

type line struct {
	mark string
	text string
}

// texts are the texts of which documents are made.
type texts struct {
	templates map[string][]*template // by kind
	names     names
}

// names are the words that fill blanks. All are invented.
type names struct {
	filler.People
	Trades   []string
	Places   []string
	Streets  []string
	Agencies []string
	Venues   []string
	Roles    []role
}

type role struct{ Man, Woman, English, CatalanMan, CatalanWoman string }

// readTexts parses the files once. They are part of the program, so that an error in
// them is a bug.
var readTexts = sync.OnceValue(func() *texts {
	t := &texts{templates: map[string][]*template{}}
	if err := json.Unmarshal(readFile("names.json"), &t.names); err != nil {
		panic(fmt.Sprintf("statement: names.json: %v", err))
	}
	for _, kind := range append(Kinds(), None, common, annex) {
		t.templates[kind] = readTemplates(kind)
	}
	return t
})

// common is the file of the texts that surround all others.
const common = "common"

func readFile(name string) []byte {
	raw, err := textFiles.ReadFile("texts/" + name)
	if err != nil {
		panic(fmt.Sprintf("statement: %v", err))
	}
	return raw
}

func readTemplates(kind string) (out []*template) {
	text := strings.TrimSpace(string(readFile(kind + ".txt")))
	for part := range strings.SplitSeq(text, "\n\n") {
		t := parseTemplate(strings.TrimSpace(part))
		t.voice = kind + " " + t.layout + " " + strconv.Itoa(len(out)+1)
		out = append(out, t)
	}
	return out
}

func parseTemplate(text string) *template {
	first, rest, _ := strings.Cut(text, "\n")
	head := strings.SplitN(first, " ", 4)
	if len(head) < 3 || head[0] != "@" {
		panic(fmt.Sprintf("statement: a text begins with %q", first))
	}
	t := &template{layout: head[1]}
	t.language, t.second, _ = strings.Cut(head[2], "+")
	if len(head) == 4 {
		t.title = head[3]
	}
	for one := range strings.SplitSeq(rest, "\n") {
		t.parseLine(one)
	}
	return t
}

func (t *template) parseLine(text string) {
	mark := ""
	for _, m := range []string{"||", "|*", "|^", "|", "!", "%", "?", "-", "#", "&", "^"} {
		if strings.HasPrefix(text, m) {
			mark = m
			break
		}
	}
	text = strings.TrimSpace(text[len(mark):])
	switch mark {
	case "!":
		t.facts = append(t.facts, parseDeclaration(text))
	case "%":
		t.trap = text
	default:
		t.lines = append(t.lines, line{mark, text})
	}
}

func parseDeclaration(text string) declaration {
	words := strings.Fields(text)
	d := declaration{
		kind:    words[0],
		fields:  map[string]string{},
		options: map[string]bool{},
	}
	for _, word := range words[1:] {
		if name, value, isField := strings.Cut(word, "="); isField {
			d.fields[name] = value
		} else {
			d.options[word] = true
		}
	}
	return d
}

// templatesFor returns the texts of a layout. What is scanned is a letter or a form.
func templatesFor(kind, layout string) (out []*template) {
	for _, t := range readTexts().templates[kind] {
		if t.layout == layout || layout == "scan" && (t.layout == "letter" || t.layout == "form") {
			out = append(out, t)
		}
	}
	return out
}

// linesFor returns the lines of all texts of a layout in a language: alternatives,
// one a line.
func linesFor(kind, layout, language string) (out []string) {
	for _, t := range templatesFor(kind, layout) {
		if t.language != language {
			continue
		}
		for _, l := range t.lines {
			out = append(out, l.text)
		}
	}
	return out
}
