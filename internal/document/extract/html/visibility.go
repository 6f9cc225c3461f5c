package html

import (
	"slices"
	"strconv"
	"strings"
)

// element is an element of a web page that has begun and not ended.
type element struct {
	name string
	box  bool // it is a block or a part of a table
	sight
}

// sight is whether the text of an element is seen.
type sight struct {
	gone   bool // nothing within is seen
	veiled bool // nor this, but an element within may be made visible
	tiny   bool // in letters of size 0, but an element within may have others
}

func (s sight) seen() bool { return s == sight{} }

// styled is what becomes of sight with the style of an element within. The last
// word of a style on something counts.
func (s sight) styled(style string) sight {
	none, glass := false, false
	for declaration := range strings.SplitSeq(strings.ToLower(style), ";") {
		property, value, _ := strings.Cut(declaration, ":")
		value, _, _ = strings.Cut(value, "!")
		value = strings.TrimSpace(value)
		switch strings.TrimSpace(property) {
		case "display":
			none = value == "none"
		case "opacity":
			n, _, ok := measure(value)
			glass = ok && n <= 0
		case "visibility":
			switch value {
			case "hidden", "collapse":
				s.veiled = true
			case "visible", "initial":
				s.veiled = false
			}
		case "font-size":
			n, unit, ok := measure(value)
			switch {
			case ok && n == 0:
				s.tiny = true
			case !ok && value != "inherit" && value != "unset" && value != "smaller" && value != "larger",
				ok && unit != "em" && unit != "ex" && unit != "ch" && unit != "%": // of nothing these are nothing
				s.tiny = false
			}
		case "font":
			s.tiny = strings.HasPrefix(value, "0/")
		}
	}
	s.gone = s.gone || none || glass
	return s
}

// measure is a number of a style with its unit.
func measure(value string) (n float64, unit string, ok bool) {
	digits := strings.TrimRight(value, "abcdefghijklmnopqrstuvwxyz%")
	n, err := strconv.ParseFloat(digits, 64)
	return n, value[len(digits):], err == nil
}

// mostOpen is how many open elements are remembered. Beyond that the outermost
// are forgotten, which at worst shows what is hidden.
const mostOpen = 256

// cells are the parts of a table.
var cells = map[string]bool{
	"caption": true, "colgroup": true, "thead": true, "tbody": true, "tfoot": true, "tr": true, "td": true, "th": true,
}

// ofHead are the elements that the head of a page may have.
var ofHead = map[string]bool{
	"base": true, "basefont": true, "bgsound": true, "link": true, "meta": true, "noframes": true, "noscript": true,
	"script": true, "style": true, "template": true, "title": true,
}

// shells are elements within which nothing ends what is around them, but an end
// tag.
var shells = map[string]bool{"object": true, "template": true, "foreignobject": true, "ix:header": true, "ix:hidden": true}

// ending is which open elements end where another begins: the outermost of
// those that has begun since one of a kind that holds them.
type ending struct{ ends, holds []string }

// HTML lets the end of these be left out.
var (
	cellEnds  = ending{[]string{"td", "th"}, []string{"tr", "table"}}
	rowEnds   = ending{[]string{"tr", "td", "th"}, []string{"table"}}
	groupEnds = ending{[]string{"caption", "colgroup", "thead", "tbody", "tfoot", "tr", "td", "th"}, []string{"table"}}
	termEnds  = ending{[]string{"dt", "dd"}, []string{"dl", "table", "td", "th"}}
	endings   = map[string]ending{
		"li": {[]string{"li"}, []string{"ul", "ol", "table", "td", "th"}},
		"dt": termEnds, "dd": termEnds, "td": cellEnds, "th": cellEnds, "tr": rowEnds,
		"thead": groupEnds, "tbody": groupEnds, "tfoot": groupEnds,
		"option":   {[]string{"option"}, []string{"select"}},
		"optgroup": {[]string{"option", "optgroup"}, []string{"select"}},
	}
	paragraphEnds = ending{[]string{"p"}, []string{"table", "caption", "td", "th"}}
)

// sight is that of the innermost element.
func (w *web) sight() sight {
	if len(w.open) == 0 {
		return sight{}
	}
	return w.open[len(w.open)-1].sight
}

func (w *web) push(name string, s sight) {
	if len(w.open) == mostOpen {
		w.open = slices.Delete(w.open, 0, mostOpen/2)
	}
	w.open = append(w.open, element{name, blocks[name] || cells[name], s})
}

// imply ends the elements that end where one of a name begins. In XML all have
// their ends.
func (w *web) imply(name string) {
	if w.xml {
		return
	}
	if w.inHead() && !ofHead[name] {
		w.open = w.open[:len(w.open)-1]
	}
	if blocks[name] && !cells[name] && name != "br" {
		w.endAt(paragraphEnds)
	}
	if e, ok := endings[name]; ok {
		w.endAt(e)
	}
}

// endAt ends the elements of one ending.
func (w *web) endAt(e ending) {
	at := len(w.open)
	for i := len(w.open) - 1; i >= 0; i-- {
		name := w.open[i].name
		if shells[name] || slices.Contains(e.holds, name) {
			break
		}
		if slices.Contains(e.ends, name) {
			at = i
		}
	}
	w.open = w.open[:at]
}

// inHead reports whether the head of the page is the innermost element.
func (w *web) inHead() bool { return len(w.open) > 0 && w.open[len(w.open)-1].name == "head" }

// pop ends an element, and all within it that lack their ends. It returns its
// sight, or that of the innermost element when none of the name can end here.
func (w *web) pop(name string) sight {
	held := holder(name)
	for i := len(w.open) - 1; i >= 0; i-- {
		e := &w.open[i]
		if e.name == name {
			w.open = w.open[:i]
			return e.sight
		}
		if held(e) {
			break
		}
	}
	return w.sight()
}

// holder returns which open elements keep an end tag from ending what is around
// them.
func holder(end string) func(*element) bool {
	switch {
	case end == "body" || end == "html" || end == "table" || unseen[end]:
		return func(*element) bool { return false }
	case cells[end]:
		return func(e *element) bool { return e.name == "table" }
	case blocks[end]:
		return func(e *element) bool {
			switch e.name {
			case "table", "td", "th", "caption":
				return true
			case "ul", "ol":
				return end == "li"
			}
			return false
		}
	}
	return func(e *element) bool { return e.box } // the end of a word in bold does not end a paragraph
}
