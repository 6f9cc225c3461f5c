package chart

import "strings"

// BalanceSlot is a place of a drawing with one bar above the line and one below it.
type BalanceSlot struct {
	Title string
	Label string // below the drawing, or ""
	Minor bool   // the label is for wide windows only
	Above int
	Below int // as a positive number
}

// minLabelled is the distance in pixels that a line needs from another to have its number.
const minLabelled = 20

// NewBalance draws a bar above the line and one below it for each slot, in one scale.
func NewBalance(slots []BalanceSlot, above, below Series, text func(int) string, class string) *Bars {
	highest, lowest := 0, 0
	for _, s := range slots {
		highest, lowest = max(highest, s.Above), max(lowest, s.Below)
	}
	top, bottom := balanceScale(highest), balanceScale(lowest)
	if top+bottom == 0 {
		top = niceMax(0)
	}
	b := &Bars{Class: class, Width: slotWidth * len(slots)}
	if bottom > 0 {
		b.addBalanceLine(-bottom, top, bottom, text)
	}
	b.addBalanceLine(0, top, bottom, text)
	if top > 0 {
		b.addBalanceLine(top, top, bottom, text)
	}
	zero := fullHeight * top / (top + bottom)
	paths := make([]strings.Builder, 2)
	for i, s := range slots {
		b.addSlot(Slot{Title: s.Title, Label: s.Label, Minor: s.Minor}, i, len(slots))
		x := slotWidth*i + (slotWidth-barWidth)/2
		if height := fullHeight * s.Above / (top + bottom); s.Above > 0 {
			height = max(1, height)
			writeBox(&paths[0], x, max(zero, height), barWidth, height)
		}
		if height := fullHeight * s.Below / (top + bottom); s.Below > 0 {
			height = max(1, height)
			writeBox(&paths[1], x, min(fullHeight, zero+height), barWidth, height)
		}
	}
	b.setStacks([]Series{above, below}, paths)
	return b
}

// balanceScale is niceMax, but 0 where there is nothing.
func balanceScale(n int) int {
	if n == 0 {
		return 0
	}
	return niceMax(n)
}

// addBalanceLine adds the line of a value, with its number if there is room.
func (b *Bars) addBalanceLine(value, top, bottom int, text func(int) string) {
	y := plotTop + plotHeight*(top-value)/(top+bottom)
	line := Line{Y: y, TextY: y - 4}
	size := max(value, -value)
	if size > 0 && plotHeight*size/(top+bottom) >= minLabelled {
		line.Text = text(size)
	}
	b.Lines = append(b.Lines, line)
}
