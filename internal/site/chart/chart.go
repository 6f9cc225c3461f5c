// Package chart draws figures as SVG, each with its table.
//
// The drawings stretch to the width of the page, but their texts must not: charts
// have no viewBox, x is in per cent, and y in pixels. Bars are in an inner drawing
// that is stretched.
package chart

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Chart is a drawing with its figures as a table. The drawing is for the eye only:
// screen readers skip it and read the table.
type Chart struct {
	ID      string // of its element
	Caption string
	Note    string // what is counted, or ""
	Legend  []Series
	Bars    []*Bars // drawings of the same for wide and narrow windows
	Heat    *Heat
	Pace    *Pace
	Ranks   []Rank // rows with a bar each, which are the table
	Divided *Divided
	Table   *Table
	CSV     string // address of the table, or ""
	Empty   bool   // there is nothing to draw
}

const (
	plotTop    = 16  // the number of the highest line is above it
	plotHeight = 160 // from the highest line to the lowest
	slotWidth  = 10  // of the inner drawing, in its units, as all below
	barWidth   = 8
	fullHeight = 1000
)

// Series is one of the things that a chart counts. Its bars have the class.
type Series struct{ Class, Name string }

// Slot is one bar of a chart over time.
type Slot struct {
	Title   string // name and figures, or "" in a drawing with very many
	URL     string // of a list of what is counted, or ""
	Label   string // below the bar, or ""
	Minor   bool   // the label is for wide windows only
	Weekend bool
	Days    int   // of the slot, for SetHits
	Values  []int // of each series, from the bottom to the top
}

func (s Slot) total() (sum int) {
	for _, n := range s.Values {
		sum += n
	}
	return sum
}

// Bars is a drawing over time: stacked bars, stacked steps, or bars above and below a
// line.
type Bars struct {
	Class    string // which windows it is for
	Width    int    // of the inner drawing
	Weekends string // as a path
	Stacks   []Stack
	Lines    []Line
	Labels   []Label
	Cuts     []Label // numbers above bars that are cut off
	Hits     []Hit   // areas that name their bar when pointed at

	numbered int // where the last of Cuts is, in per cent
}

// Stack are the bars of one series, as a path.
type Stack struct {
	Series
	Path string
}

// Line is a horizontal line with its number. If Text is set, it is what the number means,
// and is shown in its place.
type Line struct {
	Y, TextY, Value int
	Text            string
}

// Label is a text below the bars. X is in per cent.
type Label struct {
	X, Text, Anchor string
	Minor           bool
}

// Hit is an area of the drawing that leads to URL, if there is one. X and width are in per
// cent.
type Hit struct{ X, Width, Title, URL string }

// NewBars draws one bar for each slot, with the values of the series on each other.
func NewBars(slots []Slot, series []Series, class string) *Bars {
	return newBars(slots, series, class, highestOf(slots))
}

// highestOf returns the number of the highest bar.
func highestOf(slots []Slot) (highest int) {
	for _, s := range slots {
		highest = max(highest, s.total())
	}
	return highest
}

// mostTimes is how many times as high as the median a bar may be that is not cut off.
const mostTimes = 5

// NewCutBars is like NewBars, but bars that would leave no room for the others are cut off at
// the end of the scale. Their number is above them: text returns it.
func NewCutBars(slots []Slot, series []Series, class string, text func(int) string) *Bars {
	limit := mostTimes * usualOf(slots)
	highest := 0
	for _, s := range slots {
		if total := s.total(); total <= limit {
			highest = max(highest, total)
		}
	}
	if highest == 0 {
		return NewBars(slots, series, class)
	}
	b := newBars(slots, series, class, highest)
	for i, s := range slots {
		if total := s.total(); total > niceMax(highest) {
			b.addCut(text(total), i, len(slots))
		}
	}
	return b
}

// usualOf returns the median of the bars that are not empty.
func usualOf(slots []Slot) int {
	var totals []int
	for _, s := range slots {
		if total := s.total(); total > 0 {
			totals = append(totals, total)
		}
	}
	if len(totals) == 0 {
		return 0
	}
	slices.Sort(totals)
	return totals[(len(totals)-1)/2]
}

// addCut adds the number of a bar that is cut off, unless that of another is too near.
func (b *Bars) addCut(text string, i, of int) {
	const nearest = 10 // per cent of the width
	if i*100 < b.numbered*of+nearest*of && len(b.Cuts) > 0 {
		return
	}
	b.numbered = i * 100 / of
	cut := Label{X: Percent(2*i+1, 2*of), Text: text, Anchor: "middle"}
	if 100*(i+1) > 90*of {
		cut.X, cut.Anchor = Percent(i+1, of), "end"
	}
	b.Cuts = append(b.Cuts, cut)
}

// SetHits adds areas to a drawing whose bars are too narrow for that: those of slots that
// each stand for several of its bars, as many as their days.
func (b *Bars) SetHits(slots []Slot) {
	all := 0
	for _, s := range slots {
		all += s.Days
	}
	at := 0
	for _, s := range slots {
		b.Hits = append(b.Hits, Hit{Percent(at, all), Percent(s.Days, all), s.Title, s.URL})
		at += s.Days
	}
}

// newBars draws the bars on a scale that has a number. Higher ones have the whole height, of
// which each series has its part.
func newBars(slots []Slot, series []Series, class string, highest int) *Bars {
	scale := niceMax(highest)
	b := &Bars{Class: class, Width: slotWidth * len(slots)}
	for _, value := range []int{0, scale / 2, scale} {
		y := plotTop + plotHeight - plotHeight*value/scale
		b.Lines = append(b.Lines, Line{Y: y, TextY: y - 4, Value: value})
	}
	var weekends strings.Builder
	paths := make([]strings.Builder, len(series))
	for i, s := range slots {
		if s.Weekend {
			writeBox(&weekends, slotWidth*i, fullHeight, slotWidth, fullHeight)
		}
		b.addSlot(s, i, len(slots))
		below := 0
		end := max(scale, s.total()) // of the bar's own scale
		for at, n := range s.Values {
			if n == 0 {
				continue
			}
			base, top := fullHeight*below/end, fullHeight*(below+n)/end
			writeBox(&paths[at], slotWidth*i+(slotWidth-barWidth)/2, fullHeight-base, barWidth, top-base)
			below += n
		}
	}
	b.Weekends = weekends.String()
	b.setStacks(series, paths)
	return b
}

// SetBars adds drawings of the same figures, and the legend.
func (c *Chart) SetBars(drawings ...*Bars) {
	c.Bars = drawings
	for _, s := range drawings[0].Stacks {
		c.Legend = append(c.Legend, s.Series)
	}
	c.Empty = len(c.Legend) == 0
}

// addSlot adds what belongs to a slot besides its bar.
func (b *Bars) addSlot(s Slot, i, of int) {
	if s.Label != "" {
		l := Label{
			X:      Percent(2*i+1, 2*of),
			Text:   s.Label,
			Anchor: "middle",
			Minor:  s.Minor,
		}
		switch {
		case 100*i < 5*of:
			l.X, l.Anchor = Percent(i, of), "start"
		case 100*(i+1) > 95*of:
			l.X, l.Anchor = Percent(i+1, of), "end"
		}
		b.Labels = append(b.Labels, l)
	}
	if s.Title != "" {
		b.Hits = append(b.Hits, Hit{Percent(i, of), Percent(1, of), s.Title, s.URL})
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

// Percent returns a part of a whole in per cent, as a length of SVG.
func Percent(part, whole int) string {
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

// Heat is a drawing of the hours of a week.
type Heat struct {
	Weekdays []string
	Cells    []HeatCell // those with reports
	Labels   []Label
}

// HeatCell is an hour. X and width are in per cent, and y in pixels.
type HeatCell struct {
	X, Width, Title string
	Y, Level        int
}

// A drawing of hours has rows of this height, and levels of colour.
const (
	HeatRow    = 24
	HeatLevels = 8
)

// Pace is a bar on a scale of how many times the usual it is, in per cent.
type Pace struct {
	Width string
	Ticks []Label // the first is that of the usual
}

// NewPace draws a bar of so many times the usual. Text returns the label of a number.
func NewPace(times float64, text func(int) string) *Pace {
	end := niceMax(int(math.Ceil(times)))
	p := &Pace{Width: Percent(int(math.Round(100*times)), 100*end)}
	for _, n := range slices.Compact([]int{1, end / 2, end}) {
		tick := Label{X: Percent(n, end), Text: text(n), Anchor: "middle"}
		switch {
		case n == end:
			tick.Anchor = "end"
		case 10*n <= end: // the text would begin outside
			tick.Anchor = "start"
		}
		p.Ticks = append(p.Ticks, tick)
	}
	return p
}

// Rank is a row of a table with a bar. The width is in per cent.
type Rank struct {
	Name  Cell
	Rest  []Cell
	Width string
}

// RanksOf returns the rows of a table with bars for the numbers of the second
// column.
func RanksOf(t *Table) []Rank {
	highest := 1
	for _, row := range t.Rows {
		highest = max(highest, row[1].Number)
	}
	var out []Rank
	for _, row := range t.Rows {
		out = append(out, Rank{Name: row[0], Rest: row[1:], Width: Percent(row[1].Number, highest)})
	}
	return out
}
