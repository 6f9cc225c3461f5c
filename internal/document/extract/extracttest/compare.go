package extracttest

import (
	"bytes"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"pregon/internal/document/extract"
)

// PDFToText returns the pages that poppler's pdftotext prints.
func PDFToText(path string, options ...string) (pages []string, err error) {
	out, err := exec.Command("pdftotext", append(options, path, "-")...).Output()
	if err != nil {
		return nil, fmt.Errorf("pdftotext %s: %w", path, err)
	}
	for page := range bytes.SplitAfterSeq(out, []byte("\f")) {
		if page, ended := bytes.CutSuffix(page, []byte("\f")); ended {
			pages = append(pages, string(page))
		}
	}
	return pages, nil
}

// Peer is the text of a file as pdftotext prints it, by order and page. No order is
// the best for every page: the usual one is wrong where paragraphs of two columns
// are level, that of the file where a program writes a page in no order, and that
// of the lines where there are columns.
type Peer [3][]string

// ReadPeer reads a file with pdftotext.
func ReadPeer(path string) (p Peer, err error) {
	for i, options := range [3][]string{nil, {"-raw"}, {"-layout"}} {
		if p[i], err = PDFToText(path, options...); err != nil {
			return p, err
		}
	}
	return p, nil
}

// Agreement counts the words of a text and of pdftotext's.
type Agreement struct {
	Want, Have int // words of pdftotext and of the text
	Missing    int // of the words of pdftotext, in any order
	Extra      int // words that pdftotext does not have on the page
	Moved      int // words of both that are not in pdftotext's order
	Where      []string
}

// Add adds the counts of another text.
func (a *Agreement) Add(b Agreement) {
	a.Want, a.Have = a.Want+b.Want, a.Have+b.Have
	a.Missing = a.Missing + b.Missing
	a.Extra = a.Extra + b.Extra
	a.Moved = a.Moved + b.Moved
	a.Where = append(a.Where, b.Where...)
}

// Recall returns the share of pdftotext's words that the text has.
func (a *Agreement) Recall() float64 { return share(a.Want-a.Missing, a.Want) }

// Precision returns the share of the text's words that pdftotext has.
func (a *Agreement) Precision() float64 { return share(a.Have-a.Extra, a.Have) }

// Order returns the share of the common words that are in pdftotext's order.
func (a *Agreement) Order() float64 {
	return share(a.Want-a.Missing-a.Moved, a.Want-a.Missing)
}

func share(part, all int) float64 {
	if all == 0 {
		return 1
	}
	return float64(part) / float64(all)
}

// Compare compares pages with pdftotext's, each with the order that agrees best.
// Running heads and page numbers, which the pages omit on purpose, count once: a
// line at the edge of a page does not count if an earlier page has the same line,
// apart from numbers.
func (p Peer) Compare(pages []extract.Page) Agreement {
	var bodies Peer
	for i := range p {
		bodies[i] = withoutRepeats(p[i])
	}
	var sum Agreement
	for n := range min(len(pages), len(p[0])) {
		have := countable(Words(pages[n].Text))
		var best Agreement
		for i := range p {
			a := comparePage(countable(Words(bodies[i][n])), countable(Words(p[i][n])), have)
			if i == 0 || a.Missing+a.Moved+a.Extra < best.Missing+best.Moved+best.Extra {
				best = a
			}
		}
		for i := range best.Where {
			best.Where[i] = fmt.Sprintf("page %d %s", n+1, best.Where[i])
		}
		sum.Add(best)
	}
	for n := len(pages); n < len(p[0]); n++ {
		left := len(countable(Words(p[0][n])))
		sum.Add(Agreement{Want: left, Missing: left})
	}
	return sum
}

// comparePage compares a page with the words of pdftotext, without those that
// repeat and with them.
func comparePage(want, all, have []string) Agreement {
	missing := Absent(want, have)
	extra := Absent(have, all)
	disordered := OutOfOrder(want, have)
	a := Agreement{
		Want:    len(want),
		Have:    len(have),
		Missing: len(missing),
		Extra:   len(extra),
		Moved:   len(disordered) - len(missing),
	}
	for _, list := range []struct {
		name  string
		words []string
	}{{"missing", missing}, {"extra", extra}, {"moved", Absent(disordered, missing)}} {
		if len(list.words) > 0 {
			a.Where = append(a.Where, list.name+": "+strings.Join(list.words, " "))
		}
	}
	return a
}

var (
	edgeNumber = regexp.MustCompile(`[0-9]+|\b[ivxlc]+\b`)
	hyphenated = regexp.MustCompile(`([\pL\pN])-\n?([\pL\pN])`)
	// soft and other hyphens
	spelling = strings.NewReplacer("\u00ad\n", "", "\u00ad", "", "\u2010", "-", "\u2011", "-",
		"ı\u0301", "í", "ı\u0300", "ì", "ı\u0308", "ï", "ı\u0302", "î", // an accent drawn over a letter without a dot
		// ligatures of TeX fonts that do not say what they mean
		"\x15", "–", "\x16", "—", "\x1b", "ff", "\x1c", "fi", "\x1d", "fl", "\x1e", "ffi", "\x1f", "ffl",
		// which pdftotext does not raise
		"⁰", "0", "¹", "1", "²", "2", "³", "3", "⁴", "4", "⁵", "5", "⁶", "6", "⁷", "7", "⁸", "8", "⁹", "9")
)

// withoutRepeats returns pages without the first and last lines that an earlier
// page has too, apart from numbers.
func withoutRepeats(pages []string) []string {
	const edge = 3
	seen := map[string]bool{}
	var out []string
	for _, page := range pages {
		lines := strings.Split(page, "\n")
		var full []int
		for i, l := range lines {
			if strings.TrimSpace(l) != "" {
				full = append(full, i)
			}
		}
		for k, i := range full {
			if k >= edge && k < len(full)-edge {
				continue
			}
			line := edgeNumber.ReplaceAllString(strings.ToLower(strings.Join(strings.Fields(lines[i]), " ")), "#")
			if seen[line] {
				lines[i] = ""
			}
			seen[line] = true
		}
		out = append(out, strings.Join(lines, "\n"))
	}
	return out
}

// Words splits a text into words. It ignores hyphens within words, since those at
// the end of a line are ambiguous.
func Words(text string) []string {
	text = spelling.Replace(extract.Normalize(norm.NFC.String(text)))
	for range 2 { // the second time for words of one letter
		text = hyphenated.ReplaceAllString(text, "$1$2")
	}
	return strings.Fields(text)
}

// countable returns the words with a letter or digit, without the punctuation around
// them, and splits them at mathematical symbols. Bullets, rules, the dots of a table
// of contents, and the spaces of formulas would otherwise count as much as words.
func countable(words []string) []string {
	var out []string
	for _, w := range words {
		for _, part := range strings.FieldsFunc(w, unicode.IsSymbol) {
			part = strings.TrimFunc(part, unicode.IsPunct)
			if strings.ContainsFunc(part, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
				out = append(out, part)
			}
		}
	}
	return out
}

// OutOfOrder returns the words of one text that are not in the longest common
// subsequence with another.
func OutOfOrder(want, have []string) []string {
	wide := len(have) + 1
	longest := make([]uint16, (len(want)+1)*wide) // of the suffixes from a pair of words on
	for i := len(want) - 1; i >= 0; i-- {
		for j := len(have) - 1; j >= 0; j-- {
			if want[i] == have[j] {
				longest[i*wide+j] = longest[(i+1)*wide+j+1] + 1
			} else {
				longest[i*wide+j] = max(longest[(i+1)*wide+j], longest[i*wide+j+1])
			}
		}
	}
	var missing []string
	for i, j := 0, 0; i < len(want); {
		switch {
		case j < len(have) && want[i] == have[j]:
			i, j = i+1, j+1
		case j < len(have) && longest[i*wide+j+1] >= longest[(i+1)*wide+j]:
			j++
		default:
			missing = append(missing, want[i])
			i++
		}
	}
	return missing
}

// Absent returns the words that another text does not have, in any order.
func Absent(want, have []string) (absent []string) {
	left := map[string]int{}
	for _, w := range have {
		left[w]++
	}
	for _, w := range want {
		if left[w]--; left[w] < 0 {
			absent = append(absent, w)
		}
	}
	return absent
}
