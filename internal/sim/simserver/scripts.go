package simserver

import (
	"embed"
	"strconv"
	"strings"
	"sync"
)

// The texts of documents are kept as text, so that whoever writes Spanish can
// write them. Blocks are parted by empty lines; in a block a line that begins
//
//	=   is a subject that the block is about, with blanks in braces
//	~   are words, parted by commas, for subjects that nothing else is about
//	%   says how many of a hundred such documents are long: % largo 20
//	?   is a sentence that some documents have
//	-   is an item of an enumeration
//	||  is the head of a table, | a row of it, and |! a table that code makes
//	#   is the heading of a chapter
//
// and any other is a paragraph. What fills the blanks of a subject fills the
// same blanks of its text.
//
//go:embed prose/*.txt
var proseFiles embed.FS

// script is what to write about one sort of subject.
type script struct {
	subjects [][]string // text and blanks by turns
	words    []string   // nil unless it is for what nothing else is about
	long     int        // of a hundred
	lines    []line
}

type line struct {
	mark string // one of those above; a paragraph has none
	text string
}

// library is all that can be written.
type library struct {
	scripts  []script
	chapters []script // whose first line is a heading
}

// texts is the library. Of the scripts the first that suits is used, so that
// the files go from the particular to the general.
var texts = sync.OnceValue(func() *library {
	lib := &library{}
	for _, name := range []string{"fondos", "titulizacion", "accionistas", "corporativo", "negocio", "otros"} {
		lib.scripts = append(lib.scripts, readScripts(name)...)
	}
	lib.chapters = readScripts("capitulos")
	return lib
})

func readScripts(name string) (out []script) {
	raw, err := proseFiles.ReadFile("prose/" + name + ".txt")
	if err != nil {
		panic(err) // a slip in this package
	}
	for block := range strings.SplitSeq(strings.TrimSpace(string(raw)), "\n\n") {
		var s script
		for text := range strings.SplitSeq(block, "\n") {
			s.read(text)
		}
		out = append(out, s)
	}
	return out
}

func (s *script) read(text string) {
	mark := ""
	for _, m := range []string{"||", "|!", "|", "=", "~", "%", "?", "-", "#"} {
		if strings.HasPrefix(text, m) {
			mark = m
			break
		}
	}
	text = strings.TrimSpace(text[len(mark):])
	switch mark {
	case "=":
		s.subjects = append(s.subjects, strings.FieldsFunc("\x00"+text, func(c rune) bool { return c == '{' || c == '}' }))
	case "~":
		s.words = strings.Split(text, ", ")
	case "%":
		s.long, _ = strconv.Atoi(strings.TrimPrefix(text, "largo "))
	default:
		s.lines = append(s.lines, line{mark, text})
	}
}

// scriptFor returns what to write about a subject, and what fills the blanks
// that the subject tells.
func scriptFor(subject, category string) (*script, map[string]string) {
	lib := texts()
	about := strings.ToLower(subject + " " + category)
	for n := range lib.scripts {
		s := &lib.scripts[n]
		for _, parts := range s.subjects {
			if known, ok := match(parts, subject); ok {
				return s, known
			}
		}
		for _, word := range s.words {
			if strings.Contains(about, word) {
				return s, glean(subject)
			}
		}
	}
	panic("simserver: no text is about everything else") // a slip in this package
}

// match finds a subject's text and blanks by turns, wherever they begin. The
// last blank goes on to the end.
func match(parts []string, subject string) (map[string]string, bool) {
	first := parts[0][1:] // it has a mark so that none is empty
	at := strings.Index(subject, first)
	if at < 0 {
		return nil, false
	}
	rest := subject[at+len(first):]
	known := map[string]string{}
	for n := 1; n < len(parts); n += 2 {
		value, after := rest, ""
		if n+1 < len(parts) {
			var found bool
			if value, after, found = strings.Cut(rest, parts[n+1]); !found {
				return nil, false
			}
		}
		if value == "" {
			return nil, false
		}
		known[parts[n]], rest = value, after
	}
	return known, true
}

// glean takes from a subject that nobody foresaw what its text could have
// blanks for, so that they do not disagree.
func glean(subject string) map[string]string {
	known := map[string]string{}
	words := strings.Fields(subject)
	for n, word := range words {
		if word == "" || word[0] < '0' || word[0] > '9' || n+1 == len(words) {
			continue
		}
		switch next := words[n+1]; {
		case next == "%":
			known["pct"] = word
		case next == "millones":
			known["importe"] = word
		case next == "euros":
			known["precio"], known["dividendo"] = word, word
		case next == "acciones":
			known["acciones"] = word
		}
	}
	return known
}
