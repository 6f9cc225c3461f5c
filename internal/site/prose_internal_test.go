package site

import (
	"fmt"
	"strings"
	"testing"
)

// write returns blocks in a short form.
func write(blocks []block) string {
	line := func(spans []inline) string {
		var b strings.Builder
		for _, s := range spans {
			switch {
			case s.Code:
				fmt.Fprintf(&b, "<%s>", s.Text)
			case s.Strong:
				fmt.Fprintf(&b, "[%s]", s.Text)
			default:
				b.WriteString(s.Text)
			}
		}
		return b.String()
	}
	var out []string
	for _, b := range blocks {
		switch {
		case b.Heading != nil:
			out = append(out, "# "+line(b.Heading)+" "+b.ID)
		case b.Items != nil:
			for _, i := range b.Items {
				out = append(out, "- "+line(i))
			}
		case b.Head != nil:
			for _, row := range append([][][]inline{b.Head}, b.Rows...) {
				var cells []string
				for _, c := range row {
					cells = append(cells, line(c))
				}
				out = append(out, strings.Join(cells, " | "))
			}
		default:
			out = append(out, line(b.Text))
		}
	}
	return strings.Join(out, "\n")
}

func TestProse(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", ""},
		{"one\ntwo\n\n\n\nthree", "one two\nthree"},
		{"a `code` and **strong** and *this*", "a <code> and [strong] and [this]"},
		{"a ` alone, 2 * 3 * 4, **", "a ` alone, 2 * 3 * 4, **"},
		{"`a*b*c` `", "<a*b*c> `"},
		{"``", "``"},
		{"## The title, too\n\ntext", "# The title, too the-title-too\ntext"},
		{"## Title\ntext", "# Title title\ntext"},
		{"- one\n  more\n- `two`", "- one more\n- <two>"},
		{"| a | b |\n|---|---|\n| `c` | d |", "a | b\n<c> | d"},
		{"| a |", "a"},
		{"<script>alert(1)</script> &amp; [x](javascript:1)", "<script>alert(1)</script> &amp; [x](javascript:1)"}, // text: the template escapes it
	} {
		if got := write(prose(test.text)); got != test.want {
			t.Errorf("prose(%q) = %q, want %q", test.text, got, test.want)
		}
	}
}
