package html

import (
	"slices"
	"strconv"
	"strings"
)

// element is an open element of a web page.
type element struct {
	name string
	box  bool // it is a block or a part of a table
	visibility
}

// visibility says why the text of an element is not shown.
type visibility struct {
	none     bool // display: none or the like, which holds for all elements within
	hidden   bool // visibility: hidden; an element within may be visible
	zeroSize bool // font-size: 0; an element within may have another size
}

func (v visibility) visible() bool { return v == visibility{} }

// styled returns the visibility of a child element with a style. The last
// declaration of a property counts.
func (v visibility) styled(style string) visibility {
	none, transparent := false, false
	for declaration := range strings.SplitSeq(strings.ToLower(style), ";") {
		property, value, _ := strings.Cut(declaration, ":")
		value, _, _ = strings.Cut(value, "!")
		value = strings.TrimSpace(value)
		switch strings.TrimSpace(property) {
		case "display":
			none = value == "none"
		case "opacity":
			n, _, ok := parseNumber(value)
			transparent = ok && n <= 0
		case "visibility":
			switch value {
			case "hidden", "collapse":
				v.hidden = true
			case "visible", "initial":
				v.hidden = false
			}
		case "font-size":
			n, unit, ok := parseNumber(value)
			relative := relativeSizes[value] // to the parent's size
			if ok {
				relative = relativeUnits[unit]
			}
			switch {
			case ok && n == 0:
				v.zeroSize = true
			case !relative:
				v.zeroSize = false
			}
		case "font":
			v.zeroSize = strings.HasPrefix(value, "0/")
		}
	}
	v.none = v.none || none || transparent
	return v
}

// relativeSizes and relativeUnits are the words and units of a size that is relative to
// that of the parent.
var (
	relativeSizes = set("inherit unset smaller larger")
	relativeUnits = set("em ex ch %")
)

// parseNumber parses a number of a style and its unit.
func parseNumber(value string) (n float64, unit string, ok bool) {
	digits := strings.TrimRight(value, "abcdefghijklmnopqrstuvwxyz%")
	n, err := strconv.ParseFloat(digits, 64)
	return n, value[len(digits):], err == nil
}

// maxOpen is the number of open elements that are kept. Beyond it the outermost
// are dropped, which at worst shows hidden text.
const maxOpen = 256

var (
	// cells are the parts of a table.
	cells = set("caption colgroup thead tbody tfoot tr td th")
	// ofHead are the elements that the head of a page may contain.
	ofHead = set("base basefont bgsound link meta noframes noscript script style template title")
	// shells are the elements that only their own end tag closes. Elements within
	// them close none of the elements around them.
	shells = set("object template foreignobject ix:header ix:hidden")
)

// ending is the rule for an element whose start closes open elements: the
// outermost of ends that is within the innermost of holds.
type ending struct{ ends, holds []string }

// The rules for elements whose end tag HTML allows to omit.
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

// visibility returns that of the innermost element.
func (w *page) visibility() visibility {
	if len(w.open) == 0 {
		return visibility{}
	}
	return w.open[len(w.open)-1].visibility
}

func (w *page) push(name string, v visibility) {
	if len(w.open) == maxOpen {
		w.open = slices.Delete(w.open, 0, maxOpen/2)
	}
	w.open = append(w.open, element{name, blocks[name] || cells[name], v})
}

// imply closes the elements that the start of an element closes. In XML there are
// none.
func (w *page) imply(name string) {
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

// endAt closes the elements of a rule.
func (w *page) endAt(e ending) {
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
func (w *page) inHead() bool { return len(w.open) > 0 && w.open[len(w.open)-1].name == "head" }

// pop closes an element and all open elements within it. It returns its
// visibility, or that of the innermost element if there is none to close.
func (w *page) pop(name string) visibility {
	stops := barrier(name)
	for i := len(w.open) - 1; i >= 0; i-- {
		e := &w.open[i]
		if e.name == name {
			w.open = w.open[:i]
			return e.visibility
		}
		if stops(e) {
			break
		}
	}
	return w.visibility()
}

// barrier returns a function that reports whether an open element stops an end
// tag from closing the elements around it.
func barrier(end string) func(*element) bool {
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
	return func(e *element) bool { return e.box } // </b> does not close a paragraph
}
