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
	if len(b.Stacks) != 3 || b.Width != 30 || b.Weekends != "M10 1000v-1000h10v1000z" || len(b.Hits) != 1 || b.Hits[0] != (Hit{X: "0%", Width: "33.33%", Title: "one"}) {
		t.Errorf("got %+v", b)
	}
	if got := fmt.Sprint(b.Lines); got != "[{176 172 0 } {96 92 5 } {16 12 10 }]" {
		t.Errorf("the lines are %s", got)
	}
	if got := fmt.Sprint(b.Labels); got != "[{0% a start false} {100% b end false}]" {
		t.Errorf("the labels are %s", got)
	}
}

// Bars that would leave no room for the others are cut off at the end of the scale and
// have their number. Two numbers are not in one place.
func TestCutBars(t *testing.T) {
	slots := make([]Slot, 30)
	for i := range slots {
		slots[i].Values = []int{20 + i}
	}
	slots[4].Values = []int{5_000}
	slots[5].Values = []int{6_000}
	slots[29].Values = []int{100, 900}
	series := []Series{{"first", "First"}, {"second", "Second"}}
	b := NewCutBars(slots, series, "", strconv.Itoa)
	if got, want := fmt.Sprint(b.Cuts), "[{15% 5000 middle false} {100% 1000 end false}]"; got != want {
		t.Errorf("the numbers are %s, want %s", got, want)
	}
	if got := b.Lines[2].Value; got != 50 {
		t.Errorf("the scale ends at %d, want 50", got)
	}
	if got, want := b.Stacks[1].Path, "M291 900v-900h8v900z"; got != want { // 900 of 1,000
		t.Errorf("the part of a bar that is cut off is %s, want %s", got, want)
	}
	for _, s := range b.Stacks {
		for _, m := range box.FindAllStringSubmatch(s.Path, -1) {
			y, _ := strconv.Atoi(m[2])
			height, _ := strconv.Atoi(m[3])
			if y > fullHeight || y-height < 0 {
				t.Errorf("%s is outside", m[0])
			}
		}
	}
	// Several days of the present leave room for those of the past.
	for i := 20; i < 30; i++ {
		slots[i].Values = []int{300 + 20*i}
	}
	if b := NewCutBars(slots, series, "", strconv.Itoa); b.Lines[2].Value != 40 {
		t.Errorf("the scale ends at %d, want 40", b.Lines[2].Value)
	}
	rush := []Slot{{Values: []int{10}}, {Values: []int{20}}, {Values: []int{30}}, {Values: []int{100}}}
	for _, slots := range [][]Slot{rush, {{}}, nil, {{Values: []int{5}}}} {
		if b := NewCutBars(slots, series, "", strconv.Itoa); len(b.Cuts) > 0 {
			t.Errorf("%v: %v is cut off", slots, b.Cuts)
		}
	}
}

// The scale of a pace has the usual, its middle and its end, and the bar is within it.
func TestPace(t *testing.T) {
	for times, want := range map[float64]string{
		0:    "0% [{50% 1 middle false} {100% 2 end false}]",
		0.5:  "25% [{50% 1 middle false} {100% 2 end false}]",
		2:    "100% [{50% 1 middle false} {100% 2 end false}]",
		3.5:  "87.5% [{25% 1 middle false} {50% 2 middle false} {100% 4 end false}]",
		17.1: "85.5% [{5% 1 start false} {50% 10 middle false} {100% 20 end false}]",
		950:  "95% [{0.1% 1 start false} {50% 500 middle false} {100% 1000 end false}]",
	} {
		p := NewPace(times, strconv.Itoa)
		if got := p.Width + " " + fmt.Sprint(p.Ticks); got != want {
			t.Errorf("%v times: got %s, want %s", times, got, want)
		}
	}
}

// Areas stand for several bars each.
func TestSetHits(t *testing.T) {
	var b Bars
	b.SetHits([]Slot{{Days: 1, Title: "one", URL: "/1"}, {Days: 3, Title: "three"}})
	if got, want := fmt.Sprint(b.Hits), "[{0% 25% one /1} {25% 75% three }]"; got != want {
		t.Errorf("got %s, want %s", got, want)
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
