package site

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"pregon/internal/catalog"
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
	b := newBars([]slot{
		{Total: 6, Counts: catalog.Counts{IP: 1, HR: 2, OIR: 3}, Label: "a", Title: "one"},
		{Weekend: true},
		{Total: 10, Counts: catalog.Counts{OIR: 10}, Label: "b"},
	}, "wide")
	want := map[string]string{
		"IP":  "M1 1000v-100h8v100z",
		"HR":  "M1 900v-200h8v200z",
		"OIR": "M1 700v-300h8v300zM21 1000v-1000h8v1000z",
	}
	for _, s := range b.Stacks {
		if s.Path != want[string(s.Type)] {
			t.Errorf("%s is drawn as %s, want %s", s.Type, s.Path, want[string(s.Type)])
		}
	}
	if len(b.Stacks) != 3 || b.Width != 30 || b.Weekends != "M10 1000v-1000h10v1000z" || len(b.Hits) != 1 || b.Hits[0] != (hit{"0%", "33.33%", "one"}) {
		t.Errorf("got %+v", b)
	}
	if got := fmt.Sprint(b.Lines); got != "[{176 172 0} {96 92 5} {16 12 10}]" {
		t.Errorf("the lines are %s", got)
	}
	if got := fmt.Sprint(b.Labels); got != "[{0% a start false} {100% b end false}]" {
		t.Errorf("the labels are %s", got)
	}
}

// Bars stay within the drawing, whatever their numbers.
func TestBarsStayInside(t *testing.T) {
	for _, n := range []int{0, 1, 7, 101, 99999, 1 << 40} {
		b := newBars([]slot{{Total: 3 * n, Counts: catalog.Counts{IP: n, HR: n, OIR: n}}}, "")
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

func TestWeeks(t *testing.T) {
	e := edition{Language: english}
	var days []catalog.Daily
	for d := parseDay("2026-06-25"); d <= parseDay("2026-07-06"); d++ { // from a Thursday to a Monday
		days = append(days, catalog.Daily{Date: d.String(), Total: 1, Counts: catalog.Counts{IP: 1}})
	}
	var got []string
	for _, w := range e.weekSlots(days) {
		got = append(got, w.Title+" "+w.Label)
	}
	want := `["week of 25 Jun: 4 (IP 4) " "week of 29 Jun: 7 (IP 7) Jul" "week of 6 Jul: 1 (IP 1) "]`
	if fmt.Sprintf("%q", got) != want {
		t.Errorf("got %q, want %s", got, want)
	}
}
