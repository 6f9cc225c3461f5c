package question

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"pregon/internal/disclosure"
	"pregon/internal/text"
)

//go:embed generic.txt
var genericText string

//go:embed topics.txt
var topicsText string

// generic are folded words that say nothing about the subject of a question.
var generic = func() map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(genericText) {
		out[w] = true
	}
	return out
}()

// meaning is what an expression of the table of topics means.
type meaning struct {
	facts  string // kinds of facts, with spaces between them
	series disclosure.Type
	tool   Tool
	word   bool // a subject without a fact: its words are searched for
}

// table is the table of topics, by the stems of the words of an expression.
type table struct {
	entries map[string]meaning
	longest int             // words of the longest expression
	starts  map[string]bool // the first words of expressions, folded
}

// topics is the table in topics.txt, a file of this package, which the tests read.
var topics = func() table {
	t, err := readTable(topicsText)
	if err != nil {
		panic("question: topics.txt: " + err.Error())
	}
	return t
}()

// readTable reads a table of topics. Its form is described in topics.txt.
func readTable(s string) (table, error) {
	t := table{entries: map[string]meaning{}, starts: map[string]bool{}}
	for line := range strings.Lines(s) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, expressions, ok := strings.Cut(line, "=")
		if !ok {
			return t, fmt.Errorf("%q does not have =", line)
		}
		m, err := meaningOf(strings.TrimSpace(name))
		if err != nil {
			return t, err
		}
		for expression := range strings.SplitSeq(expressions, ",") {
			words := text.Words(expression)
			key := stems(words)
			if key == "" {
				return t, fmt.Errorf("%q has an empty expression", line)
			}
			if other, twice := t.entries[key]; twice && other != m {
				return t, fmt.Errorf("%q has two meanings", expression)
			}
			t.entries[key] = m
			t.starts[words[0]] = true
			t.longest = max(t.longest, len(words))
		}
	}
	return t, nil
}

// meaningOf returns the meaning of a name in the table.
func meaningOf(name string) (meaning, error) {
	kind, value, _ := strings.Cut(name, " ")
	switch kind {
	case "fact":
		for kind := range strings.FieldsSeq(value) {
			if _, ok := disclosure.ParseFactKind(kind); !ok {
				return meaning{}, fmt.Errorf("%q is not a kind of facts", kind)
			}
		}
		return meaning{facts: value}, nil
	case "tool":
		return meaning{tool: Tool(value)}, nil
	case "type":
		series, ok := disclosure.ParseType(value)
		if !ok {
			return meaning{}, fmt.Errorf("%q is not a type", value)
		}
		return meaning{series: series}, nil
	case "words":
		return meaning{word: true}, nil
	}
	return meaning{}, fmt.Errorf("%q is not fact, tool, type or words", kind)
}

// stems returns the words of an expression in a form that singular and plural share.
func stems(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		if !strings.HasSuffix(w, "ss") {
			w = strings.TrimSuffix(w, "s")
		}
		out[i] = text.Stem(w)
	}
	return strings.Join(out, " ")
}

// readTopics recognizes the expressions of the table, the longest first.
func (q *Question) readTopics(words []word) []word {
	again := map[int][]string{} // further expressions of a topic, by its index
	for at := range words {
		for n := min(topics.longest, len(words)-at); n > 0; n-- {
			said, ok := phrase(words, at, n)
			if !ok {
				continue
			}
			m, known := topics.entries[stems(strings.Fields(said))]
			if !known {
				continue
			}
			use(words, at, n)
			if topic := q.add(said, m); topic >= 0 {
				again[topic] = append(again[topic], said)
			}
			break
		}
	}
	for topic := range q.Topics {
		q.addAgain(again[topic], q.Topics[topic].Words)
	}
	return words
}

// add adds a recognized topic. The first tool and the first type count. If there is a topic of
// the same facts already, add returns its index, and -1 otherwise.
func (q *Question) add(said string, m meaning) int {
	switch {
	case m.tool != "":
		if q.Tool == "" {
			q.Tool = m.tool
		}
		q.Ignored = append(q.Ignored, strings.Fields(said)...)
	case m.series != "":
		q.Type = m.series
	default:
		t := Topic{Words: said}
		for kind := range strings.FieldsSeq(m.facts) {
			t.Facts = append(t.Facts, disclosure.FactKind(kind))
		}
		for n, other := range q.Topics {
			if other.Words == said || len(t.Facts) > 0 && slices.Equal(other.Facts, t.Facts) {
				return n
			}
		}
		q.Topics = append(q.Topics, t)
	}
	return -1
}

// addAgain adds further expressions of a topic. One says more about it, so that its words are
// searched for: rating downgrades. Several are alternatives: rating upgrades or downgrades.
func (q *Question) addAgain(again []string, topic string) {
	had := strings.Fields(stems(strings.Fields(topic)))
	for _, said := range again {
		for w := range strings.FieldsSeq(said) {
			switch {
			case slices.Contains(had, stems([]string{w})):
			case generic[w] || len(again) > 1:
				q.Ignored = append(q.Ignored, w)
			default:
				q.Words = append(q.Words, w)
			}
		}
	}
}
