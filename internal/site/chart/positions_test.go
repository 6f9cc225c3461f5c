package chart

import (
	"fmt"
	"strconv"
	"testing"
)

func percentText(n int) string { return strconv.Itoa(n) + "%" }

// Values stay until the next step, and those of the last until the end.
func TestSteps(t *testing.T) {
	axis := Axis{
		From:  100,
		To:    200,
		Ticks: []Tick{{At: 101, Text: "a"}, {At: 150, Text: "b"}, {At: 200, Text: "c", Minor: true}},
		Text:  percentText,
	}
	b := NewSteps([]Step{
		{At: 100, Values: []int{5, 0}, Title: "one"},
		{At: 120, Values: []int{5, 5}},
		{At: 150, Values: []int{0, 10}, Title: "three"},
		{At: 200, Values: []int{9, 9}, Title: "at the end"},
	}, []Series{{"first", "First"}, {"second", "Second"}, {"third", "Third"}}, axis, "")
	want := map[string]string{
		"First":  "M0 1000v-250h20v250zM20 1000v-250h30v250z",
		"Second": "M20 750v-250h30v250zM50 1000v-500h50v500z",
	}
	for _, s := range b.Stacks {
		if s.Path != want[s.Name] {
			t.Errorf("%s is drawn as %s, want %s", s.Name, s.Path, want[s.Name])
		}
	}
	if len(b.Stacks) != len(want) || b.Width != 100 {
		t.Errorf("got %+v", b)
	}
	if got := fmt.Sprint(b.Hits); got != "[{0% 20% one } {50% 50% three }]" {
		t.Errorf("the areas are %s", got)
	}
	if got := fmt.Sprint(b.Lines); got != "[{176 172 0 } {96 92 0 10%} {16 12 0 20%}]" {
		t.Errorf("the lines are %s", got)
	}
	if got := fmt.Sprint(b.Labels); got != "[{1% a start false} {50% b middle false} {100% c end true}]" {
		t.Errorf("the labels are %s", got)
	}
}

// Nothing is drawn of no steps and of an axis without a length.
func TestNoSteps(t *testing.T) {
	axis := Axis{From: 7, To: 7, Text: percentText}
	for _, steps := range [][]Step{nil, {{At: 7, Values: []int{3}}}} {
		if b := NewSteps(steps, make([]Series, 1), axis, ""); len(b.Stacks) > 0 || len(b.Hits) > 0 {
			t.Errorf("%v is drawn as %+v", steps, b)
		}
	}
}

// Bars above and below the line have one scale, and the smallest is visible.
func TestBalance(t *testing.T) {
	b := NewBalance([]BalanceSlot{
		{Above: 10, Title: "one", Label: "a"},
		{Below: 10},
		{Above: 1, Below: 1 << 30},
	}, Series{"bought", "Bought"}, Series{"sold", "Sold"}, percentText, "wide")
	if len(b.Stacks) != 2 || b.Stacks[0].Name != "Bought" || b.Stacks[1].Name != "Sold" || len(b.Hits) != 1 {
		t.Fatalf("got %+v", b)
	}
	if n := len(box.FindAllString(b.Stacks[0].Path, -1)); n != 2 {
		t.Errorf("%d bars above the line in %s, want 2", n, b.Stacks[0].Path)
	}
	for text, slots := range map[string][]BalanceSlot{
		"[{176 172 0 } {16 12 0 6%}]":                {{Above: 5}},
		"[{176 172 0 6%} {16 12 0 }]":                {{Below: 5}},
		"[{176 172 0 10%} {96 92 0 } {16 12 0 10%}]": {{Above: 9, Below: 10}},
		"[{176 172 0 } {16 12 0 2%}]":                nil,
	} {
		b := NewBalance(slots, Series{}, Series{}, percentText, "")
		if got := fmt.Sprint(b.Lines); got != text {
			t.Errorf("%v: the lines are %s, want %s", slots, got, text)
		}
	}
}

// Bars stay within the drawing, whatever their numbers.
func TestBalanceStaysInside(t *testing.T) {
	for _, n := range []int{0, 1, 7, 101, 99999, 1 << 40} {
		for _, m := range []int{0, 1, 1 << 40} {
			b := NewBalance([]BalanceSlot{{Above: n, Below: m}}, Series{}, Series{}, percentText, "")
			for _, s := range b.Stacks {
				for _, found := range box.FindAllStringSubmatch(s.Path, -1) {
					y, _ := strconv.Atoi(found[2])
					height, _ := strconv.Atoi(found[3])
					if y > fullHeight || y-height < 0 || height == 0 {
						t.Errorf("%d above and %d below: %s is outside", n, m, found[0])
					}
				}
			}
		}
	}
}

// The longest bar has the whole width, and the parts of a bar follow each other.
func TestDivided(t *testing.T) {
	var c Chart
	c.SetDivided(&Divided{Rows: []DividedRow{
		{Amounts: []Amount{{10, "ten"}, {0, ""}, {30, "thirty"}}},
		{Amounts: []Amount{{5, "five"}, {0, ""}, {-3, "less"}}},
		{},
	}}, []Series{{"first", "First"}, {"second", "Second"}, {"third", "Third"}})
	if got := fmt.Sprint(c.Divided.Rows[0].Parts); got != "[{first 0% 25% ten} {third 25% 75% thirty}]" {
		t.Errorf("the longest bar is %s", got)
	}
	if got := fmt.Sprint(c.Divided.Rows[1].Parts); got != "[{first 0% 12.5% five}]" {
		t.Errorf("the second bar is %s", got)
	}
	if got := fmt.Sprint(c.Legend); got != "[{first First} {third Third}]" || c.Empty {
		t.Errorf("the legend is %s", got)
	}
	var empty Chart
	if empty.SetDivided(&Divided{}, nil); !empty.Empty {
		t.Error("a table without rows is not empty")
	}
}
