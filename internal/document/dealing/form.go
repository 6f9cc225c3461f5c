package dealing

import (
	"regexp"
	"strings"

	"pregon/internal/disclosure"
)

// The labels and headings of the form, in their order. Each is found by its folded words.
const (
	nameLabel = iota
	reasonHead
	roleLabel
	kindLabel
	issuerHead
	issuerLabel
	leiLabel
	tradesHead
	labelCount
)

var labels = [labelCount]struct {
	words *regexp.Regexp
	name  string // in reasons
}{
	nameLabel:   {regexp.MustCompile(`^(?:1 )?a nombre y apellidos\b`), "1 a) Nombre y apellidos"},
	reasonHead:  {regexp.MustCompile(`^2 motivo de la notificacion\b`), "2 Motivo de la notificación"},
	roleLabel:   {regexp.MustCompile(`^(?:2 )?a cargo\b`), "2 a) Cargo"},
	kindLabel:   {regexp.MustCompile(`^(?:2 )?b notificacion inicial\b`), "2 b) Notificación inicial"},
	issuerHead:  {regexp.MustCompile(`^3 datos del emisor\b`), "3 Datos del emisor"},
	issuerLabel: {regexp.MustCompile(`^(?:3 )?a identificacion\b`), "3 a) Identificación"},
	leiLabel:    {regexp.MustCompile(`^(?:3 )?b (?:lei|codigo lei)\b`), "3 b) LEI"},
	tradesHead:  {regexp.MustCompile(`^4 datos de la operacion\b`), "4 Datos de la operación"},
}

// otherLabel matches the heading below the grid.
var otherLabel = regexp.MustCompile(`^(?:5 )?otra informacion\b`)

// readForm reads the sections above the grid and returns the lines of the grid.
func (n *Notice) readForm(lines []line) ([]line, error) {
	if !hasTitle(lines) {
		return nil, &Unreadable{Reason: "it does not have the titles of the form of Regulation (EU) 2016/523"}
	}
	at, err := findLabels(lines)
	if err != nil {
		return nil, err
	}
	between := func(label int) []line { return withoutEnglish(lines[at[label]+1 : at[label+1]]) }
	if n.Person, err = value(between(nameLabel), maxValue); err != nil || n.Person == "" {
		return nil, lines[at[nameLabel]].unreadable("the name of the person is missing or too long")
	}
	if n.Associated, err = associated(lines[at[reasonHead]+1 : at[roleLabel]]); err != nil {
		return nil, err
	}
	if n.Role, err = value(between(roleLabel), maxValue); err != nil {
		return nil, err
	}
	if err := n.readKind(&lines[at[kindLabel]], between(kindLabel)); err != nil {
		return nil, err
	}
	if n.Issuer, err = value(between(issuerLabel), maxValue); err != nil || n.Issuer == "" {
		return nil, lines[at[issuerLabel]].unreadable("the name of the issuer is missing or too long")
	}
	n.LEI = lei(lines[at[leiLabel]:at[tradesHead]])
	if n.LEI == "" {
		return nil, lines[at[leiLabel]].unreadable("it does not state one valid LEI of the issuer")
	}
	return gridLines(lines[at[tradesHead]+1:])
}

// hasTitle reports whether the titles in both languages are in the document.
func hasTitle(lines []line) bool {
	spanish, english := false, false
	for _, l := range lines {
		spanish = spanish || strings.Contains(l.fold, "modelo de notificacion")
		english = english || strings.Contains(l.fold, "standard form for notification")
	}
	return spanish && english
}

// findLabels returns the indexes of the labels. Each must occur once, in order: a document
// with two forms is not one notice.
func findLabels(lines []line) (at [labelCount]int, err error) {
	next := 0
	for i, l := range lines {
		for label := range labels {
			if !labels[label].words.MatchString(l.fold) {
				continue
			}
			if label != next {
				return at, l.unreadable("the label «" + labels[label].name + "» is repeated or out of order")
			}
			at[label] = i
			next++
			break
		}
	}
	if next < labelCount {
		return at, &Unreadable{Reason: "the label «" + labels[next].name + "» is missing"}
	}
	return at, nil
}

var englishLabels = func() map[string]bool {
	set := map[string]bool{}
	for phrase := range strings.SplitSeq(lists.Section("labels"), ";") {
		set[oneLine(phrase)] = true
	}
	return set
}()

// withoutEnglish removes the English form of a label from the lines below it.
func withoutEnglish(lines []line) []line {
	if len(lines) > 0 && englishLabels[lines[0].fold] {
		return lines[1:]
	}
	return lines
}

// value joins the lines of a value.
func value(lines []line, limit int) (string, error) {
	var parts []string
	size := 0
	for _, l := range lines {
		parts = append(parts, l.text)
		if size += len(l.text) + 1; size > limit {
			return "", l.unreadable("a value is longer than the form allows")
		}
	}
	return strings.Join(parts, " "), nil
}

// boxes match the check boxes: the mark is the first group.
var boxes = [2]*regexp.Regexp{
	regexp.MustCompile(`\[\s*([^\s\[\]]?)\s*\]\s*Persona con responsabilidad`),
	regexp.MustCompile(`\[\s*([^\s\[\]]?)\s*\]\s*Persona estrechamente vinculada`),
}

// associated reads the check boxes: exactly one must be marked.
func associated(lines []line) (bool, error) {
	var all []string
	for _, l := range lines {
		all = append(all, l.text)
	}
	text := strings.Join(all, " ")
	var marked [2]bool
	for n, box := range boxes {
		found := box.FindAllStringSubmatch(text, 2)
		if len(found) != 1 {
			return false, &Unreadable{Reason: "the check boxes of section 2 are not as in the form"}
		}
		marked[n] = found[0][1] != ""
	}
	if marked[0] == marked[1] {
		return false, &Unreadable{Reason: "not exactly one of the check boxes of section 2 is marked"}
	}
	return marked[1], nil
}

// readKind reads whether the notice replaces another one, and why.
func (n *Notice) readKind(label *line, lines []line) error {
	if len(lines) == 0 {
		return label.unreadable("it does not say whether it is the initial notice")
	}
	first, rest, hasRest := strings.Cut(lines[0].text, " ")
	switch fold(first) {
	case "inicial":
		if hasRest || len(lines) > 1 {
			return lines[0].unreadable("there is more than «Inicial» where the kind of the notice is stated")
		}
		return nil
	case "modificacion":
		n.Amendment = true
		reason, err := value(lines[1:], maxText)
		n.Reason = strings.TrimSpace(strings.TrimLeft(rest, "-–—:. ") + " " + reason)
		return err
	}
	return lines[0].unreadable("the kind of the notice is neither «Inicial» nor «Modificación»")
}

// lei returns the LEI in the lines of its label, or "" if there is not exactly one.
func lei(lines []line) string {
	found := ""
	for _, l := range lines {
		for word := range strings.FieldsSeq(l.text) {
			word = strings.TrimPrefix(word, "LEI:")
			if !disclosure.IsLEI(word) {
				continue
			}
			if found != "" && found != word {
				return ""
			}
			found = word
		}
	}
	return found
}

// gridLines returns the lines up to the heading below the grid. Below it is only text.
func gridLines(lines []line) ([]line, error) {
	for i, l := range lines {
		if !otherLabel.MatchString(l.fold) {
			continue
		}
		for _, below := range lines[i+1:] {
			if rowLike(&below) || isTotal(&below) {
				return nil, below.unreadable("there are operations below the heading «Otra información»")
			}
		}
		return lines[:i], nil
	}
	return lines, nil
}
