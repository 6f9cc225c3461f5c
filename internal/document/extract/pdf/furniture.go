package pdf

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Running headers and footers, here called furniture, are the outermost lines of
// a page that repeat on most pages at the same height, except for the page number.
// They are kept where they occur first, since they may contain the title, the period
// or the headings of a table. Page numbers alone are dropped everywhere.

const (
	maxFurniture = 4   // lines at each end of a page that may be furniture
	minRepeats   = 3   // pages on which a line of furniture repeats
	minShare     = 0.4 // of the pages; left and right pages may differ
	maxNumbers   = 12  // numbers of a line that may be the page number
)

var (
	number      = regexp.MustCompile(`[0-9]+|\b[ivxlcdm]{1,8}\b`)
	pageWords   = regexp.MustCompile(`(?:página|pagina|pàgina|páxina|orrialdea|pág|pag|page|hoja|folio|seite|nº|n\.º)`)
	numberWords = regexp.MustCompile(`\b(?:p|of|de|di|von|sur|sobre)\b`)
)

// place is the text of a line and its height on the page.
type place struct {
	text string
	y    int
}

// places returns the places that a line of page n may share with other pages: its
// text, and its text with a number relative to the page.
func places(l line, n int) []place {
	text := strings.ToLower(strings.Join(strings.Fields(l.text), " "))
	y := int(math.Round(l.y / 3))
	list := []place{{text, y}}
	for _, at := range number.FindAllStringIndex(text, maxNumbers) {
		digits := text[at[0]:at[1]]
		if value, ok := valueOf(digits); ok {
			relative := fmt.Sprintf("#%d", value-n)
			// The page number may be twice on the line, or equal to another number.
			twice := number.ReplaceAllStringFunc(text, func(s string) string {
				if s == digits {
					return relative
				}
				return s
			})
			list = append(list, place{text[:at[0]] + relative + text[at[1]:], y}, place{twice, y})
		}
	}
	return list
}

// isPageNumber reports whether a line is only the number of its page, such as
// "Página 3 de 12".
func isPageNumber(l line) bool {
	text := strings.ToLower(l.text)
	if !number.MatchString(text) {
		return false
	}
	for _, part := range []*regexp.Regexp{pageWords, numberWords, number} {
		text = part.ReplaceAllString(text, "")
	}
	return !strings.ContainsFunc(text, unicode.IsLetter)
}

// valueOf returns the value of an Arabic or Roman number.
func valueOf(s string) (int, bool) {
	if s[0] >= '0' && s[0] <= '9' {
		value, err := strconv.Atoi(s)
		return value, err == nil
	}
	return romanValue(s), true
}

func romanValue(s string) int {
	values := map[byte]int{'i': 1, 'v': 5, 'x': 10, 'l': 50, 'c': 100, 'd': 500, 'm': 1000}
	sum := 0
	for i := range len(s) {
		v := values[s[i]]
		if i+1 < len(s) && v < values[s[i+1]] {
			v = -v
		}
		sum += v
	}
	return sum
}

// dropFurniture removes running headers and footers from the pages, except where
// they occur first.
func dropFurniture(sheets []sheet) {
	full := 0
	count := map[place]int{}
	for n, s := range sheets {
		if len(s.lines) > 0 {
			full++
		}
		seen := map[place]bool{}
		for _, i := range edges(s.lines) {
			for _, p := range places(s.lines[i], n) {
				if !seen[p] {
					seen[p] = true
					count[p]++
				}
			}
		}
	}
	few := full < minRepeats
	enough := max(minRepeats, int(math.Ceil(minShare*float64(full))))
	if few {
		enough = max(full, 2)
	}
	kept := map[string]bool{}
	for n := range sheets {
		repeated := func(l line) []place {
			return slices.DeleteFunc(places(l, n), func(p place) bool {
				above, below := place{p.text, p.y + 1}, place{p.text, p.y - 1} // heights are rounded
				return count[p]+count[above]+count[below] < enough
			})
		}
		sheets[n].lines = trimmed(sheets[n].lines, few, repeated, kept)
	}
}

// edges returns the indexes of the highest and the lowest lines.
func edges(lines []line) []int {
	order := byHeight(lines)
	if len(order) <= 2*maxFurniture {
		return order
	}
	return append(order[:maxFurniture:maxFurniture], order[len(order)-maxFurniture:]...)
}

// trimmed returns the lines of a page without those at both ends that repeat and
// were kept on an earlier page.
func trimmed(lines []line, few bool, repeated func(line) []place, kept map[string]bool) []line {
	repeats := func(l line) bool { return len(repeated(l)) > 0 }
	order := byHeight(lines)
	candidates := slices.Clone(furniture(lines, order, few, repeats))
	slices.Reverse(order)
	candidates = append(candidates, furniture(lines, order, few, repeats)...)
	drop := map[int]bool{}
	for _, i := range candidates {
		places := repeated(lines[i])
		drop[i] = isPageNumber(lines[i]) || slices.ContainsFunc(places, func(p place) bool { return kept[p.text] })
		for _, p := range places {
			kept[p.text] = true
		}
	}
	out := make([]line, 0, len(lines))
	for i, l := range lines {
		if !drop[i] {
			out = append(out, l)
		}
	}
	return out
}

// furniture returns the first lines of an order that repeat. If too many repeat,
// the page is a form, and only the lines before a gap are furniture. The same
// holds if the document has few pages.
func furniture(lines []line, order []int, few bool, repeats func(line) bool) []int {
	n, apart := 0, 0
	for n < len(order) && n <= maxFurniture && repeats(lines[order[n]]) {
		if n++; apart == 0 && n < len(order) && farApart(lines[order[n-1]], lines[order[n]]) {
			apart = n
		}
	}
	if few && apart > 2 {
		return nil
	}
	if few || n > maxFurniture || n == len(order) {
		return order[:apart]
	}
	return order[:n]
}

func farApart(a, b line) bool { return math.Abs(a.y-b.y) > 2*max(a.em, b.em) }
