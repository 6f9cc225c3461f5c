package chart

import "strings"

// Step is a moment at which the values of the series change. They stay as they are until
// the next step.
type Step struct {
	At     int // in any unit of time, as the ends of the axis
	Values []int
	Title  string
}

// Tick is a label of the time axis.
type Tick struct {
	At    int
	Text  string
	Minor bool // for wide windows only
}

// Axis is what a drawing of steps has besides its values.
type Axis struct {
	From, To int // from the left end to the right
	Ticks    []Tick
	Text     func(value int) string // of the horizontal lines
}

// NewSteps draws stacked areas, of which each is the value of a series from one step to
// the next. Steps are in the order of time and within the axis.
func NewSteps(steps []Step, series []Series, axis Axis, class string) *Bars {
	span := max(1, axis.To-axis.From)
	highest := 0
	for _, s := range steps {
		highest = max(highest, Slot{Values: s.Values}.total())
	}
	scale := niceMax(highest)
	b := &Bars{Class: class, Width: span}
	b.addLines(axis.Text, 0, scale/2, scale)
	paths := make([]strings.Builder, len(series))
	for i, s := range steps {
		end := axis.To
		if i+1 < len(steps) {
			end = steps[i+1].At
		}
		if end <= s.At {
			continue
		}
		below := 0
		for at, n := range s.Values {
			if n > 0 {
				base, top := fullHeight*below/scale, fullHeight*(below+n)/scale
				writeBox(&paths[at], s.At-axis.From, fullHeight-base, end-s.At, top-base)
				below += n
			}
		}
		if s.Title != "" {
			b.Hits = append(b.Hits, Hit{X: Percent(s.At-axis.From, span), Width: Percent(end-s.At, span), Title: s.Title})
		}
	}
	b.setStacks(series, paths)
	b.addTicks(axis)
	return b
}

// addLines adds horizontal lines for values from the lowest to the highest.
func (b *Bars) addLines(text func(int) string, values ...int) {
	lowest, highest := values[0], values[len(values)-1]
	for _, value := range values {
		y := plotTop + plotHeight - plotHeight*(value-lowest)/(highest-lowest)
		line := Line{Y: y, TextY: y - 4}
		if value != 0 {
			line.Text = text(value)
		}
		b.Lines = append(b.Lines, line)
	}
}

// setStacks adds the series that have a path.
func (b *Bars) setStacks(series []Series, paths []strings.Builder) {
	for at := range series {
		if paths[at].Len() > 0 {
			b.Stacks = append(b.Stacks, Stack{series[at], paths[at].String()})
		}
	}
}

// addTicks adds the labels of the time axis. Those at an end are aligned with it.
func (b *Bars) addTicks(axis Axis) {
	span := max(1, axis.To-axis.From)
	for _, t := range axis.Ticks {
		l := Label{
			X:      Percent(t.At-axis.From, span),
			Text:   t.Text,
			Anchor: "middle",
			Minor:  t.Minor,
		}
		switch at := 100 * (t.At - axis.From); {
		case at < 5*span:
			l.Anchor = "start"
		case at > 95*span:
			l.Anchor = "end"
		}
		b.Labels = append(b.Labels, l)
	}
}
