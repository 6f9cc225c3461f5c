package pdf

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Headers and footers are the outermost lines of a page that stand at the same
// height on most pages and say the same, but for the number of the page.

const (
	mostFurniture  = 4   // lines at each end of a page that may be furniture
	fewestRepeats  = 3   // pages on which a line stands before it is furniture for sure
	repeatedEnough = 0.4 // of the pages; left and right pages may differ
	mostNumbers    = 4   // of a line that are looked at
)

var (
	number = regexp.MustCompile(`[0-9]+`)
	roman  = regexp.MustCompile(`^[ivxlcdm]{1,8}$`)
)

// place is where a line stands and what it says.
type place struct {
	says string
	y    int
}

// places are what a line of page n may have in common with those of other
// pages: all that it says, or all but a number that grows with the page.
func places(l line, n int) []place {
	says := strings.ToLower(strings.Join(strings.Fields(l.text), " "))
	y := int(math.Round(l.y / 3))
	if roman.MatchString(says) {
		says = strconv.Itoa(romanValue(says))
	}
	list := []place{{says, y}}
	for i, at := range number.FindAllStringIndex(says, mostNumbers) {
		value, err := strconv.Atoi(says[at[0]:at[1]])
		if err == nil {
			list = append(list, place{fmt.Sprintf("%d:%s#%d%s", i, says[:at[0]], value-n, says[at[1]:]), y})
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

// dropFurniture takes the headers and footers off the pages.
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
	few := full < fewestRepeats
	enough := max(fewestRepeats, int(math.Ceil(repeatedEnough*float64(full))))
	if few {
		enough = max(full, 2)
	}
	for n := range sheets {
		sheets[n].lines = trimmed(sheets[n].lines, few, func(l line) bool {
			return slices.ContainsFunc(places(l, n), func(p place) bool {
				above, below := place{p.says, p.y + 1}, place{p.says, p.y - 1} // it may stand on the edge of the grid
				return count[p]+count[above]+count[below] >= enough
			})
		})
	}
}

// edges are the indexes of the highest and the lowest lines.
func edges(lines []line) []int {
	order := byHeight(lines)
	if len(order) <= 2*mostFurniture {
		return order
	}
	return append(order[:mostFurniture:mostFurniture], order[len(order)-mostFurniture:]...)
}

// trimmed drops lines from both ends of a page while they repeat.
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

// furniture are the first lines of an order that repeat. When there is no end
// of them the page is a form, and only what stands apart is furniture; nor are
// few pages proof of more.
func furniture(lines []line, order []int, few bool, repeats func(line) bool) []int {
	n, apart := 0, 0
	for n < len(order) && n <= mostFurniture && repeats(lines[order[n]]) {
		if n++; apart == 0 && n < len(order) && farApart(lines[order[n-1]], lines[order[n]]) {
			apart = n
		}
	}
	if few && apart > 2 {
		return nil
	}
	if few || n > mostFurniture || n == len(order) {
		return order[:apart]
	}
	return order[:n]
}

func farApart(a, b line) bool { return math.Abs(a.y-b.y) > 2*max(a.em, b.em) }
