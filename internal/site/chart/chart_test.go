package chart

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"
)

func TestNiceMax(t *testing.T) {
	for n := range 20000 {
		got := niceMax(n)
		if got < n || got < 2 || got%2 != 0 || n > 4 && got > 2*n {
			t.Fatalf("niceMax(%d) is %d", n, got)
		}
	}
}

var box = regexp.MustCompile(`M(\d+) (\d+)v-(\d+)h(\d+)v(\d+)z`)

// The bars of a slot stand on each other, and their heights are in proportion to
// their numbers.
func TestBars(t *testing.T) {
	b := NewBars([]Slot{
		{Values: []int{1, 2, 3}, Label: "a", Title: "one"},
		{Weekend: true},
		{Values: []int{0, 0, 10}, Label: "b"},
	}, []Series{{"first", "First"}, {"second", "Second"}, {"third", "Third"}}, "wide")
	want := map[string]string{
		"First":  "M1 1000v-100h8v100z",
		"Second": "M1 900v-200h8v200z",
		"Third":  "M1 700v-300h8v300zM21 1000v-1000h8v1000z",
	}
	for _, s := range b.Stacks {
		if s.Path != want[s.Name] {
			t.Errorf("%s is drawn as %s, want %s", s.Name, s.Path, want[s.Name])
		}
	}
	if len(b.Stacks) != 3 || b.Width != 30 || b.Weekends != "M10 1000v-1000h10v1000z" || len(b.Hits) != 1 || b.Hits[0] != (Hit{"0%", "33.33%", "one"}) {
		t.Errorf("got %+v", b)
	}
	if got := fmt.Sprint(b.Lines); got != "[{176 172 0 } {96 92 5 } {16 12 10 }]" {
		t.Errorf("the lines are %s", got)
	}
	if got := fmt.Sprint(b.Labels); got != "[{0% a start false} {100% b end false}]" {
		t.Errorf("the labels are %s", got)
	}
}

// Bars stay within the drawing, whatever their numbers.
func TestBarsStayInside(t *testing.T) {
	for _, n := range []int{0, 1, 7, 101, 99999, 1 << 40} {
		b := NewBars([]Slot{{Values: []int{n, n, n}}}, make([]Series, 3), "")
		for _, s := range b.Stacks {
			for _, m := range box.FindAllStringSubmatch(s.Path, -1) {
				y, _ := strconv.Atoi(m[2])
				height, _ := strconv.Atoi(m[3])
				if y > fullHeight || y-height < 0 {
					t.Errorf("%d: %s is outside", n, m[0])
				}
			}
		}
	}
}

// Only series with bars are in the legend, and a chart without bars is empty.
func TestSetBars(t *testing.T) {
	series := []Series{{"first", "First"}, {"second", "Second"}}
	var c Chart
	c.SetBars(NewBars([]Slot{{Values: []int{0, 2}}}, series, ""))
	if c.Empty || len(c.Legend) != 1 || c.Legend[0] != series[1] {
		t.Errorf("got %+v", c)
	}
	var empty Chart
	empty.SetBars(NewBars([]Slot{{Values: []int{0, 0}}}, series, ""))
	if !empty.Empty {
		t.Errorf("got %+v", empty)
	}
}
