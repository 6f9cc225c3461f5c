package pdf

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/encoding/charmap"
)

// Font is a font with the widths of its characters, by their code in
// WinAnsiEncoding, in thousandths of the font size.
type Font struct {
	Name   string
	Widths [256]int
}

// Dict returns the dictionary of the font.
func (f *Font) Dict() string {
	return "<< /Type /Font /Subtype /Type1 /BaseFont /" + f.Name + " /Encoding /WinAnsiEncoding >>"
}

// Fonts of the 14 that every PDF reader has.
var (
	Helvetica = newFont("Helvetica", 556, `278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 278 278 584 584 584 556
		1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778 667 778 722 667 611 722 667 944 667 667 611 278 278 278 469 556
		333 556 556 500 556 556 278 556 556 222 222 500 222 833 556 556 556 556 333 500 278 556 500 722 500 500 500 334 260 334 584`)
	HelveticaBold = newFont("Helvetica-Bold", 556, `278 333 474 556 556 889 722 238 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 333 333 584 584 584 611
		975 722 722 722 722 667 611 778 722 278 556 722 611 833 722 778 667 778 722 667 611 722 667 944 667 667 611 333 278 333 584 556
		333 556 611 556 611 556 333 611 611 278 278 556 278 889 611 611 611 611 389 556 333 611 556 778 556 556 500 389 280 389 584`)
	Times = newFont("Times-Roman", 500, `250 333 408 500 500 833 778 180 333 333 500 564 250 333 250 278 500 500 500 500 500 500 500 500 500 500 278 278 564 564 564 444
		921 722 667 667 722 611 556 722 722 333 389 722 611 889 722 722 556 722 667 556 611 722 722 944 722 722 611 333 278 333 469 500
		333 444 500 444 500 444 333 500 500 278 278 500 278 778 500 500 500 500 333 389 278 500 500 722 500 500 444 480 200 480 541`)
	TimesBold = newFont("Times-Bold", 500, `250 333 555 500 500 1000 833 278 333 333 500 570 250 333 250 278 500 500 500 500 500 500 500 500 500 500 333 333 570 570 570 500
		930 722 667 722 722 667 611 778 778 389 500 778 667 944 722 778 611 778 722 556 667 722 722 1000 722 722 667 333 278 333 581 500
		333 500 556 444 556 444 333 500 556 278 333 556 278 833 556 500 556 556 444 389 333 556 500 722 500 500 444 394 220 394 520`)
	Courier = newFont("Courier", 600, strings.Repeat("600 ", 95))
)

// newFont parses the widths of the ASCII characters from the space to the tilde.
// An accented letter is as wide as the plain one, and the rest as wide as a digit.
func newFont(name string, usual int, ascii string) *Font {
	f := &Font{Name: name}
	for n := range f.Widths {
		f.Widths[n] = usual
	}
	for n, field := range strings.Fields(ascii) {
		f.Widths[' '+n], _ = strconv.Atoi(field)
	}
	for n, c := range []rune("ÁÉÍÓÚÜÑáéíóúüñÇçÀÈÒàèò") {
		f.Widths[c] = f.Widths["AEIOUUNaeiouunCcAEOaeo"[n]]
	}
	return f
}

// Encode returns text in WinAnsiEncoding. Line breaks become spaces, and
// characters without a code become question marks.
func Encode(text string) []byte {
	out := make([]byte, 0, len(text))
	for _, c := range text {
		code, ok := charmap.Windows1252.EncodeRune(c)
		switch {
		case c == '\n' || c == '\t' || c == '\r':
			code = ' '
		case !ok || unicode.IsControl(c):
			code = '?'
		}
		out = append(out, code)
	}
	return out
}

// Width returns the length of encoded text in points.
func (f *Font) Width(text []byte, size float64) float64 {
	return float64(f.measure(text)) * size / 1000
}

func (f *Font) measure(text []byte) (sum int) {
	for _, c := range text {
		sum += f.Widths[c]
	}
	return sum
}

// Wrap breaks encoded text into lines of at most the given width in points. It
// breaks a word that is longer than a line and, with hyphens, other words between
// syllables.
func (f *Font) Wrap(text []byte, size, width float64, hyphens bool) (lines [][]byte) {
	room := int(width * 1000 / size)
	var row []byte
	used, space := 0, f.Widths[' ']
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
			lines = append(lines, row)
			row = nil
			used = 0
		}
	}
	return append(lines, row)
}

// fitting returns how many characters of a word fit into room.
func (f *Font) fitting(word []byte, room int) int {
	for n, c := range word {
		if room -= f.Widths[c]; room < 0 {
			return n
		}
	}
	return len(word)
}

// syllable returns the last position within room at which a word may be
// hyphenated: between a vowel and a consonant before a vowel. Zero is none.
func (f *Font) syllable(word []byte, room int) (cut int) {
	room -= f.Widths['-']
	for n, c := range word {
		if bytes.IndexByte(letters, c) < 0 {
			return 0 // a number, a name, or a word with a comma
		}
		inside := n >= 3 && n+3 <= len(word) && room >= 0
		if inside && vowel(word[n-1]) && !vowel(c) && vowel(word[n+1]) {
			cut = n
		}
		room -= f.Widths[c]
	}
	return cut
}

var letters = []byte("abcdefghijklmnopqrstuvwxyz\xe1\xe9\xed\xf3\xfa\xfc\xf1")

func vowel(c byte) bool { return bytes.IndexByte([]byte("aeiou\xe1\xe9\xed\xf3\xfa"), c) >= 0 }
