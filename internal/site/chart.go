package site

import (
	"slices"
	"strconv"
	"strings"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
)

// chart is a drawing with its figures as a table. The drawing is for the eye only:
// screen readers skip it and read the table.
type chart struct {
	ID      string // of its element
	Caption string
	Note    string // what is counted, or ""
	Legend  []disclosure.Type
	Bars    []*bars // drawings of the same for wide and narrow windows
	Heat    *heat
	Pace    *paceBar
	Ranks   []rank // rows with a bar each, which are the table
	Table   *table
	CSV     string // address of the table
	Empty   bool   // there is nothing to draw
}

// The drawings stretch to the width of the page, but their texts must not: charts
// have no viewBox, x is in per cent, and y in pixels. Bars are in an inner drawing
// that is stretched.
const (
	plotTop    = 16  // the number of the highest line is above it
	plotHeight = 160 // from the highest line to the lowest
	slotWidth  = 10  // of the inner drawing, in its units, as all below
	barWidth   = 8
	fullHeight = 1000
)

// slot is one bar of a chart over time.
type slot struct {
	Title   string // name and figures, or "" in a drawing with very many
	Label   string // below the bar, or ""
	Minor   bool   // the label is for wide windows only
	Weekend bool
	Total   int
	catalog.Counts
}

// bars is a drawing of stacked bars over time.
type bars struct {
	Class    string // which windows it is for
	Width    int    // of the inner drawing
	Weekends string // as a path
	Stacks   []stack
	Lines    []gridLine
	Labels   []axisLabel
	Hits     []hit // areas that name their bar when pointed at
}

// stack are the bars of one type, as a path.
type stack struct {
	Type disclosure.Type
	Path string
}

// gridLine is a horizontal line with its number.
type gridLine struct{ Y, TextY, Value int }

// axisLabel is a text below the bars. X is in per cent.
type axisLabel struct {
	X, Text, Anchor string
	Minor           bool
}

// hit is an area of the drawing. X and width are in per cent.
type hit struct{ X, Width, Title string }

// newBars draws one bar for each slot.
func newBars(slots []slot, class string) *bars {
	highest := 0
	for _, s := range slots {
		highest = max(highest, s.Total)
	}
	scale := niceMax(highest)
	b := &bars{Class: class, Width: slotWidth * len(slots)}
	for _, value := range []int{0, scale / 2, scale} {
		y := plotTop + plotHeight - plotHeight*value/scale
		b.Lines = append(b.Lines, gridLine{y, y - 4, value})
	}
	var weekends strings.Builder
	paths := map[disclosure.Type]*strings.Builder{}
	for i, s := range slots {
		if s.Weekend {
			writeBox(&weekends, slotWidth*i, fullHeight, slotWidth, fullHeight)
		}
		b.addSlot(s, i, len(slots))
		below := 0
		for _, t := range stacked {
			n := countOf(s.Counts, t)
			if n == 0 {
				continue
			}
			if paths[t] == nil {
				paths[t] = &strings.Builder{}
			}
			base, top := fullHeight*below/scale, fullHeight*(below+n)/scale
			writeBox(paths[t], slotWidth*i+(slotWidth-barWidth)/2, fullHeight-base, barWidth, top-base)
			below += n
		}
	}
	b.Weekends = weekends.String()
	for _, t := range stacked {
		if p := paths[t]; p != nil {
			b.Stacks = append(b.Stacks, stack{t, p.String()})
		}
	}
	return b
}

// stacked are the types from the bottom of a bar to its top.
var stacked = []disclosure.Type{disclosure.IP, disclosure.HR, disclosure.OIR}

func countOf(c catalog.Counts, t disclosure.Type) int {
	switch t {
	case disclosure.IP:
		return c.IP
	case disclosure.HR:
		return c.HR
	}
	return c.OIR
}

// addSlot adds what belongs to a slot besides its bar.
func (b *bars) addSlot(s slot, i, of int) {
	if s.Label != "" {
		l := axisLabel{X: percentOf(2*i+1, 2*of), Text: s.Label, Anchor: "middle", Minor: s.Minor}
		switch {
		case 100*i < 5*of:
			l.X, l.Anchor = percentOf(i, of), "start"
		case 100*(i+1) > 95*of:
			l.X, l.Anchor = percentOf(i+1, of), "end"
		}
		b.Labels = append(b.Labels, l)
	}
	if s.Title != "" {
		b.Hits = append(b.Hits, hit{percentOf(i, of), percentOf(1, of), s.Title})
	}
}

// writeBox appends a rectangle to a path, from its lower left corner.
func writeBox(p *strings.Builder, x, y, width, height int) {
	for _, part := range []any{"M", x, " ", y, "v-", height, "h", width, "v", height, "z"} {
		switch part := part.(type) {
		case string:
			p.WriteString(part)
		case int:
			p.WriteString(strconv.Itoa(part))
		}
	}
}

// percentOf returns a part of a whole in per cent, as a length of SVG.
func percentOf(part, whole int) string {
	s := strconv.FormatFloat(100*float64(part)/float64(whole), 'f', 2, 64)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".") + "%"
}

// niceMax returns the end of an axis: a number that is easy to read, as is its half,
// and not less than n.
func niceMax(n int) int {
	for _, small := range []int{2, 4, 6, 8, 10} {
		if small >= n {
			return small
		}
	}
	for unit := 1; ; unit *= 10 {
		for _, digits := range []int{12, 16, 20, 30, 40, 50, 60, 80, 100} {
			if digits*unit >= n {
				return digits * unit
			}
		}
	}
}

// heat is a drawing of the hours of a week.
type heat struct {
	Weekdays []string
	Cells    []heatCell // those with reports
	Labels   []axisLabel
}

// heatCell is an hour. X and width are in per cent, and y in pixels.
type heatCell struct {
	X, Width, Title string
	Y, Level        int
}

const (
	heatRow    = 24 // height of a weekday
	heatLevels = 8  // of colour
)

// newHeat draws the reports by weekday, Monday first, and hour.
func (e edition) newHeat(hours [7][24]int) *heat {
	h := &heat{}
	highest := 1
	for _, day := range hours {
		highest = max(highest, slices.Max(day[:]))
	}
	for d, day := range hours {
		name := weekdays[e.Language][(d+1)%7]
		h.Weekdays = append(h.Weekdays, e.shortWeekday((d+1)%7))
		for hour, n := range day {
			if n > 0 {
				h.Cells = append(h.Cells, heatCell{
					X: percentOf(hour, 24), Width: percentOf(1, 25), Y: d * heatRow, Level: 1 + (heatLevels-1)*n/highest,
					Title: name + ", " + hourName(hour) + ": " + e.Number(n),
				})
			}
		}
	}
	for hour := 0; hour < 24; hour += 3 {
		h.Labels = append(h.Labels, axisLabel{X: percentOf(hour, 24), Text: strconv.Itoa(hour), Anchor: "start", Minor: hour%6 != 0})
	}
	return h
}

// hourName returns an hour of the day as a period.
func hourName(hour int) string { return strconv.Itoa(hour) + "–" + strconv.Itoa(hour+1) + " h" }

// firstLetters returns the beginning of a word.
func firstLetters(word string, n int) string {
	letters := []rune(word)
	return string(letters[:min(n, len(letters))])
}

// rank is a row of a table with a bar. The width is in per cent.
type rank struct {
	Name  cell
	Rest  []cell
	Width string
}

// ranksOf returns the rows of a table with bars for the numbers of the second
// column.
func ranksOf(t *table) []rank {
	highest := 1
	for _, row := range t.Rows {
		highest = max(highest, row[1].number)
	}
	var out []rank
	for _, row := range t.Rows {
		out = append(out, rank{Name: row[0], Rest: row[1:], Width: percentOf(row[1].number, highest)})
	}
	return out
}
