package paper

import (
	"embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"pregon/internal/sim/filler"
)

// The texts of documents are kept in files, so that they can be written without
// knowing Go. In the .txt files, blocks are separated by empty lines. A line of a
// block that begins with
//
//	=   is a subject of the block, with blanks in braces
//	~   lists words, separated by commas, of subjects without a block of their own
//	%   gives the share of long documents in a hundred: % largo 20
//	?   is a sentence that some of the documents have
//	-   is an item of an enumeration
//	||  is the head of a table, | a row, and |! a table made by code
//	#   is the title of a chapter
//
// and any other line is a paragraph. The values of the blanks of a subject fill
// the same blanks of its text.
//
//go:embed prose
var proseFiles embed.FS

// script is the text about one kind of subject.
type script struct {
	subjects [][]string // text and blanks in turn
	words    []string   // nil unless it is for subjects without a script of their own
	long     int        // share of long documents, in a hundred
	lines    []line
}

type line struct {
	mark string // one of the marks above, or "" for a paragraph
	text string
}

// texts are the texts of which documents are made.
type texts struct {
	filler.People
	Streets    []string
	Openings   [3][]string // in the order of disclosure.Types
	Closings   []string
	Areas      []string
	FundAreas  []string `json:"fund_areas"`
	Disclaimer string

	scripts  []script // from the particular to the general: the first match is used
	chapters []script // whose first line is a title
}

// readTexts parses the files once. They are part of the program, so that an error
// in them is a bug.
var readTexts = sync.OnceValue(func() *texts {
	t := &texts{People: filler.People{Second: Towns}}
	if err := json.Unmarshal(readFile("comunes.json"), t); err != nil {
		panic(fmt.Sprintf("paper: %v", err))
	}
	for _, name := range []string{"fondos", "titulizacion", "accionistas", "corporativo", "negocio", "otros"} {
		t.scripts = append(t.scripts, readScripts(name)...)
	}
	t.chapters = readScripts("capitulos")
	return t
})

func readFile(name string) []byte {
	raw, err := proseFiles.ReadFile("prose/" + name)
	if err != nil {
		panic(fmt.Sprintf("paper: %v", err))
	}
	return raw
}

func readScripts(name string) (out []script) {
	for block := range strings.SplitSeq(strings.TrimSpace(string(readFile(name+".txt"))), "\n\n") {
		var s script
		for text := range strings.SplitSeq(block, "\n") {
			s.parseLine(text)
		}
		out = append(out, s)
	}
	return out
}

func (s *script) parseLine(text string) {
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
		s.subjects = append(s.subjects, strings.FieldsFunc("\x00"+text,
			func(c rune) bool { return c == '{' || c == '}' }))
	case "~":
		s.words = strings.Split(text, ", ")
	case "%":
		s.long, _ = strconv.Atoi(strings.TrimPrefix(text, "largo "))
	default:
		s.lines = append(s.lines, line{mark, text})
	}
}

// scriptFor returns the script about a subject, and the values of the blanks that
// the subject gives.
func scriptFor(subject, category string) (*script, map[string]string) {
	scripts := readTexts().scripts
	about := strings.ToLower(subject + " " + category)
	for n := range scripts {
		s := &scripts[n]
		for _, parts := range s.subjects {
			if values, ok := match(parts, subject); ok {
				return s, values
			}
		}
		for _, word := range s.words {
			if strings.Contains(about, word) {
				return s, valuesIn(subject)
			}
		}
	}
	panic("paper: no script for other subjects") // a bug in prose/otros.txt
}

// match finds the text and the blanks of a pattern in a subject, and returns the
// values of the blanks. The last blank extends to the end.
func match(parts []string, subject string) (map[string]string, bool) {
	first := parts[0][1:] // the mark keeps it from being empty
	at := strings.Index(subject, first)
	if at < 0 {
		return nil, false
	}
	rest := subject[at+len(first):]
	values := map[string]string{}
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
		values[parts[n]], rest = value, after
	}
	return values, true
}

// valuesIn returns the values of blanks found in a subject without a script of its
// own, so that the text agrees with the subject.
func valuesIn(subject string) map[string]string {
	values := map[string]string{}
	words := strings.Fields(subject)
	for n, word := range words {
		if word == "" || word[0] < '0' || word[0] > '9' || n+1 == len(words) {
			continue
		}
		switch next := words[n+1]; {
		case next == "%":
			values["pct"] = word
		case next == "millones":
			values["importe"] = word
		case next == "euros":
			values["precio"], values["dividendo"] = word, word
		case next == "acciones":
			values["acciones"] = word
		}
	}
	return values
}
