package statement

import (
	"strings"
	"unicode"

	"pregon/internal/sim/filler"
)

// typewrite removes the accents of capitals, which scanned sheets do not have: see
// package paper. The facts are as the sheet has them.
func (d *Document) typewrite() {
	for n := range d.Blocks {
		b := &d.Blocks[n]
		b.Text = plainCapitals.Replace(b.Text)
		for _, row := range b.Rows {
			for k := range row {
				row[k] = plainCapitals.Replace(row[k])
			}
		}
	}
	for _, f := range d.Facts {
		for field, value := range f.Fields {
			f.Fields[field] = plainCapitals.Replace(value)
		}
	}
}

var plainCapitals = strings.NewReplacer("Á", "A", "É", "E", "Í", "I", "Ó", "O", "Ú", "U", "Ü", "U")

// scannedRows returns the rows of a table as they are read from a sheet: with the
// dots between the cells, often without the line breaks.
func scannedRows(rows [][]string, rng filler.Random) string {
	text := rowsText(rows, filler.Pick(rng, []string{" .... ", " ... "}))
	if rng.Percent(40) {
		text = strings.ReplaceAll(text, "\n", " ")
	}
	return text
}

// misread changes small signs and a letter of about one word in eighty, as poor
// prints cause it.
func (d *Document) misread(text string, rng filler.Random) string {
	words := strings.Split(signs.Replace(text), " ")
	for n, word := range words {
		if rng.IntN(80) > 0 || len(word) < 5 || strings.ContainsFunc(word, notSmall) || d.states(word) {
			continue
		}
		for _, pair := range misreadings {
			if strings.Contains(word, pair[0]) {
				words[n] = strings.Replace(word, pair[0], pair[1], 1)
				break
			}
		}
	}
	return strings.Join(words, " ")
}

// Signs and letters that are taken for others.
var (
	signs       = strings.NewReplacer("ª", "*", "º", "*", "·", "-")
	misreadings = [][2]string{{"ó", "o"}, {"í", "i"}, {"rn", "m"}, {"á", "a"}, {"li", "h"}, {"cl", "d"}, {"ñ", "n"}}
)

func notSmall(c rune) bool { return !unicode.IsLower(c) }

// states reports whether a word is part of a value of a fact.
func (d *Document) states(word string) bool {
	for _, f := range d.Facts {
		for _, value := range f.Fields {
			if strings.Contains(value, word) {
				return true
			}
		}
	}
	return false
}
