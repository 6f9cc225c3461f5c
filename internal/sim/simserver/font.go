package simserver

import (
	"bytes"
	"strings"
)

// font is one of the fonts that every reader of PDF has. Its widths are in
// thousandths of its size, by WinAnsiEncoding.
type font struct {
	name   string
	widths [256]int
}

var (
	helvetica = newFont("Helvetica", 556, `278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 278 278 584 584 584 556
		1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778 667 778 722 667 611 722 667 944 667 667 611 278 278 278 469 556
		333 556 556 500 556 556 278 556 556 222 222 500 222 833 556 556 556 556 333 500 278 556 500 722 500 500 500 334 260 334 584`)
	helveticaBold = newFont("Helvetica-Bold", 556, `278 333 474 556 556 889 722 238 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 333 333 584 584 584 611
		975 722 722 722 722 667 611 778 722 278 556 722 611 833 722 778 667 778 722 667 611 722 667 944 667 667 611 333 278 333 584 556
		333 556 611 556 611 556 333 611 611 278 278 556 278 889 611 611 611 611 389 556 333 611 556 778 556 556 500 389 280 389 584`)
	times = newFont("Times-Roman", 500, `250 333 408 500 500 833 778 180 333 333 500 564 250 333 250 278 500 500 500 500 500 500 500 500 500 500 278 278 564 564 564 444
		921 722 667 667 722 611 556 722 722 333 389 722 611 889 722 722 556 722 667 556 611 722 722 944 722 722 611 333 278 333 469 500
		333 444 500 444 500 444 333 500 500 278 278 500 278 778 500 500 500 500 333 389 278 500 500 722 500 500 444 480 200 480 541`)
	timesBold = newFont("Times-Bold", 500, `250 333 555 500 500 1000 833 278 333 333 500 570 250 333 250 278 500 500 500 500 500 500 500 500 500 500 333 333 570 570 570 500
		930 722 667 722 722 667 611 778 778 389 500 778 667 944 722 778 611 778 722 556 667 722 722 1000 722 722 667 333 278 333 581 500
		333 500 556 444 556 444 333 500 556 278 333 556 278 833 556 500 556 556 444 389 333 556 500 722 500 500 444 394 220 394 520`)
	courier = newFont("Courier", 600, strings.Repeat("600 ", 95))
)

// newFont reads the widths from the space to the tilde. Accents change none,
// and the rest is as wide as a figure.
func newFont(name string, usual int, ascii string) *font {
	f := &font{name: name}
	for n := range f.widths {
		f.widths[n] = usual
	}
	for n, field := range strings.Fields(ascii) {
		w := 0
		for _, c := range field {
			w = 10*w + int(c-'0')
		}
		f.widths[' '+n] = w
	}
	for n, c := range []rune("ÁÉÍÓÚÜÑáéíóúüñÇçÀÈÒàèò") {
		f.widths[c] = f.widths["AEIOUUNaeiouunCcAEOaeo"[n]]
	}
	return f
}

// ansi writes a text in WinAnsiEncoding.
func ansi(text string) []byte {
	out := make([]byte, 0, len(text))
	for _, c := range text {
		switch {
		case c < 0x80 && c >= ' ', c >= 0xa0 && c <= 0xff:
			out = append(out, byte(c))
		case c == '\n' || c == '\t' || c == '\r':
			out = append(out, ' ')
		default:
			out = append(out, typographic(c))
		}
	}
	return out
}

func typographic(c rune) byte {
	switch c {
	case '€':
		return 0x80
	case '…':
		return 0x85
	case '‘':
		return 0x91
	case '’':
		return 0x92
	case '“':
		return 0x93
	case '”':
		return 0x94
	case '•':
		return 0x95
	case '–':
		return 0x96
	case '—':
		return 0x97
	}
	return '?'
}

// width is how long a text is, in points.
func (f *font) width(text []byte, size float64) float64 {
	return float64(f.measure(text)) * size / 1000
}

func (f *font) measure(text []byte) (sum int) {
	for _, c := range text {
		sum += f.widths[c]
	}
	return sum
}

// wrap breaks a text into lines. A word that is longer than a line is broken,
// and others between syllables if hyphens are asked for.
func (f *font) wrap(text []byte, size, most float64, hyphens bool) (lines [][]byte) {
	room := int(most * 1000 / size)
	var row []byte
	used, space := 0, f.widths[' ']
	for word := range bytes.FieldsSeq(text) {
		wide := f.measure(word)
		for {
			gap := 0
			if used > 0 {
				gap = space
			}
			if used+gap+wide <= room {
				if gap > 0 {
					row = append(row, ' ')
				}
				row, used = append(row, word...), used+gap+wide
				break
			}
			cut, hyphen := 0, false
			if hyphens {
				cut, hyphen = f.syllable(word, room-used-gap), true
			}
			if cut == 0 && used == 0 {
				cut, hyphen = max(1, f.fitting(word, room)), false
			}
			if cut > 0 {
				if gap > 0 {
					row = append(row, ' ')
				}
				if row = append(row, word[:cut]...); hyphen {
					row = append(row, '-')
				}
				word = word[cut:]
				wide = f.measure(word)
			}
			lines, row, used = append(lines, row), nil, 0
		}
	}
	return append(lines, row)
}

// fitting is how much of a word has room.
func (f *font) fitting(word []byte, room int) int {
	for n, c := range word {
		if room -= f.widths[c]; room < 0 {
			return n
		}
	}
	return len(word)
}

// syllable is the last place at which a word may be hyphenated within some
// room: between a vowel and a consonant before a vowel. Zero is none.
func (f *font) syllable(word []byte, room int) (cut int) {
	room -= f.widths['-']
	for n, c := range word {
		if bytes.IndexByte(letters, c) < 0 {
			return 0 // a number, a name, a word with a comma
		}
		if n >= 3 && n+3 <= len(word) && room >= 0 && vowel(word[n-1]) && !vowel(c) && vowel(word[n+1]) {
			cut = n
		}
		room -= f.widths[c]
	}
	return cut
}

var letters = []byte("abcdefghijklmnopqrstuvwxyz\xe1\xe9\xed\xf3\xfa\xfc\xf1")

func vowel(c byte) bool { return bytes.IndexByte([]byte("aeiou\xe1\xe9\xed\xf3\xfa"), c) >= 0 }
