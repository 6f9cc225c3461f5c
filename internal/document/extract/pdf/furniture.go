package pdf

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Running headers and footers, here called furniture, are the outermost lines of
// a page that repeat on most pages at the same height, except for the page number.

const (
	maxFurniture = 4   // lines at each end of a page that may be furniture
	minRepeats   = 3   // pages on which a line of furniture repeats
	minShare     = 0.4 // of the pages; left and right pages may differ
	maxNumbers   = 4   // numbers of a line that may be the page number
)

var (
	number = regexp.MustCompile(`[0-9]+`)
	roman  = regexp.MustCompile(`^[ivxlcdm]{1,8}$`)
)

// place is the text of a line and its height on the page.
type place struct {
	text string
	y    int
}

// places returns the places that a line of page n may share with other pages: its
// text, and its text with each number relative to the page.
func places(l line, n int) []place {
	text := strings.ToLower(strings.Join(strings.Fields(l.text), " "))
	y := int(math.Round(l.y / 3))
	if roman.MatchString(text) {
		text = strconv.Itoa(romanValue(text))
	}
	list := []place{{text, y}}
	for i, at := range number.FindAllStringIndex(text, maxNumbers) {
		value, err := strconv.Atoi(text[at[0]:at[1]])
		if err == nil {
			list = append(list, place{fmt.Sprintf("%d:%s#%d%s", i, text[:at[0]], value-n, text[at[1]:]), y})
		}
	}
	return list
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

// dropFurniture removes running headers and footers from the pages.
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
	for n := range sheets {
		sheets[n].lines = trimmed(sheets[n].lines, few, func(l line) bool {
			return slices.ContainsFunc(places(l, n), func(p place) bool {
				above, below := place{p.text, p.y + 1}, place{p.text, p.y - 1} // heights are rounded
				return count[p]+count[above]+count[below] >= enough
			})
		})
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

// trimmed returns the lines of a page without those at both ends that repeat.
func trimmed(lines []line, few bool, repeats func(line) bool) []line {
	order := byHeight(lines)
	drop := map[int]bool{}
	for _, i := range furniture(lines, order, few, repeats) {
		drop[i] = true
	}
	slices.Reverse(order)
	for _, i := range furniture(lines, order, few, repeats) {
		drop[i] = true
	}
	if len(drop) == 0 {
		return lines
	}
	kept := make([]line, 0, len(lines)-len(drop))
	for i, l := range lines {
		if !drop[i] {
			kept = append(kept, l)
		}
	}
	return kept
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
